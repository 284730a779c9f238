# Written by tools/make_stubs.py: change the source or the table of stages, not this file.
from collections.abc import Iterator
from typing import Any
from ._dataset import Dataset

class TorchLoader:
    dataset: Dataset
    device: Any
    def __iter__(self) -> Iterator[Any]: ...
    def convert(self, element: Any) -> Any: ...
    def __len__(self) -> int: ...
