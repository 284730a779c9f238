"""Functions that fail, and a system without resources: loading continues, and the caller gets complete exceptions."""

import gc
import logging
import operator
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
import weakref

import numpy as np

import stoker as sk
from waiting import comes_true


def run(program, *arguments, env=None, timeout=60):
    return subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=timeout,
                          env={**os.environ, **(env or {})})


class Chained(unittest.TestCase):
    """The exception of a function is the cause of the error that the caller gets, with its own causes."""

    def raised(self, function):
        with self.assertRaises(sk.InvalidArgument) as caught:
            next(iter(sk.Dataset.range(3).map(function, workers="thread")))
        return caught.exception.__cause__

    def test_a_cause_is_kept(self):
        inner = KeyError("inner")

        def function(x):
            try:
                raise inner
            except KeyError as error:
                raise ValueError("outer") from error

        cause = self.raised(function)
        self.assertEqual((type(cause), str(cause)), (ValueError, "outer"))
        self.assertIs(cause.__cause__, inner)
        self.assertTrue(cause.__suppress_context__)

    def test_a_context_is_kept(self):
        inner = KeyError("inner")

        def function(x):
            try:
                raise inner
            except KeyError:
                raise ValueError("outer")

        cause = self.raised(function)
        self.assertIsNone(cause.__cause__)
        self.assertIs(cause.__context__, inner)

    def test_the_traceback_leads_to_the_line_of_the_function(self):
        def function(x):
            raise ValueError("here")

        trace = self.raised(function).__traceback__
        while trace.tb_next is not None:
            trace = trace.tb_next
        self.assertIs(trace.tb_frame.f_code, function.__code__)

    def test_an_error_of_a_dataset_inside_a_function_is_kept(self):
        def inner(x):
            raise ValueError("inside")

        def outer(x):
            return next(iter(sk.Dataset.range(1).map(inner, workers="thread")))

        cause = self.raised(outer)
        self.assertIsInstance(cause, sk.InvalidArgument)
        self.assertEqual((type(cause.__cause__), str(cause.__cause__)), (ValueError, "inside"))


class UsedAgain(unittest.TestCase):
    """A dataset that failed can be iterated over again, and an iterator continues after its error."""

    def test_after_an_error_of_one_element(self):
        def function(x):
            if x == 1:
                raise ValueError("one")
            return int(x)

        ds = sk.Dataset.range(4).map(function, workers="thread")
        for _ in range(3):
            it = iter(ds)
            self.assertEqual(int(next(it)), 0)
            with self.assertRaises(sk.InvalidArgument):
                next(it)
            self.assertEqual([int(x) for x in it], [2, 3])
            self.assertEqual(list(it), [])

    def test_after_an_error_that_every_element_has(self):
        fails = True

        def function(x):
            if fails:
                raise ValueError("all")
            return int(x)

        ds = sk.Dataset.range(3).map(function, workers="thread")
        it = iter(ds)
        for _ in range(3):
            with self.assertRaises(sk.InvalidArgument):
                next(it)
        self.assertEqual(list(it), [])
        del it
        fails = False
        self.assertEqual([int(x) for x in ds], [0, 1, 2])

    def test_after_a_file_was_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "lines.txt")
            ds = sk.Dataset.text_lines(filenames=[path])
            for _ in range(2):
                with self.assertRaises(sk.NotFound):
                    next(iter(ds))
            with open(path, "w") as file:
                file.write("a\nb\n")
            self.assertEqual(list(ds), [b"a", b"b"])

    def test_after_its_generator_raised(self):
        attempts = []

        def generate():
            attempts.append(1)
            yield 0
            if len(attempts) == 1:
                raise ValueError("the first time")
            yield 1

        ds = sk.Dataset.from_generator(generate, output_signature=sk.TensorSpec((), "int64"))
        it = iter(ds)
        self.assertEqual(int(next(it)), 0)
        with self.assertRaises(sk.InvalidArgument):
            next(it)
        self.assertEqual(list(it), [])
        self.assertEqual([int(x) for x in ds], [0, 1])

    def test_after_the_error_in_another_thread(self):
        def function(x):
            if x == 1:
                raise ValueError("one")
            return int(x)

        ds = sk.Dataset.range(4).map(function, workers="thread")
        seen = []

        def read():
            it = iter(ds)
            seen.append(int(next(it)))
            try:
                next(it)
            except sk.InvalidArgument as error:
                seen.append(str(error.__cause__))

        thread = threading.Thread(target=read)
        thread.start()
        thread.join()
        self.assertEqual(seen, [0, "one"])
        with self.assertLogs("stoker", logging.WARNING):
            self.assertEqual([int(x) for x in ds.on_error("skip")], [0, 2, 3])


