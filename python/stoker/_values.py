"""Symbolic values: what a traced function computes with."""

import numpy as np

from . import _core
from ._composite import COMPOSITES
from ._findings import Outside, doubt, findings, needs_python
from .errors import Error


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
        raise needs_python(f"{what} requires an actual value, and there is none while a function is traced")

    return refuse


def _in_place(name):
    def assign(self, other):
        if self._rank != 0:  # scalars of NumPy are not modified in place
            doubt(f"'{name}' in place keeps the type of an array, and modifies it under its other names")
        return _operator(name, self, other)

    return assign


class Value:
    """A component of an element that does not exist yet. Operators and stoker's functions work on it.

    `dtype` is the name of its type and `rank` the number of its axes where these are known before anything runs.
    """

    __slots__ = ("_expr", "_dtype", "_rank")
    __array_ufunc__ = None  # NumPy leaves arithmetic to us
    __array_priority__ = 1000

    def __init__(self, expr, dtype=None, rank=None):
        self._expr = expr
        self._dtype = dtype
        self._rank = rank

    __bool__ = _needs("a condition")
    __int__ = _needs("int()")
    __float__ = _needs("float()")
    __complex__ = _needs("complex()")
    __index__ = _needs("an index")
    __round__ = _needs("round()")
    __len__ = _needs("len()")
    __iter__ = _needs("iteration")
    __array__ = _needs("NumPy")
    __contains__ = _needs("`in`")
    __hash__ = _needs("hashing")
    __repr__ = _needs("repr()")
    __str__ = _needs("str()")
    __format__ = _needs("formatting")
    __bytes__ = _needs("bytes()")
    __fspath__ = _needs("a path")
    __reduce_ex__ = _needs("copying or pickling")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise needs_python(f"'.{name}' requires an actual value, and there is none while a function is traced")

    def __add__(self, other):
        return _operator("add", self, other)

    def __radd__(self, other):
        return _operator("add", other, self)

    def __sub__(self, other):
        return _operator("subtract", self, other)

    def __rsub__(self, other):
        return _operator("subtract", other, self)

    def __mul__(self, other):
        return _operator("multiply", self, other)

    def __rmul__(self, other):
        return _operator("multiply", other, self)

    def __truediv__(self, other):
        return _operator("divide", self, other)

    def __rtruediv__(self, other):
        return _operator("divide", other, self)

    def __floordiv__(self, other):
        return _operator("floor_divide", self, other)

    def __rfloordiv__(self, other):
        return _operator("floor_divide", other, self)

    def __mod__(self, other):
        return _operator("mod", self, other)

    def __rmod__(self, other):
        return _operator("mod", other, self)

    def __pow__(self, other):
        return _operator("power", self, other)

    def __rpow__(self, other):
        return _operator("power", other, self)

    __iadd__ = _in_place("add")
    __isub__ = _in_place("subtract")
    __imul__ = _in_place("multiply")
    __itruediv__ = _in_place("divide")
    __ifloordiv__ = _in_place("floor_divide")
    __imod__ = _in_place("mod")
    __ipow__ = _in_place("power")
    __iand__ = _in_place("logical_and")
    __ior__ = _in_place("logical_or")

    def __neg__(self):
        return _operator("negative", self)

    def __abs__(self):
        return _operator("absolute", self)

    def __eq__(self, other):
        return _operator("equal", self, other)

    def __ne__(self, other):
        return _operator("not_equal", self, other)

    def __lt__(self, other):
        return _operator("less", self, other)

    def __le__(self, other):
        return _operator("less_equal", self, other)

    def __gt__(self, other):
        return _operator("greater", self, other)

    def __ge__(self, other):
        return _operator("greater_equal", self, other)

    def __and__(self, other):
        return _operator("logical_and", self, other)

    def __rand__(self, other):
        return _operator("logical_and", other, self)

    def __or__(self, other):
        return _operator("logical_or", self, other)

    def __ror__(self, other):
        return _operator("logical_or", other, self)

    def __invert__(self):
        return _operator("logical_not", self)

    def __getitem__(self, key):
        keys = key if isinstance(key, tuple) else (key,)
        if any(not _is_index(k) for k in keys) or (self._dtype == "string" and not self._rank and any(map(_is_part, keys))):
            raise needs_python("this index requires an actual value, and there is none while a function is traced")
        if any(k is Ellipsis for k in keys) and not all(k is Ellipsis or k == slice(None) for k in keys[:-1]):
            raise needs_python("an index between '...' and another one is not an operation")
        if any(k is Ellipsis for k in keys):
            return _from_the_end(self, keys)
        value, axis = self, 0
        for k in keys:
            value, axis = _index(value, k, axis)
        return value


