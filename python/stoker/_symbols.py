"""What a symbolic value consists of: its expression, what is known about its type and shape, and its memory."""

import numpy as np

from ._findings import findings, needs_python


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


class Symbol:
    """The base class of `Value`, without its operators.

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


def spec_of(operand):
    """Return the name of the type and the shape, as far as they are known before anything runs."""
    if not isinstance(operand, Symbol):
        return None, np.shape(operand)
    return findings().specs.of(operand._expr) if findings() is not None else (None, None)


def dtype_of(value):
    if value._dtype is None:
        value._dtype = spec_of(value)[0]
    return value._dtype


def rank_of(value):
    if value._rank is None:
        shape = spec_of(value)[1]
        value._rank = None if shape is None else len(shape)
    return value._rank


def is_array(value):
    """Return whether NumPy has an array here, not a scalar."""
    rank = rank_of(value)
    if not value._boxed and (rank is None or (rank == 0 and value._boxed is None)):
        raise needs_python("an in-place operator on what may be an array or a scalar")
    return value._boxed or rank > 0
