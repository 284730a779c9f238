"""Stoker: fast, reproducible input pipelines with the API of tf.data, for NumPy, PyTorch, JAX and Keras.

>>> import stoker as sk
>>> ds = sk.Dataset.range(10).shuffle(seed=1).batch(4)
>>> len(ds)
3
"""

import atexit as _atexit
import logging as _logging

import numpy as _np

from . import _core, _missing, data, errors, image, io, random
from ._arguments import AUTOTUNE, INFINITE, UNKNOWN
from ._arguments import whole_number as _whole_number
from ._composite import RaggedTensor, SparseTensor
from ._dataset import Dataset, from_sequence, load_graph
from ._iterator import Iterator, Skipped
from ._ops import (abs, cast, concat, convert_to_tensor, expand_dims, maximum, minimum, reduce_max, reduce_mean, reduce_min,
                   reduce_sum, reshape, shape, squeeze, stack)
from ._prepare import index, inspect, pack, verify
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


def __getattr__(name):
    raise _missing.missing(__name__, name, globals(), _missing.IN_TF)


def configure(workers=None, memory_bytes=None) -> None:
    """Set limits for the whole process: the number of worker threads, and the memory of all datasets together.

    `workers` is a number of threads, or AUTOTUNE for one that suits the machine. `memory_bytes` is a number of bytes,
    or text with a unit, such as "64M" or "1.5G". None leaves a limit unchanged.

    Raise InvalidArgument if a value is out of range, or if an environment variable (STOKER_WORKERS, STOKER_MEMORY,
    STOKER_MAP) is invalid.

    >>> sk.configure(memory_bytes="1.5G")
    """
    if isinstance(memory_bytes, str):
        memory_bytes = _core.parse_bytes(memory_bytes)
    _core.configure(None if workers is None else _whole_number("workers", workers, bits=32),
                    None if memory_bytes is None else _whole_number("memory_bytes", memory_bytes))


__all__ = sorted(name for name in globals() if not name.startswith("_"))  # what help() shows

_core.send_messages_to(_logging.getLogger("stoker").warning)

# No thread may call into the interpreter after it has shut down.
_atexit.register(_core.close_all)
_atexit.register(_core.send_messages_to, None)
