"""Sparse and ragged values: several arrays that are one component of an element.

In the engine they are dicts: {indices, values, dense_shape} and {values, row_splits}. Dicts with exactly these keys, and
with arrays that fit each other, are delivered as the classes below. These classes are accepted wherever an element is
accepted.
"""

from typing import Any

import numpy as np

from .errors import InvalidArgument


class SparseTensor:
    """An array of which only some values are stored: `values[i]` is at the position `indices[i]`.

    >>> sparse = sk.SparseTensor(indices=np.array([[1], [3]]), values=np.array([5, 6]), dense_shape=np.array([4]))
    >>> sparse.to_dense()
    array([0, 5, 0, 6])
    """

    __slots__ = ("indices", "values", "dense_shape")

    def __init__(self, indices, values, dense_shape):
        self.indices = indices
        self.values = values
        self.dense_shape = dense_shape

    def __repr__(self):
        return f"SparseTensor(indices={self.indices!r}, values={self.values!r}, dense_shape={self.dense_shape!r})"

    @property
    def dtype(self) -> np.dtype:
        """The type of the values.

        >>> sk.SparseTensor(np.zeros((0, 1)), np.zeros(0, np.float32), np.array([4])).dtype
        dtype('float32')
        """
        return self.values.dtype

    @property
    def shape(self) -> tuple:
        """The shape of the dense array, as a tuple.

        >>> sk.SparseTensor(np.zeros((0, 1)), np.zeros(0), np.array([4])).shape
        (4,)
        """
        return tuple(int(side) for side in self.dense_shape)

    def to_dense(self, default_value=None) -> np.ndarray:
        """Return the dense array, with `default_value` (0, or b"") where no value is stored.

        Raise IndexError if an index is outside the shape.

        >>> sk.SparseTensor(np.array([[1]]), np.array([5]), np.array([3])).to_dense(default_value=-1)
        array([-1,  5, -1])
        """
        dense = np.full(self.shape, _default(self.values) if default_value is None else default_value, self.values.dtype)
        places = np.asarray(self.indices)
        if len(places) and ((places < 0) | (places >= np.asarray(self.dense_shape))).any():
            raise IndexError(f"an index is outside the shape {self.shape}")
        dense[tuple(places.T)] = self.values
        return dense

    def _parts(self):
        return {"indices": self.indices, "values": self.values, "dense_shape": self.dense_shape}


class RaggedTensor:
    """Rows of different lengths: row i is `values[row_splits[i]:row_splits[i + 1]]`. The values may be ragged, too.

    >>> ragged = sk.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 3])
    >>> ragged.to_list()
    [[1, 2], [3]]
    """

    __slots__ = ("values", "row_splits")

    def __init__(self, values, row_splits):
        self.values = values
        self.row_splits = row_splits

    @classmethod
    def from_row_splits(cls, values, row_splits) -> "RaggedTensor":
        """Return a ragged value of `values` and the positions where its rows start and end.

        `values` is an array or a ragged value. Raise InvalidArgument if `row_splits` does not ascend from 0 to the
        number of values.

        >>> len(sk.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 3]))
        2
        """
        splits = np.asarray(row_splits)
        splits = splits if splits.dtype == np.int32 else splits.astype(np.int64)
        values = values if isinstance(values, RaggedTensor) else np.asarray(values)
        rising = splits.ndim == 1 and len(splits) > 0 and splits[0] == 0 and (np.diff(splits) >= 0).all()
        if not rising or splits[-1] != len(values):
            raise InvalidArgument(f"row_splits: expected numbers that ascend from 0 to {len(values)}, "
                                  f"got {splits.tolist()}")
        return cls(values, splits)

    @classmethod
    def from_nested_row_splits(cls, flat_values, nested_row_splits) -> "RaggedTensor":
        """Return a ragged value of flat values and the row splits of each dimension, the outermost first.

        Raise InvalidArgument if row splits do not fit.

        >>> sk.RaggedTensor.from_nested_row_splits([1, 2, 3], [[0, 2], [0, 2, 3]]).to_list()
        [[[1, 2], [3]]]
        """
        made = flat_values
        for splits in reversed(nested_row_splits):
            made = cls.from_row_splits(made, splits)
        return made

    def __repr__(self):
        return f"RaggedTensor(values={self.values!r}, row_splits={self.row_splits!r})"

    @property
    def dtype(self) -> np.dtype:
        """The type of the values.

        >>> sk.RaggedTensor.from_row_splits(np.zeros(3), [0, 3]).dtype
        dtype('float64')
        """
        return self.values.dtype

    @property
    def ragged_rank(self) -> int:
        """The number of ragged dimensions.

        >>> sk.RaggedTensor.from_row_splits(np.zeros(3), [0, 3]).ragged_rank
        1
        """
        return 1 + (self.values.ragged_rank if isinstance(self.values, RaggedTensor) else 0)

    @property
    def flat_values(self) -> np.ndarray:
        """The values of the innermost rows, one after the other.

        >>> sk.RaggedTensor.from_row_splits(np.arange(3), [0, 3]).flat_values
        array([0, 1, 2])
        """
        return self.values.flat_values if isinstance(self.values, RaggedTensor) else self.values

    @property
    def nested_row_splits(self) -> tuple:
        """The row splits of each ragged dimension, the outermost first, as a tuple.

        >>> sk.RaggedTensor.from_row_splits(np.arange(3), [0, 3]).nested_row_splits
        (array([0, 3]),)
        """
        return (self.row_splits, *(self.values.nested_row_splits if isinstance(self.values, RaggedTensor) else ()))

    def row_lengths(self) -> np.ndarray:
        """Return the lengths of the rows.

        >>> sk.RaggedTensor.from_row_splits(np.arange(3), [0, 2, 3]).row_lengths()
        array([2, 1])
        """
        return np.diff(self.row_splits)

    def __len__(self):
        return len(self.row_splits) - 1

    def __getitem__(self, i) -> "np.ndarray[Any, Any] | RaggedTensor":
        """Return one row: an array, or a ragged value with one dimension less. Raise IndexError if there is none."""
        i = range(len(self))[i]
        return _rows(self.values, int(self.row_splits[i]), int(self.row_splits[i + 1]))

    def to_list(self) -> list:
        """Return nested lists.

        >>> sk.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 3]).to_list()
        [[1, 2], [3]]
        """
        return [row.to_list() if isinstance(row, RaggedTensor) else row.tolist() for row in self]

    def numpy(self) -> np.ndarray:
        """Return one array if all rows have the same length, else an object array of rows.

        >>> sk.RaggedTensor.from_row_splits([1, 2, 3, 4], [0, 2, 4]).numpy()
        array([[1, 2],
               [3, 4]])
        """
        rows = [row.numpy() if isinstance(row, RaggedTensor) else row for row in self]
        if len({(row.shape, row.dtype.kind) for row in rows}) == 1:
            return np.stack(rows)
        made = np.empty(len(rows), dtype=object)
        for i, row in enumerate(rows):
            made[i] = row
        return made

    def to_tensor(self, default_value=None, name=None, shape=None) -> np.ndarray:
        """Return one array in which short rows are padded with `default_value` (0, or b"").

        Each dimension is as long as its longest row. `shape` sets other lengths: longer rows are cut, and None keeps a
        dimension. `name` is accepted for TensorFlow, without effect. Raise InvalidArgument if `shape` has another
        number of dimensions.

        >>> sk.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 3]).to_tensor()
        array([[1, 2],
               [3, 0]])
        >>> sk.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 3]).to_tensor(shape=(None, 3))
        array([[1, 2, 0],
               [3, 0, 0]])
        """
        flat = self.flat_values
        default = _default(flat) if default_value is None else default_value
        dense = _filled(self, default, flat.dtype, flat.shape[1:])
        return dense if shape is None else _resized(dense, shape, default)

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


