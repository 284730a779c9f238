"""Document 000, snippet 1: a Sequence that decodes in __getitem__. It runs unchanged over workers, ahead of fit."""

import numpy as np
import tensorflow as tf
from PIL import Image
from images import small_network, write_images

import stoker as sk


class ImageSequenceBasic(tf.keras.utils.Sequence):
    # As written: super().__init__() is never called.
    def __init__(self, image_paths, batch_size, target_size):
        self.image_paths = image_paths
        self.batch_size = batch_size
        self.target_size = target_size

    def __len__(self):
        return int(np.ceil(len(self.image_paths) / float(self.batch_size)))

    def __getitem__(self, idx):
        batch_paths = self.image_paths[idx * self.batch_size : (idx + 1) * self.batch_size]
        batch_x = [np.array(Image.open(path).resize(self.target_size)) / 255.0 for path in batch_paths]
        return np.array(batch_x), np.zeros(len(batch_x))


image_paths = write_images("images", 100)
sequence = ImageSequenceBasic(image_paths, batch_size=16, target_size=(64, 64))
ds = sk.from_sequence(sequence, workers=2)

batches = list(ds)
assert [len(x) for x, _ in batches] == [16] * 6 + [4]
assert all(x.dtype == np.float64 and y.dtype == np.float64 for x, y in batches)
for i, (x, y) in enumerate(batches):
    np.testing.assert_array_equal(x, sequence[i][0])

small_network(tf).fit(ds, epochs=2, verbose=0)


# The same images from native stages: Pillow's resize takes (width, height) and is bicubic.
def load(path):
    image = sk.io.decode_png(sk.io.read_file(path), channels=3)
    return sk.image.resize(image, (64, 64), method="bicubic", like="pillow")


native = sk.Dataset.from_tensor_slices(image_paths).map(load).batch(16)
assert "Python" not in native.explain()
for (x, _), images in zip(batches, native):
    np.testing.assert_array_equal(x, images / 255.0)
