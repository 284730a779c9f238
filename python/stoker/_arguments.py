"""Arguments of the package's functions: constants, checks, and conversion to what the engine takes."""

import os
import sys
import warnings

import numpy as np

from . import errors
from ._composite import COMPOSITES
from ._keys import key_text
from ._values import constant

AUTOTUNE = -1
INFINITE = -1
UNKNOWN = -2

_HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")


def caller():
    """Return the file and line of the user's call."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def check_name(name):
    if name is not None and not str(name).isidentifier():
        raise errors.InvalidArgument(f"name: expected an identifier, got {name!r}")
    return name or ""


def number(value):
    """Return an array of one number as a number. The stage rejects other values, and its message names the parameter."""
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return value
    array = np.asarray(value)
    return array.item() if array.size == 1 else array.tolist()


def count_of(name, value, least: int) -> int:
    """Return a whole number of at least `least`, or AUTOTUNE. Raise InvalidArgument for anything else."""
    count = whole_number(name, value)
    if count < least and count != AUTOTUNE:
        raise errors.InvalidArgument(f"{name}: expected a whole number of at least {least}, or AUTOTUNE, got {value!r}")
    return count


def whole_number(name, value, bits: int = 64) -> int:
    """Return an integer of at most `bits` bits; raise InvalidArgument, with the parameter's name, otherwise."""
    whole = number(value)
    if not isinstance(whole, int) or isinstance(whole, bool) or not -2**(bits - 1) <= whole < 2**(bits - 1):
        raise errors.InvalidArgument(f"{name}: expected a whole number of at most {bits} bits, got {value!r}")
    return whole


def most_calls(num_parallel_calls, workers):
    """Return how many threads may call a Python function at a time: 1 by default; 0 for any number."""
    if num_parallel_calls is None or workers == "serial" or not isinstance(num_parallel_calls, int):
        return 1
    return max(num_parallel_calls, 0)


def effective_deterministic(deterministic, num_parallel_calls):
    """Return `deterministic`, or None with a warning if it has no effect, as tf.data does."""
    if deterministic is None or num_parallel_calls is not None:
        return deterministic
    warnings.warn("`deterministic` has no effect without `num_parallel_calls`", stacklevel=3)
    return None


def as_data(value):
    """Return a structure of arrays: tuples and dicts are kept, everything else becomes one array."""
    if isinstance(value, tuple):
        return tuple(as_data(part) for part in value)
    if isinstance(value, dict):
        return {key_text(key): as_data(part) for key, part in value.items()}
    if isinstance(value, COMPOSITES):
        return as_data(value._parts())
    if isinstance(value, (np.ndarray, np.generic, bool, int, float, bytes, str)):
        return value
    return constant(value)


def copied(value):
    """Return the structure with copies of its arrays, because a function may modify what it receives."""
    if type(value) is dict:
        return {key: copied(part) for key, part in value.items()}
    if type(value) in (tuple, list):
        return type(value)(map(copied, value))
    if isinstance(value, tuple) and hasattr(value, "_make"):
        return value._make(map(copied, value))
    return value.copy() if isinstance(value, (np.ndarray, set)) else value


def paths(value):
    if isinstance(value, (str, bytes, os.PathLike)):
        return [os.fspath(value)]
    if isinstance(value, np.ndarray):
        return [os.fspath(v) for v in value.reshape(-1).tolist()]
    return [os.fspath(v) for v in value]
