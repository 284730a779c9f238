"""Sparse and ragged values: several arrays that are one component.

In the engine they are dicts: {indices, values, dense_shape} and {values, row_splits}. Dicts of just these keys are handed
over as the classes here, and the classes are taken wherever an element is.
"""

from typing import Any

import numpy as np

from .errors import InvalidArgument


class SparseTensor:
    """Values at some places of an array that is empty elsewhere."""

    __slots__ = ("indices", "values", "dense_shape")

    def __init__(self, indices, values, dense_shape):
        self.indices = indices
        self.values = values
        self.dense_shape = dense_shape

    def __repr__(self):
        return f"SparseTensor(indices={self.indices!r}, values={self.values!r}, dense_shape={self.dense_shape!r})"

    @property
    def dtype(self) -> np.dtype:
        return self.values.dtype

    @property
    def shape(self) -> tuple:
        return tuple(int(side) for side in self.dense_shape)

    def to_dense(self, default_value=None) -> np.ndarray:
        """The array itself, with the default (0, or b"") where there is no value."""
        dense = np.full(self.shape, _default(self.values) if default_value is None else default_value, self.values.dtype)
        places = np.asarray(self.indices)
        if len(places) and ((places < 0) | (places >= np.asarray(self.dense_shape))).any():
            raise IndexError(f"an index lies outside of the shape {self.shape}")
        dense[tuple(places.T)] = self.values
        return dense

    def _parts(self):
        return {"indices": self.indices, "values": self.values, "dense_shape": self.dense_shape}


class RaggedTensor:
    """Rows of different lengths: row i is values[row_splits[i]:row_splits[i + 1]]. The values may be ragged again."""

    __slots__ = ("values", "row_splits")

    def __init__(self, values, row_splits):
        self.values = values
        self.row_splits = row_splits

    @classmethod
    def from_row_splits(cls, values, row_splits) -> "RaggedTensor":
        """Of values, an array or ragged, and where rows of them begin and end."""
        splits = np.asarray(row_splits)
        splits = splits if splits.dtype == np.int32 else splits.astype(np.int64)
        values = values if isinstance(values, RaggedTensor) else np.asarray(values)
        rising = splits.ndim == 1 and len(splits) > 0 and splits[0] == 0 and (np.diff(splits) >= 0).all()
        if not rising or splits[-1] != len(values):
            raise InvalidArgument(f"row_splits go from 0 up to the {len(values)} values, found {splits.tolist()}")
        return cls(values, splits)

    @classmethod
    def from_nested_row_splits(cls, flat_values, nested_row_splits) -> "RaggedTensor":
        """Of values and the splits of each dimension, the outermost first."""
        made = flat_values
        for splits in reversed(nested_row_splits):
            made = cls.from_row_splits(made, splits)
        return made

    def __repr__(self):
        return f"RaggedTensor(values={self.values!r}, row_splits={self.row_splits!r})"

    @property
    def dtype(self) -> np.dtype:
        return self.values.dtype

    @property
    def ragged_rank(self) -> int:
        return 1 + (self.values.ragged_rank if isinstance(self.values, RaggedTensor) else 0)

    @property
    def flat_values(self) -> np.ndarray:
        return self.values.flat_values if isinstance(self.values, RaggedTensor) else self.values

    @property
    def nested_row_splits(self) -> tuple:
        """From the outermost dimension to the innermost."""
        return (self.row_splits, *(self.values.nested_row_splits if isinstance(self.values, RaggedTensor) else ()))

    def row_lengths(self) -> np.ndarray:
        return np.diff(self.row_splits)

    def __len__(self):
        return len(self.row_splits) - 1

    def __getitem__(self, i) -> "np.ndarray[Any, Any] | RaggedTensor":
        """One row: an array, or a ragged value of one dimension less."""
        i = range(len(self))[i]
        return _rows(self.values, int(self.row_splits[i]), int(self.row_splits[i + 1]))

    def to_list(self) -> list:
        """Lists in lists."""
        return [row.to_list() if isinstance(row, RaggedTensor) else row.tolist() for row in self]

    def numpy(self) -> np.ndarray:
        """One array where all rows have one length, else an array of rows."""
        rows = [row.numpy() if isinstance(row, RaggedTensor) else row for row in self]
        if len({(row.shape, row.dtype.kind) for row in rows}) == 1:
            return np.stack(rows)
        made = np.empty(len(rows), dtype=object)
        for i, row in enumerate(rows):
            made[i] = row
        return made

    def to_tensor(self, default_value=None) -> np.ndarray:
        """One array, short rows filled up with the default (0, or b"")."""
        flat = self.flat_values
        return _filled(self, _default(flat) if default_value is None else default_value, flat.dtype, flat.shape[1:])

    def _parts(self):
        return {"values": self.values, "row_splits": self.row_splits}


def _default(values):
    return b"" if values.dtype == object else values.dtype.type(0)


def _rows(values, first, end):
    if not isinstance(values, RaggedTensor):
        return values[first:end]
    splits = values.row_splits[first : end + 1]
    inner = _rows(values.values, int(splits[0]), int(splits[-1]))
    return RaggedTensor(inner, splits - splits[0])


def _filled(ragged, default, dtype, inner):
    rows = [row if isinstance(row, np.ndarray) else _filled(row, default, dtype, inner) for row in ragged]
    shape = np.max([row.shape for row in rows], axis=0) if rows else (0,) * ragged.ragged_rank + inner
    dense = np.full((len(rows), *shape), default, dtype)
    for to, row in zip(dense, rows):
        to[tuple(slice(side) for side in row.shape)] = row
    return dense


COMPOSITES = (SparseTensor, RaggedTensor)


def composite_map(function, value):
    """A sparse or ragged value with each of its parts replaced by what the function gives for it."""
    return type(value)(**{name: function(part) for name, part in value._parts().items()})


def composite_of(parts):
    """The dict itself, or the sparse or ragged value that it is."""
    if parts.keys() == {"indices", "values", "dense_shape"}:
        return SparseTensor(**parts)
    if parts.keys() == {"values", "row_splits"}:
        return RaggedTensor(**parts)
    return parts
