"""Datasets from Python: values, structures, functions, errors, positions."""

import array
import gc
import inspect
import os
import pathlib
import pickle
import re
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings
import weakref

import numpy as np

import stoker as sk
from stoker._kept import Raised


def values(dataset):
    return [np.asarray(x).tolist() for x in dataset]


class Sources(unittest.TestCase):
    def test_range_has_the_three_forms_of_python(self):
        self.assertEqual(values(sk.Dataset.range(4)), [0, 1, 2, 3])
        self.assertEqual(values(sk.Dataset.range(2, 5)), [2, 3, 4])
        self.assertEqual(values(sk.Dataset.range(5, 0, -2)), [5, 3, 1])

    def test_elements_are_numpy_scalars(self):
        first = next(iter(sk.Dataset.range(3)))
        self.assertIsInstance(first, np.int64)

    def test_slices_keep_type_and_structure(self):
        images = np.arange(24, dtype=np.uint8).reshape(4, 3, 2)
        ds = sk.Dataset.from_tensor_slices(({"image": images, "name": np.array(["a", "b", "c", "d"])}, np.arange(4.0)))
        features, label = next(iter(ds))
        self.assertEqual(list(features), ["image", "name"])
        np.testing.assert_array_equal(features["image"], images[0])
        self.assertEqual(features["image"].dtype, np.uint8)
        self.assertEqual(features["name"], b"a")
        self.assertEqual(label.dtype, np.float64)

    def test_plain_numbers_become_tensorflows_types(self):
        whole, broken = next(iter(sk.Dataset.from_tensors((1, 2.5))))
        self.assertEqual((whole.dtype, broken.dtype), (np.int32, np.float32))

    def test_a_big_array_is_not_copied(self):
        array = np.zeros((1000, 1000))
        ds = sk.Dataset.from_tensor_slices(array)
        self.assertEqual(len(ds), 1000)
        del array
        gc.collect()
        self.assertEqual(float(next(iter(ds)).sum()), 0.0)

    def test_a_list_of_mixed_types_is_rejected_with_the_position(self):
        with self.assertRaisesRegex(sk.InvalidArgument, "item 1 is of type 'int'"):
            sk.Dataset.from_tensor_slices(np.array([b"a", 2], dtype=object))

    def test_arrays_of_other_layouts_come_as_they_read(self):
        array = np.arange(12).reshape(3, 4).T
        self.assertEqual(values(sk.Dataset.from_tensor_slices(array)), array.tolist())
        self.assertEqual(values(sk.Dataset.from_tensor_slices(np.arange(3).astype(">i4"))), [0, 1, 2])

    def test_a_generator_is_called_for_each_pass_and_closed(self):
        closed = []

        def numbers():
            try:
                yield from range(3)
            finally:
                closed.append(True)

        ds = sk.Dataset.from_generator(numbers, output_signature=sk.TensorSpec((), np.int32))
        self.assertEqual(values(ds), [0, 1, 2])
        self.assertEqual(values(ds), [0, 1, 2])
        del ds
        gc.collect()
        self.assertGreaterEqual(len(closed), 2)

    def test_a_generators_values_are_not_bent(self):
        ds = sk.Dataset.from_generator(lambda: [1, 1.5], output_signature=sk.TensorSpec((), np.int32))
        it = iter(ds)
        self.assertEqual(next(it), 1)
        with self.assertRaisesRegex(sk.InvalidArgument, "1.5"):
            next(it)

    def test_a_generator_continues_after_a_value_that_does_not_fit(self):
        ds = sk.Dataset.from_generator(lambda: [1, [2], 3], output_signature=sk.TensorSpec((), np.int32))
        self.assertEqual(values(ds.ignore_errors()), [1, 3])

    def test_a_generator_that_raised_has_ended(self):
        def numbers():
            yield 1
            raise ValueError("out of numbers")

        it = iter(sk.Dataset.from_generator(numbers, output_signature=sk.TensorSpec((), np.int32)))
        self.assertEqual(next(it), 1)
        self.assertRaisesRegex(sk.InvalidArgument, "out of numbers", next, it)
        self.assertRaises(StopIteration, next, it)

    def test_a_generators_signature_is_its_spec(self):
        def never():
            self.fail("nothing asked for elements")

        signature = {"b": sk.TensorSpec((None, 2), np.float32), "a": (sk.TensorSpec((), bytes), sk.TensorSpec(None, np.int64))}
        ds = sk.Dataset.from_generator(never, output_signature=signature)
        self.assertEqual(ds.element_spec, signature)
        self.assertEqual(ds.map(lambda x: x["b"] + 1).element_spec, signature["b"])

    def test_a_generator_owns_its_arguments(self):
        def numbers(start):
            start += 1
            yield start

        start = np.zeros(2, np.int64)
        ds = sk.Dataset.from_generator(numbers, args=(start,), output_signature=sk.TensorSpec((2,), "int64"))
        start[:] = 5
        self.assertEqual([[x.tolist() for x in ds] for _ in range(3)], [[[1, 1]]] * 3)

    def test_a_state_of_any_kind_can_be_reduced(self):
        first = (np.zeros(2), threading.Lock())
        total, lock = sk.Dataset.range(3).reduce(first, lambda state, x: (np.add(state[0], x, out=state[0]), state[1]))
        self.assertEqual((total.tolist(), first[0].tolist()), ([3, 3], [0, 0]))
        self.assertIs(lock, first[1])

    def test_zip_takes_dicts(self):
        numbers = sk.Dataset.range(2)
        pairs = sk.Dataset.zip({"b": numbers, "a": (numbers, numbers.batch(1))})
        self.assertEqual([(x["b"], x["a"][0], x["a"][1].tolist()) for x in pairs], [(0, 0, [0]), (1, 1, [1])])
        self.assertEqual(list(sk.Dataset.zip({"only": numbers.enumerate()})), [{"only": (0, 0)}, {"only": (1, 1)}])

    def test_only_its_methods_make_a_dataset(self):
        for given in (range(3), [1], sk.Dataset.range(1)):
            with self.assertRaisesRegex(TypeError, f"made of a {type(given).__name__} .*from_tensor_slices .*from_generator"):
                sk.Dataset(given)

    def test_slices_of_lists_with_rows_of_different_shapes_are_rejected_by_name(self):
        for tensors, place in (([[1, 2], [3]], "the argument"), ({"a": [1, 2], "b": [[1, 2], [3]]}, "component 'b'"),
                               (([1], {"c": [["x"], []]}), "component '1/c'")):
            with self.assertRaisesRegex(sk.InvalidArgument, f"{place} is a list with rows .*use from_generator"):
                sk.Dataset.from_tensor_slices(tensors)

    def test_sparse_and_ragged_values_are_not_sliced(self):
        ragged = sk.RaggedTensor.from_row_splits(np.arange(5), [0, 2, 5])
        sparse = sk.SparseTensor(np.array([[1]]), np.array([5]), np.array([3]))
        for tensors, words in ((ragged, r"the argument is a RaggedTensor, .*use to_tensor\(\)"),
                               ({"x": np.zeros(2), "r": ragged}, "component 'r' is a RaggedTensor"),
                               ((np.zeros(3), sparse), r"component '1' is a SparseTensor, .*use to_dense\(\)")):
            with self.assertRaisesRegex(sk.InvalidArgument, words):
                sk.Dataset.from_tensor_slices(tensors)
        self.assertEqual([row.tolist() for row in sk.from_sequence(ragged)], ragged.to_list())

    def test_pickling_names_the_other_ways(self):
        with self.assertRaisesRegex(TypeError, r"cannot be pickled; use ds.save_graph\(path\)"):
            pickle.dumps(sk.Dataset.range(3))

    def test_text_lines_and_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.txt")
            with open(path, "w") as file:
                file.write("one\ntwo\n")
            self.assertEqual(list(sk.data.TextLineDataset(path)), [b"one", b"two"])
            names = list(sk.Dataset.list_files(os.path.join(folder, "*.txt"), shuffle=False))
            self.assertEqual(names, [path.encode()])


