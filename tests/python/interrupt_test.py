"""Ctrl-C while a loop waits: the loop ends, the process too, and nothing hangs."""

import os
import signal
import subprocess
import sys
import unittest

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

LEAVES = """
import stoker as sk
it = iter(sk.Dataset.range(1000).map(lambda x: int(x) + 1).prefetch(50))
print(int(next(it)), flush=True)
"""


class Interrupted(unittest.TestCase):
    def interrupt(self, program):
        """What the program prints once Ctrl-C has reached it."""
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

    def test_a_program_that_ends_in_mid_flight_ends(self):
        done = subprocess.run([sys.executable, "-c", LEAVES], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "1\n", ""))


if __name__ == "__main__":
    unittest.main()
