"""Which operators of Python on symbolic values are operations of the engine, with the results of NumPy."""

import numpy as np

from ._findings import findings, needs_python
from ._symbols import Symbol, dtype_of, rank_of

COMPARISONS = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}
LOGIC = {"logical_and", "logical_or", "logical_not"}
UFUNCS = {getattr(np, name): name for name in ("add", "subtract", "multiply", "divide", "floor_divide", "mod", "power",
                                                *COMPARISONS)}
UFUNCS.update({np.bitwise_and: "logical_and", np.bitwise_or: "logical_or"})
OPERATORS = {*UFUNCS.values(), *LOGIC, "negative", "absolute", "getitem", "expand_dims"}  # what Python's become


def result_dtype(name, operands):
    """Return the name of the type of an operator's result where it follows from the operands alone."""
    if name in COMPARISONS or name in LOGIC:
        return "bool"
    dtypes = {operand._dtype for operand in operands if isinstance(operand, Symbol)}
    numbers = {type(operand) for operand in operands if not isinstance(operand, Symbol)}
    if name not in ("add", "subtract", "multiply") or len(dtypes) != 1 or None in dtypes:
        return None
    is_float = next(iter(dtypes)) in ("float32", "float64")
    is_int = next(iter(dtypes)).startswith(("int", "uint"))
    return next(iter(dtypes)) if (is_float and numbers <= {int, float}) or (is_int and numbers <= {int}) else None


def may_be_python_bool(operands):
    """Return whether an operator's result may be a bool of Python, not of NumPy."""
    return any(map(_is_python_bool, operands)) or (any(map(_is_text, operands)) and not any(map(_is_certain_array, operands)))


def _is_python_bool(operand):
    return isinstance(operand, Symbol) and operand._is_python_bool


def _is_certain_array(operand):
    return bool(operand._rank) if isinstance(operand, Symbol) else isinstance(operand, np.ndarray)


def checked(name, operands):
    """Return the operands, lists as arrays. Raise NeedsValue if the operation differs from the operator of Python."""
    if name == "multiply" and any(isinstance(operand, (list, tuple)) for operand in operands):
        _check_repetition(operands)
    _check_floats(operands)
    operands = [_operand(operand) for operand in operands]
    if name not in COMPARISONS and name not in ("logical_and", "logical_or") and any(map(_is_python_bool, operands)):
        raise needs_python("arithmetic on the result of a comparison of strings, which is a bool of Python")
    texts = [_is_text(operand) for operand in operands]
    if any(_kind_of(operand) in "SU" for operand in operands):
        raise needs_python("an operator on text: the strings of elements are bytes, which equal no text")
    if any(texts) and (name not in COMPARISONS or not all(texts)):
        raise needs_python("an operator on strings is not an operation")
    if name in LOGIC and not all(_is_bool(operand) for operand in operands):
        raise needs_python("'&', '|' and '~' on what may not be bool are not operations")
    if name in ("floor_divide", "mod") and findings() is not None:
        findings().divides = True
    if name == "power" and not (is_whole(operands[1]) and operands[1] > 0 and _limits(operands[0])
                                and _stays_whole(operands[0], operands[1])):
        raise needs_python("NumPy's power rounds as the machine does")
    if name == "divide" and not all(_fits(operand, other) for operand, other in (operands, operands[::-1])):
        raise needs_python("the number does not fit the type of the other operand")
    return operands


def _check_floats(operands):
    """Raise NeedsValue for floats with which Python or the type of the other operand decides the type of the result."""
    values = [operand for operand in operands if isinstance(operand, Symbol)]
    dtypes = [dtype_of(value) for value in values]  # also needed later
    floats = [operand for operand in operands if isinstance(operand, float)]
    if "bfloat16" in dtypes and any(type(number) is float for number in floats):
        raise needs_python("a float next to bfloat16, which is float32 in NumPy")
    has_subclass = any(type(number) is not float and not isinstance(number, np.generic) for number in floats)
    if has_subclass and any(map(_may_be_float, values)):
        raise needs_python("a subclass of float next to a float64, which is a float of Python, too")


