"""Decides whether a function passed to `map` becomes native operations or a Python stage."""

import difflib
import inspect
import json
import random

import numpy as np

from . import _core
from ._composite import COMPOSITES, composite_of
from ._findings import tracing
from ._purity import MissingName, Sandbox, is_internal
from ._values import Value, dtype_name, result_expr
from .errors import Error


class Traced:
    """`function` for the engine, or why it is a Python stage.

    `found` holds what the trace recorded: why real elements have to confirm it, and whether they can.
    """

    def __init__(self, function, why, found=None):
        self.function = function
        self.why = why
        self.found = found


def trace(function, structure):
    """Call a pure copy of `function` twice on symbolic values of the structure (see `symbolic`).

    Raise if the function uses a name that does not exist, or if an operation rejects its parameters.
    """
    sandbox = Sandbox(function)
    call = _Call(function, sandbox, structure)
    before = _generator_states()
    first = call()
    if first.function is None or is_internal(function):
        return first
    if sandbox.changed():
        return Traced(None, "it writes to a container outside of itself")
    second = call()
    if second.function is None or _text_of(first) != _text_of(second) or sandbox.changed():
        return Traced(None, "it does not do the same each time it is called")
    if _generator_states() != before:
        return Traced(None, "it draws random numbers")
    return first


class _Call:
    """Calls one function, each time on new symbolic values."""

    def __init__(self, function, sandbox, structure):
        self._function = function
        self._sandbox = sandbox
        self._structure = structure
        fields = len(structure) if isinstance(structure, tuple) else 1
        self._takes_one = fields > 1 and takes_one(function, fields)

    def __call__(self):
        with tracing() as found:
            try:
                made = self._program()
            except Exception as failed:
                if not found.reasons and self._is_mistake(failed):
                    raise
                return Traced(None, found.reasons[0] if found.reasons else _in_words(failed))
        return Traced(None, found.reasons[0]) if found.reasons else Traced(*made, found)

    def _is_mistake(self, failed):
        """Whether it fails for every element: it uses a name that does not exist, or an operation rejects its parameters."""
        if isinstance(failed, Error):
            return not self._sandbox.has_outside  # otherwise the operation may have received a stand-in
        return isinstance(failed, (MissingName, MissingField, NameError))

    def _program(self):
        arguments = _arguments(self._structure)
        pure = self._function if is_internal(self._function) else self._sandbox.pure(self._function)
        result = pure(tuple(arguments)) if self._takes_one else pure(*arguments)
        if not _has_value(result):
            return None, "its result depends on no argument"
        return _core.program(result_expr(result), len(arguments)), None


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


def python_function(function, why, most_calls):
    """A Python stage, called by at most `most_calls` threads at a time (0: any number).

    A function that can only take one argument gets the tuple.
    """

    def call(*fields):
        if len(fields) > 1 and takes_one(function, len(fields)):
            return function(fields)
        return function(*fields)

    name = getattr(function, "__qualname__", type(function).__name__)
    return _core.python_function(call, f"the Python function {name} ({why})", most_calls)


class MissingField(KeyError):
    """An element has no such field."""

    def __str__(self):
        return self.args[0]


class _Fields(dict):
    """The fields of a symbolic element."""

    def __missing__(self, key):
        near = difflib.get_close_matches(str(key), self, 1)
        raise MissingField(f"the element has no field {key!r}, only {', '.join(map(repr, self))}"
                           + (f"; did you mean {near[0]!r}?" if near else ""))


def symbolic(expr, structure):
    """Values in the shape of the structure: a leaf (a TensorSpec, or None), a tuple or a dict of these."""
    if isinstance(structure, tuple):
        return tuple(symbolic(_core.get(expr, str(i)), part) for i, part in enumerate(structure))
    if isinstance(structure, dict):
        return _Fields((key, symbolic(_core.get(expr, key), part)) for key, part in structure.items())
    if isinstance(structure, COMPOSITES):
        return composite_of(symbolic(expr, structure._parts()))
    if structure is None:
        return Value(expr)
    return Value(expr, dtype_name(structure.dtype), None if structure.shape is None else len(structure.shape))


def _arguments(structure):
    if isinstance(structure, tuple):
        return [symbolic(_core.argument(i), part) for i, part in enumerate(structure)]
    return [symbolic(_core.argument(0), structure)]


def _has_value(result):
    if isinstance(result, COMPOSITES):
        result = result._parts()
    if isinstance(result, dict):
        result = tuple(result.values())
    if isinstance(result, (tuple, list)):
        return any(_has_value(part) for part in result)
    return isinstance(result, Value)


def _in_words(failed):
    try:
        return f"{type(failed).__name__}: {failed}"
    except Exception:  # its message holds a symbolic value
        return type(failed).__name__


def _text_of(traced):
    """Return the program as text; None if it holds arrays that are too large for a text."""
    try:
        one = _core.Dataset.source("range", {"start": 0, "stop": 1}, "", 0, "")
        graph = json.loads(one.then("map", {"map_func": traced.function}, "", 0, "").to_json())
        return json.dumps(graph["stages"][-1]["map_func"])  # without the seeds that were drawn for the graph
    except (Error, UnicodeDecodeError):
        return None


def _generator_states():
    kind, keys, *rest = np.random.get_state()
    return random.getstate(), kind, keys.tobytes(), rest
