"""Seeds."""

from . import _core


def set_seed(seed) -> None:
    """Data sets built after this, in the same order, get the same seeds."""
    _core.set_seed(int(seed))
