"""The array functions of data code: on symbolic values inside `map`, on NumPy arrays elsewhere."""

import numpy as np

from ._values import Value, constant, dtype_name, op


def _symbolic(*values):
    return any(isinstance(value, Value) for value in values)


def convert_to_tensor(value, dtype=None, dtype_hint=None, name=None):
    """The value as an array of its own."""
    if not isinstance(value, Value):
        return constant(value, dtype)
    return value._copied() if dtype is None else cast(value, dtype)


def cast(x, dtype, name=None):
    """The same values in another type; floats lose their fraction in integers."""
    if _symbolic(x) or _loses_fractions(x, dtype_name(dtype)):
        return op("cast", x, dtype=dtype_name(dtype))
    return np.asarray(x).astype(dtype_name(dtype))


def _loses_fractions(x, name):
    """Floats outside of the range of an integer become what the processor makes of them, in NumPy another than here."""
    return np.asarray(x).dtype.kind == "f" and name.startswith(("int", "uint"))


def abs(x, name=None):
    return op("absolute", x) if _symbolic(x) else np.abs(x)


def minimum(x, y, name=None):
    return op("minimum", x, y) if _symbolic(x, y) else np.minimum(x, y)


def maximum(x, y, name=None):
    return op("maximum", x, y) if _symbolic(x, y) else np.maximum(x, y)


def reshape(tensor, shape, name=None):
    if not _symbolic(tensor):
        return np.array(np.reshape(tensor, shape))
    return op("reshape", tensor, shape=[int(d) for d in np.atleast_1d(np.asarray(shape, dtype=np.int64))])


def expand_dims(input, axis=None, name=None):
    axis = -1 if axis is None else int(axis)
    return op("expand_dims", input, axis=axis) if _symbolic(input) else np.array(np.expand_dims(input, axis))


def squeeze(input, axis=None, name=None):
    if not _symbolic(input):
        return np.array(np.squeeze(input, None if axis is None else tuple(np.atleast_1d(axis))))
    return op("squeeze", input, axis=[] if axis is None else [int(a) for a in np.atleast_1d(axis)])


def shape(input, out_type=np.int32, name=None):
    if not _symbolic(input):
        return np.asarray(np.shape(input), dtype=dtype_name(out_type))
    return op("shape_of", input, out_type=dtype_name(out_type))


def concat(values, axis, name=None):
    return op("concat", *values, axis=int(axis))


def stack(values, axis=0, name=None):
    return op("stack", *values, axis=int(axis))


def _reduce(operation):
    """NumPy sums in another order, and the last digits with it: arrays are reduced by the operation, too."""

    def reduce(input_tensor, axis=None, keepdims=False, name=None):
        axes = None if axis is None else [int(a) for a in np.atleast_1d(axis)]
        return op(operation, input_tensor, axis=axes, keepdims=keepdims)

    return reduce


reduce_sum = _reduce("reduce_sum")
reduce_mean = _reduce("reduce_mean")
reduce_max = _reduce("reduce_max")
reduce_min = _reduce("reduce_min")
