"""Elements as PyTorch tensors."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from ._spec import structure_map

# Types that older versions of PyTorch do not have, or for which it has no arithmetic.
_WIDER = {"uint16": np.int32, "uint32": np.int64, "uint64": np.int64}


class TorchLoader:
    """An iterable of the elements of a dataset as PyTorch tensors. Every loop is a new pass."""

    def __init__(self, dataset, device=None):
        self.dataset = dataset
        self.device = None if device is None else torch.device(device)

    def __iter__(self) -> Iterator:
        return map(self.convert, self.dataset)

    def convert(self, element) -> Any:
        """Return an element with its arrays as tensors; byte strings stay `bytes`."""
        return structure_map(self._tensor, element)

    def __len__(self):
        return len(self.dataset)

    def __getitem__(self, i):
        raise TypeError("ds.torch() replaces the DataLoader; iterate over it directly")

    def __repr__(self):
        device = "" if self.device is None else f" on {self.device}"
        return f"<stoker.TorchLoader of {self.dataset!r}{device}>"

    def _tensor(self, value):
        array = np.asarray(value)
        if array.dtype.name == "bfloat16":  # the type of ml_dtypes
            tensor = torch.from_numpy(np.atleast_1d(array).view(np.int16)).view(torch.bfloat16).reshape(array.shape)
            return tensor if self.device is None else tensor.to(self.device, non_blocking=True)
        if array.dtype.kind not in "biuf":
            return value  # bytes
        if array.dtype.name in _WIDER:
            array = array.astype(_WIDER[array.dtype.name])
        tensor = torch.from_numpy(array) if array.ndim > 0 else torch.tensor(array.item(), dtype=_type_of(array))
        return tensor if self.device is None else tensor.to(self.device, non_blocking=True)


def _type_of(array):
    return torch.from_numpy(np.zeros(1, array.dtype)).dtype
