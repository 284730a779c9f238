"""Types and shapes of elements, known before the elements are computed."""

from typing import Any

import numpy as np

from ._composite import COMPOSITES, composite_map
from .errors import Unimplemented


class _String:
    """The type of byte strings. It equals "string" and `bytes`."""

    name = "string"

    def __eq__(self, other):
        return other is self or other in ("string", bytes)

    def __hash__(self):
        return hash("string")

    def __repr__(self):
        return "sk.string"

    def __reduce__(self):
        return "string"


string = _String()


def dtype_of(name):
    """Return a NumPy dtype, or `sk.string`. Raise Unimplemented for bfloat16 if ml_dtypes is not installed."""
    if name == "string":
        return string
    if name == "bfloat16":
        try:
            import ml_dtypes

            return np.dtype(ml_dtypes.bfloat16)
        except ImportError:
            raise Unimplemented("NumPy has no bfloat16 without the package ml_dtypes; install it (pip install ml_dtypes), "
                                "or cast to float32") from None
    return np.dtype(name)


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


class TensorSpec:
    """The shape and type of one component of an element. None stands for an unknown dimension or an unknown shape.

    >>> sk.TensorSpec((None, 3), sk.float32)
    sk.TensorSpec(shape=(None, 3), dtype=sk.float32)
    """

    __slots__ = ("_shape", "_type_name", "_name")

    def __init__(self, shape, dtype=np.float32, name=None):
        self._shape = None if shape is None else tuple(None if d is None else int(d) for d in shape)
        type_name = dtype_name(dtype)
        self._type_name = type_name if type_name == "bfloat16" else dtype_of(type_name).name  # also without ml_dtypes
        self._name = name

    @property
    def shape(self) -> "tuple[int | None, ...] | None":
        """The shape as a tuple, with None for unknown dimensions; None if it is unknown.

        >>> sk.TensorSpec((None, 3)).shape
        (None, 3)
        """
        return self._shape

    @property
    def dtype(self) -> "np.dtype[Any] | _String":
        """The type: a NumPy dtype, or `sk.string`.

        >>> sk.TensorSpec((), "string").dtype
        sk.string
        """
        return dtype_of(self._type_name)

    @property
    def name(self) -> "str | None":
        """The name, or None.

        >>> sk.TensorSpec((), name="label").name
        'label'
        """
        return self._name

    def __eq__(self, other):
        if not isinstance(other, TensorSpec):
            return NotImplemented
        return (self._shape, self._type_name, self._name) == (other._shape, other._type_name, other._name)

    def __hash__(self):
        return hash((self._shape, self._type_name))

    def __repr__(self):
        name = "" if self._name is None else f", name={self._name!r}"
        return f"sk.TensorSpec(shape={self._shape!r}, dtype=sk.{self._type_name}{name})"

    def __reduce__(self):
        return TensorSpec, (self._shape, self._type_name, self._name)


def structure_map(leaf, structure):
    """Return the structure with each leaf replaced by the result of the function `leaf` for it."""
    if isinstance(structure, tuple):
        return tuple(structure_map(leaf, part) for part in structure)
    if isinstance(structure, dict):
        return {key: structure_map(leaf, part) for key, part in structure.items()}
    if isinstance(structure, COMPOSITES):
        return composite_map(lambda part: structure_map(leaf, part), structure)
    return leaf(structure)


def convert(value, spec):
    """Return a value in the type and shape of its spec.

    Raise TypeError or ValueError if it does not fit. Values are not changed: 1.5 is not an int32.
    """
    if isinstance(spec, tuple):
        if not isinstance(value, (tuple, list)) or len(value) != len(spec):
            raise TypeError(f"expected a tuple of {len(spec)} components, got {value!r}")
        return tuple(convert(part, one) for part, one in zip(value, spec))
    if isinstance(spec, dict):
        if not isinstance(value, dict) or value.keys() != spec.keys():
            raise TypeError(f"expected a dict with the keys {sorted(spec)}, got {value!r}")
        return {key: convert(value[key], spec[key]) for key in spec}
    if spec.dtype is string:
        array = np.asarray(value, dtype=object)
    else:
        plain = np.asarray(value)
        array = plain.astype(spec.dtype)
        if plain.dtype != array.dtype and plain.dtype.kind in "iufb" and not _same(plain, array):
            raise TypeError(f"{value!r} does not fit {spec.dtype.name}")
    if spec.shape is not None and (
        len(spec.shape) != array.ndim or any(w is not None and w != d for w, d in zip(spec.shape, array.shape))
    ):
        raise ValueError(f"expected an array of shape {spec.shape}, got {array.shape}")
    return array.item() if spec.dtype is string and array.ndim == 0 else array


def _same(plain, converted):
    if converted.dtype.kind == "f":
        return True  # rounding to a float type is intended
    back = converted.astype(plain.dtype)
    return bool(np.array_equal(back, plain, equal_nan=plain.dtype.kind == "f"))
