"""Exceptions, one class for each kind of error, with the names of `tf.errors` and shorter ones.

Where Python has an exception of the same meaning, the class is also a subclass of it: `except FileNotFoundError`
catches `NotFound`.
"""


class Error(Exception):
    """Base class of all errors of datasets and elements.

    `stage` is the stage that failed. `source`, `position`, `path`, `offset` and `origin` identify the record. Fields
    that are unknown are None. `origin` can be passed to `Dataset.replay`. If a Python function raised, its exception is
    `__cause__`.

    >>> try:
    ...     sk.Dataset.range(3).batch(0)
    ... except sk.Error as error:
    ...     print(type(error).__name__, error.stage)
    InvalidArgument batch
    """

    stage = None
    source = None
    position = None
    path = None
    offset = None
    origin = None


class Cancelled(Error):
    """The operation was cancelled: the iterator was closed, or the interpreter is shutting down."""


class Unknown(Error):
    """A user function raised an exception that has no class here; it is `__cause__`."""


class InvalidArgument(Error, ValueError):
    """A parameter, a type, a shape or a value is not valid."""


class DeadlineExceeded(Error, TimeoutError):
    """The operation took too long."""


class NotFound(Error, FileNotFoundError):
    """A file or an element does not exist."""


class AlreadyExists(Error, FileExistsError):
    """A file exists already."""


class PermissionDenied(Error, PermissionError):
    """The process has no permission to read or write a file."""


class ResourceExhausted(Error, MemoryError):
    """An element does not fit the memory budget, or the system has no more memory, threads or files."""


class FailedPrecondition(Error):
    """The call is not possible in the current state, for example because the iterator is closed."""


class Aborted(Error):
    """The operation was ended before it was done."""


class OutOfRange(Error):
    """A position is beyond the end, or `get_next()` was called at the end."""


class Unimplemented(Error, NotImplementedError):
    """The operation is not implemented."""


class Internal(Error):
    """A bug in Stoker."""


class Unavailable(Error):
    """The operation failed for now and may succeed later."""


class DataLoss(Error):
    """A file is damaged or truncated."""


class NeedsValue(TypeError):
    """Raised while a function is traced, if it uses the value of an argument. The function becomes a Python stage."""


# tf.errors' names for the same classes.
CancelledError = Cancelled
UnknownError = Unknown
InvalidArgumentError = InvalidArgument
DeadlineExceededError = DeadlineExceeded
NotFoundError = NotFound
AlreadyExistsError = AlreadyExists
PermissionDeniedError = PermissionDenied
ResourceExhaustedError = ResourceExhausted
FailedPreconditionError = FailedPrecondition
AbortedError = Aborted
OutOfRangeError = OutOfRange
UnimplementedError = Unimplemented
InternalError = Internal
UnavailableError = Unavailable
DataLossError = DataLoss
OpError = Error
