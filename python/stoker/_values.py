"""Symbolic values: what a traced function computes with."""

import json

import numpy as np

from . import _core
from ._composite import COMPOSITES
from ._findings import Outside, findings, needs_python
from .errors import Error, InvalidArgument


def dtype_name(dtype):
    """Return the name of a type of Stoker, NumPy or TensorFlow, or of a name."""
    if dtype in (bytes, str, "string", "bytes"):
        return "string"
    if isinstance(dtype, str):
        return dtype
    name = getattr(dtype, "name", None)  # dtypes of NumPy and TensorFlow
    if isinstance(name, str):
        return "string" if name.startswith(("bytes", "str", "object")) else name
    return np.dtype(dtype).name


def _needs(what):
    def refuse(self, *_, **__):
        raise needs_python(f"{what} requires an actual value, and there is none while a function is traced")

    return refuse


def _in_place(name):
    def assign(self, other):
        if not _is_array(self):
            return _operator(name, self, other)  # NumPy's scalars are immutable: the name is bound to a new one
        self._become(_assigned(name, self, other))
        return self

    return assign


class _Memory:
    """The memory that an array and its views share. `version` counts the modifications."""

    __slots__ = ("version",)

    def __init__(self):
        self.version = 0


class _Contents:
    """The expression of an array, shared with views of all of it, and the version of the memory it is valid for."""

    __slots__ = ("expr", "version")

    def __init__(self, expr, version):
        self.expr = expr
        self.version = version


class Value:
    """A symbolic value: a component of an element that is not computed yet. Operators and Stoker's functions accept it.

    `dtype` is the name of its type and `rank` the number of its axes, if these are known before anything runs. `memory`
    is that of the value it is a view of. `boxed` is whether NumPy would have an array, not a scalar, if the rank is 0;
    None if unknown. `is_python_bool` is whether it may be a bool of Python, not of NumPy.
    """

    __slots__ = ("_contents", "_dtype", "_rank", "_memory", "_boxed", "_is_python_bool")

    def __init__(self, expr, dtype=None, rank=None, memory=None, boxed=False, is_python_bool=False):
        self._dtype = dtype
        self._rank = rank
        self._memory = memory or _Memory()
        self._contents = _Contents(expr, self._memory.version)
        self._boxed = boxed
        self._is_python_bool = is_python_bool

    @property
    def _expr(self):
        if self._contents.version != self._memory.version:
            raise needs_python("it uses an array after an in-place operator on another view of the same memory")
        return self._contents.expr

    def _become(self, expr):
        """Modify the array. All its names refer to the new contents; views of a part of it cannot be used any more."""
        self._memory.version += 1
        self._contents.expr = expr
        self._contents.version = self._memory.version

    def _copied(self):
        """Return an array of its own, also if this is a scalar."""
        return Value(self._expr, self._dtype, self._rank, boxed=True)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        """Apply the operator of an array, which is a ufunc. An in-place one has `out`."""
        name = _OPERATORS.get(ufunc)
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
        keys = key if isinstance(key, tuple) else (key,)
        is_text = _dtype_of(self) == "string" and not _rank_of(self)
        if any(not _is_index(k) for k in keys) or self._is_python_bool or (is_text and not _only_adds_axes(keys)):
            raise needs_python("this index requires an actual value, and there is none while a function is traced")
        if is_text and findings() is not None:
            findings().adds_axes_to_text = True
        _check_axes(self, keys)
        if any(k is Ellipsis for k in keys):
            return _from_the_end(self, keys)
        if not keys:
            return _unboxed(self)
        value, axis = self, 0
        for k in keys:
            value, axis = _index(value, k, axis)
        return value


_COMPARISONS = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}
_LOGIC = {"logical_and", "logical_or", "logical_not"}
_OPERATORS = {getattr(np, name): name for name in ("add", "subtract", "multiply", "divide", "floor_divide", "mod", "power",
                                                   *_COMPARISONS)}
_OPERATORS.update({np.bitwise_and: "logical_and", np.bitwise_or: "logical_or"})


OPERATORS = {*_OPERATORS.values(), *_LOGIC, "negative", "absolute", "getitem", "expand_dims"}  # what Python's become


def _operator(name, *operands):
    """Apply a Python operator to symbolic values, if the operation has the result of NumPy."""
    if name == "multiply" and any(isinstance(operand, (list, tuple)) for operand in operands):
        _check_repetition(operands)
    operands = _checked(name, [_operand(operand) for operand in operands])
    return Value(_op_expr(name, [expr_of(operand) for operand in operands], {}), _result_dtype(name, operands),
                 0 if all(_is_scalar(operand) for operand in operands) else None,
                 is_python_bool=any(_is_python_bool(operand) for operand in operands)
                 or (any(map(_is_text, operands)) and not any(_is_certain_array(operand) for operand in operands)))