class RaisesWhenDeleted:
    def __del__(self):
        raise ValueError("from __del__")


class Leftovers(unittest.TestCase):
    """What a function leaves behind does not affect loading."""

    def setUp(self):
        self.unraisable = []
        self.addCleanup(setattr, sys, "unraisablehook", sys.unraisablehook)
        sys.unraisablehook = lambda found: self.unraisable.append(str(found.exc_value))

    def assert_unraisable(self, wanted):
        """A thread of the engine may release the last reference to an object."""
        comes_true(lambda: len(self.unraisable) >= len(wanted))
        self.assertEqual(self.unraisable, wanted)

    def test_an_object_whose_del_raises(self):
        def function(x):
            RaisesWhenDeleted()
            return int(x)

        self.assertEqual([int(x) for x in sk.Dataset.range(5).map(function, workers="thread")], [0, 1, 2, 3, 4])
        self.assert_unraisable(["from __del__"] * 5)

    def test_an_object_whose_del_raises_in_the_frame_of_an_exception(self):
        def function(x):
            local = RaisesWhenDeleted()
            raise LookupError(type(local).__name__)

        it = iter(sk.Dataset.range(3).map(function, workers="thread"))
        for _ in range(3):
            with self.assertRaises(sk.Error) as caught:
                next(it)
            self.assertIsInstance(caught.exception.__cause__, LookupError)
        self.assertEqual(list(it), [])
        del it, caught
        gc.collect()
        self.assert_unraisable(["from __del__"] * 3)

    def test_an_object_whose_del_raises_beside_a_function_that_is_dropped(self):
        held = RaisesWhenDeleted()

        def function(x, held=held):
            return int(x)

        ds = sk.Dataset.range(3).map(function, workers="thread")
        self.assertEqual([int(x) for x in ds], [0, 1, 2])
        del ds, function, held
        gc.collect()
        self.assert_unraisable(["from __del__"])

    def test_threads_that_outlive_the_call(self):
        go_on, threads, seen = threading.Event(), [], []

        def later(x):
            go_on.wait()
            seen.append(x)

        def function(x):
            threads.append(threading.Thread(target=later, args=(int(x),)))
            threads[-1].start()
            return int(x)

        ds = sk.Dataset.range(5).map(function, num_parallel_calls=2, workers="thread")
        self.assertEqual([int(x) for x in ds], [0, 1, 2, 3, 4])
        del ds
        gc.collect()
        self.assertEqual(seen, [])
        go_on.set()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(seen), [0, 1, 2, 3, 4])

    def test_threads_that_iterate_after_the_call(self):
        go_on, threads, seen = threading.Event(), [], []

        def later():
            go_on.wait()
            seen.append(sum(int(x) for x in sk.Dataset.range(4).map(int, workers="thread")))

        def function(x):
            threads.append(threading.Thread(target=later))
            threads[-1].start()
            return int(x)

        self.assertEqual([int(x) for x in sk.Dataset.range(3).map(function, workers="thread")], [0, 1, 2])
        go_on.set()
        for thread in threads:
            thread.join()
        self.assertEqual(seen, [6, 6, 6])


