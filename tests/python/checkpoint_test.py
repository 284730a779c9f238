"""Which datasets a checkpoint fits, and what a new process continues with."""

import functools
import io
import json
import os
import pickle
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

import numpy as np

import stoker as sk

INT64 = sk.TensorSpec((), "int64")


def saved(dataset, count=2):
    it = iter(dataset)
    for _ in range(count):
        next(it)
    return it.save()


def restored(dataset, checkpoint):
    it = iter(dataset)
    it.restore(checkpoint)
    return it


def rest(it):
    return [np.asarray(value).tolist() for value in it]


class OtherGraphs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        with open(self.path("a.jsonl"), "w") as file:
            file.writelines(json.dumps({"a": i, "b": -i}) + "\n" for i in range(9))
        with open(self.path("a.csv"), "w") as file:
            file.writelines(f"{i},{-i};7\n" for i in range(9))
        with tarfile.open(self.path("a.tar"), "w") as file:
            for n in range(9):
                for extension in ("x", "y"):
                    member = tarfile.TarInfo(f"{n:05d}.{extension}")
                    member.size = 1
                    file.addfile(member, io.BytesIO(b"%d" % n))

    def path(self, name):
        return os.path.join(self.folder, name)

    def assert_refused(self, made, other, named):
        restored(made(), saved(made()))  # the same dataset, built again
        with self.assertRaises(sk.errors.FailedPrecondition) as raised:
            restored(other(), saved(made()))
        self.assertIn(named, str(raised.exception))

    def test_an_empty_or_cut_checkpoint_is_described(self):
        it = iter(sk.Dataset.range(3).shuffle(2, seed=1))
        next(it)
        state = it.save()
        for size, words in ((0, "the checkpoint is empty"), (1, "cut short at byte 1"), (9, "cut short at byte 9"),
                            (len(state) - 1, f"cut short at byte {len(state) - 1}")):
            with self.assertRaisesRegex(sk.InvalidArgument, f"{words}; use an earlier checkpoint"):
                it.restore(state[:size])
        it.restore(state)

    def test_parameters_of_sources_of_files_are_compared(self):
        def jsonl(features):
            return lambda: sk.data.JsonLinesDataset(self.path("a.jsonl"), features)

        def csv(*defaults, **options):
            return lambda: sk.data.experimental.CsvDataset(self.path("a.csv"), list(defaults), **options)

        def tar(*components):
            return lambda: sk.data.WebDataset(self.path("a.tar"), components=list(components))

        self.assert_refused(jsonl({"a": INT64}), jsonl({"b": INT64}), "names")
        self.assert_refused(jsonl({"a": INT64}), jsonl({"a": sk.TensorSpec((), "float32")}), "float32")
        self.assert_refused(csv(b"", b""), csv(b"", b"", field_delim=";"), "field_delim")
        self.assert_refused(csv(np.int64(0), b""), csv(np.int64(0), b"", na_value="3"), "na_value")
        self.assert_refused(csv(np.int64(0), b""), csv(b"", b""), "record_defaults")
        self.assert_refused(tar("x"), tar("y"), "components")

    def test_the_folder_of_files_is_not_compared(self):
        checkpoint = saved(sk.data.JsonLinesDataset(self.path("a.jsonl"), {"a": INT64}))
        with tempfile.TemporaryDirectory() as other:
            shutil.copy(self.path("a.jsonl"), other)
            it = restored(sk.data.JsonLinesDataset(os.path.join(other, "a.jsonl"), {"a": INT64}), checkpoint)
            self.assertEqual(int(next(it)["a"]), 2)

    def test_functions_are_compared(self):
        def mapped(function):
            return lambda: sk.Dataset.range(9).map(function, workers="thread")

        def opened(function):
            return lambda: sk.Dataset.range(9).flat_map(function)

        def scaled(factor):
            return lambda x: int(x) * factor

        def generated(stop):
            return lambda: sk.Dataset.from_generator(lambda: iter(range(stop)), output_signature=INT64)

        self.assert_refused(mapped(lambda x: int(x)), mapped(lambda x: -int(x)), "code")
        self.assert_refused(mapped(lambda x: [y for y in [int(x) + 1]]), mapped(lambda x: [y for y in [int(x) + 2]]), "code")
        self.assert_refused(mapped(scaled(2)), mapped(scaled(3)), "factor=2")
        self.assert_refused(mapped(lambda x, n=2: int(x) * n), mapped(lambda x, n=3: int(x) * n), "n=2")
        self.assert_refused(mapped(functools.partial(pow, 2)), mapped(functools.partial(max, 2)), "builtins.max")
        self.assert_refused(mapped(functools.partial(pow, 2)), mapped(functools.partial(pow, 3)), "0=2")
        self.assert_refused(mapped(functools.partial(scaled(2))), mapped(functools.partial(scaled(3))), "factor=3")
        self.assert_refused(opened(lambda x: sk.Dataset.range(3)), opened(lambda x: sk.Dataset.range(5)), "flat_map")
        self.assert_refused(generated(9), generated(8), "stop=9")

    def test_values_that_differ_between_processes_are_omitted(self):
        def mapped(value):
            return sk.Dataset.range(9).map(lambda x: (int(x), value)[0], workers="thread")

        for before, after in ((object(), object()), ("/data/a", "/mnt/b"), (np.zeros(3), np.ones(3)), ([1], [2])):
            self.assertEqual(rest(restored(mapped(after), saved(mapped(before))))[0], 2)

    def test_captured_datasets_are_compared(self):
        def opened(inner):
            return lambda: sk.Dataset.range(3).flat_map(lambda x: inner)

        self.assert_refused(opened(sk.Dataset.range(4)), opened(sk.Dataset.range(5)), "range")


