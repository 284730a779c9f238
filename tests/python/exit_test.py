"""A program may end while functions of its data sets run."""

import subprocess
import sys
import unittest

# A data set is dropped in the middle of calls that take longer than dropping waits.
PROGRAM = """
import threading, time
import stoker as sk

begun = threading.Semaphore(0)

def slow(x):
    begun.release()
    until = time.monotonic() + 0.2
    while time.monotonic() < until:
        pass
    return int(x)

def use():
    it = iter(sk.Dataset.range(100).map(slow, num_parallel_calls=2, workers="thread"))
    next(it)
    begun.acquire()
    begun.acquire()

use()
"""


class Exit(unittest.TestCase):
    def test_calls_in_progress_end_before_the_interpreter_does(self):
        done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=100)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
