"""Operations on images against TensorFlow's results in tests/fixtures/image/golden.npz."""

import pathlib
import unittest

import numpy as np

import stoker as sk
from image_cases import boxes, cases, distance, unpacked

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "image" / "golden.npz"


class Golden(unittest.TestCase):
    def test_every_operation_returns_the_values_of_tensorflow(self):
        with np.load(GOLDEN) as file:
            golden = unpacked(file)
        for name, input, call, whole, share in (*cases(), *boxes()):
            with self.subTest(name):
                theirs = golden[name]
                apart = distance(call(sk.image, golden[f"input {input}"], golden["input seeds"]), theirs)
                self.assertNotIsInstance(apart, str, apart)
                self.assertLessEqual(apart, whole if theirs.dtype.kind == "u" else share)


class InsideMap(unittest.TestCase):
    """The same functions as native operations in a pipeline."""

    def test_seeds_may_come_from_the_elements(self):
        image = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        seeds = np.arange(20, dtype=np.int64).reshape(10, 2)
        ds = sk.Dataset.from_tensor_slices(seeds).map(lambda s: sk.image.stateless_random_flip_left_right(image, s))
        made = list(ds)
        for seed, ours in zip(seeds, made):
            np.testing.assert_array_equal(ours, sk.image.stateless_random_flip_left_right(image, seed))
        self.assertTrue(any((m == image).all() for m in made) and any((m != image).any() for m in made))

    def test_images_are_prepared_for_a_network(self):
        images = np.random.default_rng(1).integers(0, 256, (6, 30, 40, 3), dtype=np.uint8)

        def ready(image):
            image = sk.image.random_resized_crop(image, 16, like="pillow")
            image = sk.image.random_flip_left_right(image)
            return sk.image.normalize(image, [0.485, 0.456, 0.406], [0.229, 0.224, 0.225], layout="CHW")

        batches = list(sk.Dataset.from_tensor_slices(images).map(ready).batch(3))
        self.assertEqual([b.shape for b in batches], [(3, 3, 16, 16)] * 2)
        self.assertEqual(batches[0].dtype, np.float32)

    def test_random_ones_differ_between_elements_and_stay_the_same(self):
        image = np.random.default_rng(2).integers(0, 256, (8, 8, 3), dtype=np.uint8)
        draws = {
            "contrast": lambda x: sk.image.random_contrast(x, 0.2, 1.8),
            "hue": lambda x: sk.image.random_hue(x, 0.4),
            "saturation": lambda x: sk.image.random_saturation(x, 0.1, 1.9),
            "jpeg_quality": lambda x: sk.image.random_jpeg_quality(x, 5, 80),
            "crop": lambda x: sk.image.random_crop(x, (4, 4, 3)),
            "flip": lambda x: sk.image.random_flip_up_down(x),
            "jitter": lambda x: sk.image.color_jitter(x, 0.4, 0.4, 0.4, 0.1),
            "rand_augment": lambda x: sk.image.rand_augment(x),
            "trivial_augment": lambda x: sk.image.trivial_augment(x),
            "erasing": lambda x: sk.image.random_erasing(x),
        }
        for name, draw in draws.items():
            with self.subTest(name):
                made, again = (np.stack(list(self.drawn(image, draw))) for _ in range(2))
                self.assertGreater(len(np.unique(made, axis=0)), 1)
                np.testing.assert_array_equal(made, again)

    def drawn(self, image, draw):
        sk.random.set_seed(3)
        return sk.Dataset.from_tensor_slices(np.stack([image] * 12)).map(draw)


class Batches(unittest.TestCase):
    def test_images_and_labels_are_mixed_in_the_same_proportions(self):
        images = np.arange(4, dtype=np.float32)[:, None, None, None] * np.ones((1, 8, 8, 3), np.float32)
        labels = np.arange(4, dtype=np.int64)
        whole = sk.Dataset.from_tensor_slices((images, labels)).batch(4)
        for mix in (sk.image.mixup, sk.image.cutmix):
            with self.subTest(mix.__name__):
                ((mixed, chances),) = list(whole.map(lambda x, y: mix(x, y, num_classes=4)))
                np.testing.assert_allclose(chances.sum(1), 1, rtol=1e-6)
                np.testing.assert_allclose(mixed.mean((1, 2, 3)), chances @ np.arange(4), rtol=1e-5)


if __name__ == "__main__":
    unittest.main()