SHARED = sk.Dataset.range(6).shuffle(6)


class Opener:
    def __init__(self):
        self.inner = sk.Dataset.range(6).shuffle(6)
        self.other = None

    def open(self, x):
        return self.inner.take(5)


def noise(x):
    return sk.reshape(sk.image.random_brightness(sk.reshape(sk.cast(x, sk.float32), (1, 1, 1)), 1000.0), ())


def noisy(n):
    return sk.Dataset.range(n).map(noise)


def sharing(kind):
    """Datasets whose children share a random dataset that was made before them."""
    if kind == "closure":
        inner = sk.Dataset.range(6).shuffle(6)
        return sk.Dataset.range(4).flat_map(lambda x: inner)
    if kind == "default":
        return sk.Dataset.range(4).flat_map(lambda x, inner=sk.Dataset.range(6).shuffle(6): inner)
    if kind == "partial":
        return sk.Dataset.range(4).flat_map(functools.partial(lambda inner, x: inner, noisy(6)))
    if kind == "global":
        return sk.Dataset.range(4).interleave(lambda x: SHARED, cycle_length=2)
    if kind == "attribute":
        return sk.Dataset.range(4).flat_map(Opener().open)
    if kind == "list":
        inner = [noisy(6), sk.Dataset.range(5).shuffle(5)]
        return sk.Dataset.range(4).flat_map(lambda x: inner[int(x) % 2])
    if kind == "nested":
        inner = sk.Dataset.range(3).shuffle(3)
        return sk.Dataset.range(4).flat_map(lambda x: sk.Dataset.range(2).flat_map(lambda y: inner))
    if kind == "cache":
        inner = noisy(6).cache()
        return sk.Dataset.range(4).interleave(lambda x: inner, cycle_length=3)
    if kind == "filtered cache":
        inner = noisy(6).filter(lambda x: x != 0).cache()
        return sk.Dataset.range(4).flat_map(lambda x: inner)
    if kind == "cache of its own":
        return sk.Dataset.range(4).flat_map(lambda x: noisy(6).cache())
    raise ValueError(kind)


KINDS = ("closure", "default", "partial", "global", "attribute", "list", "nested", "cache", "filtered cache",
         "cache of its own")


class FunctionsDuringARestore(unittest.TestCase):
    """A restore opens the current dataset of flat_map again, which calls its function."""

    def dataset(self, call):
        def opened(x):
            call()
            return sk.Dataset.range(1_000_000)

        return sk.Dataset.range(5).flat_map(opened)

    def saved_inside(self, it):
        """Return a checkpoint that refers to an open dataset. It does after the next entry of the log."""
        while b'"slots"' not in (checkpoint := it.save()):
            next(it)
        return checkpoint

    def test_an_exception_is_the_cause_of_the_error(self):
        fails = []

        def call():
            if fails:
                raise KeyError("gone")

        it = iter(self.dataset(call))
        checkpoint = self.saved_inside(it)
        fails.append(True)
        with self.assertRaises(sk.Error) as raised:
            it.restore(checkpoint)
        self.assertIsInstance(raised.exception.__cause__, KeyError)

    def test_they_cannot_read_the_iterator(self):
        restoring, messages = [], []

        def call():
            if restoring:
                try:
                    messages.append(f"got {next(restoring[0])}")
                except sk.FailedPrecondition as error:
                    messages.append(str(error))

        it = iter(self.dataset(call))
        checkpoint = self.saved_inside(it)
        restoring.append(it)
        it.restore(checkpoint)
        restoring.clear()
        self.assertTrue(messages)
        for message in messages:
            self.assertIn("next() was called by a function", message)


