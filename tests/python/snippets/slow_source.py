"""Document 003, snippet 2: a source that sleeps, with and without prefetch.

A tuple goes into a function of one parameter, and the function sleeps for each element, not once while it is traced.
Both halves of the document make an iterator at each step; the good form has one.
"""

import time

import numpy as np

import stoker as sk

calls = []


def create_example_dataset_slow_load(num_samples, batch_size):
    def slow_data_load(sample):
        calls.append(1)
        time.sleep(0.005)
        return sample

    data = np.random.rand(num_samples, 10)
    labels = np.random.randint(0, 2, size=(num_samples,))
    dataset = sk.data.Dataset.from_tensor_slices((data, labels))
    dataset = dataset.map(slow_data_load)
    dataset = dataset.batch(batch_size)
    return dataset


dataset = create_example_dataset_slow_load(100, 10)
assert "Python" in dataset.explain()
for step in range(5):
    data_batch = next(iter(dataset))
    assert data_batch[0].shape == (10, 10) and data_batch[1].shape == (10,)

calls.clear()
dataset_prefetch = dataset.prefetch(buffer_size=sk.data.AUTOTUNE)
steps = [batch for batch in dataset_prefetch]
assert len(steps) == 10 and len(calls) >= 100
