"""Indices of symbolic values: which of them are operations of the engine, and what they select."""

from ._expressions import op_expr
from ._findings import findings, needs_python
from ._operators import is_whole
from ._symbols import dtype_of, rank_of

_LARGEST = 2**63 - 1  # bound of a slice


def indexed(value, key):
    """Return `value[key]`. Raise NeedsValue if the index is not an operation."""
    keys = key if isinstance(key, tuple) else (key,)
    is_text = dtype_of(value) == "string" and not rank_of(value)
    if any(not _is_index(k) for k in keys) or value._is_python_bool or (is_text and not _only_adds_axes(keys)):
        raise needs_python("this index requires an actual value, and there is none while a function is traced")
    if is_text and findings() is not None:
        findings().adds_axes_to_text = True
    _check_axes(value, keys)
    if any(k is Ellipsis for k in keys):
        return _from_the_end(value, keys)
    if not keys:
        return _unboxed(value)
    axis = 0
    for k in keys:
        value, axis = _index(value, k, axis)
    return value


def _is_index(key):
    if isinstance(key, slice):
        return all(bound is None or is_whole(bound) for bound in (key.start, key.stop, key.step))
    return key is None or key is Ellipsis or is_whole(key)


def _only_adds_axes(keys):
    """Return whether an index only adds axes: bytes have no such index, so a tensor as in TensorFlow is meant."""
    return bool(keys) and all(key is None or key is Ellipsis for key in keys)


def _check_axes(value, keys):
    """Raise NeedsValue for an index that NumPy rejects, or that is not an operation."""
    ellipses = sum(k is Ellipsis for k in keys)
    axes = sum(k is not None and k is not Ellipsis for k in keys)
    rank = rank_of(value)
    if ellipses > 1 or (rank is not None and axes > rank):
        raise needs_python("there are more indices than axes")
    if ellipses and not all(k is Ellipsis or (k == slice(None) and rank is not None) for k in keys[:-1]):
        raise needs_python("an index between '...' and another one is not an operation")


def _from_the_end(value, keys):
    """Return what an index with `...` selects: always an array."""
    if keys[-1] is not Ellipsis:
        made = _index(value, keys[-1], -1)[0]
        made._boxed = True
        return made
    rank_of(value)
    return _view(value, boxed=True)


def _unboxed(value):
    """Return `value[()]`: the scalar if it is an array of rank 0."""
    rank = rank_of(value)
    return _view(value) if rank else type(value)(value._expr, value._dtype, rank, None if rank == 0 else value._memory)


def _index(value, key, axis):
    """Return the value with one axis indexed, and the axis that the next key is for."""
    if key is None:
        return _part(value, 1, "expand_dims", axis=axis), axis + 1
    if isinstance(key, slice):
        if key == slice(None) and value._rank:
            return _view(value), axis + 1
        start, stop, step = map(_bound, (key.start, key.stop, 1 if key.step is None else key.step))
        return _part(value, 0, "getitem", start=start, stop=stop, step=step, axis=axis), axis + 1
    return _part(value, -1, "getitem", index=int(key), axis=axis), axis


def _bound(number):
    """Return a bound of a slice as Python clips it, which makes no difference for an array."""
    return None if number is None else max(-_LARGEST, min(int(number), _LARGEST))


def _part(value, more_axes, name, **params):
    """Return a view, or the scalar at an index."""
    rank = None if value._rank is None else max(value._rank + more_axes, 0)
    is_scalar = rank == 0 and params["axis"] != -1
    return type(value)(op_expr(name, [value._expr], params), value._dtype, rank, None if is_scalar else _shared(value))


def _view(value, boxed=False):
    """Return a view of all of it. NumPy makes another array, so that `[x[:]] == [x]` compares what they hold."""
    made = type(value)(value._expr, value._dtype, value._rank, _shared(value), boxed)
    if value._rank or value._boxed:
        made._contents = value._contents
    return made


def _shared(value):
    """Return the memory of the views of a value; None for a scalar, whose views are copies."""
    return None if value._rank == 0 and value._boxed is False else value._memory
