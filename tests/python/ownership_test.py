"""Writing into what a dataset delivers, or into what a function receives, changes nothing else."""

import os
import struct
import tempfile
import unittest

import numpy as np

import stoker as sk

try:
    import torch
except ImportError:
    torch = None

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
    """All forms in which delivered memory could be shared."""
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
    """A function that returns the same array each time."""

    def __init__(self):
        self.array = np.ones(3, np.float32)

    def __call__(self, x):
        return self.array


def leaves(element):
    if isinstance(element, (tuple, list)):
        return [leaf for part in element for leaf in leaves(part)]
    if isinstance(element, dict):
        return leaves(tuple(element.values()))
    if isinstance(element, sk.RaggedTensor):
        return leaves((element.values, element.row_splits))
    if isinstance(element, sk.SparseTensor):
        return leaves((element.indices, element.values, element.dense_shape))
    return [element]


def overwrite(element, value=99):
    """Write to every array of the element; return how many there were."""
    arrays = [leaf for leaf in leaves(element) if np.ndim(leaf)]
    for array in arrays:
        array[...] = value
    return len(arrays)


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

    def test_writing_to_each_array_when_it_arrives_changes_none_that_follows(self):
        source = FLOATS.copy()
        for (name, modified), untouched in zip(forms(source, self.folder.name).items(),
                                               forms(FLOATS.copy(), self.folder.name).values()):
            with self.subTest(name):
                written = 0
                for epoch in range(3):
                    for k, (element, wanted) in enumerate(zip(modified, untouched, strict=True)):
                        for array, want in zip(leaves(element), leaves(wanted), strict=True):
                            np.testing.assert_array_equal(array, want, f"epoch {epoch}, element {k}")
                        written += overwrite(element)
                self.assertGreater(written, 0)
                np.testing.assert_array_equal(source, FLOATS)

    def test_components_do_not_share_memory(self):
        for name, ds in forms(FLOATS.copy(), self.folder.name).items():
            with self.subTest(name):
                arrays = [leaf for element in ds for leaf in leaves(element) if np.ndim(leaf)]
                for i, one in enumerate(arrays):
                    for other in arrays[i + 1:]:
                        self.assertFalse(np.shares_memory(one, other))

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

    def test_a_batch_is_a_view_of_aligned_memory_of_the_engine(self):
        # That it is the memory that the stage wrote to is tested in C++: Delivery.FreshBatchesAreNotCopied.
        batch = next(iter(sk.Dataset.from_tensor_slices(FLOATS).map(lambda x: x + 1).batch(4)))
        self.assertFalse(batch.flags.owndata)
        self.assertEqual(batch.ctypes.data % 64, 0)


class Origin(Exception):
    pass


def first_origin(ds):
    """Return the origin of the first element, as an error reports it."""

    def fails(*_):
        raise Origin

    try:
        next(iter(ds.map(fails, workers="thread")))
    except sk.Error as error:
        return error.origin


def restored(ds):
    """Return the elements of an iterator that had ended and was restored to its start."""
    it = iter(ds)
    start = it.save()
    for _ in it:
        pass
    it.restore(start)
    return it


def by_dlpack(ds, module):
    return ([module.from_dlpack(leaf) for leaf in leaves(element)] for element in ds)


def reduced(ds):
    """Return the elements that the function of reduce() receives; each is overwritten after it was recorded."""
    noted = []

    def note(state, element):
        noted.append([np.array(leaf) for leaf in leaves(element)])
        overwrite(element)
        return state

    ds.reduce(0, note)
    return noted


def got(iterator):
    """Return all elements of get_next()."""
    while True:
        try:
            yield iterator.get_next()
        except sk.OutOfRange:
            return


