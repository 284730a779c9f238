"""Document 002, snippet 2: VGG16 in a training step of one's own.

The document unpacks images alone into two names; one-hot labels are added, and the batch is small enough for two cores.
"""

import numpy as np
import tensorflow as tf
from images import write_images

import stoker as sk


def load(path, label):
    image = sk.io.decode_jpeg(sk.io.read_file(path), channels=3)
    return sk.cast(sk.image.resize(image, [224, 224]), sk.float32) / 255.0, label


model = tf.keras.applications.VGG16(weights=None)
optimizer = tf.keras.optimizers.SGD()
loss_fn = tf.keras.losses.CategoricalCrossentropy()
labels = np.eye(1000, dtype=np.float32)[:2]
dataset = sk.Dataset.from_tensor_slices((write_images("images", 2, kind="jpg"), labels)).map(load).batch(2)

for images, labels in dataset:
    with tf.GradientTape() as tape:
        loss = loss_fn(labels, model(images))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
assert np.isfinite(loss.numpy())
