"""Writing into what a dataset delivers, or into what a function receives, changes nothing else."""

import os
import struct
import tempfile
import unittest

import numpy as np

import stoker as sk

FLOATS = np.arange(24, dtype=np.float32).reshape(8, 3)


def add_one_in_place(x):
    x += 1
    return x


def filled(i):
    return np.full(3, int(i), np.float32)


def pair(x):
    y = x * 2
    return y, y


def idx_file(folder):
    path = os.path.join(folder, "entries.idx")
    with open(path, "wb") as file:
        file.write(bytes([0, 0, 8, 2]) + struct.pack(">II", 4, 3) + bytes(range(12)))
    return path


def memory_mapped(folder):
    path = os.path.join(folder, "mapped.bin")
    FLOATS.tofile(path)
    return np.memmap(path, dtype=np.float32, mode="r", shape=FLOATS.shape)


def forms(source, folder):
    """Every way in which delivered memory could be shared with something."""
    ds = sk.Dataset
    slices = ds.from_tensor_slices(source)
    return {
        "slices": slices,
        "slices, shuffled": slices.shuffle(3, seed=1),
        "slices, batched": slices.batch(3),
        "slices, small batches": slices.batch(2),
        "slices, filtered, batched": slices.filter(lambda r: sk.reduce_sum(r) >= 0).batch(3),
        "slices, unbatched batches": slices.batch(3).unbatch(),
        "tensors": ds.from_tensors(source).repeat(3),
        "read-only slices": ds.from_tensor_slices(memory_mapped(folder)),
        "idx": ds.idx(filenames=[idx_file(folder)]),
        "cache": ds.range(4).map(filled, workers="thread").cache(),
        "cache of batches": ds.range(4).map(filled, workers="thread").batch(2).cache(),
        "cache, native identity": slices.batch(2).cache().map(lambda x: x),
        "one component twice": slices.map(pair),
        "one component twice, batched": slices.map(pair).batch(4),
        "one component twice, after batch": slices.batch(4).map(pair),
        "input and result": slices.batch(4).map(lambda x: (x, x * 2, x)),
        "dict": slices.batch(4).map(lambda x: {"a": x, "b": x}),
        "zip of one dataset with itself": ds.zip((slices, slices)).batch(2),
        "enumerate": slices.enumerate(),
        "function in place": slices.map(add_one_in_place, workers="thread"),
        "function in place, batched": slices.batch(2).map(add_one_in_place, workers="thread"),
        "function in place, after cache": slices.cache().map(add_one_in_place, workers="thread"),
        "function in place, twice": slices.map(add_one_in_place, workers="thread").map(add_one_in_place, workers="thread"),
        "predicate in place": slices.filter(lambda x: add_one_in_place(x)[0] >= 0).map(lambda x: x * 1),
        "function that keeps its result": slices.map(Keeper(), workers="thread"),
        "flat_map": slices.flat_map(lambda x: ds.from_tensors(x).repeat(2)),
        "interleave": slices.interleave(lambda x: ds.from_tensor_slices(x.reshape(3, 1)).repeat(2), cycle_length=2),
        "generator": ds.from_generator(lambda: (FLOATS for _ in range(3)), output_signature=sk.TensorSpec((8, 3), "float32")),
    }


class Keeper:
    """Returns the same array each time."""

    def __init__(self):
        self.array = np.ones(3, np.float32)

    def __call__(self, x):
        return self.array


def leaves(element):
    if isinstance(element, (tuple, list)):
        return [leaf for part in element for leaf in leaves(part)]
    if isinstance(element, dict):
        return leaves(tuple(element.values()))
    return [element]


class Ownership(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def test_writing_to_delivered_arrays_changes_nothing_else(self):
        source = FLOATS.copy()
        for (name, modified), untouched in zip(forms(source, self.folder.name).items(),
                                               forms(FLOATS.copy(), self.folder.name).values()):
            with self.subTest(name):
                for epoch in range(3):
                    elements = [leaves(element) for element in modified]
                    wanted = [leaves(element) for element in untouched]
                    for k, (found, expected) in enumerate(zip(elements, wanted, strict=True)):
                        for array, want in zip(found, expected, strict=True):
                            np.testing.assert_array_equal(array, want, f"epoch {epoch}, element {k}")
                            if np.ndim(array):
                                self.assertTrue(array.flags.writeable)
                                array[...] = 99
                np.testing.assert_array_equal(source, FLOATS)

    def test_components_do_not_share_memory(self):
        for name, ds in forms(FLOATS.copy(), self.folder.name).items():
            with self.subTest(name):
                arrays = [leaf for element in ds for leaf in leaves(element) if np.ndim(leaf)]
                for i, one in enumerate(arrays):
                    for other in arrays[i + 1:]:
                        self.assertFalse(np.shares_memory(one, other))

    def test_at_returns_memory_of_the_callers_own(self):
        source = FLOATS.copy()
        ds = sk.Dataset.from_tensor_slices(source)
        row = ds._core.at(2)
        row[...] = -1
        np.testing.assert_array_equal(source, FLOATS)

    def test_an_operation_on_an_array_returns_memory_of_the_callers_own(self):
        operations = {
            "reshape": lambda x: sk.reshape(x, [24]), "expand_dims": lambda x: sk.expand_dims(x, 0), "squeeze": sk.squeeze,
            "cast": lambda x: sk.cast(x, "float32"), "constant": sk.constant, "convert_to_tensor": sk.convert_to_tensor,
            "concat": lambda x: sk.concat([x], 0), "abs": sk.abs, "maximum": lambda x: sk.maximum(x, x),
        }
        for name, operation in operations.items():
            with self.subTest(name):
                source = FLOATS.copy()
                operation(source)[...] = -1
                np.testing.assert_array_equal(source, FLOATS)

    def test_a_fresh_batch_is_not_copied_and_is_aligned(self):
        batch = next(iter(sk.Dataset.from_tensor_slices(FLOATS).map(lambda x: x + 1).batch(4)))
        self.assertIsNotNone(batch.base)
        self.assertEqual(batch.ctypes.data % 64, 0)


if __name__ == "__main__":
    unittest.main()
