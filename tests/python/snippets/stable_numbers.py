"""Document 002, snippet 3: features and labels from memory, gradients clipped."""

import numpy as np
import tensorflow as tf

import stoker as sk

model = tf.keras.Sequential([
    tf.keras.layers.Dense(10, activation="relu", kernel_initializer="he_normal"),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
optimizer = tf.keras.optimizers.Adam(learning_rate=0.001)
loss_fn = tf.keras.losses.BinaryCrossentropy()


def train_step(images, labels):
    with tf.GradientTape() as tape:
        loss = loss_fn(labels, model(images))
    gradients = tape.gradient(loss, model.trainable_variables)
    clipped = [tf.clip_by_value(g, -1.0, 1.0) for g in gradients]
    optimizer.apply_gradients(zip(clipped, model.trainable_variables))
    return loss


features = np.random.randn(1000, 10).astype(np.float32)
labels = np.random.randint(0, 2, (1000, 1)).astype(np.float32)
dataset = sk.data.Dataset.from_tensor_slices((features, labels)).batch(32)

steps = 0
for images, labels in dataset:
    assert images.dtype == labels.dtype == np.float32 and labels.shape[1:] == (1,)
    assert np.isfinite(train_step(images, labels).numpy())
    steps += 1
assert steps == len(dataset) == 32
