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
    if _is_text(value):
        return np.atleast_1d(np.asarray(value, dtype=object)).reshape(-1)  # NumPy's strings lose zeros at the end
    array = np.atleast_1d(constant(value)).reshape(-1)
    if array.dtype.kind in "iub":
        return array.astype(np.int64)
    if array.dtype.kind == "f":
        return array.astype(np.float32)
    return array


def _is_text(value):
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    return isinstance(value, (bytes, str))
