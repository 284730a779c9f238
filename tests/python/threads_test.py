"""Functions called from any thread at any time: nothing hangs, crashes, or runs twice at the same time."""

import gc
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import weakref

import numpy as np

import stoker as sk
from waiting import comes_true


class OneAtATime:
    """Identity that records how many threads were inside at once. A call stays inside until a second one comes in, for
    `patience` seconds at most."""

    def __init__(self, answer=None, patience=0.002):
        self.lock = threading.Lock()
        self.met = threading.Event()
        self.inside = self.most = self.calls = 0
        self.answer = answer
        self.patience = patience

    def __call__(self, x):
        with self.lock:
            self.inside += 1
            self.calls += 1
            self.most = max(self.most, self.inside)
            if self.inside > 1:
                self.met.set()
        self.met.wait(self.patience)  # releases the GIL
        with self.lock:
            self.inside -= 1
        return int(x) if self.answer is None else self.answer


class Concurrency(unittest.TestCase):
    """A Python function is called by one thread at a time by default."""

    def setUp(self):
        sk.configure(workers=4)
        self.addCleanup(sk.configure, workers=2)

    def assert_one_at_a_time(self, make, answer=None):
        function = OneAtATime(answer)
        made = make(function)
        for ds in made if isinstance(made, list) else [made]:
            for _ in ds:
                pass
        self.assertGreater(function.calls, 0)
        self.assertEqual(function.most, 1)

    def test_two_threads_call_the_function_if_the_user_requests_it(self):
        numbers = sk.Dataset.range(20)
        stages = {
            "map": lambda f: numbers.map(f, num_parallel_calls=2),
            "map, thread": lambda f: numbers.map(f, num_parallel_calls=2, workers="thread"),
            "a sequence": lambda f: sk.from_sequence(range(20), workers=2).map(f, num_parallel_calls=2),
        }
        for name, make in stages.items():
            with self.subTest(name):
                function = OneAtATime(patience=10)
                self.assertEqual([int(x) for x in make(function)], list(range(20)))
                self.assertGreaterEqual(function.most, 2)

    def test_in_every_stage(self):
        numbers = sk.Dataset.range(40)
        stages = {
            "map": lambda f: numbers.map(f),
            "map, thread": lambda f: numbers.map(f, workers="thread"),
            "map, serial": lambda f: numbers.map(f, workers="serial"),
            "map, serial, although 4 are named": lambda f: numbers.map(f, num_parallel_calls=4, workers="serial"),
            "map, cached": lambda f: numbers.map(f).cache(),
            "map, cached, batched": lambda f: numbers.map(f).batch(4).cache(),
            "map, shuffled": lambda f: numbers.map(f).shuffle(50),
            "map, enumerated": lambda f: numbers.map(f).enumerate(),
            "map, zipped with itself": lambda f: sk.Dataset.zip((numbers.map(f), numbers.map(f))),
            "map, concatenated": lambda f: numbers.map(f).concatenate(numbers.map(f)),
            "map, repeated": lambda f: numbers.map(f).repeat(2),
            "two maps": lambda f: numbers.map(f).map(f),
        }
        for name, make in stages.items():
            with self.subTest(name):
                self.assert_one_at_a_time(make)

    def test_in_a_predicate(self):
        self.assert_one_at_a_time(lambda f: sk.Dataset.range(40).filter(f), answer=True)

    def test_in_functions_that_open_datasets(self):
        self.assert_one_at_a_time(lambda f: sk.Dataset.range(20).flat_map(f), answer=sk.Dataset.range(3))
        self.assert_one_at_a_time(lambda f: sk.Dataset.range(20).interleave(f, cycle_length=8), answer=sk.Dataset.range(3))

    def test_in_several_iterators_at_once(self):
        function = OneAtATime()
        ds = sk.Dataset.range(20).map(function)
        threads = [threading.Thread(target=lambda: list(ds)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(function.most, 1)

    def test_in_several_datasets_at_once(self):
        numbers = sk.Dataset.range(20)

        class Sequence:
            def __init__(self, function):
                self.function = function

            def __len__(self):
                return 20

            def __getitem__(self, i):
                return self.function(i)

        def sequences(function):
            sequence = Sequence(function)
            return [sk.from_sequence(sequence), sk.from_sequence(sequence)]

        for answer, make in ((None, sequences),
                             (sk.Dataset.range(2), lambda f: [numbers.flat_map(f), numbers.interleave(f)])):
            function = OneAtATime(answer)
            threads = [threading.Thread(target=list, args=(ds,)) for ds in make(function)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual((function.calls, function.most), (40, 1))

    def test_calls_that_the_user_allowed_do_not_keep_other_datasets_waiting(self):
        begun, go_on = threading.Barrier(5), threading.Event()

        def function(x):
            if x >= 100:
                begun.wait()
                go_on.wait()
            return int(x)

        it = iter(sk.Dataset.range(100, 104).map(function, num_parallel_calls=4))
        reader = threading.Thread(target=list, args=(it,))
        reader.start()
        begun.wait()
        self.assertEqual([int(x) for x in sk.Dataset.range(3).map(function)], [0, 1, 2])
        go_on.set()
        reader.join()

    def test_a_sequence_is_read_by_one_thread_by_default(self):
        function = OneAtATime()

        class Sequence:
            def __len__(self):
                return 40

            def __getitem__(self, i):
                return function(i)

        self.assertEqual([int(x) for x in sk.from_sequence(Sequence())], list(range(40)))
        self.assertEqual(function.most, 1)

    def test_a_sequence_is_read_by_as_many_threads_as_it_declares(self):
        meeting = threading.Barrier(3)

        class Sequence:
            workers = 3

            def __len__(self):
                return 3

            def __getitem__(self, i):
                meeting.wait()
                return i

        self.assertEqual([int(x) for x in sk.from_sequence(Sequence())], [0, 1, 2])

    def test_a_function_that_needs_itself_finishes(self):
        def depth(x):
            return int(x) if x == 0 else 1 + sum(int(y) for y in inner.take(1))

        inner = sk.Dataset.range(1).map(lambda x: depth(x), workers="thread")
        outer = sk.Dataset.range(4).map(lambda x: depth(x), workers="thread")
        self.assertEqual([int(x) for x in outer], [0, 1, 1, 1])


class Counter:
    """A function that returns how often it was called, with its argument."""

    def __init__(self):
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        return self.calls, int(x)


class Order(unittest.TestCase):
    """A function that is called by one thread at a time is called in order, once for each element."""

    def setUp(self):
        sk.configure(workers=4)
        self.addCleanup(sk.configure, workers=2)

    def assert_in_order(self, make, wanted):
        counter = Counter()
        found = [(int(call), int(x)) for call, x in make(counter)]
        self.assertEqual(found, list(enumerate(wanted, 1)))

    def test_in_every_stage(self):
        numbers = sk.Dataset.range(300)
        third = [x for x in range(300) if x % 3]
        stages = {
            "map": (lambda f: numbers.map(f), range(300)),
            "serial": (lambda f: numbers.map(f, num_parallel_calls=4, workers="serial"), range(300)),
            "after a native map": (lambda f: numbers.map(lambda x: x * 2).map(f), range(0, 600, 2)),
            "after a native filter": (lambda f: numbers.filter(lambda x: x % 3 > 0).map(f), third),
            "after a Python filter": (lambda f: numbers.filter(lambda x: bool(x % 3)).map(f), third),
            "serial, before a selection": (lambda f: numbers.map(f, workers="serial").take(300), range(300)),
            "before other stages": (lambda f: numbers.map(f).take(300).prefetch(4), range(300)),
            "after a parallel function": (lambda f: numbers.map(lambda x: int(x), num_parallel_calls=4).map(f), range(300)),
            "from a generator": (lambda f: sk.Dataset.from_generator(lambda: iter(range(300))).map(f), range(300)),
        }
        for name, (make, wanted) in stages.items():
            for memory in ("1G", "64K"):
                with self.subTest(name, memory=memory):
                    sk.configure(memory_bytes=memory)
                    self.addCleanup(sk.configure, memory_bytes="1G")
                    self.assert_in_order(make, wanted)

    def test_no_stage_moves_across_a_serial_one(self):
        numbers = sk.Dataset.range(40)
        for name, make in {
            "shuffle": lambda ds: ds.shuffle(40),
            "a small shuffle": lambda ds: ds.shuffle(5, seed=3),
            "skip": lambda ds: ds.skip(10),
            "shard": lambda ds: ds.shard(2, 1),
            "shuffle and map": lambda ds: ds.map(lambda n, x: (n, x)).shuffle(40),
        }.items():
            with self.subTest(name):
                found = sorted((int(n), int(x)) for n, x in make(numbers.map(Counter(), workers="serial")))
                self.assertGreaterEqual(len(found), 20)
                self.assertEqual([n - x for n, x in found], [1] * len(found))

    def test_a_result_of_another_type_is_an_error_of_that_element(self):
        ds = sk.Dataset.range(6).map(lambda x: int(x) if x != 1 else 0.5, workers="thread").map(lambda x: x, workers="thread")
        it = iter(ds)
        self.assertEqual(int(next(it)), 0)
        with self.assertRaises(sk.InvalidArgument):
            next(it)
        self.assertEqual([int(x) for x in it], [2, 3, 4, 5])


class NestedCalls(unittest.TestCase):
    def test_a_hundred_functions_that_read_files_through_loaders_of_their_own(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.bin")
            with open(path, "wb") as file:
                file.write(b"hello")
            meeting = threading.Barrier(100)

            def outer(i):
                meeting.wait()
                inner = sk.Dataset.from_tensor_slices([path] * 3).map(lambda p: sk.io.read_file(p))
                return sum(len(text) for text in inner)

            ds = sk.Dataset.range(100).map(outer, num_parallel_calls=100, workers="thread")
            self.assertEqual([int(x) for x in ds], [15] * 100)


class OwnIterator(unittest.TestCase):
    """A function that uses the iterator it runs for gets an error, and does not wait for itself."""

    def error_of(self, use):
        holder = []

        def function(x):
            use(holder[0])
            return int(x)

        it = iter(sk.Dataset.range(3).map(function, workers="thread"))
        holder.append(it)
        with self.assertRaises(sk.FailedPrecondition) as raised:
            next(it)
        return str(raised.exception)

    def test_next(self):
        self.assertIn("next() was called by a function that this iterator is running", self.error_of(next))

    def test_close(self):
        self.assertIn("close() was called by a function", self.error_of(lambda it: it.close()))

    def test_restore(self):
        saved = iter(sk.Dataset.range(3).map(int, workers="thread")).save()
        self.assertIn("restore() was called by a function", self.error_of(lambda it: it.restore(saved)))

    def test_statistics_and_save_are_allowed(self):
        holder = []

        def function(x):
            holder[0].stats(), holder[0].skipped(), holder[0].wait_seconds(), holder[0].save()
            return int(x)

        it = iter(sk.Dataset.range(3).map(function, workers="thread"))
        holder.append(it)
        self.assertEqual([int(x) for x in it], [0, 1, 2])


class Dropped(unittest.TestCase):
    """Dropping an iterator stops its work and releases what it holds."""

    def test_no_function_is_called_and_no_memory_is_held_afterward(self):
        begun, go_on = threading.Semaphore(0), threading.Event()
        calls = []

        def function(x):
            calls.append(int(x))
            if len(calls) > 1:
                begun.release()
                go_on.wait()
            return np.zeros(250_000, np.float32)

        ds = sk.Dataset.range(1000).map(function, workers="thread")
        it = iter(ds)
        next(it)
        begun.acquire()
        del it
        gc.collect()
        go_on.set()
        self.assertEqual([int(x) for x in sk.Dataset.range(3).map(lambda x: int(x), workers="thread")], [0, 1, 2])
        self.assertEqual(len(calls), 2)
        self.assertTrue(comes_true(lambda: sk._core.memory_use()[0] == 0))  # the call that was left behind returns

    def test_leaving_a_loop_by_an_exception_stops_the_work(self):
        ds = sk.Dataset.range(10**9).filter(lambda x: x >= 0).shuffle(50_000)
        with self.assertRaises(ZeroDivisionError):
            for _ in ds:
                1 / 0
        gc.collect()
        self.assertTrue(comes_true(lambda: sk._core.memory_use()[0] == 0))  # a piece of work in progress ends by itself

    def test_an_error_that_was_not_delivered_keeps_nothing_alive(self):
        def fails(x):
            raise ValueError(int(x))

        self.addCleanup(sk.configure, workers=2)
        for workers in (0, 2):
            sk.configure(workers=workers)
            it = iter(sk.Dataset.range(10).map(fails, num_parallel_calls=1))
            with self.assertRaises(sk.InvalidArgument) as raised:
                next(it)
            self.assertIsInstance(raised.exception.__cause__, ValueError)
            gone = weakref.ref(it)
            del it, raised
            gc.collect()
            self.assertIsNone(gone(), f"{workers} workers")

    def test_a_call_that_never_returns_does_not_block_the_next_iterator(self):
        never = threading.Event()
        self.addCleanup(never.set)
        calls = []

        def stuck_once(x):
            calls.append(int(x))
            if len(calls) == 2:
                never.wait()
            return int(x)

        ds = sk.Dataset.range(3).map(stuck_once, workers="thread")
        it = iter(ds)
        self.assertEqual(int(next(it)), 0)
        self.assertTrue(comes_true(lambda: len(calls) == 2))
        del it
        with self.assertLogs("stoker") as logs:
            self.assertEqual([int(x) for x in ds], [0, 1, 2])
            self.assertTrue(comes_true(lambda: logs.output))
        self.assertEqual(len(logs.output), 1, "one wait, whatever number of calls follow")

    def test_the_next_epoch_is_not_affected(self):
        whole = sk.Dataset.range(50).shuffle(50, seed=3)
        left = sk.Dataset.range(50).shuffle(50, seed=3)
        first = [int(x) for x in whole]
        self.assertEqual(int(next(iter(left))), first[0])
        self.assertEqual([int(x) for x in left], [int(x) for x in whole])


class Owner:
    """An object that stores datasets, and their iterators, that call its own methods."""

    def __init__(self, make):
        self.dataset = make(self)
        self.iterator = iter(self.dataset)

    def plus_one(self, x):
        return int(x) + 1

    def is_kept(self, x):
        return bool(x >= 0)

    def numbers(self):
        return iter(range(9))

    def opened(self, x):
        return sk.Dataset.range(3).map(self.plus_one)

    def __len__(self):
        return 9

    def __getitem__(self, i):
        return i


class Cycles(unittest.TestCase):
    """A dataset on the object whose methods it calls is garbage when the object is."""

    def datasets(self):
        numbers = sk.Dataset.range(9)
        yield lambda o: numbers.map(o.plus_one)
        yield lambda o: numbers.map(o.plus_one, num_parallel_calls=2).batch(2).prefetch(1)
        yield lambda o: numbers.map(lambda x: o.plus_one(x), workers="serial").cache()
        yield lambda o: numbers.filter(o.is_kept).shuffle(3)
        yield lambda o: sk.Dataset.from_generator(o.numbers, output_signature=sk.TensorSpec((), "int64"))
        yield lambda o: numbers.flat_map(o.opened)
        yield lambda o: numbers.interleave(o.opened, cycle_length=2)
        yield lambda o: sk.Dataset.zip((numbers.map(o.plus_one), numbers.filter(o.is_kept)))
        yield lambda o: numbers.map(o.plus_one).concatenate(numbers.map(o.plus_one))
        yield sk.from_sequence

    def test_are_collected(self):
        for number, make in enumerate(self.datasets()):
            for steps in (0, 1, None):
                owner = Owner(make)
                list(zip(range(steps or 0), owner.iterator))
                if steps is None:
                    list(owner.iterator)
                elif number == 4 and steps:
                    owner.iterator.close()  # a generator that has begun refers to the object from inside the engine
                gone = weakref.ref(owner)
                del owner
                self.assertTrue(comes_true(lambda: gc.collect() >= 0 and gone() is None), (number, steps))
        gc.collect()
        self.assertTrue(comes_true(lambda: sk._core.memory_use()[0] == 0))

    def test_an_iterator_keeps_what_its_dataset_calls(self):
        for make in self.datasets():
            iterator = iter(make(Owner(lambda _: sk.Dataset.range(1))))
            gc.collect()
            self.assertGreater(len(list(iterator)), 0)

    def test_a_dataset_that_a_function_returns_lives_while_it_is_read(self):
        def opened(x):
            return sk.Dataset.range(3).map(lambda y: int(x) * 10 + int(y)).filter(lambda y: int(y) % 10 != 1)

        for stage in ("flat_map", "interleave"):
            made = getattr(sk.Dataset.range(3), stage)(opened)
            self.assertEqual(sorted(map(int, made)), [0, 2, 10, 12, 20, 22])


class FailingOwner:
    """An object that holds an iterator whose functions raise exceptions that refer to the object."""

    def __init__(self, make, fail):
        self.fail = fail
        self.raised = 0
        self.iterator = iter(make(self))

    def load(self, x):
        if x == 0:
            return 0
        self.raised += 1
        self.fail(self)

    def is_kept(self, x):
        return self.load(x) == 0

    def numbers(self):
        yield 0
        self.load(1)

    def opened(self, x):
        return sk.Dataset.range(2).map(self.load)

    def opened_or_failed(self, x):
        self.load(x)
        return sk.Dataset.range(1)


class UndeliveredErrors(unittest.TestCase):
    """An exception that waits for its delivery keeps nothing alive that only its iterator refers to."""

    @staticmethod
    def datasets():
        numbers = sk.Dataset.range(50)
        yield lambda o: numbers.map(o.load)
        yield lambda o: numbers.map(o.load, num_parallel_calls=2).prefetch(8)
        yield lambda o: numbers.map(o.load).map(lambda x: x + 1).cache()
        yield lambda o: numbers.filter(o.is_kept)
        yield lambda o: sk.Dataset.from_generator(o.numbers, output_signature=sk.TensorSpec((), "int64"))
        yield lambda o: numbers.flat_map(o.opened)
        yield lambda o: numbers.interleave(o.opened, cycle_length=2)
        yield lambda o: numbers.flat_map(o.opened_or_failed)
        yield lambda o: sk.Dataset.zip((numbers, numbers.map(o.load)))

    @staticmethod
    def failures():
        def by_its_frames(owner):
            raise ValueError("by its frames")

        def by_an_attribute(owner):
            return owner.missing  # AttributeError.obj

        def by_its_arguments(owner):
            raise ValueError(owner)

        def by_its_cause(owner):
            raise KeyError("by its cause") from ValueError(owner)

        return by_its_frames, by_an_attribute, by_its_arguments, by_its_cause

    def expect_collected(self, make, fail):
        owner = FailingOwner(make, fail)
        with self.assertRaises(sk.Error) as caught:
            list(owner.iterator)
        self.assertIsNotNone(caught.exception.__cause__)
        del caught
        gone = weakref.ref(owner)
        del owner
        self.assertTrue(comes_true(lambda: gc.collect() >= 0 and gone() is None))

    def test_are_collected_with_their_iterator(self):
        self.addCleanup(sk.configure, workers=2)
        for workers in (2, 0):
            sk.configure(workers=workers)
            for number, make in enumerate(self.datasets()):
                for fail in self.failures():
                    with self.subTest(workers=workers, dataset=number, fail=fail.__name__):
                        self.expect_collected(make, fail)
        self.assertTrue(comes_true(lambda: sk._core.memory_use()[0] == 0))

    def test_that_wait_are_collected_with_their_iterator(self):
        for fail in self.failures():
            owner = FailingOwner(lambda o: sk.Dataset.range(50).map(o.load).prefetch(8), fail)
            next(owner.iterator)
            self.assertTrue(comes_true(lambda: owner.raised >= 8))
            gone = weakref.ref(owner)
            del owner
            self.assertTrue(comes_true(lambda: gc.collect() >= 0 and gone() is None), fail.__name__)

    def test_of_dropped_iterators_do_not_take_the_tracebacks_of_later_ones(self):
        def fails(x):
            raise ValueError(int(x))

        def has_traceback():
            with self.assertRaises(sk.InvalidArgument) as caught:
                next(iter(sk.Dataset.range(1).map(fails, workers="thread")))
            return caught.exception.__cause__.__traceback__ is not None

        for _ in range(3):
            self.test_that_wait_are_collected_with_their_iterator()
            self.assertTrue(comes_true(has_traceback))

    def test_are_delivered_after_the_dataset_that_raised_them_was_read(self):
        def fails(x):
            raise LookupError(int(x))

        it = iter(sk.Dataset.range(20).flat_map(lambda x: sk.Dataset.range(1).map(lambda y: fails(x + y))).prefetch(20))
        for i in range(20):
            with self.assertRaises(sk.Unknown) as caught:
                next(it)
            self.assertEqual((type(caught.exception.__cause__), caught.exception.__cause__.args), (LookupError, (i,)))
            gc.collect()

    def test_are_held_only_until_they_are_delivered(self):
        class Failed(Exception):
            pass

        alive = []

        def fails(x):
            error = Failed(int(x))
            alive.append(weakref.ref(error))
            raise error

        it = iter(sk.Dataset.range(30).map(fails, workers="thread"))
        for _ in range(30):
            self.assertRaises(sk.Unknown, next, it)
        self.assertRaises(StopIteration, next, it)
        gc.collect()
        self.assertEqual(sum(one() is not None for one in alive), 0)


class OtherThreads(unittest.TestCase):
    def test_closing_ends_a_thread_that_is_inside_next(self):
        it = iter(sk.Dataset.range(10**15).filter(lambda x: x <= 0))  # the second call finds nothing
        received, seen = threading.Event(), []

        def read():
            for x in it:
                seen.append(int(x))
                received.set()
            seen.append("the end")

        reader = threading.Thread(target=read)
        reader.start()
        received.wait()
        it.close()
        reader.join()
        self.assertEqual(seen, [0, "the end"])

    def test_closing_ends_a_thread_that_reads(self):
        it = iter(sk.Dataset.range(10**9).map(lambda x: x + 1).batch(4))
        received, seen = threading.Event(), []

        def read():
            for batch in it:
                seen.append(int(batch[0]))
                received.set()

        reader = threading.Thread(target=read)
        reader.start()
        received.wait()
        it.close()
        reader.join()
        self.assertEqual(seen, [1 + 4 * i for i in range(len(seen))])

    def test_a_restore_does_not_end_the_loop_of_another_thread(self):
        allowed = threading.Semaphore(20)
        ended = []

        class Sequence:
            def __len__(self):
                return 200

            def __getitem__(self, i):
                allowed.acquire()
                return i

            def on_epoch_end(self):
                ended.append(True)

        it = iter(sk.from_sequence(Sequence()))
        found = []
        reader = threading.Thread(target=lambda: found.extend(int(x) for x in it))
        reader.start()
        self.assertTrue(comes_true(lambda: it.stats().get("elements") == 20))  # the reader waits for the next one
        it.restore(it.save())
        for _ in range(1000):
            allowed.release()
        reader.join()
        self.assertEqual(found, list(range(200)))
        self.assertEqual(len(ended), 1)

    def test_save_does_not_wait_for_a_thread_that_waits_in_next(self):
        begun, go_on = threading.Event(), threading.Event()

        def function(x):
            begun.set()
            go_on.wait()
            return int(x)

        it = iter(sk.Dataset.range(5).map(function, workers="thread"))
        got = []
        reader = threading.Thread(target=lambda: got.append(int(next(it))))
        reader.start()
        begun.wait()
        saved = it.save()
        self.assertEqual(it.skipped(), [])
        self.assertGreaterEqual(it.wait_seconds(), 0)
        go_on.set()
        reader.join()
        it.restore(saved)
        self.assertEqual([int(x) for x in it], [0, 1, 2, 3, 4])
        self.assertEqual(got, [0])

    def test_statistics_while_restoring_over_a_generator(self):
        def numbers():
            i = 0
            while True:
                yield i
                i += 1

        it = iter(sk.Dataset.from_generator(numbers, output_signature=sk.TensorSpec((), "int32")))
        next(it)
        saved = it.save()
        stop = threading.Event()

        def look():
            while not stop.is_set():
                it.wait_seconds(), it.skipped(), it.stats()

        looker = threading.Thread(target=look)
        looker.start()
        for _ in range(100):
            it.restore(saved)
            self.assertEqual(int(next(it)), 1)
        stop.set()
        looker.join()


def run(program, *arguments, timeout=60):
    return subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=timeout)


EXITS = """
import sys, stoker as sk
it = iter(sk.Dataset.range(10).map(lambda x: sys.exit(7) if x == 2 else int(x), workers="thread").on_error("skip"))
print(int(next(it)), int(next(it)), flush=True)
next(it)
print("not reached")
"""

DAEMON = """
import threading, stoker as sk
ds = {
    "native": sk.Dataset.range(10**12).map(lambda x: x + 1).batch(32),
    "python": sk.Dataset.range(10**6).map(lambda x: int(x), num_parallel_calls=4, workers="thread"),
}[__import__("sys").argv[1]]
begun = threading.Barrier(3)
def read():
    it = iter(ds)
    next(it)
    begun.wait()
    for x in it: pass
for _ in range(2): threading.Thread(target=read, daemon=True).start()
begun.wait()
"""

FEEDERS = """
import sys, threading, stoker as sk
ds = {
    "nothing": sk.Dataset.range(10**12).filter(lambda x: x < 0),
    "shuffle": sk.Dataset.range(10**12).shuffle(30_000_000),
    "python": sk.Dataset.range(50).map(lambda x: int(x), workers="thread"),
    "generator": sk.Dataset.from_generator(lambda: iter(range(30)), output_signature=sk.TensorSpec((), "int64")),
}[sys.argv[1]]
begun = threading.Barrier(5)
def feed():
    begun.wait()
    while True:
        for _ in ds: pass
for _ in range(4): threading.Thread(target=feed, daemon=True).start()
begun.wait()
"""

LONG = """
import sys, time, threading, stoker as sk
begun = threading.Event()
def long(x):
    begun.set()
    if sys.argv[1] == "sleeping":
        time.sleep(4)
    until = time.monotonic() + 4
    while time.monotonic() < until:
        pass
    return int(x)
numbers = sk.Dataset.range(3)
ds = numbers.flat_map(lambda x: sk.Dataset.range(long(x))) if sys.argv[1] == "opening" else numbers.map(long, workers="thread")
iterators = [iter(ds), iter(ds)]
for it in iterators:
    threading.Thread(target=lambda it=it: next(it, None), daemon=True).start()
begun.wait()
"""

STUCK = """
import threading, stoker as sk
begun = threading.Event()
def stuck(x):
    begun.set()
    threading.Event().wait()
it = iter(sk.Dataset.range(3).map(stuck, workers="thread"))
threading.Thread(target=lambda: next(it), daemon=True).start()
begun.wait()
"""

# Prints how long after the signal the wait ended, in seconds. The signal comes when next() is at work.
KEEPS_NOTHING = """
import os, signal, threading, time, stoker as sk
it = iter(sk.Dataset.range(10**15).filter(lambda x: x < 0))
sent = []
def interrupt():
    while not any(stage["elements"] for stage in it.stats().get("stages", ())):
        pass
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    next(it)
except KeyboardInterrupt:
    print(time.monotonic() - sent[0], flush=True)
"""

FORKED = """
import os, sys, stoker as sk
mode = sys.argv[1]
ds = sk.Dataset.range(100).map(lambda x: int(x), num_parallel_calls=2, workers="thread")
it = iter(ds)
next(it)
pid = os.fork()
if pid == 0:
    if mode == "exit":
        sys.exit(0)
    use = {
        "same": lambda: next(it),
        "python": lambda: list(sk.Dataset.range(10).map(lambda x: int(x), workers="thread")),
        "native": lambda: list(sk.Dataset.range(10).map(lambda x: x + 1)),
        "close": lambda: it.close(),
        "stats": lambda: it.stats(),
        "save": lambda: it.save(),
        "drop": lambda: globals().pop("it"),
    }[mode]
    try:
        use()
        print("worked", flush=True)
    except sk.FailedPrecondition as error:
        print("spawn" in str(error) and "forkserver" in str(error), flush=True)
    os._exit(0)
_, status = os.waitpid(pid, 0)
print("child", status, "parent", int(next(it)))
"""

FORKS_INSIDE = """
import os, stoker as sk
def forks(x):
    if x == 1:
        pid = os.fork()
        if pid == 0:
            return 0  # as people forget that the child goes on from here
        os.waitpid(pid, 0)
    return int(x)
print([int(x) for x in sk.Dataset.range(4).map(forks, workers="thread")])
"""

MULTIPROCESSING = """
import multiprocessing, sys, stoker as sk
def work(n):
    try:
        return [int(x) for x in sk.Dataset.range(n)]
    except sk.FailedPrecondition as error:
        return "spawn" in str(error)
if __name__ == "__main__":
    if sys.argv[1] == "used":
        list(sk.Dataset.range(5))
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(work, [3, 3]))
"""


class Processes(unittest.TestCase):
    def test_sys_exit_in_a_function_ends_the_program(self):
        done = run(EXITS)
        self.assertEqual((done.returncode, done.stdout), (7, "0 1\n"))

    def test_daemon_threads_inside_next_do_not_disturb_the_exit(self):
        for kind in ("native", "python"):
            for _ in range(5):
                done = run(DAEMON, kind)
                self.assertEqual((done.returncode, done.stderr), (0, ""), kind)

    def test_daemon_threads_that_begin_epochs_without_end_do_not_disturb_the_exit(self):
        for kind in ("nothing", "shuffle", "python", "generator"):
            for _ in range(3):
                done = run(FEEDERS, kind)
                self.assertEqual((done.returncode, done.stderr), (0, ""), kind)

    def test_a_function_that_outlasts_the_interpreter_does_not_disturb_the_exit(self):
        for kind in ("computing", "sleeping", "opening"):
            with self.subTest(kind):
                done = run(LONG, kind)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_function_that_never_returns_does_not_hold_up_the_exit(self):
        self.assertEqual(run(STUCK).returncode, 0)

    def test_ctrl_c_is_answered_while_a_filter_keeps_nothing(self):
        before = signal.signal(signal.SIGINT, signal.SIG_DFL)
        try:
            done = run(KEEPS_NOTHING)
        finally:
            signal.signal(signal.SIGINT, before)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(float(done.stdout), 2)  # 0.2 on a machine that is not busy

    def test_a_forked_child_works_or_its_error_names_an_alternative(self):
        refused = "True\n"  # with "spawn" and "forkserver" in the error
        expected = {"exit": "", "same": refused, "python": refused, "native": refused, "close": "worked\n",
                    "stats": "worked\n", "save": refused, "drop": "worked\n"}
        for mode, said in expected.items():
            with self.subTest(mode):
                done = run(FORKED, mode)
                self.assertEqual((done.returncode, done.stdout), (0, said + "child 0 parent 1\n"), done.stderr)

    def test_a_function_that_forks_and_returns_in_the_child(self):
        done = run(FORKS_INSIDE)
        self.assertEqual((done.returncode, done.stdout), (0, "[0, 1, 2, 3]\n"))
        self.assertIn("end the child with os._exit()", done.stderr)

    def test_multiprocessing_with_fork(self):
        self.assertEqual(run(MULTIPROCESSING, "fresh").stdout, "[[0, 1, 2], [0, 1, 2]]\n")
        self.assertEqual(run(MULTIPROCESSING, "used").stdout, "[True, True]\n")


if __name__ == "__main__":
    unittest.main()
