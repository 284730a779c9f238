"""Seeds of datasets."""

from . import _core

_seeded = False  # whether set_seed was called


def set_seed(seed) -> None:
    """Set the seed from which datasets without a seed of their own draw theirs.

    Datasets that are built after this call, in the same order, get the same seeds. Raise ValueError or TypeError if
    `seed` is not an integer.

    >>> def order():
    ...     sk.random.set_seed(7)
    ...     return [int(x) for x in sk.Dataset.range(10).shuffle()]
    >>> order() == order()
    True
    """
    global _seeded
    _core.set_seed(int(seed))
    _seeded = True


def _is_seeded():
    """Return whether `set_seed` was called: then datasets without a seed have the same order in every process."""
    return _seeded