_COMPARISONS = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}
_LOGIC = {"logical_and", "logical_or", "logical_not"}


def _operator(name, *operands):
    """Apply a Python operator to symbolic values, if the operation has the result of NumPy."""
    operands = _checked(name, [_operand(name, operand) for operand in operands])
    return Value(_core.op(name, [expr_of(operand) for operand in operands], {}),
                 "bool" if name in _COMPARISONS or name in _LOGIC else None,
                 0 if all(_is_scalar(operand) for operand in operands) else None)


def _checked(name, operands):
    """Return the operands; raise NeedsValue if the operation differs from the operator of Python."""
    texts = [_is_text(operand) for operand in operands]
    if any(_kind_of(operand) in "SU" for operand in operands):
        raise needs_python("an operator on text: the strings of elements are bytes, which equal no text")
    if any(texts) and (name not in _COMPARISONS or not all(_may_be_text(operand) for operand in operands)):
        raise needs_python("an operator on strings is not an operation")
    if name in _LOGIC and not all(_is_bool(operand) for operand in operands):
        raise needs_python("'&', '|' and '~' on what may not be bool are not operations")
    if name in ("floor_divide", "mod") and findings() is not None:
        findings().divides = True
    if name == "power" and not (_is_whole(operands[1]) and operands[1] > 0 and _limits(operands[0])):
        raise needs_python("NumPy's power rounds as the machine does")
    if name == "divide" and not all(_fits(operand, other) for operand, other in (operands, operands[::-1])):
        raise needs_python("the number does not fit the type of the other operand")
    return operands


def _limits(operand):
    """Return the range of a symbolic value that is known to be an integer, or None."""
    known = isinstance(operand, Value) and operand._dtype is not None and operand._dtype.startswith(("int", "uint"))
    return np.iinfo(operand._dtype) if known else None


def _fits(number, other):
    limits = _limits(other)
    return limits is None or type(number) is not int or limits.min <= number <= limits.max


def _is_scalar(operand):
    return operand._rank == 0 if isinstance(operand, Value) else not isinstance(operand, np.ndarray)


def _kind_of(operand):
    """Return the NumPy kind of a constant; "O" for bytes and arrays of bytes, which are the strings of elements."""
    if isinstance(operand, np.ndarray) and operand.dtype.hasobject:
        return "O" if all(isinstance(item, bytes) for item in operand.flat) else "U"
    if isinstance(operand, np.ndarray):
        return operand.dtype.kind
    return "U" if isinstance(operand, str) else "O" if isinstance(operand, bytes) else " "


def _is_text(operand):
    return _kind_of(operand) == "O" or (isinstance(operand, Value) and operand._dtype == "string")


def _may_be_text(operand):
    return _is_text(operand) or (isinstance(operand, Value) and operand._dtype is None)


def _is_bool(operand):
    if isinstance(operand, Value):
        return operand._dtype == "bool"
    return isinstance(operand, (bool, np.bool_)) or (isinstance(operand, np.ndarray) and operand.dtype == bool)


def _operand(name, operand):
    """Convert a list to an array, as NumPy does."""
    if not isinstance(operand, (list, tuple)):
        return operand
    if any(isinstance(part, Value) for part in operand):
        raise needs_python("an operator on a list of values is not an operation")
    if name == "multiply":
        doubt("an integer times a list repeats the list")
    return np.asarray(operand)


def _is_index(key):
    if isinstance(key, slice):
        return all(bound is None or _is_whole(bound) for bound in (key.start, key.stop, key.step))
    return key is None or key is Ellipsis or _is_whole(key)


def _is_part(key):
    """Whether an index selects a part; of a string, its bytes."""
    return key is not None and key is not Ellipsis


