"""Waiting for other threads."""

import threading
import time


def comes_true(condition, patience=60):
    """Return whether the condition becomes true while other threads run; False after `patience` seconds.

    A loop that only checks would hold the GIL, and the threads that it waits for would not get it.
    """
    give_up, gives_way = time.monotonic() + patience, threading.Event()
    while not condition():
        if time.monotonic() > give_up:
            return False
        gives_way.wait(0.001)
    return True
