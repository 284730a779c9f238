"""Stress test: call random public functions of random iterators from several Python threads, while user functions
raise, sleep, compute and iterate datasets of their own. The test fails on a crash, a hang or a wrong element, and if
memory is still held at the end.

    python tests/stress/loaders.py [--seconds 20] [--seed N] [--threads 6]
"""

import argparse
import faulthandler
import gc
import os
import random
import sys
import threading
import time

import numpy as np

import stoker as sk

HANGS_AFTER = 60  # seconds


def raises_sometimes(x):
    if int(x) % 11 == 3:
        raise ValueError("an unlucky number")
    return int(x)


def filled(x):
    return np.full(32, int(x), np.int64)


def sleeps(x):
    time.sleep(int(x) % 5 * 0.0005)
    return filled(x)


def in_place(x):
    x += 1
    x -= 1
    return x


def reads_a_dataset(x):
    return filled(int(x) + sum(int(y) for y in sk.Dataset.range(4).map(lambda y: int(y), workers="thread")) - 6)


def numbers():
    for i in range(200):
        yield i


def datasets():
    """Assert that each array of 32 has one value, and each pair is x and 2x."""
    some = sk.Dataset.range(300)
    return [
        some.map(lambda x: (x, x * 2)).batch(7),
        some.map(filled).batch(4),
        some.map(filled, num_parallel_calls=4).shuffle(30).map(in_place),
        some.map(raises_sometimes),
        some.map(raises_sometimes).on_error("skip").map(filled),
        some.map(sleeps, num_parallel_calls=8, workers="thread"),
        some.map(sleeps).cache().repeat(2),
        some.map(reads_a_dataset, num_parallel_calls=3),
        some.filter(lambda x: int(x) % 3 == 0).map(filled).shuffle(10),
        some.interleave(lambda x: sk.Dataset.from_tensors(x).repeat(3).map(lambda v: (v, v * 2)), cycle_length=4),
        sk.Dataset.from_generator(numbers, output_signature=sk.TensorSpec((), "int64")).map(lambda x: (x, x * 2)),
        some.map(filled).batch(5).prefetch(3),
        some.map(lambda x: {"x": filled(x), "twice": (filled(2 * x),)}).shuffle(8).batch(3),
        some.map(filled).cache().map(lambda x: (x, x * 2)).repeat(2),
        sk.Dataset.from_tensor_slices(np.arange(300)[:, None].repeat(32, 1)).map(lambda x: {"x": x, "twice": x * 2}),
    ]


def leaves(element):
    if isinstance(element, dict):
        element = tuple(element.values())
    return [leaf for part in element for leaf in leaves(part)] if isinstance(element, tuple) else [element]


def check(element):
    """Raise AssertionError unless the element is one of datasets(), and write into all of its arrays."""
    arrays = [np.asarray(leaf) for leaf in leaves(element)]
    if len(arrays) == 2:
        x, twice = arrays
        assert x.shape == twice.shape and np.all(twice == 2 * x), element
    else:
        x, = arrays
    assert x.size and np.all((x >= 0) & (x < 300)), element
    if x.ndim and x.shape[-1] == 32:  # filled(); a batch of numbers has at most 7
        assert np.all(x == x[..., :1]), element
    for leaf in leaves(element):
        if np.ndim(leaf):
            leaf[...] = -1  # as a consumer that normalizes in place does


class Stress:
    def __init__(self, seed, threads):
        self.seed = seed
        self.datasets = datasets()
        self.lock = threading.Lock()
        self.slots = [(d, iter(self.datasets[d])) for d in random.Random(seed).choices(range(len(self.datasets)), k=6)]
        self.saved = {}
        self.calls = [0] * threads
        self.failed = []

    def run(self, seconds):
        until = time.monotonic() + seconds
        threads = [threading.Thread(target=self.call_until, args=(until, i)) for i in range(len(self.calls))]
        for thread in threads:
            thread.start()
        self.watch(threads)
        if self.failed:
            raise self.failed[0]
        return sum(self.calls)

    def watch(self, threads):
        """Print all stacks and exit the process if a thread makes no call for HANGS_AFTER seconds."""
        seen, moved = list(self.calls), [time.monotonic()] * len(threads)
        while any(thread.is_alive() for thread in threads):
            time.sleep(0.1)
            for i, thread in enumerate(threads):
                if self.calls[i] != seen[i] or not thread.is_alive():
                    seen[i], moved[i] = self.calls[i], time.monotonic()
                elif time.monotonic() - moved[i] > HANGS_AFTER:
                    print(f"FAILED: thread {i} hangs", file=sys.stderr, flush=True)
                    faulthandler.dump_traceback(all_threads=True)
                    os._exit(1)

    def call_until(self, until, thread):
        rng = random.Random(self.seed * 1000 + thread)
        try:
            while time.monotonic() < until and not self.failed:
                self.call(rng)
                self.calls[thread] += 1
        except BaseException as error:
            self.failed.append(error)

    def call(self, rng):
        with self.lock:
            slot = rng.randrange(len(self.slots))
            d, it = self.slots[slot]
        kind = rng.randrange(20)
        if kind == 0:
            it.close()
        elif kind in (1, 2):
            self.replace(slot, rng.randrange(len(self.datasets)))
        elif kind == 3:
            self.save(d, it)
        elif kind == 4 and d in self.saved:
            self.restore(it, self.saved[d])
        elif kind == 5:
            it.stats()
        elif kind == 6:
            it.skipped()
        elif kind == 7:
            it.wait_seconds()
        elif kind == 8:
            gc.collect()
        elif kind == 9:
            sk.configure(workers=rng.randrange(4), memory_bytes=1 << rng.randrange(16, 28))
        elif kind == 10:
            self.datasets[d].explain(), len(self.datasets), self.datasets[d].cardinality()
        else:
            self.pull(it, rng.randrange(40))

    def replace(self, slot, d):
        made = (d, iter(self.datasets[d]))
        with self.lock:
            self.slots[slot] = made

    def save(self, d, it):
        try:
            self.saved[d] = it.save()
        except sk.FailedPrecondition:  # closed
            pass

    def restore(self, it, saved):
        try:
            it.restore(saved)
        except sk.FailedPrecondition:  # closed
            pass

    def pull(self, it, elements):
        for _ in range(elements):
            try:
                check(next(it))
            except StopIteration:
                return
            except sk.ResourceExhausted:  # a small budget
                pass
            except sk.InvalidArgument as error:
                if "an unlucky number" not in str(error):
                    raise


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**9)
    parser.add_argument("--threads", type=int, default=6)
    options = parser.parse_args()
    print(f"seed {options.seed}, {options.threads} threads, {options.seconds:g} s", flush=True)
    sys.setswitchinterval(1e-4)  # switch threads often
    stress = Stress(options.seed, options.threads)
    calls = stress.run(options.seconds)
    stress.slots.clear()
    stress.datasets.clear()
    gc.collect()
    faulthandler.dump_traceback_later(HANGS_AFTER, exit=True)
    while sk._core.memory_use()[0] > 0:  # until the last calls of dropped iterators end
        time.sleep(0.01)
    faulthandler.cancel_dump_traceback_later()
    print(f"{calls} calls")


if __name__ == "__main__":
    main()
