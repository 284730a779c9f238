"""Types and shapes of the values of a traced function, inferred for each operation from those of its inputs alone."""

from . import _core
from ._signature import engine_signature
from ._spec import TensorSpec
from .errors import Error

_UNKNOWN = (None, None)


class OpSpecs:
    """The name of the type and the shape of each expression of one call of a function; None where they are unknown.

    `core` is the dataset that the function is for, or None. Its elements have `fields` components.
    """

    def __init__(self, core, fields):
        self._core = core
        self._fields = fields
        self._constants = {}  # by id: an expression. It is kept, so that its id is not reused, as in the others
        self._calls = {}  # by id: an expression, and the name, the inputs and the parameters of its operation
        self._known = {}  # by id: an expression and its spec; None if an operation rejects its inputs

    def add_constant(self, expr):
        """Record a constant."""
        self._constants[id(expr)] = expr

    def add_call(self, expr, name, inputs, params):
        """Record an operation."""
        self._calls[id(expr)] = expr, name, inputs, params

    def of(self, expr):
        """Return the spec of an expression. Inferring a whole program for each of its operations would be quadratic."""
        if self._core is None:
            return _UNKNOWN
        left = [expr]
        while left:
            last = left[-1]
            missing = [one for one in self._values_in(last) if id(one) not in self._known]
            if id(last) in self._known:
                left.pop()
            elif missing:
                left.extend(missing)
            else:
                self._known[id(last)] = last, self._inferred(last)
        return self._known[id(expr)][1] or _UNKNOWN

    def rejects(self, expr):
        """Return whether an operation of the expression rejects its inputs."""
        self.of(expr)
        return id(expr) in self._known and self._known[id(expr)][1] is None

    def _values_in(self, expr):
        """Return the inputs of an operation that are not constants."""
        inputs = self._calls[id(expr)][2] if id(expr) in self._calls else []
        return [one for one in inputs if id(one) not in self._constants]

    def _inferred(self, expr):
        specs = [self._known[id(one)][1] for one in self._values_in(expr)]
        if None in specs:
            return None
        source = _source_of(specs)
        if source is None:
            return _result_of(self._core, expr, self._fields)
        _, name, inputs, params = self._calls[id(expr)]
        numbers = iter(range(len(specs)))
        parts = [one if id(one) in self._constants else _core.argument(next(numbers)) for one in inputs]
        return _result_of(source, _core.op(name, parts, params), len(specs))


def _source_of(specs):
    """Return a dataset with elements of these specs, which is never read; None if there cannot be one."""
    params = {"generator": _core.Generator(iter, iter, "")}
    if not specs:
        return None
    if any(spec != _UNKNOWN for spec in specs):
        if any(dtype is None or dtype == "bfloat16" for dtype, _ in specs):  # NumPy has no bfloat16
            return None
        signature = tuple(TensorSpec(shape, dtype) for dtype, shape in specs)
        params["output_signature"] = engine_signature(signature if len(specs) > 1 else signature[0])
    return _core.Dataset.source("from_generator", params, "", 0, "")


def _result_of(core, expr, fields):
    """Return the spec of an expression for the elements of a dataset; None if an operation rejects its inputs."""
    try:
        known = core.then("map", {"map_func": _core.program(expr, fields)}, "", 0, "").element_spec()
    except Error:
        return None
    return known[1][0] if known else _UNKNOWN
