"""A program may end while functions of its datasets run."""

import subprocess
import sys
import unittest

# A dataset is dropped during calls that take longer than dropping waits for them.
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


# Daemon threads convert arrays, or free objects whose __del__ waits, when the interpreter ends.
CONVERTS = """
import threading
import numpy as np
import stoker as sk

begun = threading.Semaphore(0)
image = np.zeros((16, 16, 3), np.uint8)

def convert():
    begun.release()
    while True:
        sk.image.resize(image, (8, 8))

for _ in range(2):
    threading.Thread(target=convert, daemon=True).start()
    begun.acquire()
"""

FREES = """
import threading
import stoker as sk

begun = threading.Semaphore(0)

class Slow:
    def __del__(self):
        threading.Event().wait(0.001)

def function(x):
    cycle = Slow()
    cycle.itself = cycle
    begun.release()
    return int(x)

def read():
    for _ in sk.Dataset.range(10**6).map(function, workers="thread"):
        pass

for _ in range(2):
    threading.Thread(target=read, daemon=True).start()
for _ in range(700):  # as many objects as start the garbage collector
    begun.acquire()
"""


class Exit(unittest.TestCase):
    def test_threads_that_convert_do_not_disturb_it(self):
        for program in (CONVERTS, FREES):
            done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_calls_in_progress_end_before_the_interpreter_does(self):
        done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=100)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
