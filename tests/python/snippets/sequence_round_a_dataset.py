"""Document 000, snippets 2 and 3: a Sequence around a dataset, without and with augmentation.

As written, __getitem__ passes over its index, so that Keras' probing shifts every epoch; every batch still comes once.
The good form passes the dataset itself to fit.
"""

import sys

import numpy as np
import tensorflow as tf
from images import small_network, write_images

import stoker as sk


class ImageSequenceAsync(tf.keras.utils.Sequence):
    augmented = False

    def __init__(self, image_paths, batch_size, target_size):
        super().__init__()
        self.image_paths = image_paths
        self.batch_size = batch_size
        self.target_size = target_size
        self.dataset = sk.data.Dataset.from_tensor_slices(self.image_paths)
        self.dataset = self.dataset.map(self._load_and_preprocess, num_parallel_calls=sk.data.AUTOTUNE)
        self.dataset = self.dataset.batch(self.batch_size).prefetch(sk.data.AUTOTUNE)
        self.iterator = iter(self.dataset)

    def _load_and_preprocess(self, path):
        img = sk.io.read_file(path)
        img = sk.image.decode_png(img, channels=3)
        img = sk.image.resize(img, self.target_size)
        if self.augmented:
            img = sk.image.random_flip_left_right(img)
            img = sk.image.random_brightness(img, max_delta=0.2)
        img = sk.cast(img, sk.float32) / 255.0
        return img, 0

    def __len__(self):
        return int(np.ceil(len(self.image_paths) / float(self.batch_size)))

    def __getitem__(self, idx):
        try:
            return next(self.iterator)
        except StopIteration:
            self.iterator = iter(self.dataset)
            return next(self.iterator)


class ImageSequenceAugmented(ImageSequenceAsync):
    augmented = True


kind = {"plain": ImageSequenceAsync, "augmented": ImageSequenceAugmented}[sys.argv[1]]
sequence = kind(write_images("images", 100), batch_size=16, target_size=(64, 64))
assert "Python" not in sequence.dataset.explain(), sequence.dataset.explain()
small_network(tf).fit(sequence, epochs=2, verbose=0)

first, second = list(sequence.dataset), list(sequence.dataset)
assert [len(x) for x, _ in first] == [16] * 6 + [4]
assert first[0][1].dtype == np.int32 and not first[0][1].any()
same = all((a == b).all() for (a, _), (b, _) in zip(first, second))
assert same != kind.augmented  # another augmentation in each epoch

small_network(tf).fit(sequence.dataset, epochs=2, verbose=0)
