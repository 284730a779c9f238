"""Symbolic values: what a traced function computes with."""

import array as array_module

import numpy as np

from . import _core
from ._composite import COMPOSITES
from ._expressions import constant_expr, noted, op_expr
from ._findings import Outside, findings, needs_python
from ._indices import indexed
from ._keys import key_text
from ._operators import (COMPARISONS, LOGIC, UFUNCS, as_numpy, checked, fits_into, is_cast, is_scalar, may_be_python_bool,
                         result_dtype)
from ._spec import dtype_name
from ._symbols import Symbol, is_array, spec_of


def _needs(what):
    def refuse(self, *_, **__):
        raise needs_python(f"{what} requires an actual value, and there is none while a function is traced")

    return refuse


def _in_place(name):
    def assign(self, other):
        if not is_array(self):
            return _operator(name, self, other)  # NumPy's scalars are immutable: the name is bound to a new one
        self._become(_assigned(name, self, other))
        return self

    return assign


class Value(Symbol):
    """A symbolic value: a component of an element that is not computed yet. Operators and Stoker's functions accept it."""

    __slots__ = ()

    def _copied(self, boxed=True):
        """Return a value of its own. `boxed` is whether it is an array also if its rank is 0; None if unknown."""
        return Value(self._expr, self._dtype, self._rank, boxed=boxed)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        """Apply the operator of an array, which is a ufunc. An in-place one has `out`."""
        name = UFUNCS.get(ufunc)
        if name is None or method != "__call__" or options or not any(isinstance(i, (np.ndarray, np.generic)) for i in inputs):
            raise needs_python(f"NumPy's {ufunc.__name__} requires an actual value, and there is none while a function is traced")
        return _operator(name, *inputs)

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
    __setitem__ = _needs("assigning to a part")
    __delitem__ = _needs("deleting a part")

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
        return indexed(self, key)


def _operator(name, *operands):
    """Apply a Python operator to symbolic values, if the operation has the result of NumPy."""
    operands = checked(name, operands)
    return Value(op_expr(name, [expr_of(operand) for operand in operands], {}), result_dtype(name, operands),
                 0 if all(map(is_scalar, operands)) else None, is_python_bool=may_be_python_bool(operands))


def _assigned(name, target, other):
    """Return the expression of an array after an in-place operator: NumPy keeps its type and shape, or raises."""
    made = _operator(name, target, other)
    dtype, shape = spec_of(target)
    wider = spec_of(made)[0]
    if not is_cast(wider, dtype) or not fits_into(spec_of(other)[1], shape):
        raise needs_python("an in-place operator may not keep the type and the shape of the array")
    return made._expr if wider == dtype else op_expr("cast", [made._expr], {"dtype": dtype})


def expr_of(value):
    """Return the expression of a symbolic value or a constant."""
    if isinstance(value, Value):
        return value._expr
    value = as_numpy(value)
    if isinstance(value, (bytes, str, np.ndarray, np.generic)):
        return constant_expr(_core.constant, value, ("constant", value))
    if type(value) in (bool, int, float):
        return constant_expr(_core.number, value, ("number", type(value), value))
    if isinstance(value, (list, tuple)) and not any(isinstance(v, Value) for v in value):
        return expr_of(constant(value))
    if isinstance(value, Outside):
        bool(value)  # raises its reason
    raise needs_python(f"a {type(value).__name__} is not an array, a number or a string")


# Operations that draw the element's random numbers.
_RANDOM = {name for name, kind in _core.ops().items() if any(param["name"] == "seed" for param in kind["params"])}


def op(name, *inputs, **params):
    """Compute an operation by its name in the table of operations (`stoker stages` lists them).

    If an input is symbolic, as inside `map`, return a symbolic value. Otherwise compute the operation and return an
    array. Raise InvalidArgument if there is no such operation, or if it rejects its inputs or parameters.

    >>> sk.op("floor_divide", np.array([7, 8]), 2)
    array([3, 4])
    """
    if not any(isinstance(value, Value) for value in inputs):
        if findings() is not None and (name in _RANDOM or name == "read_file"):
            raise needs_python(f"{name} of constants may have another result when it is called again")
        return _at_once(name, inputs, params)
    made = op_expr(name, [expr_of(value) for value in inputs], params)
    if findings() is not None and name in _RANDOM:
        findings().draws.append((made, params.get("seed") is not None))
    if name == "cast":
        return Value(made, params["dtype"], inputs[0]._rank)
    return Value(made, "bool" if name in COMPARISONS or name in LOGIC else None)


