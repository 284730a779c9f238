"""Objects that are known to be pure, so that a traced function may use them: functions and types without side effects."""

import builtins
import functools
import itertools
import math
import operator

import numpy as np

from . import _composite, _ops, _spec, _values, errors, image, io

_BUILTINS = """abs all any ascii bin bool bytearray bytes chr complex dict divmod enumerate filter float format frozenset hex int
    iter len list map max min next oct ord pow range repr reversed round set slice sorted str sum tuple zip
    Ellipsis NotImplemented True False None __debug__""".split()
_NUMPY = """abs absolute add all allclose amax amin any append arange arccos arcsin arctan arctan2 argmax argmin argsort array
    array_equal asarray ascontiguousarray atleast_1d atleast_2d atleast_3d bitwise_and bitwise_or bool_ broadcast_to ceil clip
    column_stack concatenate cos cosh cross cumprod cumsum deg2rad degrees diag diff divide dot dstack dtype e equal exp
    expand_dims expm1 eye finfo flip float16 float32 float64 floating floor floor_divide fmax fmin full full_like gcd greater
    greater_equal hstack hypot identity iinfo inf int16 int32 int64 int8 integer interp intp isfinite isinf isnan kron
    linspace log log10 log1p log2 logical_and logical_not logical_or logspace matmul maximum mean median meshgrid minimum mod
    moveaxis multiply nan negative newaxis nonzero not_equal number ones ones_like outer percentile pi power prod quantile
    rad2deg radians ravel reciprocal remainder repeat reshape rint roll round sign signedinteger sin sinh sort split sqrt
    square squeeze stack std subtract sum swapaxes take tan tanh tensordot tile transpose tri tril triu true_divide trunc
    uint16 uint32 uint64 uint8 unique unsignedinteger var vstack where zeros zeros_like""".split()
_NOT_OPERATIONS = {"TFRecordOptions", "TFRecordWriter"}
# Those that read attributes or identities, and those of sequences, which symbolic values are not: concat(x, y) is x + y.
_NOT_OPERATORS = {"attrgetter", "methodcaller", "is_", "is_not", "concat", "iconcat"}


def _public(module, leave_out=()):
    return [value for name, value in vars(module).items() if not name.startswith("_") and name not in leave_out]


def _pure_objects():
    found = [getattr(builtins, name) for name in _BUILTINS]
    found += [value for value in vars(builtins).values() if isinstance(value, type) and issubclass(value, Exception)]
    found += [getattr(np, name) for name in _NUMPY if hasattr(np, name)]
    found += _public(math) + _public(operator, _NOT_OPERATORS) + _public(itertools) + [functools.reduce, functools.partial]
    found += [value for value in _public(_ops) if is_of_stoker(value)]
    found += [getattr(module, name) for module in (image, io) for name in module.__all__ if name not in _NOT_OPERATIONS]
    found += [_values.op, _values.constant, _spec.TensorSpec, _spec.string, *_composite.COMPOSITES]
    found += [value for value in vars(errors).values() if isinstance(value, type)]
    return {id(value): value for value in found}


def is_of_stoker(value):
    """Return whether it is a function or class of this package."""
    return str(getattr(value, "__module__", "")).startswith("stoker.") and callable(value)


PURE = _pure_objects()
PLAIN = frozenset(map(type, (None, True, 0, 0.0, 0j, "", b"", range(0), Ellipsis, NotImplemented)))
KNOWN_MODULES = {math, operator, itertools, functools, np}