class Maps(unittest.TestCase):
    def test_arithmetic_becomes_native(self):
        ds = sk.Dataset.range(4).map(lambda x: x * 2 + 1)
        self.assertEqual(values(ds), [1, 3, 5, 7])
        self.assertNotIn("Python", ds.explain())
        self.assertIn("multiply", ds.to_json())

    def test_tuples_are_unpacked_and_dicts_are_dicts(self):
        ds = sk.Dataset.from_tensor_slices((np.arange(3), np.arange(3) * 10))
        self.assertEqual(values(ds.map(lambda a, b: a + b)), [0, 11, 22])
        ds = sk.Dataset.from_tensor_slices({"a": np.arange(3), "b": np.arange(3) * 10})
        self.assertEqual(values(ds.map(lambda x: x["b"] - x["a"])), [0, 9, 18])
        self.assertNotIn("Python", ds.map(lambda x: x["b"] - x["a"]).explain())

    def test_the_component_of_a_tuple_of_one_is_passed_natively(self):
        one = sk.Dataset.from_generator(lambda: iter([(1,), (2,)]), output_signature=(sk.TensorSpec((), sk.int32),))
        for ds in (sk.Dataset.from_tensor_slices((np.array([1, 2]),)), one):
            for function, expected in ((lambda x: x + 1, [2, 3]), (lambda x: {"x": x}, [{"x": 1}, {"x": 2}]),
                                       (lambda x: (x,), [(1,), (2,)]), (lambda *columns: columns[0] * 3, [3, 6])):
                mapped = ds.map(function)
                self.assertEqual(list(mapped), expected)
                self.assertIn("[native]", mapped.explain())

    def test_a_condition_makes_a_python_stage(self):
        ds = sk.Dataset.range(4).map(lambda x: x if x > 1 else -x)
        self.assertEqual(values(ds), [0, -1, 2, 3])
        self.assertIn("Python", ds.explain())

    def test_a_function_with_side_effects_is_called_for_each_element(self):
        seen = []

        def noting(x):
            seen.append(1)
            return x + 1

        ds = sk.Dataset.range(3).map(noting)
        seen.clear()
        self.assertEqual(values(ds), [1, 2, 3])
        self.assertEqual(len(seen), 3)

    def test_indexing_is_native(self):
        array = np.arange(24).reshape(2, 3, 4)
        ds = sk.Dataset.from_tensor_slices(array)
        for name, fn in {
            "item": lambda x: x[1],
            "slice": lambda x: x[::-1, 1:3],
            "last": lambda x: x[..., -1],
            "new axis": lambda x: x[None],
        }.items():
            made = ds.map(fn)
            self.assertEqual(values(made), [fn(row).tolist() for row in array], name)
            self.assertNotIn("Python", made.explain(), name)

    def test_filter_takes_both_kinds(self):
        self.assertEqual(values(sk.Dataset.range(6).filter(lambda x: x % 2 == 0)), [0, 2, 4])
        self.assertEqual(values(sk.Dataset.range(6).filter(lambda x: int(x) in (1, 5))), [1, 5])

    def test_reductions_go_over_all_axes(self):
        ds = sk.Dataset.from_tensors(np.array([[1, 2], [3, 4]]))
        found = ds.map(lambda x: (sk.reduce_sum(x), sk.reduce_mean(x), sk.reduce_max(x), sk.reduce_min(x, keepdims=True)))
        self.assertEqual(found.get_single_element(), (10, 2.5, 4, 1))

    def test_an_index_out_of_range_does_not_end_the_iteration(self):
        ds = sk.Dataset.range(2).batch(2).map(lambda x: x[5])
        self.assertRaisesRegex(sk.InvalidArgument, "out of range for an axis of size 2", iter(ds).get_next)

    def test_nothing_shows_its_types_and_is_mapped_all_the_same(self):
        nothing = sk.Dataset.range(3).flat_map(lambda n: sk.Dataset.range(0))
        self.assertEqual(list(nothing.map(lambda x: x + 1).filter(lambda x: x > 1)), [])
        self.assertRaises(sk.FailedPrecondition, lambda: nothing.element_spec)

    def test_the_error_of_an_element_is_raised_in_its_turn(self):
        opened = sk.Dataset.range(2).flat_map(lambda n: sk.Dataset.range(3 // int(n)))
        it = iter(opened.map(lambda x: x + 1))
        self.assertRaises(sk.Unknown, next, it)
        self.assertEqual([int(x) for x in it], [1, 2, 3])

    def test_a_look_at_the_types_takes_no_pass(self):
        def shuffled():
            return sk.Dataset.range(20).shuffle(20, seed=1).flat_map(sk.Dataset.from_tensors)

        self.assertEqual(values(shuffled().map(lambda x: x + 0)), values(shuffled()))

    def test_an_error_survives_the_loader_that_it_drops(self):
        ds = sk.Dataset.from_generator(lambda: [None])  # closing what has no close() cleared it
        self.assertRaises(sk.Error, lambda: sk._core.Loader(ds._core, Raised()).next())

    def test_a_list_from_a_function_is_a_tuple(self):
        ds = sk.Dataset.range(2).map(lambda x: [int(x), float(x) / 2])
        self.assertEqual([tuple(map(float, e)) for e in ds], [(0.0, 0.0), (1.0, 0.5)])

    def test_flat_map_and_interleave_take_functions(self):
        self.assertEqual(values(sk.Dataset.range(3).flat_map(lambda n: sk.Dataset.range(int(n)))), [0, 0, 1])
        mixed = sk.Dataset.range(2).interleave(lambda n: sk.Dataset.from_tensors(n).repeat(2), cycle_length=2)
        self.assertEqual(values(mixed), [0, 1, 0, 1])


def noise(x):
    return sk.image.random_brightness(sk.cast(x, sk.float32), 0.4)


class Ends(unittest.TestCase):
    def test_batches_are_writable_and_aligned(self):
        batch = next(iter(sk.Dataset.range(100).batch(64)))
        self.assertTrue(batch.flags.writeable)
        self.assertEqual(batch.ctypes.data % 64, 0)
        batch += 1

    def test_lengths(self):
        self.assertEqual(len(sk.Dataset.range(10).batch(3)), 4)
        self.assertEqual(sk.Dataset.range(10).repeat().cardinality(), sk.INFINITE)
        with self.assertRaises(TypeError):
            len(sk.Dataset.range(10).filter(lambda x: x > 2))

    # Law: every element fits element_spec, also if the spec was found by computing the first element.
    def test_a_batch_of_unknown_types_has_any_number_of_rows(self):
        ds = sk.Dataset.range(5).map(lambda x: np.array([int(x)] * 3))
        for batches in (ds.batch(2), ds.batch(2).map(lambda x: x.copy() + 1), ds.batch(2).prefetch(1).take(9)):
            self.assertEqual(batches.element_spec, sk.TensorSpec((None, 3), np.int64))
            self.assertEqual({x.shape for x in batches}, {(2, 3), (1, 3)})
        self.assertEqual(ds.batch(2, drop_remainder=True).element_spec, sk.TensorSpec((2, 3), np.int64))
        self.assertEqual(ds.element_spec, sk.TensorSpec((3,), np.int64))

    def test_objects_print_what_they_are_without_computing_anything(self):
        def never(x):
            raise AssertionError("called")

        ds = sk.Dataset.range(4).batch(2)
        self.assertEqual(repr(ds), "<stoker.Dataset element_spec=sk.TensorSpec(shape=(None,), dtype=sk.int64)>")
        self.assertEqual(repr(iter(ds)), "<stoker.Iterator element_spec=sk.TensorSpec(shape=(None,), dtype=sk.int64)>")
        self.assertEqual(repr(sk.watch(ds)), f"<stoker.Watch of {ds!r}>")
        self.assertEqual(repr(sk.watch([1, 2])), "<stoker.Watch of a list>")
        self.assertEqual(repr(ds.map(never)), "<stoker.Dataset element_spec=unknown until an element is computed>")
        it = iter(ds)
        it.close()
        self.assertIn("stoker.Iterator", repr(it))

    def test_specs_print_so_that_they_can_be_pasted(self):
        spec = sk.Dataset.from_tensor_slices(np.zeros((4, 2), np.float32)).batch(2).element_spec
        self.assertEqual(spec, sk.TensorSpec((None, 2), np.float32))
        self.assertEqual(eval(repr(spec), {"sk": sk}), spec)

    def test_the_end_is_stop_iteration_or_out_of_range(self):
        it = iter(sk.Dataset.range(1))
        next(it)
        self.assertRaises(StopIteration, next, it)
        self.assertRaises(sk.OutOfRange, it.get_next)
        self.assertIs(sk.errors.OutOfRangeError, sk.OutOfRange)

    def test_epochs_are_shuffled_anew(self):
        ds = sk.Dataset.range(50).shuffle(50, seed=1)
        first, second = values(ds), values(ds)
        self.assertNotEqual(first, second)
        self.assertEqual(sorted(first), sorted(second))

    def test_a_restored_iterator_continues_at_the_saved_position(self):
        ds = sk.Dataset.range(100).shuffle(seed=3).batch(7)
        it = iter(ds)
        for _ in range(5):
            next(it)
        saved = it.save()
        self.assertIsInstance(saved, bytes)
        rest = [b.tolist() for b in it]
        fresh = iter(sk.Dataset.range(100).shuffle(seed=3).batch(7))
        fresh.restore(saved)
        self.assertEqual([b.tolist() for b in fresh], rest)
        it.restore(saved)  # also one that has ended
        self.assertEqual([b.tolist() for b in it], rest)

    def test_several_threads_share_an_iterator(self):
        it = iter(sk.Dataset.range(1000).map(lambda x: int(x)))
        found, lock = [], threading.Lock()

        def take():
            for x in it:
                with lock:
                    found.append(int(x))

        threads = [threading.Thread(target=take) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(found), list(range(1000)))

    def test_graphs_are_saved_and_loaded(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "g.json")
            sk.Dataset.range(10).map(lambda x: x * x).batch(4).save_graph(path)
            self.assertEqual(values(sk.load_graph(path)), [[0, 1, 4, 9], [16, 25, 36, 49], [64, 81]])

    def test_a_graph_that_cannot_be_written_leaves_the_old_file_and_no_other(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "g.json")
            sk.Dataset.range(3).save_graph(path)
            limits = resource.getrlimit(resource.RLIMIT_FSIZE)
            handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (20, limits[1]))
            try:
                with self.assertRaises(sk.Error) as caught:
                    sk.Dataset.range(4).save_graph(path)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, limits)
                signal.signal(signal.SIGXFSZ, handler)
            self.assertIn("cannot write", str(caught.exception))
            self.assertEqual(os.listdir(folder), ["g.json"])
            self.assertEqual(values(sk.load_graph(path)), [0, 1, 2])

    def test_a_graph_takes_the_place_of_files_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "pipe")
            os.mkfifo(path)  # as a device would be
            with self.assertRaises(sk.FailedPrecondition) as caught:
                sk.Dataset.range(4).save_graph(path)
            self.assertIn("expected the path of a file", str(caught.exception))
            self.assertTrue(stat.S_ISFIFO(os.stat(path).st_mode))
            with self.assertRaises(sk.FailedPrecondition):
                sk.Dataset.range(4).save_graph(folder)
            self.assertEqual(os.listdir(folder), ["pipe"])

    def test_a_saved_graph_keeps_the_seeds_that_were_drawn(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "g.json")
            ds = sk.Dataset.range(20).shuffle(20).map(noise).shuffle(5)
            ds.save_graph(path)
            self.assertEqual(values(sk.load_graph(path)), values(ds))

    def test_an_origin_replays_its_element(self):
        kept = sk.Dataset.range(20).shuffle(20).map(noise).filter(lambda x: x > 5.5).map(noise)

        def fail(x):
            raise ValueError(repr(float(x)))

        failing = iter(kept.map(fail))
        for _ in range(14):
            with self.assertRaises(sk.InvalidArgument) as caught:
                next(failing)
            origin = f"{caught.exception.source}:{caught.exception.position}"
            self.assertIn(repr(float(kept.replay(origin))), str(caught.exception))

    def test_a_position_out_of_range_is_rejected_with_the_range(self):
        ds = sk.Dataset.range(10)
        for call in (lambda: ds.replay("range:99"), lambda: ds.at(99)):
            with self.assertRaisesRegex(sk.OutOfRange, "expected a position from 0 to 9, because .* has 10 elements; got 99"):
                call()

    def test_an_argument_of_the_wrong_type_is_rejected_with_its_value(self):
        ds = sk.Dataset.range(10)
        for wrong in ("x", None, 1.5, 2**70):
            with self.assertRaisesRegex(sk.InvalidArgument, f"i: expected a whole number .*, got {wrong!r}"):
                ds.at(wrong)
        for wrong in (5, None, b"range:1"):
            with self.assertRaisesRegex(TypeError, f"expected an origin such as .*, got {wrong!r}"):
                ds.replay(wrong)
        with self.assertRaisesRegex(sk.InvalidArgument, "'at_most': expected a number, got a string"):
            ds.on_error("skip", at_most="x")
        self.assertEqual(len(list(ds.on_error("skip", at_most=np.float32(0.5)))), 10)

    def test_a_text_that_is_not_an_origin_is_rejected(self):
        ds = sk.Dataset.range(5)
        with self.assertRaisesRegex(sk.InvalidArgument, "source:position"):
            ds.replay("3")
        with self.assertRaisesRegex(sk.NotFound, "no source named 'train'"):
            ds.replay("train:3")
        with self.assertRaises(sk.OutOfRange):
            ds.replay("range:5")

    def test_saving_a_python_function_raises(self):
        with self.assertRaisesRegex(sk.FailedPrecondition, "map_func"):
            sk.Dataset.range(3).map(lambda x: int(x)).to_json()


