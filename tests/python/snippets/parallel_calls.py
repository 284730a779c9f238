"""Document 003, snippet 3: 1, 4 and 16 parallel calls of a function that sleeps: so many at once, and no more."""

import threading
import time

import numpy as np

import stoker as sk


def create_example_dataset_resource_intensive(num_samples, batch_size, num_threads):
    inside, most, lock = 0, 0, threading.Lock()

    def intensive_processing(sample):
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        time.sleep(0.01)
        with lock:
            inside -= 1
        return sample

    data = np.random.rand(num_samples, 10)
    labels = np.random.randint(0, 2, size=(num_samples,))
    dataset = sk.data.Dataset.from_tensor_slices((data, labels))
    dataset = dataset.map(intensive_processing, num_parallel_calls=num_threads)
    dataset = dataset.batch(batch_size)
    dataset = dataset.prefetch(buffer_size=sk.data.AUTOTUNE)
    return dataset, lambda: most


for num_threads in [1, 4, 16]:
    dataset, most_at_once = create_example_dataset_resource_intensive(400, 10, num_threads)
    for epoch in range(2):
        assert sum(len(data) for data, labels in dataset) == 400
    assert most_at_once() <= num_threads
    assert most_at_once() > num_threads // 2, most_at_once()  # sleeping calls are no work: they go on side by side
