# Written by tools/make_stubs.py: change the source or the table of stages, not this file.
from . import _types as t

AUTOTUNE: int
INFINITE: int
UNKNOWN: int
def whole_number(name: str, value: t.TensorLike, bits: int = 64) -> int: ...
