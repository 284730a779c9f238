"""Decide whether a function that is passed to `map` becomes native operations or a Python stage."""

import difflib
import functools
import inspect
import types
import weakref

import numpy as np

from . import _core
from ._code_origin import is_internal, is_raised_here
from ._composite import COMPOSITES
from ._expressions import argument_expr, field_expr
from ._findings import BAD_INDEX, findings, needs_python, tracing
from ._identity import identity_of
from ._draws import may_draw
from ._kept import EngineFunction, Kept, function_of
from ._keys import check_keys
from ._op_specs import OpSpecs
from ._operators import OPERATORS
from ._sandbox import MissingName, Sandbox
from ._values import Value, result_expr
from .errors import Error


class Traced:
    """The result of a trace: the `function` for the engine, or `why` it is a Python stage, and what the trace `found`."""

    def __init__(self, function, why, found=None):
        self.function = function
        self.why = why
        self.found = found


def trace(function, structure, core=None):
    """Call a pure copy of `function` twice on symbolic values of the structure (see `symbolic`).

    `core` is the dataset, which infers types and shapes; without it they are not known. Raise if the function uses a name
    that does not exist, or if an operation rejects its parameters.
    """
    sandbox = Sandbox(function)
    call = _Call(function, sandbox, structure, core)
    first = call()
    if first.function is None or is_internal(function):
        return first
    if sandbox.problem():
        return Traced(None, sandbox.problem())
    second = call()
    if second.function is None or not first.found.has_same_steps(second.found) or sandbox.problem():
        return Traced(None, "it does not do the same each time it is called")
    return first


class _Call:
    """A call of one function, each time on new symbolic values."""

    def __init__(self, function, sandbox, structure, core):
        self._function = function
        self._sandbox = sandbox
        self._structure = structure
        self._core = core
        self._fields = len(structure) if isinstance(structure, tuple) else 1
        self._takes_one = self._fields > 1 and takes_one(function, self._fields)

    def __call__(self):
        with tracing(OpSpecs(self._core, self._fields)) as found:
            try:
                with np.errstate(divide="raise", over="raise", invalid="raise"):  # a warning for each element is an effect
                    made = self._program()
            except Exception as failed:
                if not found.reasons and self._is_mistake(failed):
                    raise
                return Traced(None, found.reasons[0] if found.reasons else self._sandbox.problem() or _in_words(failed))
        return Traced(None, found.reasons[0]) if found.reasons else Traced(*made, found)

    def _is_mistake(self, failed):
        """Return whether it fails for every element: a name does not exist, or an operation rejects its parameters."""
        if isinstance(failed, Error):
            # Otherwise the operation may have received a stand-in, or the function raises the error itself.
            return not self._sandbox.has_outside and is_raised_here(failed)
        return isinstance(failed, (MissingName, MissingField, NameError))

    def _program(self):
        arguments = _arguments(self._structure)
        pure = self._function if is_internal(self._function) else self._sandbox.pure(self._function)
        result = pure(tuple(arguments)) if self._takes_one else pure(*arguments)
        if not _has_value(result):
            return None, "its result depends on no argument"
        expr = result_expr(result)
        if not findings().draws_in_order(expr):
            raise needs_python("it draws random numbers in another order than its result contains them")
        try:
            program = _core.program(expr, len(arguments))
        except Error as refused:  # it is larger than a native program can be
            raise needs_python(str(refused)) from None
        refused = self._refused(program)
        if refused is not None:
            failing = findings().first(findings().specs.rejects)
            # A named operation rejects these types in Python, too, and NumPy rejects the index: a mistake. An operator may
            # accept them in Python.
            is_index = BAD_INDEX in str(refused)
            raise needs_python(str(refused)) if not is_index and (failing is None or failing[0] in OPERATORS) else refused
        return program, None

    def _refused(self, program):
        """Return the error of an operation that is not for the types of its inputs, or None."""
        try:
            if self._core is not None:
                self._core.then("map", {"map_func": program}, "", 0, "")
        except Error as refused:
            return refused
        return None