class GeneratorsThatChanged(unittest.TestCase):
    """A restored iterator returns the rest of the elements, or an error: never fewer elements and a normal end."""

    TAILS = {
        "alone": lambda ds: ds,
        "map": lambda ds: ds.map(lambda x: x + 1),
        "filter": lambda ds: ds.filter(lambda x: x >= 0),
        "batch": lambda ds: ds.batch(4),
        "filtered batch": lambda ds: ds.filter(lambda x: x % 5 != 4).batch(3),
        "shuffle": lambda ds: ds.shuffle(8, seed=1),
        "repeat": lambda ds: ds.repeat(2),
        "enumerate": lambda ds: ds.enumerate(),
        "take": lambda ds: ds.skip(3).take(60),
        "flat_map": lambda ds: sk.Dataset.range(1).flat_map(lambda _: ds),
        "zip": lambda ds: sk.Dataset.zip((ds, sk.Dataset.range(1000))),
        "concatenate": lambda ds: sk.Dataset.from_tensors(np.int64(0)).concatenate(ds),
        "python": lambda ds: ds.map(lambda x: x + 1, workers="thread"),
    }

    def errors_after_restore(self, tail, end):
        """Return the errors of an iterator whose generator calls `end` at its sixth element when it runs again."""
        runs = []

        def numbers():
            runs.append(None)
            for i in range(100):
                if len(runs) > 1 and i == 5:
                    end()
                    return
                yield i

        ds = tail(sk.Dataset.from_generator(numbers, output_signature=INT64))
        it = restored(ds, saved(ds, 15))
        errors = []
        while True:
            try:
                next(it)
            except sk.Error as error:
                errors.append(error)
            except StopIteration:
                return errors

    def test_the_error_of_a_generator_is_raised(self):
        def fail():
            raise ConnectionError("the network is down")

        for name, tail in self.TAILS.items():
            with self.subTest(name):
                found = [error for error in self.errors_after_restore(tail, fail)
                         if isinstance(error.__cause__, ConnectionError)]
                self.assertIn(len(found), (1, 2) if name == "repeat" else (1,), found)  # once in each pass

    def test_a_generator_that_ends_earlier_is_an_error(self):
        for name, tail in self.TAILS.items():
            with self.subTest(name):
                found = self.errors_after_restore(tail, lambda: None)
                self.assertTrue(any("before the position of the checkpoint" in str(error) for error in found), found)

    def test_a_generator_that_ends_the_program_ends_it(self):
        for name, tail in self.TAILS.items():
            with self.subTest(name), self.assertRaises(SystemExit):
                self.errors_after_restore(tail, sys.exit)


class SharedDatasets(unittest.TestCase):
    def test_a_new_process_continues_with_their_seeds(self):
        checkpoints, expected = {}, {}
        for kind in KINDS:
            it = iter(sharing(kind))
            for _ in range(9):
                next(it)
            checkpoints[kind] = it.save()
            expected[kind] = rest(it)
        ran = subprocess.run([sys.executable, "-B", __file__, "rest"], input=pickle.dumps(checkpoints), capture_output=True)
        self.assertEqual(ran.returncode, 0, ran.stderr.decode())
        self.assertEqual(pickle.loads(ran.stdout), expected)

    def test_a_shared_cache_of_random_elements_is_the_same_with_any_number_of_workers(self):
        self.addCleanup(sk.configure, workers=sk.AUTOTUNE)

        def all_of(kind, workers):
            sk.configure(workers=workers)
            sk.random.set_seed(3)
            return rest(iter(sharing(kind)))

        for kind in ("cache", "filtered cache", "cache of its own"):
            expected = all_of(kind, 0)
            self.assertGreater(len(expected), 12, kind)
            for workers in (1, 2, 15):
                self.assertEqual(all_of(kind, workers), expected, kind)

    def test_children_have_one_content_of_a_shared_cache_and_each_its_own_of_another(self):
        shared, own = rest(iter(sharing("filtered cache"))), rest(iter(sharing("cache of its own")))
        self.assertEqual(shared[:6], shared[6:12])
        self.assertNotEqual(own[:6], own[6:12])


if __name__ == "__main__":
    if sys.argv[1:] == ["rest"]:
        read = pickle.load(sys.stdin.buffer)
        sys.stdout.buffer.write(pickle.dumps({kind: rest(restored(sharing(kind), read[kind])) for kind in KINDS}))
    else:
        unittest.main()