class EveryWayToGetAnArray(unittest.TestCase):
    """The caller may modify an array that any public function returns."""

    WAYS = {
        "iter": iter,
        "get_next": lambda ds: got(iter(ds)),
        "as_numpy_iterator": lambda ds: ds.as_numpy_iterator(),
        "get_single_element": lambda ds: (ds.skip(i).take(1).get_single_element() for i in range(len(ds))),
        "replay": lambda ds: (ds.replay(first_origin(ds)) for _ in range(len(ds))),
        "after restore": restored,
        "watch": sk.watch,
        "keras, numpy": lambda ds: ds.keras().get_numpy_iterator(),
        "keras, jax": lambda ds: ds.keras().get_jax_iterator(),
    }

    def datasets(self, source):
        slices = sk.Dataset.from_tensor_slices(source)
        return {
            "slices": slices,
            "batches": slices.batch(3),
            "cached": slices.batch(2).cache(),
            "captured": sk.Dataset.range(4).map(Keeper(), workers="thread"),
            "twice": slices.map(pair),
            "tensors": sk.Dataset.from_tensors(source).repeat(2),
        }

    def assert_owned(self, way, read, names=None):
        source = FLOATS.copy()
        all_modified, all_untouched = self.datasets(source), self.datasets(FLOATS.copy())
        for name in names or all_modified:
            modified, untouched = all_modified[name], all_untouched[name]
            with self.subTest(way, dataset=name):
                wanted = [[np.asarray(leaf).copy() for leaf in leaves(element)] for element in read(untouched)]
                self.assertGreater(len(wanted), 0)
                for _ in range(2):
                    for element, want in zip(read(modified), wanted, strict=True):
                        for leaf, value in zip(leaves(element), want, strict=True):
                            np.testing.assert_array_equal(np.asarray(leaf), value)
                        self.assertGreater(overwrite(element), 0)
                np.testing.assert_array_equal(source, FLOATS)

    def test_is_the_callers(self):
        for way, read in self.WAYS.items():
            self.assert_owned(way, read)

    def test_by_its_place(self):
        self.assert_owned("at", lambda ds: (ds.at(i) for i in range(len(ds))), ("slices", "captured", "twice", "tensors"))

    def test_in_a_reduce(self):
        for name, ds in self.datasets(FLOATS.copy()).items():
            with self.subTest(name):
                first = reduced(ds)
                self.assertGreater(len(first), 0)
                np.testing.assert_equal(reduced(ds), first)

    @unittest.skipIf(int(np.__version__.split(".")[0]) < 2, "NumPy 1 makes what it gets by DLPack read-only")
    def test_by_dlpack(self):
        self.assert_owned("DLPack", lambda ds: by_dlpack(ds, np))

    def test_as_tensors(self):
        if torch is None:
            self.skipTest("PyTorch is not installed")
        self.assert_owned("torch", lambda ds: ds.torch())
        self.assert_owned("torch by DLPack", lambda ds: by_dlpack(ds, torch))
        self.assert_owned("torch on a device", lambda ds: ds.torch("cpu"))
        self.assert_owned("keras, torch", lambda ds: ds.keras().get_torch_dataloader())

    def test_in_a_loaded_graph(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "graph.json")
            sk.Dataset.from_tensor_slices(FLOATS).batch(3).save_graph(path)
            ds = sk.load_graph(path)
            for _ in range(2):
                np.testing.assert_array_equal(np.concatenate([np.array(batch) for batch in ds]), FLOATS)
                self.assertEqual([overwrite(batch) for batch in ds], [1, 1, 1])

    def test_of_ragged_and_sparse_values(self):
        def ragged():
            return sk.Dataset.from_tensors(sk.RaggedTensor.from_row_splits(FLOATS.copy(), [0, 3, 8])).repeat(2)

        def sparse():
            return sk.Dataset.from_tensors(sk.SparseTensor([[0, 1], [2, 0]], np.ones(2, np.float32), [3, 3])).repeat(2)

        for make in (ragged, sparse):
            for read in (iter, lambda ds: ds.as_numpy_iterator(), lambda ds: (ds.at(i) for i in range(len(ds)))):
                with self.subTest(make.__name__):
                    ds, text = make(), str(list(read(make())))
                    for _ in range(2):
                        found = list(read(ds))
                        self.assertEqual(str(found), text)
                        for element in found:
                            self.assertGreater(overwrite(element), 0)


if __name__ == "__main__":
    unittest.main()