def _at_once(name, inputs, params):
    """Compute an operation on arrays.

    A Python number gets its type from the arrays, as inside `map`; without arrays, it is an array itself.
    """
    inputs = [as_numpy(value) for value in inputs]
    weak = [type(value) in (bool, int, float) for value in inputs]
    given = [value for value, plain in zip(inputs, weak) if not plain or all(weak)]
    places = iter(range(len(given)))
    parts = [expr_of(value) if plain and not all(weak) else _core.argument(next(places)) for value, plain in zip(inputs, weak)]
    values = tuple(v if isinstance(v, (bytes, str, np.ndarray, np.generic)) else constant(v) for v in given)
    program = _core.program(_core.op(name, parts, params), len(values))
    return _core.computed(program, _core.Element(values if len(values) > 1 else values[0]))


def result_expr(value):
    """Return the expression of the result of a function. A list is a tuple, as in a Python stage."""
    return _structure_expr(tuple(value) if isinstance(value, list) else value)


def _structure_expr(value):
    if isinstance(value, tuple):
        parts = [_structure_expr(part) for part in value]
        return noted(_core.tuple_expr(parts), ("tuple",), parts)
    if isinstance(value, dict):
        keys, parts = [key_text(key) for key in value], [_structure_expr(part) for part in value.values()]
        return noted(_core.dict_expr(keys, parts), ("dict", *keys), parts)
    if isinstance(value, COMPOSITES):
        return _structure_expr(value._parts())
    if value is None:
        raise needs_python("it returned None")
    if isinstance(value, list):
        raise needs_python("it returned a list inside a structure")
    is_integer = isinstance(value, int) and type(value) is not bool
    return expr_of(int(value) if is_integer else value)  # a Python stage converts members of an IntEnum as integers


def computed_now(function, value):
    """Return the result of a function of operations for one value."""
    return _core.computed(_core.program(result_expr(function(Value(_core.argument(0)))), 1), _core.Element(value))


def constant(value, dtype=None, shape=None) -> np.ndarray:
    """Return the value as a new NumPy array, with the types of TensorFlow for Python numbers.

    Integers become int32 (int64 if needed), floats float32, text an array of objects. Arrays and tensors of any library
    keep their type, also in lists. `dtype` sets another type. With `shape`, the value is broadcast. Raise ValueError if that is not possible.

    >>> sk.constant([1.5, 2.0])
    array([1.5, 2. ], dtype=float32)
    """
    array = np.asarray(value, dtype=None if dtype is None or dtype_name(dtype) == "string" else dtype_name(dtype))
    if array.dtype.kind == "S" and not isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value, dtype=object)  # NumPy's strings lose zeros at their end
    if dtype is None and not _has_dtype(value):
        if array.dtype == np.int64 and (array.size == 0 or np.abs(array).max() < 2**31):
            array = array.astype(np.int32)
        elif array.dtype == np.float64:
            array = array.astype(np.float32)
    return np.array(array if shape is None else np.broadcast_to(array, shape))


def _has_dtype(value):
    """Return whether a value has a type of its own, unlike numbers of Python, or contains one that has.

    As in TensorFlow, integers of NumPy have none inside a list.
    """
    if isinstance(value, (list, tuple)):
        return not set(map(type, value)) <= _PYTHON_NUMBERS and any(
            _has_dtype(part) for part in value if not isinstance(part, np.integer))
    return isinstance(value, (memoryview, array_module.array)) or hasattr(value, "dtype") or hasattr(value, "__array__")


_PYTHON_NUMBERS = {bool, int, float, str, bytes}