class Shards(unittest.TestCase):
    """`shard` after a random order: the shards of several processes belong together only if all have the same seed."""

    def warnings_of(self, make):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            make()
        return [str(one.message) for one in told if one.filename == __file__]

    def test_a_shard_of_an_unseeded_order_is_warned_about(self):
        ds = sk.Dataset.range(10)
        files = sk.Dataset.list_files(__file__)
        for make in (lambda: ds.shuffle().shard(2, 0), lambda: ds.shuffle(4).map(lambda x: x + 1).batch(2).shard(2, 1),
                     lambda: ds.concatenate(ds.shuffle()).shard(3, 0), lambda: sk.Dataset.zip(ds, ds.shuffle()).shard(2, 0)):
            self.assertRegex("\n".join(self.warnings_of(make)), "^shard follows shuffle without a seed: .* call shard "
                             "before shuffle, or set the same seed in every process$")
        self.assertRegex(self.warnings_of(lambda: files.shard(2, 0))[0], "^shard follows list_files without a seed: .* pass "
                         "shuffle=False, or set the same seed")

    def test_other_shards_are_not_warned_about(self):
        ds = sk.Dataset.range(10)
        for make in (lambda: ds.shard(2, 0).shuffle(), lambda: ds.shuffle(seed=1).shard(2, 0), lambda: ds.shuffle().shard(1, 0),
                     lambda: sk.Dataset.list_files(__file__, shuffle=False).shard(2, 0),
                     lambda: sk.Dataset.list_files(__file__, seed=1).shard(2, 0)):
            self.assertEqual(self.warnings_of(make), [])

    def test_a_seed_of_the_process_orders_all_shards(self):
        program = ("import warnings, stoker as sk; warnings.simplefilter('error'); sk.random.set_seed(7); "
                   "print([int(x) for x in sk.Dataset.range(20).shuffle().shard(2, {})])")
        shards = [eval(subprocess.run([sys.executable, "-c", program.format(i)], check=True, capture_output=True,
                                      text=True).stdout) for i in (0, 1)]
        self.assertEqual(sorted(shards[0] + shards[1]), list(range(20)))


