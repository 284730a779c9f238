# Written by tools/make_stubs.py: change the source or the table of stages, not this file.

AUTOTUNE: int
INFINITE: int
UNKNOWN: int
