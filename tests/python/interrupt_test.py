"""Ctrl-C while a loop waits ends the loop and the process, and nothing hangs."""

import os
import signal
import subprocess
import sys
import threading
import unittest

import stoker as sk

WAITS = """
import threading, stoker as sk
never = threading.Event()
it = iter(sk.Dataset.range(3).map(lambda x: (never.wait(), int(x))[1], workers="thread"))
try:
    print("waiting", flush=True)
    next(it)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    never.set()
    print(int(next(it)), flush=True)
"""

CLOSES = """
import threading, stoker as sk
never, begun = threading.Event(), threading.Event()
it = iter(sk.Dataset.range(3).map(lambda x: (begun.set(), never.wait(), int(x))[2], workers="thread"))
threading.Thread(target=lambda: next(it, None), daemon=True).start()
begun.wait()
try:
    print("waiting", flush=True)
    it.close()
except KeyboardInterrupt:
    never.set()
    it.close()
    print("interrupted", list(it), flush=True)
"""

# A function that raises KeyboardInterrupt while no element is delivered: Python raises it in whatever code the main
# thread runs, which with workers=0 is the function.
OPENS_NOTHING = """
import stoker as sk
sk.configure(workers=0)
def opened(x):
    if x == 1000:
        print("waiting", flush=True)
    return sk.Dataset.range(0)
try:
    next(iter(sk.Dataset.counter().flat_map(opened)))
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""

SHOWS_TYPES = """
import stoker as sk
def opened(x):
    if x == 1000:
        print("waiting", flush=True)
    return sk.Dataset.range(0)
try:
    sk.Dataset.counter().flat_map(opened).element_spec
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""

LEAVES = """
import stoker as sk
it = iter(sk.Dataset.range(1000).map(lambda x: int(x) + 1).prefetch(50))
print(int(next(it)), flush=True)
"""


class Interrupted(unittest.TestCase):
    def interrupt(self, program):
        """Return what the program prints after Ctrl-C."""
        before = signal.signal(signal.SIGINT, signal.SIG_DFL)  # a test in the background may have to ignore it
        child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        signal.signal(signal.SIGINT, before)
        self.assertEqual(child.stdout.readline(), "waiting\n")
        os.kill(child.pid, signal.SIGINT)
        rest, _ = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 0)
        return rest

    def test_ctrl_c_ends_a_wait_and_nothing_is_lost(self):
        self.assertEqual(self.interrupt(WAITS), "interrupted\n0\n")

    def test_ctrl_c_ends_a_close_that_waits_for_a_function(self):
        self.assertEqual(self.interrupt(CLOSES), "interrupted []\n")

    def test_ctrl_c_ends_a_loop_over_empty_datasets(self):
        self.assertEqual(self.interrupt(OPENS_NOTHING), "interrupted\n")

    def test_ctrl_c_ends_a_look_at_the_types(self):
        self.assertEqual(self.interrupt(SHOWS_TYPES), "interrupted\n")

    def test_a_program_that_ends_in_mid_flight_ends(self):
        done = subprocess.run([sys.executable, "-c", LEAVES], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "1\n", ""))


class Raised(Exception):
    """Raised by a signal handler."""


def raise_it(*_):
    raise Raised


class SignalDuringACall(unittest.TestCase):
    def setUp(self):
        self.addCleanup(signal.signal, signal.SIGUSR1, signal.signal(signal.SIGUSR1, raise_it))

    def test_no_element_and_no_error_is_lost(self):
        may_run, signaled = threading.Semaphore(0), set()

        def signal_some(x):
            may_run.acquire()
            if int(x) in (0, 2, 3, 7) and int(x) not in signaled:
                signaled.add(int(x))
                os.kill(os.getpid(), signal.SIGUSR1)  # while the loop is in next(), or just before it
            return 6 // (int(x) - 3)

        ds = sk.Dataset.range(8).map(signal_some, workers="thread")
        expected = [6 // (x - 3) if x != 3 else "failed" for x in range(8)]
        found, at_signals, it = [], [], iter(ds)
        is_next_new = True  # not the element that a signal has kept back
        while len(found) < len(expected):
            try:
                if is_next_new:
                    is_next_new = False
                    may_run.release()
                found.append(next(it))
                is_next_new = True
            except sk.Error:
                found.append("failed")
                is_next_new = True
            except Raised:
                at_signals.append((len(found), it.save()))
        self.assertEqual([x if x == "failed" else int(x) for x in found], expected)
        self.assertEqual(len(at_signals), 4)
        may_run.release(1000)
        for position, checkpoint in at_signals:
            it = iter(ds)
            it.restore(checkpoint)
            self.assertEqual(rest_of(it), expected[position:])

    def test_a_signal_while_an_iterator_is_dropped_is_not_lost(self):
        started, dropping, sent, never = (threading.Event() for _ in range(4))
        self.addCleanup(never.set)

        def signal_and_block(x):
            if x > 0:
                started.set()
                dropping.wait()
                os.kill(os.getpid(), signal.SIGUSR1)
                sent.set()
                never.wait()
            return x

        it = iter(sk.Dataset.range(3).map(signal_and_block, workers="thread"))
        next(it)
        started.wait()
        with self.assertRaises(Raised):
            dropping.set()
            it = None  # waits a moment for the function
            sent.wait()


def rest_of(it):
    rest = []
    while True:
        try:
            rest.append(int(next(it)))
        except sk.Error:
            rest.append("failed")
        except StopIteration:
            return rest


if __name__ == "__main__":
    unittest.main()