def _resized(dense, shape, default):
    if len(shape) != dense.ndim:
        raise InvalidArgument(f"shape: expected {dense.ndim} dimensions, got {tuple(shape)}")
    sides = [now if side is None or side == -1 else int(side) for side, now in zip(shape, dense.shape)]
    made = np.full(sides, default, dense.dtype)
    shared = tuple(slice(min(pair)) for pair in zip(sides, dense.shape))
    made[shared] = dense[shared]
    return made


COMPOSITES = (SparseTensor, RaggedTensor)


def composite_map(function, value):
    """Return a sparse or ragged value with each part replaced by the result of the function for it."""
    return type(value)(**{name: function(part) for name, part in value._parts().items()})


def composite_of(parts):
    """Return the sparse or ragged value of a dict with such parts, else the dict itself."""
    if not all(map(_is_part, parts.values())):
        return parts
    if parts.keys() == {"indices", "values", "dense_shape"} and _are_sparse(**parts):
        return SparseTensor(**parts)
    if parts.keys() == {"values", "row_splits"} and _are_ragged(**parts):
        return RaggedTensor(**parts)
    return parts


def with_composites(structure):
    """Return the structure with sparse and ragged values in place of the dicts of their specs."""
    if isinstance(structure, tuple):
        return tuple(map(with_composites, structure))
    if isinstance(structure, dict):
        return composite_of({key: with_composites(part) for key, part in structure.items()})
    return structure


# A dict of the user may have the same keys.


def _is_part(value):
    """Return whether a value is an array, a spec or None, which stands for an unknown spec."""
    return value is None or isinstance(value, (np.ndarray, RaggedTensor)) or type(value).__name__ == "TensorSpec"


def _are_sparse(indices, values, dense_shape):
    if not (_may_have_rank(indices, 2) and _may_have_rank(values, 1) and _may_have_rank(dense_shape, 1)):
        return False
    if not isinstance(indices, np.ndarray):
        return _may_be_integer(indices) and _may_be_integer(dense_shape)
    return indices.dtype.kind == "i" and indices.shape == (len(values), len(dense_shape))


def _are_ragged(values, row_splits):
    if not _may_have_rank(row_splits, 1) or _rank_of(values) == 0:
        return False
    if not isinstance(row_splits, np.ndarray):
        return _may_be_integer(row_splits)
    return row_splits.dtype.kind == "i" and len(row_splits) > 0 and row_splits[0] == 0 and row_splits[-1] == len(values)


def _may_have_rank(part, rank):
    return _rank_of(part) in (None, rank)


def _may_be_integer(spec):
    return spec is None or getattr(spec, "_type_name", None) in ("int32", "int64")


def _rank_of(part):
    shape = getattr(part, "shape", None)
    return None if shape is None else len(shape)
