# Written by tools/make_stubs.py: change the source or the table of stages, not this file.
from . import _types as t

def set_seed(seed: t.Int) -> None: ...
