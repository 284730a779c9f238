"""Errors, one class for each kind, with Python's own as second base where there is one."""


class Error(Exception):
    """What went wrong with an element or a data set, and where.

    stage, source, position, path, offset and origin are None where they are not known.
    """

    stage = None
    source = None
    position = None
    path = None
    offset = None
    origin = None


class Cancelled(Error):
    pass


class Unknown(Error):
    pass


class InvalidArgument(Error, ValueError):
    pass


class DeadlineExceeded(Error, TimeoutError):
    pass


class NotFound(Error, FileNotFoundError):
    pass


class AlreadyExists(Error, FileExistsError):
    pass


class PermissionDenied(Error, PermissionError):
    pass


class ResourceExhausted(Error, MemoryError):
    pass


class FailedPrecondition(Error):
    pass


class Aborted(Error):
    pass


class OutOfRange(Error):
    pass


class Unimplemented(Error, NotImplementedError):
    pass


class Internal(Error):
    pass


class Unavailable(Error):
    pass


class DataLoss(Error):
    pass


class NeedsValue(TypeError):
    """A symbolic value was asked for a real one: the function becomes a Python stage."""


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
