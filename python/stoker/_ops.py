"""The array functions of data code: on symbolic values inside `map`, on NumPy arrays elsewhere."""

import numpy as np

from ._values import Value, constant, dtype_name, op


def _symbolic(*values):
    return any(isinstance(value, Value) for value in values)


def convert_to_tensor(value, dtype=None, dtype_hint=None, name=None):
    return value if isinstance(value, Value) and dtype is None else cast(value, dtype) if _symbolic(value) else constant(value, dtype)


def cast(x, dtype, name=None):
    """The same values in another type; floats lose their fraction in integers."""
    if _symbolic(x):
        return op("cast", x, dtype=dtype_name(dtype))
    return np.asarray(x).astype(dtype_name(dtype))


def abs(x, name=None):
    return op("absolute", x) if _symbolic(x) else np.abs(x)


def minimum(x, y, name=None):
    return op("minimum", x, y) if _symbolic(x, y) else np.minimum(x, y)


def maximum(x, y, name=None):
    return op("maximum", x, y) if _symbolic(x, y) else np.maximum(x, y)


def reshape(tensor, shape, name=None):
    if not _symbolic(tensor):
        return np.reshape(tensor, shape)
    return op("reshape", tensor, shape=[int(d) for d in np.atleast_1d(np.asarray(shape, dtype=np.int64))])


def expand_dims(input, axis=None, name=None):
    axis = -1 if axis is None else int(axis)
    return op("expand_dims", input, axis=axis) if _symbolic(input) else np.expand_dims(input, axis)


def squeeze(input, axis=None, name=None):
    if not _symbolic(input):
        return np.squeeze(input, None if axis is None else tuple(np.atleast_1d(axis)))
    return op("squeeze", input, axis=[] if axis is None else [int(a) for a in np.atleast_1d(axis)])


def shape(input, out_type=np.int32, name=None):
    if not _symbolic(input):
        return np.asarray(np.shape(input), dtype=dtype_name(out_type))
    return op("shape_of", input, out_type=dtype_name(out_type))


def concat(values, axis, name=None):
    return op("concat", *values, axis=int(axis)) if _symbolic(*values) else np.concatenate(values, axis)


def stack(values, axis=0, name=None):
    return op("stack", *values, axis=int(axis)) if _symbolic(*values) else np.stack(values, axis)


def _reduce(native, eager):
    def reduce(input_tensor, axis=None, keepdims=False, name=None):
        if not _symbolic(input_tensor):
            return eager(input_tensor, axis=None if axis is None else tuple(np.atleast_1d(axis)), keepdims=keepdims)
        axes = None if axis is None else [int(a) for a in np.atleast_1d(axis)]
        return op(native, input_tensor, axis=axes, keepdims=keepdims)

    return reduce


reduce_sum = _reduce("reduce_sum", np.sum)
reduce_mean = _reduce("reduce_mean", np.mean)
reduce_max = _reduce("reduce_max", np.max)
reduce_min = _reduce("reduce_min", np.min)