class HandOver(unittest.TestCase):
    @unittest.skipUnless(hasattr(np, "from_dlpack"), "NumPy has DLPack from 1.23 on")
    def test_others_take_batches_by_dlpack_without_a_copy(self):
        batch = next(iter(sk.Dataset.from_tensor_slices(np.ones((4, 3), np.float32)).batch(4)))
        taken = np.from_dlpack(batch)
        self.assertTrue(np.shares_memory(taken, batch))
        del batch
        self.assertEqual(taken.sum(), 12)


def names_in_the_guide(title):
    """Return the names that an entry of the list of what is not implemented contains."""
    text = (pathlib.Path(__file__).resolve().parents[2] / "docs/guide/differences_from_tfdata.md").read_text()
    names = re.findall(r"`(\w+)`", re.search(rf"\*\*{re.escape(title)}\*\*(.*?)\n- ", text, re.DOTALL).group(1))
    assert len(names) > 5, f"the guide lists {names}"
    return names


def methods_that_the_guide_lists_as_not_implemented():
    return names_in_the_guide("Dataset methods:")


class Tensor:
    """A tensor of another library, such as PyTorch or pandas: it has a type and gives NumPy its values."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return self.values if dtype is None else self.values.astype(dtype)

    def __len__(self):
        return len(self.values)


class TypesOfOthers(unittest.TestCase):
    """A value with a type of its own keeps it. Only Python's numbers become int32 and float32, as in TensorFlow."""

    VALUES = {
        "an int64 tensor": (Tensor(np.arange(3)), np.int64),
        "a float64 tensor": (Tensor(np.array([16777217.0, 2.0])), np.float64),
        "a list of arrays": ([np.arange(2), np.arange(2)], np.int64),
        "a list of float64": ([np.float64(16777217.0), np.float64(2)], np.float64),
        "a list of tensors": ([Tensor(np.ones(2)), Tensor(np.ones(2))], np.float64),
        "nested lists of float64": ([[np.float64(0.1)], [np.float64(0.2)]], np.float64),
        "an array of Python": (array.array("d", [16777217.0, 2.0]), np.float64),
        "a memory view": (memoryview(array.array("q", [1, 2])), np.int64),
        "integers of Python": ([1, 2], np.int32),
        "numbers of Python": ([1, 2.5], np.float32),
        "nested lists of Python": ([[1], [2]], np.int32),
        "a range": (range(3), np.int32),
        "integers of NumPy in a list, as in TensorFlow": ([np.int64(1), np.int64(2)], np.int32),
    }
    ENTRIES = {
        "constant": sk.constant,
        "convert_to_tensor": sk.convert_to_tensor,
        "from_tensors": lambda value: sk.Dataset.from_tensors(value).get_single_element(),
        "in a dict": lambda value: sk.Dataset.from_tensors({"a": value}).get_single_element()["a"],
        "from_tensor_slices": lambda value: next(iter(sk.Dataset.from_tensor_slices(value).batch(9))),
        "slices of a dict": lambda value: next(iter(sk.Dataset.from_tensor_slices({"a": value}).batch(9)))["a"],
        "from_generator": lambda value: next(iter(sk.Dataset.from_generator(lambda: iter([value])))),
        "concat": lambda value: sk.concat([value, value], axis=0),
    }

    def test_every_entry_point_keeps_them(self):
        for name, (value, dtype) in self.VALUES.items():
            for entry, enter in self.ENTRIES.items():
                with self.subTest(f"{name}, {entry}"):
                    found = enter(value)
                    self.assertEqual(found.dtype, dtype)
                    if entry not in ("concat",):
                        np.testing.assert_array_equal(found, np.asarray(value, dtype))