# Functions that never return, more than there are workers, are left behind; then files are read.
LEFT_BEHIND = """
import gc, os, sys, threading, stoker as sk
sk.configure(workers=2)
begun = threading.Semaphore(0)

def stuck_loader():
    def function(x):
        if x > 0:
            begun.release()
            threading.Event().wait()
        return int(x)
    it = iter(sk.Dataset.range(10).map(function, num_parallel_calls=4, workers="thread").prefetch(8))
    next(it)
    begun.acquire()

for _ in range(int(sys.argv[1])):
    stuck_loader()
gc.collect()
paths = sys.argv[2:]
print(len(list(sk.Dataset.text_lines(filenames=paths))))
print(sum(len(x) for x in sk.Dataset.from_tensor_slices(paths).map(lambda path: sk.io.read_file(path))))
print(sum(int(n) for n in sk.Dataset.from_tensor_slices(paths).map(lambda path: len(open(path).read()), workers="thread")))
print(len(list(sk.Dataset.from_tensor_slices(paths).interleave(lambda path: sk.Dataset.text_lines(filenames=[path])))),
      flush=True)
os._exit(0)
"""


class LeftBehind(unittest.TestCase):
    def test_calls_that_never_return_do_not_hold_up_a_loader_that_reads_files(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, f"{i}.txt") for i in range(8)]
            for path in paths:
                with open(path, "w") as file:
                    file.write("line\n" * 100)
            for loaders in (1, 5, 80):
                with self.subTest(loaders=loaders):
                    done = run(LEFT_BEHIND, str(loaders), *paths)
                    self.assertEqual((done.returncode, done.stdout), (0, "800\n4000\n4000\n800\n"), done.stderr)


class Blocks(logging.Handler):
    def __init__(self):
        super().__init__()
        self.entered, self.go_on = threading.Event(), threading.Event()

    def emit(self, record):
        self.entered.set()
        self.go_on.wait()


class Logging(unittest.TestCase):
    def test_a_handler_that_blocks_does_not_stop_the_loading_in_other_threads(self):
        handler = Blocks()
        log = logging.getLogger("stoker")
        log.addHandler(handler)
        self.addCleanup(log.removeHandler, handler)
        ds = sk.Dataset.range(100)

        def drop_many():  # which is logged
            for _ in range(30):
                next(iter(ds))

        dropping = threading.Thread(target=drop_many)
        dropping.start()
        self.addCleanup(dropping.join)
        self.addCleanup(handler.go_on.set)
        handler.entered.wait()
        for other in (ds, ds.map(lambda x: x + 1), ds.map(int, workers="thread"), ds.shuffle(10).batch(4).unbatch()):
            self.assertEqual(len(list(other)), 100)


# pthread_create() fails after MOST_THREADS calls, and prints that it did.
FEW_THREADS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  static int made;
  if (__sync_add_and_fetch(&made, 1) > atoi(getenv("MOST_THREADS")))
    return write(2, "refused\n", 8) == 8 ? EAGAIN : EPERM;
  return ((__typeof__(&pthread_create))dlsym(RTLD_NEXT, "pthread_create"))(thread, attributes, start, argument);
}
"""
COMPILER = shutil.which("cc")

# Several iterators at once, read in turns.
MANY_LOADERS = """
import stoker as sk, sys
sk.configure(workers=4)
def inner(x):
    return sum(int(y) for y in sk.Dataset.range(4).map(lambda y: int(y), workers="thread"))
numbers = sk.Dataset.range(50)
datasets = {
    "native": numbers.map(lambda x: x + 1),
    "function": numbers.map(lambda x: int(x) + 1, num_parallel_calls=8, workers="thread"),
    "shuffled": numbers.shuffle(10).batch(5).prefetch(4).unbatch(),
    "files": sk.Dataset.from_tensor_slices([sys.argv[1]] * 50).map(lambda path: sk.io.read_file(path)),
    "lines": sk.Dataset.text_lines(filenames=[sys.argv[1]] * 50),
    "nested": numbers.map(inner, num_parallel_calls=4, workers="thread"),
    "interleaved": sk.Dataset.range(5).interleave(lambda x: sk.Dataset.range(10), cycle_length=3, num_parallel_calls=2),
}
for epoch in range(2):
    open_ones = {name: iter(ds) for name, ds in datasets.items()}
    counts = dict.fromkeys(open_ones, 0)
    while open_ones:
        for name, it in list(open_ones.items()):
            try:
                next(it)
                counts[name] += 1
            except StopIteration:
                del open_ones[name]
    assert counts == dict.fromkeys(datasets, 50), counts