def _result_dtype(name, operands):
    """Return the name of the type of an operator's result where it follows from the operands alone."""
    if name in _COMPARISONS or name in _LOGIC:
        return "bool"
    dtypes = {operand._dtype for operand in operands if isinstance(operand, Value)}
    numbers = {type(operand) for operand in operands if not isinstance(operand, Value)}
    if name not in ("add", "subtract", "multiply") or len(dtypes) != 1 or None in dtypes:
        return None
    is_float = next(iter(dtypes)) in ("float32", "float64")
    is_int = next(iter(dtypes)).startswith(("int", "uint"))
    return next(iter(dtypes)) if (is_float and numbers <= {int, float}) or (is_int and numbers <= {int}) else None


def _is_python_bool(operand):
    return isinstance(operand, Value) and operand._is_python_bool


def _is_certain_array(operand):
    return bool(operand._rank) if isinstance(operand, Value) else isinstance(operand, np.ndarray)


def _checked(name, operands):
    """Return the operands; raise NeedsValue if the operation differs from the operator of Python."""
    for operand in operands:
        if isinstance(operand, Value):
            _dtype_of(operand)
    if name not in _COMPARISONS and name not in ("logical_and", "logical_or") and any(map(_is_python_bool, operands)):
        raise needs_python("arithmetic on the result of a comparison of strings, which is a bool of Python")
    texts = [_is_text(operand) for operand in operands]
    if any(_kind_of(operand) in "SU" for operand in operands):
        raise needs_python("an operator on text: the strings of elements are bytes, which equal no text")
    if any(texts) and (name not in _COMPARISONS or not all(texts)):
        raise needs_python("an operator on strings is not an operation")
    if name in _LOGIC and not all(_is_bool(operand) for operand in operands):
        raise needs_python("'&', '|' and '~' on what may not be bool are not operations")
    if name in ("floor_divide", "mod") and findings() is not None:
        findings().divides = True
    if name == "power" and not (_is_whole(operands[1]) and operands[1] > 0 and _limits(operands[0])
                                and _stays_whole(operands[0], operands[1])):
        raise needs_python("NumPy's power rounds as the machine does")
    if name == "divide" and not all(_fits(operand, other) for operand, other in (operands, operands[::-1])):
        raise needs_python("the number does not fit the type of the other operand")
    return operands


def _stays_whole(value, number):
    """Return whether NumPy computes an integer: int64 and uint64 together become float64."""
    return type(number) is int or np.result_type(value._dtype, number.dtype).kind in "iu"


def _limits(operand):
    """Return the range of a symbolic value that is known to be an integer, or None."""
    known = isinstance(operand, Value) and operand._dtype is not None and operand._dtype.startswith(("int", "uint"))
    return np.iinfo(operand._dtype) if known else None


def _fits(number, other):
    if type(number) is not int or not isinstance(other, Value):
        return True
    limits = _limits(other)
    if limits is None:
        return other._dtype is not None or 0 <= number <= 127  # which fit all types
    return limits.min <= number <= limits.max


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


def _is_bool(operand):
    if isinstance(operand, Value):
        return operand._dtype == "bool"
    return isinstance(operand, (bool, np.bool_)) or (isinstance(operand, np.ndarray) and operand.dtype == bool)


def _operand(operand):
    """Convert a list to an array, as NumPy does."""
    if not isinstance(operand, (list, tuple)):
        return operand
    if any(isinstance(part, Value) for part in operand):
        raise needs_python("an operator on a list of values is not an operation")
    return np.asarray(operand)


def _check_repetition(operands):
    for operand in operands:
        if isinstance(operand, Value) and not _rank_of(operand):
            raise needs_python("an integer times a list repeats the list")


# ---- in-place operators


def _spec_of(operand):
    """Return the name of the type and the shape, as far as they are known before anything runs."""
    if not isinstance(operand, Value):
        return None, np.shape(operand)
    return findings().spec_of(operand._expr) if findings() is not None else (None, None)


def _dtype_of(value):
    if value._dtype is None:
        value._dtype = _spec_of(value)[0]
    return value._dtype


def _rank_of(value):
    if value._rank is None:
        shape = _spec_of(value)[1]
        value._rank = None if shape is None else len(shape)
    return value._rank


def _is_array(value):
    """Return whether NumPy has an array here, not a scalar."""
    rank = _rank_of(value)
    if not value._boxed and (rank is None or (rank == 0 and value._boxed is None)):
        raise needs_python("an in-place operator on what may be an array or a scalar")
    return value._boxed or rank > 0


