"""Document 001, snippet 2: paths and labels, decode_image, shuffle after decoding, fit."""

import numpy as np
import tensorflow as tf
from images import write_images

import stoker as sk

image_paths_tensor = sk.constant(write_images("data", 64, side=40))
labels_tensor = sk.constant(np.random.randint(0, 2, size=64))
assert labels_tensor.dtype == np.int64


def process_image(file_path, label):
    image_string = sk.io.read_file(file_path)
    image_decoded = sk.io.decode_image(image_string, channels=3)
    # TensorFlow rejects this: the rank is unknown before the run. Stoker checks each image.
    image_resized = sk.image.resize(image_decoded, [256, 256])
    image_normalized = sk.cast(image_resized, sk.float32) / 255.0
    return image_normalized, label


dataset = sk.data.Dataset.from_tensor_slices((image_paths_tensor, labels_tensor))
dataset = dataset.map(process_image, num_parallel_calls=sk.data.AUTOTUNE)
dataset = dataset.shuffle(buffer_size=1024).batch(32).prefetch(sk.data.AUTOTUNE)
assert "Python" not in dataset.explain()
images, labels = next(iter(dataset))
assert images.shape == (32, 256, 256, 3) and images.dtype == np.float32 and labels.dtype == np.int64

# The document's model lacks the Flatten.
model = tf.keras.models.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)])
model.compile(optimizer=tf.keras.optimizers.Adam(), loss="mse")
model.fit(dataset, epochs=2, verbose=0)