class Structures(unittest.TestCase):
    def test_a_dict_with_the_keys_of_a_ragged_or_sparse_value_remains_a_dict(self):
        for parts in ({"values": b"a", "row_splits": np.array([0, 1])}, {"values": (1, 2), "row_splits": np.array([0, 1])},
                      {"values": np.arange(2), "row_splits": (1, 2)}, {"values": np.arange(2), "row_splits": b"a"},
                      {"indices": b"", "values": np.zeros(1), "dense_shape": np.zeros(1, np.int64)},
                      {"indices": np.zeros((1, 1), np.int64), "values": (1,), "dense_shape": np.zeros(1, np.int64)}):
            for ds in (sk.Dataset.from_tensors(parts), sk.Dataset.range(1).map(lambda i, parts=parts: parts)):
                with self.subTest(str(parts)):
                    found = ds.get_single_element()
                    self.assertEqual((type(found), found.keys()), (dict, parts.keys()))
                    self.assertEqual(ds.element_spec.keys(), parts.keys())
        other_number_of_values = {"values": np.arange(2), "row_splits": np.array([0, 1])}  # the spec does not show it
        self.assertEqual(type(sk.Dataset.from_tensors(other_number_of_values).get_single_element()), dict)

    def test_every_text_is_a_key(self):
        rows = {key: np.arange(2) + i for i, key in enumerate(["a", "a\0b", "a\0c", "", "ü", "a/b"])}
        for ds in (sk.Dataset.from_tensor_slices(rows), sk.Dataset.range(2).map(lambda i: {k: rows[k][int(i)] for k in rows})):
            self.assertEqual(next(iter(ds)).keys(), rows.keys())
            self.assertEqual(list(ds)[1], {key: values[1] for key, values in rows.items()})

    def test_a_dict_with_the_keys_of_a_sparse_or_ragged_value_is_a_dict(self):
        for rows in ({"values": np.arange(4), "row_splits": np.arange(4)},
                     {"values": np.arange(8).reshape(4, 2), "row_splits": np.ones((4, 2))},
                     {"indices": np.arange(4), "values": np.arange(4), "dense_shape": np.arange(4)}):
            ds = sk.Dataset.from_tensor_slices(rows)
            self.assertEqual(type(next(iter(ds))), dict)
            self.assertEqual(type(ds.element_spec), dict)
            np.testing.assert_array_equal(list(ds.map(lambda row: row["values"])), rows["values"])

    def test_bfloat16_is_never_delivered_as_another_type(self):
        ds = sk.Dataset.from_tensor_slices(np.array([1, 1.00390625, 3.14159], np.float32))
        narrow = ds.map(lambda x: sk.cast(x, "bfloat16"))
        expected = [1.0, 1.0, 3.140625]
        self.assertEqual(list(narrow.map(lambda x: sk.cast(x, "float32"))), expected)
        self.assertEqual(list(ds.map(lambda x: sk.cast(sk.cast(x, "bfloat16"), "float32"))), expected)
        try:
            import ml_dtypes  # noqa: F401
        except ImportError:
            with self.assertRaisesRegex(sk.errors.Unimplemented, "ml_dtypes"):
                next(iter(narrow))
        else:
            self.assertEqual([float(x) for x in narrow], expected)