def _assigned(name, target, other):
    """Return the expression of an array after an in-place operator: NumPy keeps its type and shape, or raises."""
    made = _operator(name, target, other)
    dtype, shape = _spec_of(target)
    wider = _spec_of(made)[0]
    if not _is_cast(wider, dtype) or not _fits_into(_spec_of(other)[1], shape):
        raise needs_python("an in-place operator may not keep the type and the shape of the array")
    return made._expr if wider == dtype else _op_expr("cast", [made._expr], {"dtype": dtype})


def _is_cast(wider, dtype):
    """Return whether NumPy casts the result of an in-place operator to the type of the array."""
    if wider is None or dtype is None:
        return False
    return wider == dtype or ("bfloat16" not in (wider, dtype) and np.can_cast(wider, dtype, "same_kind"))


def _fits_into(shape, whole):
    """Return whether an array is certain to be broadcast to a shape without enlarging it."""
    if shape is None or (whole is None and shape != ()):
        return False
    if whole is not None and len(shape) > len(whole):
        return False
    return all(side == 1 or (side is not None and side == room) for side, room in zip(shape[::-1], (whole or ())[::-1]))


# ---- indices


def _is_index(key):
    if isinstance(key, slice):
        return all(bound is None or _is_whole(bound) for bound in (key.start, key.stop, key.step))
    return key is None or key is Ellipsis or _is_whole(key)


def _only_adds_axes(keys):
    """Return whether an index only adds axes: bytes have no such index, so a tensor as in TensorFlow is meant."""
    return bool(keys) and all(key is None or key is Ellipsis for key in keys)


def _is_whole(number):
    return isinstance(number, (int, np.integer)) and not isinstance(number, bool)


def _check_axes(value, keys):
    """Raise NeedsValue for an index that NumPy rejects, or that is not an operation."""
    ellipses = sum(k is Ellipsis for k in keys)
    axes = sum(k is not None and k is not Ellipsis for k in keys)
    rank = _rank_of(value)
    if ellipses > 1 or (rank is not None and axes > rank):
        raise needs_python("there are more indices than axes")
    if ellipses and not all(k is Ellipsis or (k == slice(None) and rank is not None) for k in keys[:-1]):
        raise needs_python("an index between '...' and another one is not an operation")


def _from_the_end(value, keys):
    """Return what an index with `...` selects: always an array."""
    if keys[-1] is not Ellipsis:
        made = _index(value, keys[-1], -1)[0]
        made._boxed = True
        return made
    _rank_of(value)
    return _view(value, boxed=True)


def _unboxed(value):
    """Return `value[()]`: the scalar if it is an array of rank 0."""
    rank = _rank_of(value)
    return _view(value) if rank else Value(value._expr, value._dtype, rank, None if rank == 0 else value._memory)


def _index(value, key, axis):
    """Return the value with one axis indexed, and the axis that the next key is for."""
    if key is None:
        return _part(value, 1, "expand_dims", axis=axis), axis + 1
    if isinstance(key, slice):
        if key == slice(None) and value._rank:
            return _view(value), axis + 1
        start, stop = (None if bound is None else int(bound) for bound in (key.start, key.stop))
        step = 1 if key.step is None else int(key.step)
        return _part(value, 0, "getitem", start=start, stop=stop, step=step, axis=axis), axis + 1
    return _part(value, -1, "getitem", index=int(key), axis=axis), axis


def _part(value, more_axes, name, **params):
    """Return a view, or the scalar at an index."""
    rank = None if value._rank is None else max(value._rank + more_axes, 0)
    is_scalar = rank == 0 and params["axis"] != -1
    return Value(_op_expr(name, [value._expr], params), value._dtype, rank, None if is_scalar else _shared(value))


def _view(value, boxed=False):
    """Return a view of all of it. NumPy makes another array, so that `[x[:]] == [x]` compares what they hold."""
    made = Value(value._expr, value._dtype, value._rank, _shared(value), boxed)
    if value._rank or value._boxed:
        made._contents = value._contents
    return made


def _shared(value):
    """Return the memory of the views of a value; None for a scalar, whose views are copies."""
    return None if value._rank == 0 and value._boxed is False else value._memory


# ---- expressions


def _noted(expr, what, inputs=()):
    """Record how an expression was made, so that two calls of a function can be compared."""
    if findings() is not None:
        findings().note(expr, what, inputs)
    return expr


