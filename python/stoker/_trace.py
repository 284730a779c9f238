"""Decides what a function given to `map` becomes: native operations, or a Python stage."""

import builtins
import inspect
import random
import sys
import time

import numpy as np

from . import _core
from ._composite import COMPOSITES, composite_of
from ._values import Value, expr_of
from .errors import NeedsValue

# Calls whose effect would be lost or frozen if the function were not called for each element.
_EFFECTS = {
    (time, "sleep"), (time, "time"), (time, "perf_counter"), (time, "monotonic"), (builtins, "print"),
    (builtins, "open"), (builtins, "input"), (builtins, "exec"), (builtins, "setattr"), (builtins, "delattr"),
}
_EFFECT_CALLS = {getattr(module, name): f"calls {name}" for module, name in _EFFECTS}


class Traced:
    """`function` for the engine, and why it is a Python stage if it is one."""

    def __init__(self, function, why):
        self.function = function
        self.why = why


def trace(function, structure):
    """Calls `function` once on symbolic values of the structure (see `symbolic`)."""
    try:
        arguments, count = _arguments(structure)
        result, effect = _watched(function, arguments)
        if effect:
            return Traced(None, effect)
        return Traced(_core.program(_result(result), count), None)
    except NeedsValue as needed:
        return Traced(None, str(needed))
    except (AttributeError, TypeError, ValueError, IndexError, KeyError, NotImplementedError) as failed:
        if _is_ours(failed):
            raise
        return Traced(None, f"{type(failed).__name__}: {failed}")


def done_now(function, value):
    """What the function gives for one value that is there, where it is made of native operations."""
    program = _core.program(_result(function(Value(_core.argument(0)))), 1)
    return _core.computed(program, _core.Element(value))


def takes_one(function, fields):
    """Whether a function can only take one argument where the element has several fields."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return False
    try:
        signature.bind(*range(fields))
        return False
    except TypeError:
        pass
    try:
        signature.bind(None)
        return True
    except TypeError:
        return False


def python_function(function, why):
    """A Python stage; a function that can only take one argument gets the tuple."""

    def call(*fields):
        if len(fields) > 1 and takes_one(function, len(fields)):
            return function(fields)
        return function(*fields)

    name = getattr(function, "__qualname__", type(function).__name__)
    return _core.python_function(call, f"the Python function {name} ({why})")


def _is_ours(error):
    from .errors import Error

    return isinstance(error, Error)


def symbolic(expr, structure):
    """Values in the shape of the structure: a leaf (None), a tuple or a dict of these."""
    if isinstance(structure, tuple):
        return tuple(symbolic(_core.get(expr, str(i)), part) for i, part in enumerate(structure))
    if isinstance(structure, dict):
        return {key: symbolic(_core.get(expr, key), part) for key, part in structure.items()}
    if isinstance(structure, COMPOSITES):
        return composite_of(symbolic(expr, structure._parts()))
    return Value(expr)


def _arguments(structure):
    if isinstance(structure, tuple):
        return [symbolic(_core.argument(i), part) for i, part in enumerate(structure)], len(structure)
    return [symbolic(_core.argument(0), structure)], 1


def _result(value):
    if isinstance(value, (tuple, list)):
        return _core.tuple_expr([_result(part) for part in value])
    if isinstance(value, dict):
        return _core.dict_expr([str(key) for key in value], [_result(part) for part in value.values()])
    if isinstance(value, COMPOSITES):
        return _result(value._parts())
    if value is None:
        raise NeedsValue("it returned None")
    return expr_of(value)


def _watched(function, arguments):
    """The result, and the first effect on the world outside that was seen, in words."""
    seen = []

    def watch(frame, event, called):
        if event != "c_call" or seen:
            return
        owner = getattr(called, "__self__", None)
        if isinstance(owner, random.Random) or isinstance(owner, (np.random.Generator, np.random.RandomState)):
            seen.append("draws random numbers of its own")
        else:
            try:
                known = _EFFECT_CALLS.get(called)
            except TypeError:
                return
            if known:
                seen.append(known)

    before = _outside(function)
    previous = sys.getprofile()
    sys.setprofile(watch)
    try:
        one = len(arguments) > 1 and takes_one(function, len(arguments))
        result = function(tuple(arguments)) if one else function(*arguments)
    finally:
        sys.setprofile(previous)
    if not seen and _changed(before, _outside(function)):
        seen.append("writes to something outside itself")
    if not seen and _is_random_python(function):
        seen.append("draws random numbers of its own")
    return result, seen[0] if seen else None


def _is_random_python(function):
    """`random.random()` and others are C functions bound to a hidden Random; some are Python."""
    code = getattr(function, "__code__", None)
    if code is None:
        return False
    namespace = getattr(function, "__globals__", {})
    return any(namespace.get(name) is random for name in code.co_names)


def _outside(function):
    """What a function can see from outside: its cells, the globals it names, its defaults."""
    code = getattr(function, "__code__", None)
    if code is None:
        return {}
    seen = {}
    for name, cell in zip(code.co_freevars, function.__closure__ or ()):
        try:
            seen["cell", name] = cell.cell_contents
        except ValueError:
            continue
    for name in code.co_names:
        if name in function.__globals__:
            seen["global", name] = function.__globals__[name]
    return {key: (value, _content(value)) for key, value in seen.items()}


def _content(value):
    if isinstance(value, (list, tuple, set, frozenset)):
        return [id(item) for item in value]
    if isinstance(value, dict):
        return [(id(key), id(item)) for key, item in value.items()]
    if isinstance(value, np.ndarray) and value.nbytes <= 1 << 20:
        return value.tobytes()
    attributes = getattr(value, "__dict__", None)
    if isinstance(attributes, dict) and not inspect.ismodule(value) and not inspect.isfunction(value):
        return [(key, id(item)) for key, item in attributes.items()]
    return None


def _changed(before, after):
    if before.keys() != after.keys():
        return True
    return any(before[key][0] is not after[key][0] or before[key][1] != after[key][1] for key in before)
