"""Random functions of PyTorch and TensorFlow inside `map`; each is skipped if its framework is not installed."""

import unittest

import numpy as np

import stoker as sk

try:
    import torch
except ImportError:
    torch = None
try:
    import tensorflow as tf
except ImportError:
    tf = None

EPOCHS = 3


def setUpModule():
    sk.configure(workers=0)  # the loop's own thread calls the functions: their state is compared


class Frameworks(unittest.TestCase):
    def expect_the_plain_loop(self, make):
        """The function is a Python stage, and every epoch has the draws of a plain loop, in any order."""
        function = make()
        looped = [sum(float(function(np.int64(i))) for i in range(4)) for _ in range(EPOCHS)]
        ds = sk.Dataset.range(4).map(make())
        self.assertIn("the Python function", ds.explain())
        np.testing.assert_allclose([sum(float(x) for x in ds) for _ in range(EPOCHS)], looped)
        self.assertGreater(len(set(looped)), 1)

    @unittest.skipIf(torch is None, "PyTorch is not installed")
    def test_random_numbers_of_torch(self):
        def global_generator():
            torch.manual_seed(1)
            return lambda x: x + torch.randint(1000, ()).item()

        def function():
            torch.manual_seed(1)
            rand = torch.rand
            return lambda x: np.float64(x + rand(()).item())

        def own_generator():
            generator = torch.Generator().manual_seed(2)
            return lambda x: x + torch.randint(1000, (), generator=generator).item()

        def layer():
            torch.manual_seed(1)
            dropout = torch.nn.Dropout()
            return lambda x: x + int(dropout(torch.ones(20)).sum())

        for make in (global_generator, function, own_generator, layer):
            with self.subTest(make.__name__):
                self.expect_the_plain_loop(make)

    @unittest.skipIf(tf is None, "TensorFlow is not installed")
    def test_random_numbers_of_tensorflow(self):
        def global_generator():
            tf.random.set_seed(1)
            return lambda x: x + int(tf.random.uniform((), 0, 1000, tf.int32))

        def own_generator():
            generator = tf.random.Generator.from_seed(2)
            return lambda x: x + int(generator.uniform((), 0, 1000, tf.int32))

        for make in (global_generator, own_generator):
            with self.subTest(make.__name__):
                self.expect_the_plain_loop(make)

    @unittest.skipIf(tf is None, "TensorFlow is not installed")
    def test_types_of_tensorflow_are_constants(self):
        ds = sk.Dataset.range(4).map(lambda x: sk.cast(x, tf.float32) / 2)
        self.assertNotIn("Python", ds.explain())
        self.assertEqual(next(iter(ds)).dtype, np.float32)


if __name__ == "__main__":
    unittest.main()