def _is_whole(number):
    return isinstance(number, (int, np.integer)) and not isinstance(number, bool)


def _from_the_end(value, keys):
    last = keys[-1]
    if last is Ellipsis:
        return value
    return _index(value, last, -1)[0]


def _index(value, key, axis):
    """The value with one axis indexed, and the axis that the next key is for."""
    if key is None:
        return _part(value, 1, "expand_dims", axis=axis), axis + 1
    if isinstance(key, slice):
        if key == slice(None):
            return value, axis + 1
        start, stop = (None if bound is None else int(bound) for bound in (key.start, key.stop))
        step = 1 if key.step is None else int(key.step)
        return _part(value, 0, "getitem", start=start, stop=stop, step=step, axis=axis), axis + 1
    return _part(value, -1, "getitem", index=int(key), axis=axis), axis


def _part(value, more_axes, name, **params):
    rank = None if value._rank is None else max(value._rank + more_axes, 0)
    return Value(_core.op(name, [value._expr], params), value._dtype, rank)


def expr_of(value):
    """The expression of a symbolic value or a constant."""
    if isinstance(value, Value):
        return value._expr
    if isinstance(value, (bytes, str, np.ndarray, np.generic)):  # np.float64 is a float, too
        return _constant_expr(value)
    if isinstance(value, (bool, int, float)):
        return _core.number(value)
    if isinstance(value, (list, tuple)) and not any(isinstance(v, Value) for v in value):
        return _constant_expr(constant(value))
    if isinstance(value, Outside):
        bool(value)  # raises its reason
    raise needs_python(f"a {type(value).__name__} is not an array, a number or a string")


def _constant_expr(value):
    try:
        return _core.constant(value)
    except Error as refused:
        raise needs_python(str(refused)) from None


# Operations that draw the element's random numbers.
_RANDOM = {name for name, kind in _core.ops().items() if any(param["name"] == "seed" for param in kind["params"])}


def op(name, *inputs, **params):
    """An operation by its name in the table; outside of `map`, on arrays, it is done at once."""
    if not any(isinstance(value, Value) for value in inputs):
        if findings() is not None and (name in _RANDOM or name == "read_file"):
            raise needs_python(f"{name} of constants may give another result when it is called again")
        return _at_once(name, inputs, params)
    if findings() is not None and name in _RANDOM:
        findings().random = True
    made = _core.op(name, [expr_of(value) for value in inputs], params)
    if name == "cast":
        return Value(made, params["dtype"], inputs[0]._rank)
    return Value(made, "bool" if name in _COMPARISONS or name in _LOGIC else None)


def _at_once(name, inputs, params):
    """A plain number takes its type from the arrays, as inside of `map`; where there are none it is an array itself."""
    weak = [type(value) in (bool, int, float) for value in inputs]
    given = [value for value, plain in zip(inputs, weak) if not plain or all(weak)]
    places = iter(range(len(given)))
    parts = [expr_of(value) if plain and not all(weak) else _core.argument(next(places)) for value, plain in zip(inputs, weak)]
    values = tuple(v if isinstance(v, (bytes, str, np.ndarray, np.generic)) else constant(v) for v in given)
    program = _core.program(_core.op(name, parts, params), len(values))
    return _core.computed(program, _core.Element(values if len(values) > 1 else values[0]))


def result_expr(value):
    """The expression of what a function returned. A list is a tuple, as in a Python stage."""
    return _structure_expr(tuple(value) if isinstance(value, list) else value)


def _structure_expr(value):
    if isinstance(value, tuple):
        return _core.tuple_expr([_structure_expr(part) for part in value])
    if isinstance(value, dict):
        return _core.dict_expr([str(key) for key in value], [_structure_expr(part) for part in value.values()])
    if isinstance(value, COMPOSITES):
        return _structure_expr(value._parts())
    if value is None:
        raise needs_python("it returned None")
    if isinstance(value, list):
        raise needs_python("it returned a list inside of a structure")
    return expr_of(value)


def computed_now(function, value):
    """What a function of operations returns for one value that exists."""
    return _core.computed(_core.program(result_expr(function(Value(_core.argument(0)))), 1), _core.Element(value))


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
    return np.array(array if shape is None else np.broadcast_to(array, shape))