print("done")
"""


@unittest.skipUnless(COMPILER, "no C compiler")
class FewThreads(unittest.TestCase):
    """The system starts some threads, and then no more."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        source, self.library, self.data = (os.path.join(folder.name, name) for name in ("few.c", "few.so", "data.txt"))
        with open(source, "w") as file:
            file.write(FEW_THREADS)
        with open(self.data, "w") as file:
            file.write("one line\n")
        subprocess.run([COMPILER, "-shared", "-fPIC", "-o", self.library, source, "-ldl"], check=True)

    def load(self, threads):
        return run(MANY_LOADERS, self.data, env={"LD_PRELOAD": self.library, "MOST_THREADS": str(threads),
                                                 "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"})

    def test_loading_continues(self):
        for threads in range(10):
            with self.subTest(threads=threads):
                done = self.load(threads)
                self.assertEqual((done.returncode, done.stdout), (0, "done\n"), done.stderr)
                if threads < 5:  # four workers and their monitor
                    self.assertIn("refused", done.stderr)

    def test_a_warning_names_the_limit(self):
        done = self.load(3)
        self.assertIn("the system refused to create a thread", done.stderr)
        self.assertIn("ulimit -u", done.stderr)


class EndOfTheProgram(unittest.TestCase):
    """KeyboardInterrupt and SystemExit end the iterator and always reach the caller."""

    def test_no_stage_swallows_them(self):
        def ends(x):
            if x == 3:
                raise SystemExit(7)
            return int(x)

        numbers = sk.Dataset.range(60)
        generated = sk.Dataset.from_generator(lambda: map(ends, range(60)), output_signature=sk.TensorSpec((), "int64"))
        for name, ds in {
            "map": numbers.map(ends, workers="thread"),
            "ignore_errors": numbers.map(ends, workers="thread").ignore_errors(),
            "on_error": numbers.map(ends, workers="thread").on_error("skip"),
            "filter and skip": numbers.filter(lambda x: ends(x) >= 0).skip(50),
            "filter and shard": numbers.filter(lambda x: ends(x) >= 0).shard(2, 0),
            "generator and skip": generated.skip(50),
            "generator and batch": generated.batch(2).ignore_errors(),
            "shuffle": generated.shuffle(10).ignore_errors(),
        }.items():
            for workers in (0, 2):
                with self.subTest(name, workers=workers):
                    sk.configure(workers=workers)
                    self.addCleanup(sk.configure, workers=2)
                    it = iter(ds)
                    with self.assertRaises(SystemExit) as raised:
                        while True:
                            next(it)
                    self.assertEqual(raised.exception.code, 7)
                    self.assertEqual(list(it), [])  # it has ended, and does not begin again


class BrokenStreams(unittest.TestCase):
    def test_the_error_that_ends_a_generator_is_raised_even_if_errors_are_skipped(self):
        def breaks():
            yield from range(3)
            raise OSError("the disk is gone")

        ds = sk.Dataset.from_generator(breaks, output_signature=sk.TensorSpec((), "int64"))
        for name, stage in {
            "skip": ds.skip(5),
            "shard": ds.shard(2, 0),
            "take": ds.take(5),
            "shuffle": ds.shuffle(2),
            "zip": sk.Dataset.zip(ds, sk.Dataset.range(9)),
            "enumerate": ds.enumerate(),
        }.items():
            with self.subTest(name), self.assertRaisesRegex(sk.Error, "the disk is gone"):
                list(stage)
        self.assertEqual([int(x) for x in ds.take(3)], [0, 1, 2])


