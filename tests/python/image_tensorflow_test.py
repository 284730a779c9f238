"""Pictures against TensorFlow and Pillow themselves, on other inputs than the golden ones; skipped without them."""

import importlib.util
import os
import unittest

import numpy as np

import stoker as sk
from image_cases import boxes, cases, distance, inputs

HAS_TENSORFLOW = importlib.util.find_spec("tensorflow") is not None
HAS_PILLOW = importlib.util.find_spec("PIL") is not None


@unittest.skipUnless(HAS_TENSORFLOW, "TensorFlow is not installed")
class Tensorflow(unittest.TestCase):
    def test_every_operation_gives_its_values(self):
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
        import tensorflow as tf

        for seed in (1, 2, 3):
            given = inputs(seed)
            for name, input, call, whole, share in (*cases(), *boxes()):
                with self.subTest(name, seed=seed):
                    theirs = call(tf.image, given[input], given["seeds"]).numpy()
                    apart = distance(call(sk.image, given[input], given["seeds"]), theirs)
                    self.assertNotIsInstance(apart, str, apart)
                    self.assertLessEqual(apart, whole if theirs.dtype.kind == "u" else share)

    def test_draws_of_a_seed_are_its_own(self):
        import tensorflow as tf

        for seed in ((0, 0), (1, -1), (2**40, 7)):
            theirs = tf.image.stateless_random_brightness(np.zeros([1], np.float32), 1.0, seed).numpy()
            ours = sk.image.stateless_random_brightness(np.zeros([1], np.float32), 1.0, np.array(seed))
            self.assertEqual(ours, theirs)


@unittest.skipUnless(HAS_PILLOW, "Pillow is not installed")
class Pillow(unittest.TestCase):
    """Along the rows, then over them, which is the order of Pillow before 13 and mostly of later ones."""

    def test_resize_gives_its_bytes(self):
        draw = np.random.default_rng(5)
        for _ in range(20):
            height, width, to_height, to_width = (int(side) for side in draw.integers(1, 90, 4))
            picture = draw.integers(0, 256, (height, width, 3), dtype=np.uint8)
            for method, theirs in pillow_methods().items():
                with self.subTest(method=method, size=(height, width), to=(to_height, to_width)):
                    ours = sk.image.resize(picture, [to_height, to_width], method=method, like="pillow")
                    np.testing.assert_array_equal(ours, pillow_resize(picture, to_height, to_width, theirs))

    def test_resize_gives_its_floats(self):
        picture = np.random.default_rng(6).random((23, 31), dtype=np.float32)
        for method, theirs in pillow_methods().items():
            for size in ((40, 50), (7, 9), (50, 9), (7, 50)):
                with self.subTest(method=method, to=size):
                    ours = sk.image.resize(picture[..., None], size, method=method, like="pillow")
                    np.testing.assert_allclose(ours[..., 0], pillow_resize(picture, *size, theirs), atol=1e-6)

    def test_random_resized_crop_is_a_window_resized(self):
        """With the whole picture as the only window, it is resize."""
        picture = np.random.default_rng(7).integers(0, 256, (30, 40, 3), dtype=np.uint8)
        ours = sk.image.random_resized_crop(picture, 20, scale=(1, 1), ratio=(4 / 3, 4 / 3), like="pillow")
        np.testing.assert_array_equal(ours, pillow_resize(picture, 20, 20, pillow_methods()["bilinear"]))


def pillow_methods():
    from PIL import Image

    return {"nearest": Image.NEAREST, "bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC, "lanczos3": Image.LANCZOS,
            "area": Image.BOX}


def pillow_resize(picture, height, width, method):
    from PIL import Image

    return np.asarray(Image.fromarray(picture).resize((width, picture.shape[0]), method).resize((width, height), method))


if __name__ == "__main__":
    unittest.main()
