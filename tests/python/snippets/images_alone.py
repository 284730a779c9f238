"""Document 002, snippet 1: images without labels; convert_image_dtype is called too late to scale."""

import numpy as np
from images import write_images

import stoker as sk


def load_and_preprocess_image(image_path):
    image = sk.io.read_file(image_path)
    image = sk.io.decode_jpeg(image, channels=3)
    image = sk.image.resize(image, [224, 224])
    image = sk.image.convert_image_dtype(image, sk.float32)
    return image


def create_dataset(image_paths, batch_size):
    dataset = sk.data.Dataset.from_tensor_slices(image_paths)
    dataset = dataset.map(load_and_preprocess_image, num_parallel_calls=sk.data.AUTOTUNE)
    dataset = dataset.batch(batch_size)
    dataset = dataset.prefetch(sk.data.AUTOTUNE)
    return dataset


try:
    create_dataset(["path/to/image1.jpg", "path/to/image2.jpg", ...], 32)
except (TypeError, ValueError) as refused:
    assert "item 2 is of type 'ellipsis'" in str(refused), refused
else:
    raise SystemExit("a list with an ellipsis was taken")

for images in create_dataset(write_images("images", 40, kind="jpg"), 32):
    assert isinstance(images, np.ndarray) and images.shape[1:] == (224, 224, 3)
    assert images.max() > 1  # resize made floats, which convert_image_dtype leaves as they are
