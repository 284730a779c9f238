"""Stoker feeds training, and says why it stalls when it does: import stoker as sk."""

import atexit as _atexit
import logging as _logging

import numpy as _np

from . import _core, data, errors, image, io, random
from ._composite import RaggedTensor, SparseTensor
from ._dataset import AUTOTUNE, INFINITE, UNKNOWN, Dataset, Iterator, from_sequence, load_graph
from ._ops import (abs, cast, concat, convert_to_tensor, expand_dims, maximum, minimum, reduce_max, reduce_mean, reduce_min,
                   reduce_sum, reshape, shape, squeeze, stack)
from ._spec import TensorSpec, string
from ._values import constant, op
from ._watch import Watch, watch
from .errors import (Aborted, AlreadyExists, Cancelled, DataLoss, DeadlineExceeded, Error, FailedPrecondition, Internal,
                     InvalidArgument, NeedsValue, NotFound, OutOfRange, PermissionDenied, ResourceExhausted, Unavailable,
                     Unimplemented, Unknown)

__version__ = "0.1.0"

bool = _np.dtype("bool")
int8, int16, int32, int64 = (_np.dtype(n) for n in ("int8", "int16", "int32", "int64"))
uint8, uint16, uint32, uint64 = (_np.dtype(n) for n in ("uint8", "uint16", "uint32", "uint64"))
float16, float32, float64 = (_np.dtype(n) for n in ("float16", "float32", "float64"))
bfloat16 = "bfloat16"


def configure(workers=None, memory_bytes=None) -> None:
    """Bound the threads and the bytes that all datasets of the process share.

    `workers` is the number of threads, or AUTOTUNE for as many as fit the machine. `memory_bytes` is a number, or
    text with a unit: "64M", "1.5G". Values out of range, and wrong environment variables (STOKER_WORKERS,
    STOKER_MEMORY, STOKER_MAP), raise InvalidArgument.
    """
    if isinstance(memory_bytes, str):
        memory_bytes = _core.parse_bytes(memory_bytes)
    _core.configure(workers, memory_bytes)


_core.send_messages_to(_logging.getLogger("stoker").warning)

# No thread may call into an interpreter that has gone.
_atexit.register(_core.close_all)
_atexit.register(_core.send_messages_to, None)
