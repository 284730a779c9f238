"""Elements as PyTorch tensors; skipped if PyTorch is not installed."""

import unittest

import numpy as np

import stoker as sk

try:
    import torch
except ImportError:
    torch = None


@unittest.skipIf(torch is None, "PyTorch is not installed")
class Torch(unittest.TestCase):
    def test_batches_become_tensors_over_the_same_memory(self):
        ds = sk.Dataset.from_tensor_slices({"x": np.ones((6, 2), np.float32), "y": np.arange(6)}).batch(4)
        batch = next(iter(ds.torch()))
        self.assertEqual(batch["x"].dtype, torch.float32)
        self.assertEqual(tuple(batch["x"].shape), (4, 2))
        self.assertEqual(batch["y"].tolist(), [0, 1, 2, 3])

    def test_a_data_loader_around_it_is_rejected(self):
        with self.assertRaisesRegex(TypeError, r"ds.torch\(\) replaces the DataLoader; iterate over it directly"):
            next(iter(torch.utils.data.DataLoader(sk.Dataset.range(3).torch(), batch_size=None)))

    def test_it_is_shown_with_its_device_and_elements(self):
        ds = sk.Dataset.range(3)
        self.assertEqual(repr(ds.torch(device="cpu")), f"<stoker.TorchLoader of {ds!r} on cpu>")
        self.assertEqual(repr(ds.torch()), f"<stoker.TorchLoader of {ds!r}>")

    def test_every_type_has_a_tensor(self):
        for name in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "float16", "float32", "float64"):
            made = next(iter(sk.Dataset.from_tensor_slices(np.ones((2, 3), name)).torch()))
            self.assertEqual(made.double().sum().item(), 3.0, name)

    def test_strings_stay_bytes(self):
        self.assertEqual(next(iter(sk.Dataset.from_tensors("a").torch())), b"a")


if __name__ == "__main__":
    unittest.main()