def takes_one(function, fields):
    """Return whether a function takes only one argument although the element has several fields."""
    signature = _signature_of(function)
    return signature is not None and not _accepts(signature, fields) and _accepts(signature, 1)


def check_arguments(function, fields):
    """Raise TypeError if a function can take neither the fields of an element nor the element as one argument."""
    signature = _signature_of(function)
    if signature is None or _accepts(signature, fields) or _accepts(signature, 1):
        return
    raise TypeError(f"{_name_of(function)}{signature} cannot be called with the {fields} "
                    f"component{'s' if fields > 1 else ''} of an element")


def _signature_of(function):
    try:
        return inspect.signature(function)
    except Exception:  # there is none, or an attribute of the object raises
        return None


def _accepts(signature, count):
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True


def _name_of(function):
    try:
        return function.__qualname__
    except Exception:
        return type(function).__name__


_gates = weakref.WeakValueDictionary()


def gate_of(function, most_calls=1):
    """Return the gate of what the user wrote: one for all stages that call it, at most `most_calls` threads at a time.

    A stage that allows more calls has another gate: a stage that allows one call would rarely find none in progress.
    """
    while isinstance(function, functools.partial):
        function = function.func
    if isinstance(function, types.MethodType):
        key = (id(function.__func__), id(function.__self__), most_calls)
    else:
        key = (id(function), None, most_calls)
    return _gates.setdefault(key, _core.CallGate())  # lives no longer than a stage that keeps the function


def python_function(function, why, most_calls, *, is_sequence=False, called=None):
    """Return a Python stage's `EngineFunction`, called by at most `most_calls` threads at a time (0: any number).

    A function that can only take one argument gets the tuple. A result with keys that are not text is an
    InvalidArgument. With `is_sequence`, the function is called in the order of its input: a later `shuffle` or `take`
    does not move before it. `called` is the user's object that the function calls, if that is not the function itself.
    """
    kept = Kept(function)
    kept_weakly = weakref.ref(kept)

    def call(*fields):
        function = function_of(kept_weakly)
        result = function(fields) if len(fields) > 1 and takes_one(function, len(fields)) else function(*fields)
        check_keys(result)
        return result

    described = f"the Python function {_name_of(function)} ({why})"
    gate = gate_of(function if called is None else called, most_calls)
    draws = may_draw(function if called is None else called)
    core = _core.python_function(call, described, identity_of(function), most_calls, is_sequence, draws, gate)
    return EngineFunction(core, kept)


class MissingField(KeyError):
    """An element has no such field."""

    def __str__(self):
        return self.args[0]


class _Fields(dict):
    """The fields of a symbolic element."""

    def pop(self, key, *default):
        return super().pop(key, *default) if default or key in self else self[key]

    def __missing__(self, key):
        near = difflib.get_close_matches(str(key), self, 1)
        raise MissingField(f"the element has no field {key!r}, only {', '.join(map(repr, self))}"
                           + (f"; did you mean {near[0]!r}?" if near else ""))


def symbolic(expr, structure):
    """Return symbolic values in a structure: a leaf (a TensorSpec, or None), or a tuple or dict of these."""
    if isinstance(structure, tuple):
        return tuple(symbolic(field_expr(expr, str(i)), part) for i, part in enumerate(structure))
    if isinstance(structure, dict):
        return _Fields((key, symbolic(field_expr(expr, key), part)) for key, part in structure.items())
    if isinstance(structure, COMPOSITES):
        return type(structure)(**symbolic(expr, structure._parts()))
    if structure is None:
        return Value(expr)
    return Value(expr, structure._type_name, None if structure.shape is None else len(structure.shape))


def _arguments(structure):
    if isinstance(structure, tuple) and len(structure) == 1:  # the engine passes the tuple, not its component
        return [symbolic(field_expr(argument_expr(0), "0"), structure[0])]
    if isinstance(structure, tuple):
        return [symbolic(argument_expr(i), part) for i, part in enumerate(structure)]
    return [symbolic(argument_expr(0), structure)]


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
    except Exception:  # its message contains a symbolic value
        return type(failed).__name__
