# Written by tools/make_stubs.py: change the source or the table of stages, not this file.
import os
from collections.abc import Iterable
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from ._composite import RaggedTensor, SparseTensor
from ._dataset import Dataset
from ._values import Value

class Named(Protocol):
    """sk.string, and TensorFlow's types."""
    @property
    def name(self) -> str: ...

# Inside `map` a symbolic value, elsewhere an array.
Tensor: TypeAlias = Value | Any
TensorLike: TypeAlias = Value | npt.ArrayLike
DTypeLike: TypeAlias = npt.DTypeLike | Named
Path: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]
Paths: TypeAlias = Path | Iterable[Path] | npt.NDArray[Any]
Int: TypeAlias = int | np.integer[Any] | npt.NDArray[Any]