def _may_be_float(value):
    """Return whether a symbolic value may be a scalar of float64, whose class is a subclass of float."""
    return value._dtype in (None, "float64") and not rank_of(value) and value._boxed is not True


def _stays_whole(value, number):
    """Return whether NumPy computes an integer: int64 and uint64 together become float64."""
    return type(number) is int or np.result_type(value._dtype, number.dtype).kind in "iu"


def _limits(operand):
    """Return the range of a symbolic value that is known to be an integer, or None."""
    known = isinstance(operand, Symbol) and operand._dtype is not None and operand._dtype.startswith(("int", "uint"))
    return np.iinfo(operand._dtype) if known else None


def _fits(number, other):
    if type(number) is not int or not isinstance(other, Symbol):
        return True
    limits = _limits(other)
    if limits is None:
        return other._dtype is not None or 0 <= number <= 127  # which fit all types
    return limits.min <= number <= limits.max


def is_scalar(operand):
    """Return whether an operand is certain to be a scalar."""
    return operand._rank == 0 if isinstance(operand, Symbol) else not isinstance(operand, np.ndarray)


def _kind_of(operand):
    """Return the NumPy kind of a constant; "O" for bytes and arrays of bytes, which are the strings of elements."""
    if isinstance(operand, np.ndarray) and operand.dtype.hasobject:
        return "O" if all(isinstance(item, bytes) for item in operand.flat) else "U"
    if isinstance(operand, np.ndarray):
        return operand.dtype.kind
    return "U" if isinstance(operand, str) else "O" if isinstance(operand, bytes) else " "


def _is_text(operand):
    return _kind_of(operand) == "O" or (isinstance(operand, Symbol) and operand._dtype == "string")


def _is_bool(operand):
    if isinstance(operand, Symbol):
        return operand._dtype == "bool"
    return isinstance(operand, (bool, np.bool_)) or (isinstance(operand, np.ndarray) and operand.dtype == bool)


def as_numpy(value):
    """Return a number of a subclass, such as a member of an IntEnum, as the scalar that NumPy computes with.

    NumPy gives a bool, int or float of Python the type of the other operand, but since version 2.1 not a number of a
    subclass.
    """
    if type(value) in (bool, int, float) or isinstance(value, np.generic) or not isinstance(value, (int, float)):
        return value
    if np.lib.NumpyVersion(np.__version__) < "2.1.0":
        raise needs_python("a number of a subclass of int or float, with NumPy older than 2.1")
    return np.asarray(value)[()]


def _operand(operand):
    """Convert lists and numbers as NumPy does."""
    if not isinstance(operand, (list, tuple)):
        return as_numpy(operand)
    if any(isinstance(part, Symbol) for part in operand):
        raise needs_python("an operator on a list of values is not an operation")
    return np.asarray(operand)


def _check_repetition(operands):
    for operand in operands:
        if isinstance(operand, Symbol) and not rank_of(operand):
            raise needs_python("an integer times a list repeats the list")


def is_cast(wider, dtype):
    """Return whether NumPy casts the result of an in-place operator to the type of the array."""
    if wider is None or dtype is None:
        return False
    return wider == dtype or ("bfloat16" not in (wider, dtype) and np.can_cast(wider, dtype, "same_kind"))


def fits_into(shape, whole):
    """Return whether an array is certain to be broadcast to a shape without enlarging it."""
    if shape is None or (whole is None and shape != ()):
        return False
    if whole is not None and len(shape) > len(whole):
        return False
    return all(side == 1 or (side is not None and side == room) for side, room in zip(shape[::-1], (whole or ())[::-1]))


def is_whole(number):
    """Return whether it is an integer of Python or NumPy."""
    return isinstance(number, (int, np.integer)) and not isinstance(number, bool)