class SkippedElements(unittest.TestCase):
    def test_closing_an_iterator_that_has_only_skipped_so_far_is_an_end(self):
        begun, go_on = threading.Event(), threading.Event()
        self.addCleanup(go_on.set)

        def function(x):
            if x == 0:
                raise ValueError("a bad element")
            begun.set()
            go_on.wait()
            return int(x)

        it = iter(sk.Dataset.range(3).map(function, workers="thread").on_error("skip"))
        found = []

        def read():
            try:
                found.append(next(it, "the end"))
            except sk.Error as error:
                found.append(error)

        reader, closer = threading.Thread(target=read), threading.Thread(target=it.close)
        reader.start()
        begun.wait()
        closer.start()
        reader.join()
        go_on.set()
        closer.join()
        self.assertEqual(found, ["the end"])


class OpenedOnce(unittest.TestCase):
    def test_a_function_that_returns_a_dataset_is_called_once_for_each_element(self):
        for stage in ("flat_map", "interleave"):
            calls = []

            def opened(x):
                calls.append(int(x))
                return sk.Dataset.range(2).map(lambda y: int(y), workers="thread")

            self.assertEqual(len(list(getattr(sk.Dataset.range(30), stage)(opened))), 60)
            self.assertEqual(sorted(calls), list(range(30)), stage)


class Construction(unittest.TestCase):
    """User code does not run before the dataset is iterated over."""

    def test_maps_after_python_functions_and_generators(self):
        calls = []

        def function(x):
            calls.append(int(x))
            return int(x)

        def numbers():
            calls.append("begun")
            yield from range(4)

        generated = sk.Dataset.from_generator(numbers)
        for name, make in {
            "map": lambda: sk.Dataset.range(4).map(function, workers="thread").map(lambda x: x + 1),
            "filter": lambda: sk.Dataset.range(4).map(function, workers="thread").filter(lambda x: x >= 0),
            "batch": lambda: sk.Dataset.range(4).map(function, workers="thread").batch(2).map(lambda x: x * 2),
            "generator": lambda: generated.map(lambda x: x + 1).batch(2).map(lambda x: x * 2),
            "enumerate": lambda: generated.enumerate().map(lambda i, x: x),
            "inside interleave": lambda: sk.Dataset.range(2)
            .interleave(lambda i: sk.Dataset.range(2).map(function, workers="thread"))
            .map(lambda x: x + 1),
        }.items():
            with self.subTest(name):
                calls.clear()
                ds = make()
                self.assertEqual(calls, [])
                self.assertGreater(len(list(ds)), 0)

    def test_an_iterator_that_can_be_read_once_loses_nothing(self):
        once = iter(range(6))
        ds = sk.Dataset.from_generator(lambda: once).map(lambda x: x + 1)
        self.assertEqual([int(x) for x in ds], [1, 2, 3, 4, 5, 6])

    def test_a_reduction_leaves_its_first_state_as_it_was(self):
        state = np.zeros(2)
        ds = sk.Dataset.from_tensor_slices(np.ones((3, 2)))
        for _ in range(2):
            self.assertEqual(ds.reduce(state, operator.iadd).tolist(), [3, 3])
        self.assertEqual(state.tolist(), [0, 0])


class Restored(unittest.TestCase):
    def test_a_cache_that_other_seeds_filled_is_not_delivered(self):
        def noisy():
            return sk.Dataset.range(5).map(lambda x: sk.image.random_brightness(
                sk.reshape(sk.cast(x, "float32"), [1, 1, 1]), 1000.0)).cache()

        first = iter(noisy())
        saved = first.save()
        wanted = [float(x[0, 0, 0]) for x in first]
        other = noisy()
        self.assertNotEqual([float(x[0, 0, 0]) for x in other], wanted)
        it = iter(other)
        it.restore(saved)
        self.assertEqual([float(x[0, 0, 0]) for x in it], wanted)

    def test_a_graph_of_hundreds_of_lines(self):
        ds = sk.Dataset.range(20).filter(lambda x: x >= 0)
        for _ in range(260):
            ds = ds.take(50)
        it = iter(ds)
        next(it)
        other = iter(ds)
        other.restore(it.save())
        self.assertEqual(int(next(other)), 1)