class ByName(unittest.TestCase):
    """Stages of the table are available without a method of their own."""

    def test_stages_take_their_parameters_by_name(self):
        first = sk.data.Dataset.range(9).__getattr__("take")
        self.assertEqual(list(first(count=2)), [0, 1])
        with self.assertRaisesRegex(sk.InvalidArgument, "no parameter named 'cuont'"):
            first(cuont=2)
        with self.assertRaisesRegex(AttributeError, "a dataset has no attribute 'tkae'; did you mean 'take'?"):
            sk.data.Dataset.range(9).tkae

    def test_only_public_names_are_suggested(self):
        for name in ("cor", "hooks", "kept", "_koccre", "samples"):
            for owner in (sk.Dataset, sk.Dataset.range(1)):
                with self.assertRaises(AttributeError) as caught:
                    getattr(owner, name)
                self.assertNotRegex(str(caught.exception), "did you mean '_")

    def test_the_error_for_a_method_of_tf_data_that_is_not_implemented_names_the_guide(self):
        for name in methods_that_the_guide_lists_as_not_implemented():
            for owner in (sk.Dataset, sk.Dataset.range(1)):
                with self.assertRaisesRegex(AttributeError, f"'{name}': Stoker does not implement .*Differences from tf.data"):
                    getattr(owner, name)

    def test_names_of_tensorflow_that_are_not_implemented_name_the_guide(self):
        for owner, names in ((sk, names_in_the_guide("Functions of `tf` itself:")), (sk.data, ["Options"])):
            for name in names:
                if not hasattr(owner, name):
                    with self.assertRaisesRegex(AttributeError, f"'{name}': Stoker does not .*Differences from tf.data"):
                        getattr(owner, name)
        with self.assertRaisesRegex(AttributeError, "'where': Stoker does not .*Differences from tf.data"):
            sk.Dataset.range(3).map(lambda x: sk.where(x > 1, x, 0))

    def test_a_name_of_a_module_that_does_not_exist_suggests_another(self):
        for owner, name, words in ((sk, "reduce_maxx", "module 'stoker' has no .* 'reduce_maxx'; did you mean 'reduce_max'"),
                                   (sk.data, "TFRecordDatset", "did you mean 'TFRecordDataset'"),
                                   (sk.data, "CsvDataset", "use sk.data.experimental.CsvDataset"), (sk, "qqq", "'qqq'$")):
            with self.assertRaisesRegex(AttributeError, words):
                getattr(owner, name)

    def test_dir_lists_every_attribute_once(self):
        for owner in (sk.Dataset, sk.Dataset.range(1)):
            names = dir(owner)
            self.assertEqual(len(names), len(set(names)))
            self.assertEqual([name for name in names if not hasattr(owner, name)], [])
            self.assertIn("padded_batch", methods_that_the_guide_lists_as_not_implemented())
            self.assertNotIn("padded_batch", names)

    def test_they_have_signatures_and_documentation(self):
        named = sk.Dataset.range(9).__getattr__("shard")
        self.assertEqual(str(inspect.signature(named)), "(*, num_shards, index, name=None)")
        self.assertIn("num_shards", named.__doc__)

    def test_sources_are_attributes_of_the_class_only(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("a\nb\n")
            file.flush()
            self.assertEqual(list(sk.Dataset.text_lines(filenames=[file.name])), [b"a", b"b"])
            with self.assertRaisesRegex(AttributeError, "text_lines is a source"):
                sk.Dataset.range(9).text_lines(filenames=[file.name])
        with self.assertRaisesRegex(AttributeError, "did you mean 'text_lines'?"):
            sk.Dataset.txt_lines

    def test_errors_outside_map_name_only_the_operation(self):
        with self.assertRaises(sk.NotFound) as caught:
            sk.io.read_file("/no/such/file")
        error = caught.exception
        self.assertTrue(str(error).startswith("read_file: cannot open /no/such/file"), error)
        self.assertEqual((error.stage, error.path, error.origin, error.position), ("read_file", "/no/such/file", None, None))
        with self.assertRaisesRegex(sk.InvalidArgument, "^decode_jpeg: .*got int32"):
            sk.io.decode_jpeg(3)

    def test_lists_may_be_tuples(self):
        self.assertEqual(sk.op("reshape", np.arange(4), shape=(2, 2)).shape, (2, 2))
        with self.assertRaisesRegex(sk.InvalidArgument, "got set"):
            sk.op("reshape", np.arange(4), shape={2})

    def test_the_error_for_an_unknown_operation_suggests_the_nearest(self):
        with self.assertRaisesRegex(sk.InvalidArgument, "no operation named 'absolut'; did you mean 'absolute'?"):
            sk.op("absolut", 3)

    def test_operations_work_inside_map_and_on_arrays(self):
        self.assertEqual(sk.op("absolute", np.float32(-3)), 3)
        self.assertEqual(list(sk.data.Dataset.range(-2, 1).map(lambda x: sk.op("absolute", x))), [2, 1, 0])


class Errors(unittest.TestCase):
    def test_a_size_that_is_not_a_whole_number_is_rejected(self):
        for wrong in (1.5, "3", np.float64(2.5), np.array(2.5)):
            with self.assertRaisesRegex(sk.InvalidArgument, "batch: 'batch_size': expected an integer") as caught:
                sk.Dataset.range(3).batch(wrong)
            self.assertEqual(caught.exception.stage, "batch")
        self.assertEqual(len(sk.Dataset.range(3).batch(np.array(2))), 2)

    def test_several_numbers_instead_of_one_are_rejected_by_the_parameters_name(self):
        for wrong in ((2, 2), np.arange(3), []):
            with self.assertRaisesRegex(sk.InvalidArgument, "batch: 'batch_size': expected an integer, got a list"):
                sk.Dataset.range(3).batch(wrong)

    def test_an_integer_of_more_than_64_bits_is_rejected_by_its_name(self):
        numbers = sk.Dataset.range(3)
        for name, call in {"batch_size": numbers.batch, "count": numbers.take, "buffer_size": numbers.shuffle,
                           "stop": sk.Dataset.range}.items():
            with self.assertRaisesRegex(sk.InvalidArgument, f"{name}: expected an integer of 64 bits"):
                call(2**64)

    def test_invalid_numbers_of_threads_are_rejected_by_their_name(self):
        for wrong in (-5, 0.5, True, "3"):
            with self.assertRaisesRegex(sk.InvalidArgument, "workers: expected"):
                sk.from_sequence([1, 2], workers=wrong)
            with self.assertRaisesRegex(sk.InvalidArgument, "num_parallel_reads: expected"):
                sk.data.TextLineDataset(["no such file"], num_parallel_reads=wrong)
        self.assertEqual([int(x) for x in sk.from_sequence([1, 2], workers=sk.AUTOTUNE)], [1, 2])

    def test_concatenate_takes_a_dataset(self):
        with self.assertRaisesRegex(TypeError, "expected a dataset, got int"):
            sk.Dataset.range(3).concatenate(5)

    def test_a_shuffle_that_does_not_fit_is_an_error_over_positions_too(self):
        budget = sk._core.memory_use()[2]
        self.addCleanup(lambda: sk.configure(memory_bytes=budget))
        sk.configure(memory_bytes=500)
        for ds in (sk.Dataset.range(20), sk.Dataset.from_tensor_slices(np.arange(20)), sk.Dataset.from_tensors(1).repeat(20)):
            for shuffled in (ds.shuffle(10), ds.shuffle(10).repeat(), ds.map(lambda x: x + 1).shuffle(10).batch(2)):
                with self.assertRaisesRegex(sk.ResourceExhausted, "shuffle"):
                    next(iter(shuffled))

    def test_datasets_that_a_function_opens_have_one_structure(self):
        def opened(x):
            return sk.Dataset.from_tensors({"x": 1.0} if x == 0 else {"x": 1.0, "weight": 7.0})

        it = iter(sk.Dataset.range(2).flat_map(opened).map(lambda d: d["x"] * d.get("weight", 1.0)))
        self.assertEqual(next(it), 1.0)
        with self.assertRaisesRegex(sk.InvalidArgument, "expected elements of the structure {'x': x}"):
            next(it)

    def test_keys_in_another_order_are_the_same_structure(self):
        def opened(x):
            return sk.Dataset.from_tensors({"x": 1, "y": 2} if x == 0 else {"y": 2, "x": 1})

        self.assertEqual(list(sk.Dataset.range(2).flat_map(opened)), [{"x": 1, "y": 2}] * 2)

    def test_types_that_do_not_fit_name_the_operation(self):
        with self.assertRaisesRegex(sk.InvalidArgument, "map, decode_jpeg: .* got int64"):
            sk.Dataset.range(3).map(sk.io.decode_jpeg)
        with self.assertRaisesRegex(sk.InvalidArgument, "size: expected two integers, a height and a width, got 2"):
            sk.image.resize(np.zeros((4, 4, 3)), 2)

    def test_shuffling_an_infinite_dataset_without_a_buffer_size_raises_at_the_call(self):
        for endless in (sk.Dataset.counter(), sk.Dataset.range(3).repeat()):
            with self.assertRaisesRegex(sk.InvalidArgument, "the input is infinite"):
                endless.shuffle()
            self.assertEqual(len(list(endless.shuffle(2).take(2))), 2)

    def test_restoring_something_else_than_a_checkpoint_raises(self):
        with self.assertRaisesRegex(sk.InvalidArgument, "this is not a Stoker checkpoint"):
            iter(sk.Dataset.range(3)).restore(b"junk")
        with self.assertRaisesRegex(TypeError, "got str"):
            iter(sk.Dataset.range(3)).restore("junk")

    def test_deterministic_without_num_parallel_calls_warns_at_the_call(self):
        numbers = sk.Dataset.range(3)
        for call in (lambda: numbers.map(lambda x: x, deterministic=False), lambda: numbers.batch(2, deterministic=True),
                     lambda: numbers.interleave(lambda x: numbers, deterministic=False)):
            with self.assertWarnsRegex(UserWarning, "`deterministic` has no effect") as caught:
                call()
            self.assertEqual(caught.filename, __file__)

    def test_a_wrong_argument_is_reported_with_its_line(self):
        with self.assertRaisesRegex(sk.InvalidArgument, "batch_size"):
            sk.Dataset.range(3).batch(0)
        self.assertTrue(issubclass(sk.InvalidArgument, ValueError))

    def test_an_exception_is_the_elements_own_and_keeps_its_cause(self):
        def fails_at_two(x):
            if x == 2:
                raise KeyError("two")
            return x

        it = iter(sk.Dataset.range(4).map(fails_at_two))
        self.assertEqual([int(next(it)), int(next(it))], [0, 1])
        with self.assertRaises(sk.Unknown) as caught:
            next(it)
        self.assertIsInstance(caught.exception.__cause__, KeyError)
        self.assertIsNotNone(caught.exception.__cause__.__traceback__)
        self.assertEqual(caught.exception.position, 2)
        self.assertEqual(caught.exception.source, "range")
        self.assertEqual(int(next(it)), 3)

    def test_stop_iteration_in_a_function_ends_nothing(self):
        def stops(x):
            if x == 1:
                raise StopIteration
            return x

        it = iter(sk.Dataset.range(3).map(stops))
        self.assertEqual(int(next(it)), 0)
        self.assertRaises(sk.InvalidArgument, next, it)
        self.assertEqual(int(next(it)), 2)

    def test_skipping_lists_the_skipped_elements(self):
        def fails(x):
            if x % 3 == 0:
                raise ValueError("no")
            return x

        it = iter(sk.Dataset.range(9).map(fails).on_error("skip"))
        self.assertEqual([int(x) for x in it], [1, 2, 4, 5, 7, 8])
        self.assertEqual([one.kind for one in it.skipped()], ["InvalidArgument"] * 3)

    def test_a_skipped_element_has_an_origin_a_kind_a_message_and_a_path(self):
        with tempfile.TemporaryDirectory() as folder:
            here, gone = os.path.join(folder, "here"), os.path.join(folder, "gone")
            pathlib.Path(here).write_text("text")
            ds = sk.Dataset.from_tensor_slices([here, gone]).map(sk.io.read_file)
            it = iter(ds.on_error("skip"))
            self.assertEqual(list(it), [b"text"])
            (skipped,) = it.skipped()
            self.assertIsInstance(skipped, sk.Skipped)
            self.assertEqual((skipped.origin, skipped.kind, skipped.path), ("from_tensor_slices:1", "NotFound", gone))
            self.assertEqual(skipped, (skipped.origin, skipped.kind, skipped.message, skipped.path))
            self.assertIn("cannot open", skipped.message)
            self.assertRaises(sk.NotFound, ds.replay, skipped.origin)

    # Law: len(ds) is the number of elements, or raises TypeError.
    def test_the_cardinality_is_unknown_if_elements_can_be_skipped(self):
        ds = sk.Dataset.range(4).map(lambda x: 6 // int(x), workers="thread")
        for skips in (ds.on_error("skip"), ds.on_error("skip", at_most=0.5).batch(2), ds.ignore_errors()):
            self.assertEqual(skips.cardinality(), sk.UNKNOWN)
            with self.assertRaisesRegex(TypeError, "length of the dataset is unknown"):
                len(skips)
            self.assertIsNone(skips.keras().num_batches)
        self.assertEqual(len(ds.on_error("raise")), 4)
        counted = ds.ignore_errors().assert_cardinality(3)
        self.assertEqual((len(counted), len(list(counted))), (3, 3))
        self.assertEqual(ds.repeat().on_error("skip").cardinality(), sk.INFINITE)
        with self.assertRaisesRegex(sk.InvalidArgument, "infinite"):
            ds.repeat().on_error("skip").shuffle()

    def test_skipped_errors_are_listed_and_keep_no_object_alive(self):
        class Local:
            pass

        for workers in ("thread", "serial"):
            with self.subTest(workers=workers):
                seen = []

                def fails(x):
                    local = Local()
                    seen.append(weakref.ref(local))
                    if int(x) % 4:
                        raise ValueError("bad element")
                    return int(x)

                it = iter(sk.Dataset.range(40).map(fails, num_parallel_calls=2, workers=workers).on_error("skip"))
                self.assertEqual([int(x) for x in it], list(range(0, 40, 4)))
                gc.collect()
                self.assertEqual(len(seen), 40)
                self.assertEqual([ref for ref in seen if ref() is not None], [])
                self.assertEqual([one.kind for one in it.skipped()], ["InvalidArgument"] * 30)
                self.assertIn("bad element", it.skipped()[0].message)

    def test_a_function_that_returns_none_is_an_error(self):
        with self.assertRaisesRegex(sk.InvalidArgument, "None"):
            next(iter(sk.Dataset.range(2).map(lambda x: print(end=""))))


class Settings(unittest.TestCase):
    def in_a_process(self, code, **variables):
        environment = {**os.environ, **variables}
        done = subprocess.run([sys.executable, "-B", "-c", "import stoker as sk\n" + code], env=environment,
                              capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout.strip(), done.stderr

    def test_sizes_take_units(self):
        for text, found in (("64M", 64 << 20), ("1.5GiB", 3 << 29), (100000, 100000)):
            code = f"sk.configure(memory_bytes={text!r}); print(sk._core.memory_use()[2])"
            self.assertEqual(self.in_a_process(code)[:2], (0, str(found)))
        self.assertEqual(self.in_a_process("print(sk._core.memory_use()[2])", STOKER_MEMORY="64M")[:2], (0, str(64 << 20)))

    def test_workers_may_be_autotune(self):
        code = "sk.configure(workers=sk.AUTOTUNE)\n" \
               "print(sum(int(x) for x in sk.Dataset.range(10).map(lambda x: int(x) + 1, workers='thread')))"
        self.assertEqual(self.in_a_process(code)[:2], (0, "55"))

    def test_invalid_values_raise_and_change_nothing(self):
        before = sk._core.memory_use()[2]
        for wrong in ({"workers": -2}, {"workers": 5000}, {"memory_bytes": 0}, {"memory_bytes": -1},
                      {"memory_bytes": "64Q"}, {"memory_bytes": ""}, {"workers": 10**12}, {"workers": True}, {"workers": 1.5},
                      {"workers": "4x"}, {"memory_bytes": True}, {"memory_bytes": 1e9}, {"memory_bytes": 2**63}):
            with self.subTest(**wrong), self.assertRaisesRegex(sk.InvalidArgument, "expected"):
                sk.configure(**wrong)
        self.assertEqual(sk._core.memory_use()[2], before)

    def test_a_wrong_variable_raises_at_first_use(self):
        uses = ("next(iter(sk.Dataset.range(3)))", "list(sk.Dataset.range(3).map(lambda x: str(x)).batch(2))",
                "sk.configure(workers=1)")
        for name, value in (("STOKER_MEMORY", "64Q"), ("STOKER_WORKERS", "4x"), ("STOKER_MAP", "maybe")):
            for use in uses:
                with self.subTest(name=name, use=use):
                    status, _, errors = self.in_a_process(use, **{name: value})
                    self.assertEqual(status, 1, errors)
                    self.assertIn("InvalidArgument", errors)
                    self.assertIn(f"the environment variable {name}: '{value}' is not", errors)


if __name__ == "__main__":
    unittest.main()
