"""Specs of elements: those that the caller declares, and those that an element shows."""

import numpy as np

from . import _core
from ._composite import COMPOSITES
from ._spec import TensorSpec, string, structure_map


def checked_spec(spec):
    if isinstance(spec, TensorSpec):
        return spec
    if hasattr(spec, "shape") and hasattr(spec, "dtype"):  # a TensorSpec of TensorFlow
        shape = getattr(spec.shape, "as_list", None)
        return TensorSpec(shape() if shape else spec.shape, spec.dtype)
    raise TypeError(f"output_signature: expected a TensorSpec, got {spec!r}")


def signature_of(types, shapes):
    if isinstance(types, tuple):
        shapes = shapes if shapes is not None else [None] * len(types)
        return tuple(signature_of(t, s) for t, s in zip(types, shapes))
    if isinstance(types, dict):
        return {key: signature_of(t, None if shapes is None else shapes[key]) for key, t in types.items()}
    as_list = getattr(shapes, "as_list", None)
    return TensorSpec(as_list() if as_list else shapes, types)


def engine_signature(signature):
    """Return the signature for the engine: values of the types, and their dims.

    A dim of -1 is any length; a single number instead of a list is any shape.
    """
    types = structure_map(lambda spec: b"" if spec.dtype is string else np.zeros((), spec.dtype), signature)
    dims = structure_map(lambda spec: np.array(-1 if spec.shape is None else [-1 if d is None else d for d in spec.shape],
                                               np.int64), signature)
    return _core.Signature(_core.Element(types), _core.Element(dims))


def spec_of_value(value):
    if isinstance(value, (bytes, str)):
        return TensorSpec((), "string")
    array = np.asarray(value)
    return TensorSpec(array.shape, "string" if array.dtype == object else array.dtype)


def any_rows(spec):
    """Return the spec with a first dimension of unknown size, for a batch that may have fewer rows than others."""
    return TensorSpec((None, *spec.shape[1:]), spec._type_name) if spec.shape else spec


def known_of_others(value):
    """Return what one element shows about the same leaf of other elements: whether it is text.

    Operators on text are Python's.
    """
    is_text = isinstance(value, (bytes, str)) or np.asarray(value).dtype == object
    return TensorSpec(None, "string") if is_text else None


def has_composites(structure):
    if isinstance(structure, dict):
        structure = tuple(structure.values())
    if isinstance(structure, tuple):
        return any(has_composites(part) for part in structure)
    return isinstance(structure, COMPOSITES)
