"""Expressions of the engine. The current trace records how each was made, so that two calls can be compared."""

import json

from . import _core
from ._findings import findings, needs_python
from .errors import Error


def noted(expr, what, inputs=()):
    """Record how an expression was made, so that two calls of a function can be compared."""
    if findings() is not None:
        findings().note(expr, what, inputs)
    return expr


def op_expr(name, inputs, params):
    """Return the expression of an operation."""
    made = noted(_core.op(name, inputs, params), (name, _comparable(name, inputs, params)), inputs)
    if findings() is not None:
        findings().specs.add_call(made, name, inputs, params)
    return made


def _comparable(name, inputs, params):
    """Return the parameters of an operation; as text if they hold arrays of the engine, which cannot be compared."""
    if findings() is None or not any(isinstance(value, _core.Array) for value in params.values()):
        return params
    alone = _core.program(_core.op(name, [_core.argument(0)] * len(inputs), params), 1)
    text = _core.Dataset.source("from_tensors", {"tensors": _core.Element(b"")}, "", 0, "").then(
        "map", {"map_func": alone}, "", 0, "").to_json()
    return json.loads(text)["stages"][-1]


def argument_expr(number):
    """Return the expression of an argument of the function."""
    return noted(_core.argument(number), ("argument", number))


def field_expr(expr, key):
    """Return the expression of a field of a tuple or a dict."""
    return noted(_core.get(expr, key), ("field", key), [expr])


def constant_expr(make, value, what):
    """Return the expression that `make` makes of a constant. One that the engine cannot represent is a reason for Python."""
    try:
        made = noted(make(value), what)
    except Error as refused:
        if findings() is None:  # an operation that is computed at once
            raise
        raise needs_python(str(refused)) from None
    if findings() is not None:
        findings().specs.add_constant(made)
    return made
