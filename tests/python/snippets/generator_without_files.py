"""Document 001, snippet 1: a generator over files that do not exist. It stays at epoch 1 indefinitely.

As written it never yields. Watched, it is named; as native stages, the missing files are.
"""

import sys

import numpy as np
from PIL import Image

import stoker as sk


def create_data_generator(image_paths, labels, batch_size, passes):
    for _ in range(passes):  # `while True` in the document
        indices = np.random.permutation(len(image_paths))
        for i in range(0, len(image_paths), batch_size):
            batch_images, batch_labels = [], []
            for index in indices[i : i + batch_size]:
                try:
                    image = np.array(Image.open(image_paths[index]).resize((256, 256))) / 255.0
                except FileNotFoundError:
                    continue
                batch_images.append(image)
                batch_labels.append(labels[index])
            if len(batch_images) > 0:
                yield np.array(batch_images), np.array(batch_labels)


image_paths = [f"data/image_{i}.png" for i in range(1000)]
labels = np.random.randint(0, 2, size=1000)

watched = sk.watch(create_data_generator(image_paths, labels, batch_size=32, passes=2))
assert list(watched) == []
assert [v["code"] for v in watched.verdicts] == ["SOURCE_EMPTY"], watched.verdicts


def process_image(path, label):
    image = sk.io.decode_png(sk.io.read_file(path), channels=3)
    return sk.image.resize(image, [256, 256]) / 255.0, label


ds = sk.Dataset.from_tensor_slices((image_paths, labels)).map(process_image).batch(32)
try:
    list(ds.repeat().on_error("skip"))
except sk.NotFound as missing:
    assert "all 1000 elements failed" in str(missing) and "image_2.png" in str(missing), missing
else:
    sys.exit("a dataset of missing files ended without a message")
assert 1000 // 32 == 31 and len(ds) == 32  # so steps_per_epoch as written drifts by one batch an epoch
