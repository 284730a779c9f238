"""Image operations against TensorFlow and Pillow, on other inputs than the golden ones; skipped without them."""

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
    def test_every_operation_returns_its_values(self):
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

    def test_resize_returns_its_bytes(self):
        draw = np.random.default_rng(5)
        for _ in range(20):
            height, width, to_height, to_width = (int(side) for side in draw.integers(1, 90, 4))
            image = draw.integers(0, 256, (height, width, 3), dtype=np.uint8)
            for method, theirs in pillow_methods().items():
                with self.subTest(method=method, size=(height, width), to=(to_height, to_width)):
                    ours = sk.image.resize(image, [to_height, to_width], method=method, like="pillow")
                    np.testing.assert_array_equal(ours, pillow_resize(image, to_height, to_width, theirs))

    def test_resize_returns_its_floats(self):
        image = np.random.default_rng(6).random((23, 31), dtype=np.float32)
        for method, theirs in pillow_methods().items():
            for size in ((40, 50), (7, 9), (50, 9), (7, 50)):
                with self.subTest(method=method, to=size):
                    ours = sk.image.resize(image[..., None], size, method=method, like="pillow")
                    np.testing.assert_allclose(ours[..., 0], pillow_resize(image, *size, theirs), atol=1e-6)

    def test_random_resized_crop_is_a_window_resized(self):
        """With the whole image as the only window, the result is that of resize."""
        image = np.random.default_rng(7).integers(0, 256, (30, 40, 3), dtype=np.uint8)
        ours = sk.image.random_resized_crop(image, 20, scale=(1, 1), ratio=(4 / 3, 4 / 3), like="pillow")
        np.testing.assert_array_equal(ours, pillow_resize(image, 20, 20, pillow_methods()["bilinear"]))

    def test_augmentations_are_its_own(self):
        draw = np.random.default_rng(8)
        for size in ((33, 47, 3), (64, 20, 1), (2, 2, 3)):
            # Few levels and many: both matter to histograms.
            for image in (draw.integers(0, 256, size, dtype=np.uint8), draw.integers(90, 99, size, dtype=np.uint8)):
                for name, magnitude, theirs in augmentations(image):
                    with self.subTest(name, magnitude=magnitude, size=size):
                        ours = sk.image.augment(image, name, magnitude).astype(int)
                        wanted = np.asarray(theirs).reshape(size).astype(int)
                        self.assertLessEqual(np.abs(ours - wanted).max(), 1 if name == "Sharpness" else 0)


def augmentations(array):
    """Return what torchvision computes with Pillow for a name, a magnitude and an image."""
    from PIL import Image, ImageEnhance, ImageOps

    image = Image.fromarray(array if array.shape[2] == 3 else array[..., 0])
    height, width = array.shape[:2]

    def affine(*matrix):
        return image.transform((width, height), Image.AFFINE, matrix, Image.NEAREST, fillcolor=0)

    for slope in (-0.99, -0.13, 0.3):
        yield "ShearX", slope, affine(1, slope, 0, 0, 1, 0)
        yield "ShearY", slope, affine(1, 0, 0, slope, 1, 0)
    for pixels in (-32, -3.7, 5):
        yield "TranslateX", pixels, affine(1, 0, -int(pixels), 0, 1, 0)
        yield "TranslateY", pixels, affine(1, 0, 0, 0, 1, -int(pixels))
    for degrees in (-135, -30, -0.9, 0, 18, 90.5):
        yield "Rotate", degrees, image.rotate(degrees, Image.NEAREST, fillcolor=0)
    for more in (-0.99, -0.3, 0, 0.27, 0.9):
        yield "Brightness", more, ImageEnhance.Brightness(image).enhance(1 + more)
        yield "Color", more, ImageEnhance.Color(image).enhance(1 + more)
        yield "Contrast", more, ImageEnhance.Contrast(image).enhance(1 + more)
        yield "Sharpness", more, ImageEnhance.Sharpness(image).enhance(1 + more)
    for bits in (1, 4, 8):
        yield "Posterize", bits, ImageOps.posterize(image, bits)
    for threshold in (0, 93.5, 255):
        yield "Solarize", threshold, ImageOps.solarize(image, threshold)
    yield "AutoContrast", 0, ImageOps.autocontrast(image)
    yield "Equalize", 0, ImageOps.equalize(image)


def pillow_methods():
    from PIL import Image

    return {"nearest": Image.NEAREST, "bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC, "lanczos3": Image.LANCZOS,
            "area": Image.BOX}


def pillow_resize(image, height, width, method):
    from PIL import Image

    return np.asarray(Image.fromarray(image).resize((width, image.shape[0]), method).resize((width, height), method))


if __name__ == "__main__":
    unittest.main()
