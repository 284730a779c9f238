"""Symbolic values: what a traced function computes with."""

import numpy as np

from . import _core
from .errors import NeedsValue


def dtype_name(dtype):
    """The name of a type given as Stoker's, NumPy's, TensorFlow's or a string."""
    if dtype in (bytes, str, "string", "bytes"):
        return "string"
    if isinstance(dtype, str):
        return dtype
    name = getattr(dtype, "name", None)  # NumPy's and TensorFlow's dtypes
    if isinstance(name, str):
        return "string" if name.startswith(("bytes", "str", "object")) else name
    return np.dtype(dtype).name


def _needs(what):
    def refuse(self, *_, **__):
        raise NeedsValue(f"{what} needs the value itself, and while a function is traced there is none")

    return refuse


class Value:
    """A component of an element that does not exist yet. Operators and stoker's functions work on it."""

    __slots__ = ("_expr",)
    __array_ufunc__ = None  # NumPy leaves arithmetic to us
    __array_priority__ = 1000

    def __init__(self, expr):
        self._expr = expr

    def __repr__(self):
        return "<symbolic value>"

    __bool__ = _needs("a condition")
    __int__ = _needs("int()")
    __float__ = _needs("float()")
    __index__ = _needs("an index")
    __len__ = _needs("len()")
    __iter__ = _needs("iteration")
    __array__ = _needs("NumPy")
    __contains__ = _needs("`in`")
    __hash__ = object.__hash__

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise NeedsValue(f"'.{name}' needs the value itself, and while a function is traced there is none")

    def __add__(self, other):
        return op("add", self, other)

    def __radd__(self, other):
        return op("add", other, self)

    def __sub__(self, other):
        return op("subtract", self, other)

    def __rsub__(self, other):
        return op("subtract", other, self)

    def __mul__(self, other):
        return op("multiply", self, other)

    def __rmul__(self, other):
        return op("multiply", other, self)

    def __truediv__(self, other):
        return op("divide", self, other)

    def __rtruediv__(self, other):
        return op("divide", other, self)

    def __floordiv__(self, other):
        return op("floor_divide", self, other)

    def __rfloordiv__(self, other):
        return op("floor_divide", other, self)

    def __mod__(self, other):
        return op("mod", self, other)

    def __rmod__(self, other):
        return op("mod", other, self)

    def __pow__(self, other):
        return op("power", self, other)

    def __rpow__(self, other):
        return op("power", other, self)

    def __neg__(self):
        return op("negative", self)

    def __abs__(self):
        return op("absolute", self)

    def __eq__(self, other):
        return op("equal", self, other)

    def __ne__(self, other):
        return op("not_equal", self, other)

    def __lt__(self, other):
        return op("less", self, other)

    def __le__(self, other):
        return op("less_equal", self, other)

    def __gt__(self, other):
        return op("greater", self, other)

    def __ge__(self, other):
        return op("greater_equal", self, other)

    def __and__(self, other):
        return op("logical_and", self, other)

    def __rand__(self, other):
        return op("logical_and", other, self)

    def __or__(self, other):
        return op("logical_or", self, other)

    def __ror__(self, other):
        return op("logical_or", other, self)

    def __invert__(self):
        return op("logical_not", self)

    def __getitem__(self, key):
        keys = key if isinstance(key, tuple) else (key,)
        if any(not isinstance(k, (int, slice, type(Ellipsis), type(None))) for k in keys):
            raise NeedsValue(f"[{key!r}] needs the value itself")
        if any(k is Ellipsis for k in keys) and not all(k is Ellipsis or k == slice(None) for k in keys[:-1]):
            raise NeedsValue("an index in the middle of '...' needs the value itself")
        if any(k is Ellipsis for k in keys):
            return _from_the_end(self, keys)
        value, axis = self, 0
        for k in keys:
            value, axis = _index(value, k, axis)
        return value


def _from_the_end(value, keys):
    last = keys[-1]
    if last is Ellipsis:
        return value
    if last is None:
        return op("expand_dims", value, axis=-1)
    return _index(value, last, -1)[0]


def _index(value, key, axis):
    """The value with one axis indexed, and the axis that the next key is for."""
    if key is None:
        return op("expand_dims", value, axis=axis), axis + 1
    if isinstance(key, slice):
        if key == slice(None):
            return value, axis + 1
        for bound in (key.start, key.stop, key.step):
            if bound is not None and not isinstance(bound, int):
                raise NeedsValue("a slice by a value of the element")
        step = 1 if key.step is None else key.step
        return op("getitem", value, start=key.start, stop=key.stop, step=step, axis=axis), axis + 1
    return op("getitem", value, index=int(key), axis=axis), axis


def expr_of(value):
    """The expression of a symbolic value or a constant."""
    if isinstance(value, Value):
        return value._expr
    if isinstance(value, (bool, int, float)):
        return _core.number(value)
    if isinstance(value, (bytes, str, np.ndarray, np.generic)):
        return _core.constant(value)
    if isinstance(value, (list, tuple)) and not any(isinstance(v, Value) for v in value):
        return _core.constant(constant(value))
    raise NeedsValue(f"a {type(value).__name__} is no value of an element")


def op(name, *inputs, **params):
    """An operation by its name in the table; outside of `map`, on arrays, it is done at once."""
    if not any(isinstance(value, Value) for value in inputs):
        return _at_once(name, inputs, params)
    return Value(_core.op(name, [expr_of(value) for value in inputs], params))


def _at_once(name, inputs, params):
    arguments = [_core.argument(i) for i in range(len(inputs))]
    program = _core.program(_core.op(name, arguments, params), len(inputs))
    values = tuple(v if isinstance(v, (bytes, str, np.ndarray, np.generic)) else constant(v) for v in inputs)
    return _core.computed(program, _core.Element(values if len(values) > 1 else values[0]))


def constant(value, dtype=None, shape=None) -> np.ndarray:
    """A NumPy array with TensorFlow's types for plain numbers: int32 (int64 where needed), float32."""
    array = np.asarray(value, dtype=None if dtype is None or dtype_name(dtype) == "string" else dtype_name(dtype))
    if array.dtype.kind == "S" and not isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value, dtype=object)  # NumPy's own strings lose zeros at their end
    if dtype is None and not isinstance(value, (np.ndarray, np.generic)):
        if array.dtype == np.int64 and (array.size == 0 or np.abs(array).max() < 2**31):
            array = array.astype(np.int32)
        elif array.dtype == np.float64:
            array = array.astype(np.float32)
    return array if shape is None else np.broadcast_to(array, shape)