class Unreadable(Exception):
    def __str__(self):
        raise ValueError("no text")


class WaitingErrors(unittest.TestCase):
    def test_few_that_wait_keep_the_variables_of_their_functions(self):
        alive = []

        class Large:
            pass

        def fails(x):
            large = Large()
            alive.append(weakref.ref(large))
            raise ValueError(int(x))

        it = iter(sk.Dataset.range(100).map(fails, workers="thread").prefetch(50))
        with self.assertRaises(sk.InvalidArgument) as raised:
            next(it)
        self.assertIsNotNone(raised.exception.__cause__.__traceback__)
        self.assertTrue(comes_true(lambda: len(alive) >= 40))
        gc.collect()
        self.assertLess(sum(one() is not None for one in alive), 10)


class ErrorsOfFunctions(unittest.TestCase):
    def test_results_of_another_structure_are_described(self):
        first, one = "the first element was an empty tuple", r"a tuple of 1 component \(int64\)"
        for result, words in ((lambda x: [x] * int(x), f"returned {one}, but {first}; every element must have the same"),
                              (lambda x: (x, 1.0) if x else x, r"returned a tuple of 2 components \(.*, but .* was int64;"),
                              (lambda x: {"a": x} if x else (x,), f"returned {{'a': x}} of int64, but .* was {one}")):
            with self.assertRaisesRegex(sk.InvalidArgument, words):
                list(sk.Dataset.range(2).map(result, workers="thread"))

    def test_a_component_that_is_none_is_named(self):
        for result, place in ((lambda x: (x, None), "component 1 of the result"), (lambda x: None, "the result"),
                              (lambda x: {"a": x, "b": (x, None)}, "component 'b/1' of the result")):
            with self.assertRaisesRegex(sk.InvalidArgument, f"map: .*{place} is None, expected"):
                list(sk.Dataset.range(2).map(result, workers="thread"))

    def test_texts_that_cannot_be_read_keep_kind_and_cause(self):
        for raised, kind in ((ValueError("a\udc80b"), sk.InvalidArgument), (Unreadable(), sk.Unknown)):
            def fails(x, raised=raised):
                raise raised

            for workers in (0, 2):
                sk.configure(workers=workers)
                self.addCleanup(sk.configure, workers=2)
                with self.assertRaises(kind) as caught:
                    next(iter(sk.Dataset.range(2).map(fails, workers="thread")))
                self.assertIs(caught.exception.__cause__, raised)

    def test_what_the_caller_was_handling_keeps_its_traceback(self):
        sk.configure(workers=0)
        self.addCleanup(sk.configure, workers=2)
        try:
            raise ZeroDivisionError
        except ZeroDivisionError as handled:
            with self.assertRaises(sk.Error):
                next(iter(sk.Dataset.range(2).map(lambda x: [][1], workers="thread")))
            self.assertIsNotNone(handled.__traceback__)


FORKED_DURING_A_CALL = """
import os, threading, stoker as sk
begun, go_on = threading.Event(), threading.Event()
def function(x):
    if x == 1:
        begun.set()
        go_on.wait()
    return int(x)
ds = sk.Dataset.range(9).map(function, workers="thread")
it = iter(ds)
next(it)
begun.wait()
pid = os.fork()
if pid == 0:
    for use in (lambda: ds.at(0), lambda: ds.batch(2).replay("range:5"), lambda: sk.configure(workers=2)):
        try:
            use()
        except sk.Error:
            pass
    os._exit(0)
print(os.waitpid(pid, 0)[1], flush=True)
go_on.set()
"""


class Forks(unittest.TestCase):
    def test_a_child_of_a_process_that_is_inside_a_function_does_not_hang(self):
        self.assertEqual(run(FORKED_DURING_A_CALL).stdout, "0\n")


if __name__ == "__main__":
    unittest.main()