def _op_expr(name, inputs, params):
    return _noted(_core.op(name, inputs, params), (name, _comparable(name, inputs, params)), inputs)


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
    return _noted(_core.argument(number), ("argument", number))


def field_expr(expr, key):
    """Return the expression of a field of a tuple or a dict."""
    return _noted(_core.get(expr, key), ("field", key), [expr])


def key_text(key):
    """Return the key of a dict as text. Raise InvalidArgument if it is not text."""
    if not isinstance(key, str):
        raise InvalidArgument(f"expected text as the key of an element, got {key!r} of type {type(key).__name__}; "
                              f"use {str(key)!r}")
    return str.__str__(key)  # the value of a member of an enumeration of text


def check_keys(value):
    """Raise InvalidArgument if a key of a structure is not text."""
    if isinstance(value, dict):
        for key in value:
            key_text(key)
        value = value.values()
    elif not isinstance(value, (tuple, list)):
        return
    for part in value:
        if isinstance(part, (dict, tuple, list)):
            check_keys(part)


def expr_of(value):
    """Return the expression of a symbolic value or a constant."""
    if isinstance(value, Value):
        return value._expr
    if isinstance(value, (bytes, str, np.ndarray, np.generic)):  # np.float64 is a float, too
        return _symbolic(_core.constant, value, ("constant", value))
    if isinstance(value, (bool, int, float)):
        return _symbolic(_core.number, value, ("number", type(value), value))
    if isinstance(value, (list, tuple)) and not any(isinstance(v, Value) for v in value):
        return expr_of(constant(value))
    if isinstance(value, Outside):
        bool(value)  # raises its reason
    raise needs_python(f"a {type(value).__name__} is not an array, a number or a string")


def _symbolic(make, value, what):
    """Return the expression of a constant. One that the engine cannot represent is a reason for Python."""
    try:
        return _noted(make(value), what)
    except Error as refused:
        if findings() is None:  # an operation that is computed at once
            raise
        raise needs_python(str(refused)) from None


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
    made = _op_expr(name, [expr_of(value) for value in inputs], params)
    if findings() is not None and name in _RANDOM:
        findings().draws.append((made, params.get("seed") is not None))
    if name == "cast":
        return Value(made, params["dtype"], inputs[0]._rank, boxed=_is_boxed(inputs[0], params["dtype"]))
    return Value(made, "bool" if name in _COMPARISONS or name in _LOGIC else None, boxed=name in ("reshape", "squeeze"))


def _is_boxed(value, dtype):
    """Return whether `sk.cast` of a scalar is an array of rank 0: not if it calls the operation; None if unknown."""
    if not dtype.startswith(("int", "uint")):
        return True
    known = value._dtype or _spec_of(value)[0]
    return None if known is None else not known.startswith("float")


def _at_once(name, inputs, params):
    """Compute an operation on arrays.

    A Python number gets its type from the arrays, as inside `map`; without arrays, it is an array itself.
    """
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
        return _noted(_core.tuple_expr(parts), ("tuple",), parts)
    if isinstance(value, dict):
        keys, parts = [key_text(key) for key in value], [_structure_expr(part) for part in value.values()]
        return _noted(_core.dict_expr(keys, parts), ("dict", *keys), parts)
    if isinstance(value, COMPOSITES):
        return _structure_expr(value._parts())
    if value is None:
        raise needs_python("it returned None")
    if isinstance(value, list):
        raise needs_python("it returned a list inside a structure")
    return expr_of(value)


def computed_now(function, value):
    """Return the result of a function of operations for one value."""
    return _core.computed(_core.program(result_expr(function(Value(_core.argument(0)))), 1), _core.Element(value))


def constant(value, dtype=None, shape=None) -> np.ndarray:
    """Return the value as a new NumPy array, with the types of TensorFlow for Python numbers.

    Integers become int32 (int64 if needed), floats float32, text an array of objects. NumPy arrays keep their type.
    `dtype` sets another type. With `shape`, the value is broadcast. Raise ValueError if that is not possible.

    >>> sk.constant([1.5, 2.0])
    array([1.5, 2. ], dtype=float32)
    """
    array = np.asarray(value, dtype=None if dtype is None or dtype_name(dtype) == "string" else dtype_name(dtype))
    if array.dtype.kind == "S" and not isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value, dtype=object)  # NumPy's strings lose zeros at their end
    if dtype is None and not isinstance(value, (np.ndarray, np.generic)):
        if array.dtype == np.int64 and (array.size == 0 or np.abs(array).max() < 2**31):
            array = array.astype(np.int32)
        elif array.dtype == np.float64:
            array = array.astype(np.float32)
    return np.array(array if shape is None else np.broadcast_to(array, shape))
