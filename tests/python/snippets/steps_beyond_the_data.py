"""Document 003, snippet 1: 15 steps of a dataset with 10 batches.

As written it makes an iterator at each step, so that it never runs out and always sees the first batch; with one
iterator for an epoch it does run out.
"""

import numpy as np
import tensorflow as tf

import stoker as sk


def create_example_dataset(num_samples, batch_size):
    data = np.random.rand(num_samples, 10)
    labels = np.random.randint(0, 2, size=(num_samples,))
    dataset = sk.data.Dataset.from_tensor_slices((data, labels))
    dataset = dataset.batch(batch_size)
    return dataset


dataset = create_example_dataset(100, 10)
model = tf.keras.models.Sequential([tf.keras.layers.Dense(1, activation="sigmoid")])  # the loss wants probabilities
optimizer = tf.keras.optimizers.Adam(learning_rate=0.001)
loss_fn = tf.keras.losses.BinaryCrossentropy()


def train_step(data_batch):
    with tf.GradientTape() as tape:
        loss = loss_fn(data_batch[1][:, None], model(data_batch[0]))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))


first = None
for step in range(15):
    data_batch = next(iter(dataset))
    assert data_batch[0].dtype == np.float64 and data_batch[1].dtype == np.int64
    first = data_batch[0] if first is None else first
    np.testing.assert_array_equal(data_batch[0], first)
    train_step(data_batch)

steps = 0
iterator = iter(dataset)
try:
    for step in range(15):
        train_step(iterator.get_next())
        steps += 1
except sk.errors.OutOfRangeError:
    assert steps == 10
assert steps == len(dataset) == 10

iterator = iter(dataset.repeat())
for step in range(15):
    train_step(next(iterator))
