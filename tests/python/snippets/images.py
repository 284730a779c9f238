"""Images of noise and a small network, as in the documents; not a snippet itself."""

import os

import numpy as np
from PIL import Image


def write_images(folder, count, side=100, kind="png"):
    """Return the paths of this many images of noise."""
    os.makedirs(folder, exist_ok=True)
    numbers = np.random.default_rng(0)
    paths = [os.path.join(folder, f"img_{i}.{kind}") for i in range(count)]
    for path in paths:
        Image.fromarray(numbers.integers(0, 255, (side, side, 3), dtype=np.uint8)).save(path)
    return paths


def small_network(tf):
    model = tf.keras.models.Sequential([
        tf.keras.layers.Conv2D(32, (3, 3), activation="relu", input_shape=(64, 64, 3)),
        tf.keras.layers.MaxPooling2D((2, 2)),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(10, activation="softmax"),
    ])
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
    return model
