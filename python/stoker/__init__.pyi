# Written by tools/make_stubs.py: change the source or the table of stages, not this file.
from typing import Any
import numpy as np

from . import data as data
from . import errors as errors
from . import image as image
from . import io as io
from . import random as random
from ._arguments import AUTOTUNE as AUTOTUNE
from ._arguments import INFINITE as INFINITE
from ._arguments import UNKNOWN as UNKNOWN
from ._composite import RaggedTensor as RaggedTensor
from ._composite import SparseTensor as SparseTensor
from ._dataset import Dataset as Dataset
from ._dataset import from_sequence as from_sequence
from ._dataset import load_graph as load_graph
from ._iterator import Iterator as Iterator
from ._iterator import Skipped as Skipped
from ._ops import abs as abs
from ._ops import cast as cast
from ._ops import concat as concat
from ._ops import convert_to_tensor as convert_to_tensor
from ._ops import expand_dims as expand_dims
from ._ops import maximum as maximum
from ._ops import minimum as minimum
from ._ops import reduce_max as reduce_max
from ._ops import reduce_mean as reduce_mean
from ._ops import reduce_min as reduce_min
from ._ops import reduce_sum as reduce_sum
from ._ops import reshape as reshape
from ._ops import shape as shape
from ._ops import squeeze as squeeze
from ._ops import stack as stack
from ._prepare import index as index
from ._prepare import inspect as inspect
from ._prepare import pack as pack
from ._prepare import verify as verify
from ._spec import TensorSpec as TensorSpec
from ._spec import string as string
from ._values import constant as constant
from ._values import op as op
from ._watch import Watch as Watch
from ._watch import watch as watch
from .errors import Aborted as Aborted
from .errors import AlreadyExists as AlreadyExists
from .errors import Cancelled as Cancelled
from .errors import DataLoss as DataLoss
from .errors import DeadlineExceeded as DeadlineExceeded
from .errors import Error as Error
from .errors import FailedPrecondition as FailedPrecondition
from .errors import Internal as Internal
from .errors import InvalidArgument as InvalidArgument
from .errors import NeedsValue as NeedsValue
from .errors import NotFound as NotFound
from .errors import OutOfRange as OutOfRange
from .errors import PermissionDenied as PermissionDenied
from .errors import ResourceExhausted as ResourceExhausted
from .errors import Unavailable as Unavailable
from .errors import Unimplemented as Unimplemented
from .errors import Unknown as Unknown
__version__: str
bool: np.dtype[Any]
int8: np.dtype[Any]
int16: np.dtype[Any]
int32: np.dtype[Any]
int64: np.dtype[Any]
uint8: np.dtype[Any]
uint16: np.dtype[Any]
uint32: np.dtype[Any]
uint64: np.dtype[Any]
float16: np.dtype[Any]
float32: np.dtype[Any]
float64: np.dtype[Any]
bfloat16: str
def configure(workers: int | None = None, memory_bytes: int | str | None = None) -> None: ...
