"""Conversion of Python values to the features of `tf.train.Example` and `tf.train.SequenceExample`."""

import numpy as np

from . import errors
from ._values import Value, constant


def as_features(features):
    """Return the features as arrays, by name. Empty lists, which have no type, are omitted."""
    return {str(key): _as_feature(key, value) for key, value in features.items() if not _is_empty(value)}


def as_steps(key, steps):
    """Return the steps of one list. An empty step has the type of the others."""
    steps = list(steps)
    made = [None if _is_empty(step) else _as_feature(key, step) for step in steps]
    typed = next((step for step in made if step is not None), None)
    if steps and typed is None:
        raise errors.InvalidArgument(f"all steps of '{key}' are empty lists, which have no type; use empty arrays")
    return [typed[:0] if step is None else step for step in made]


def _is_empty(value):
    return isinstance(value, (list, tuple)) and not value


def _as_feature(key, value):
    if isinstance(value, Value):
        raise errors.NeedsValue(f"encoding the feature '{key}' requires an actual value, and there is none while a "
                                "function is traced")
    array = np.atleast_1d(_as_array(key, value)).reshape(-1)
    if array.dtype.kind in "iub":
        return array.astype(np.int64)
    if array.dtype.kind == "f":
        return array.astype(np.float32)
    return array


def _as_array(key, value):
    """Return an array of numbers, or of texts. Raise InvalidArgument, with the name of the feature, for a mixture."""
    try:
        array = np.asarray(value, dtype=object) if _is_text(value) else constant(value)
    except ValueError:
        raise errors.InvalidArgument(f"the feature '{key}' has rows of different lengths, expected one list of numbers "
                                     "or texts; concatenate the rows") from None
    if array.dtype.kind not in "OSU" or isinstance(value, np.ndarray) and array.dtype.kind != "O":
        return array
    items = np.asarray(value, dtype=object)  # NumPy's strings lose zeros at the end, and contain numbers as text
    for item in items.reshape(-1):
        if not isinstance(item, (bytes, str)):
            raise errors.InvalidArgument(f"the feature '{key}' contains {item!r} of type {type(item).__name__}, expected "
                                         "only numbers, or only text and bytes")
    return items


def _is_text(value):
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    return isinstance(value, (bytes, str))
