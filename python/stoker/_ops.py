"""Array functions for data code, on symbolic values inside `map` and on NumPy arrays elsewhere.

Inside `map`, they raise `InvalidArgument` if an operation does not support the types or shapes, when the dataset is
built or, if these are unknown until then, when the element is computed. Elsewhere, they raise what NumPy raises, or
`InvalidArgument`.
"""

import numpy as np

from ._spec import dtype_name
from ._symbols import dtype_of
from ._values import Value, constant, op


def _symbolic(*values):
    return any(isinstance(value, Value) for value in values)


def convert_to_tensor(value, dtype=None, dtype_hint=None, name=None):
    """Return the value as a new array, as `constant` does. Inside `map`, the value may be symbolic.

    >>> sk.convert_to_tensor([1, 2])
    array([1, 2], dtype=int32)
    """
    if isinstance(value, Value):
        return (value if dtype is None else cast(value, dtype))._copied()
    if dtype is not None and isinstance(value, (np.ndarray, np.generic)):
        return constant(cast(value, dtype))
    return constant(value, dtype)


def cast(x, dtype, name=None):
    """Return the values of `x` in another type. Conversion of floats to integers drops the fraction.

    >>> sk.cast(np.array([1.7, -1.7]), sk.int32)
    array([ 1, -1], dtype=int32)
    """
    to = dtype_name(dtype)
    if isinstance(x, Value):
        return op("cast", x, dtype=to)._copied(boxed=_is_cast_by_numpy(dtype_of(x), to))
    if _is_cast_by_numpy(np.asarray(x).dtype.name, to):
        return np.asarray(x).astype(to)
    return op("cast", x, dtype=to)


def _is_cast_by_numpy(dtype, to):
    """Return whether NumPy casts arrays, so that a scalar becomes an array; None if `dtype` is unknown.

    NumPy has no bfloat16 and no strings of any length. Its result for floats outside the range of an integer type depends
    on the processor.
    """
    if to in ("bfloat16", "string"):
        return False
    if not to.startswith(("int", "uint")):
        return True
    return None if dtype is None else "float" not in dtype


def _listed(value):
    """Return a list as an array of the same type as inside `map`."""
    return constant(value) if isinstance(value, (list, tuple)) else value


def _has_bfloat16(*values):
    """Return whether an array is bfloat16, next to which numbers of Python have other types in NumPy than in the engine."""
    return any(getattr(getattr(value, "dtype", None), "name", None) == "bfloat16" for value in values)


def abs(x, name=None):
    """Return the absolute value of each item.

    >>> sk.abs(np.array([-1, 2]))
    array([1, 2])
    """
    return op("absolute", x) if _symbolic(x) else np.abs(x)


def minimum(x, y, name=None):
    """Return the smaller of two values, item by item; NaN if one of them is NaN.

    >>> sk.minimum(np.array([1, 5]), 3)
    array([1, 3])
    """
    return op("minimum", x, y) if _symbolic(x, y) or _has_bfloat16(x, y) else np.minimum(*map(_listed, (x, y)))


def maximum(x, y, name=None):
    """Return the larger of two values, item by item; NaN if one of them is NaN.

    >>> sk.maximum(np.array([1, 5]), 3)
    array([3, 5])
    """
    return op("maximum", x, y) if _symbolic(x, y) or _has_bfloat16(x, y) else np.maximum(*map(_listed, (x, y)))


def reshape(tensor, shape, name=None):
    """Return a copy of the array with another shape. One dimension may be -1: it is inferred from the others.

    Raise an error if the number of values differs: InvalidArgument inside `map`, ValueError elsewhere.

    >>> sk.reshape(np.arange(4), (2, -1)).shape
    (2, 2)
    """
    if not _symbolic(tensor):
        return np.array(np.reshape(tensor, shape))
    return op("reshape", tensor, shape=[int(d) for d in np.atleast_1d(np.asarray(shape, dtype=np.int64))])._copied()


def expand_dims(input, axis=None, name=None):
    """Return a copy of the array with a dimension of 1 inserted at `axis`; None is the end.

    >>> sk.expand_dims(np.zeros((2, 3)), 0).shape
    (1, 2, 3)
    """
    axis = -1 if axis is None else int(axis)
    return op("expand_dims", input, axis=axis) if _symbolic(input) else np.array(np.expand_dims(input, axis))


def squeeze(input, axis=None, name=None):
    """Return a copy of the array without the dimensions of 1, or without those in `axis`, which must be 1.

    >>> sk.squeeze(np.zeros((1, 2, 1))).shape
    (2,)
    """
    if not _symbolic(input):
        return np.array(np.squeeze(input, None if axis is None else tuple(np.atleast_1d(axis))))
    return op("squeeze", input, axis=[] if axis is None else [int(a) for a in np.atleast_1d(axis)])._copied()


def shape(input, out_type=np.int32, name=None):
    """Return the dimensions of an array, as an array of `out_type`: int32 or int64.

    >>> sk.shape(np.zeros((2, 3)))
    array([2, 3], dtype=int32)
    """
    if not _symbolic(input):
        return np.asarray(np.shape(input), dtype=dtype_name(out_type))
    return op("shape_of", input, out_type=dtype_name(out_type))


def concat(values, axis, name=None):
    """Return arrays joined along an existing axis. Raise InvalidArgument if their other dimensions differ.

    >>> sk.concat([np.array([1, 2]), np.array([3])], axis=0)
    array([1, 2, 3])
    """
    return op("concat", *values, axis=int(axis))


def stack(values, axis=0, name=None):
    """Return arrays of the same shape joined along a new axis. Raise InvalidArgument if the shapes differ.

    >>> sk.stack([np.array([1, 2]), np.array([3, 4])]).shape
    (2, 2)
    """
    return op("stack", *values, axis=int(axis))


def _reduce(operation, doc):
    """Return the function of a reduction.

    It also computes arrays with the operation, because NumPy adds in another order and rounds differently.
    """

    def reduce(input_tensor, axis=None, keepdims=False, name=None):
        axes = None if axis is None else [int(a) for a in np.atleast_1d(axis)]
        return op(operation, input_tensor, axis=axes, keepdims=keepdims)

    reduce.__doc__ = doc
    return reduce


reduce_sum = _reduce("reduce_sum", """Return the sum over the axes in `axis`; over all axes if it is None.

    With `keepdims`, each of these axes stays as a dimension of 1. Raise InvalidArgument if an axis does not exist.

    >>> sk.reduce_sum(np.array([[1, 2], [3, 6]]), axis=0)
    array([4, 8])
    """)
reduce_mean = _reduce("reduce_mean", """Return the mean over the axes in `axis`; over all axes if it is None.

    With `keepdims`, each of these axes stays as a dimension of 1. Raise InvalidArgument if an axis does not exist.

    >>> sk.reduce_mean(np.array([[1, 2], [3, 6]]), axis=0)
    array([2., 4.])
    """)
reduce_max = _reduce("reduce_max", """Return the largest value over the axes in `axis`; over all axes if it is None.

    With `keepdims`, each of these axes stays as a dimension of 1. Raise InvalidArgument if an axis does not exist.

    >>> sk.reduce_max(np.array([[1, 2], [3, 6]]), axis=0)
    array([3, 6])
    """)
reduce_min = _reduce("reduce_min", """Return the smallest value over the axes in `axis`; over all axes if it is None.

    With `keepdims`, each of these axes stays as a dimension of 1. Raise InvalidArgument if an axis does not exist.

    >>> sk.reduce_min(np.array([[1, 2], [3, 6]]), axis=0)
    array([1, 2])
    """)
