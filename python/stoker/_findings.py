"""What a trace records about a function, and the stand-in for objects that the function must not use."""

import contextlib
import threading

from .errors import NeedsValue


class Findings:
    """What one call of a traced function recorded."""

    def __init__(self):
        self.reasons = []  # why the function has to run as Python
        self.doubts = []  # where the result of NumPy may differ, unless real elements show that it does not
        self.random = False  # an operation draws the element's random numbers
        self.divides = False  # it divides; an integer divided by zero is an error natively and 0 in NumPy


class _Thread(threading.local):
    findings = None


_thread = _Thread()


def findings():
    """Return the findings of the current trace of this thread; None outside a trace."""
    return _thread.findings


@contextlib.contextmanager
def tracing():
    """Collect findings inside the block, including those whose exception is caught there."""
    previous, _thread.findings = _thread.findings, Findings()
    try:
        yield _thread.findings
    finally:
        _thread.findings = previous


def needs_python(reason):
    """Return the exception to raise, and record the reason in the current trace of this thread."""
    if _thread.findings is not None:
        _thread.findings.reasons.append(reason)
    return NeedsValue(reason)


class Outside:
    """Stands for an object that a traced function must not use. Any use of it is a reason for Python."""

    __slots__ = ("_reason",)

    def __init__(self, reason):
        object.__setattr__(self, "_reason", reason)


def _refuse(self, *_, **__):
    raise needs_python(object.__getattribute__(self, "_reason"))


def _attribute(self, name):
    return object.__getattribute__(self, name) if name == "__class__" else _refuse(self)


_SPECIAL_NAMES = """call bool len iter next contains getitem setitem delitem setattr delattr eq ne lt le gt ge hash str repr
    format bytes int float complex index round trunc floor ceil neg pos abs invert array fspath enter exit await aiter anext
    reversed length_hint reduce_ex""".split()
_OPERATOR_NAMES = "add sub mul truediv floordiv mod divmod pow matmul lshift rshift and or xor".split()
for _name in _SPECIAL_NAMES + [side + _name for _name in _OPERATOR_NAMES for side in ("", "r", "i")]:
    setattr(Outside, f"__{_name}__", _refuse)
Outside.__getattribute__ = _attribute
Outside.__array_ufunc__ = None


def doubt(reason):
    """Record that only real elements can show that the native result equals that of NumPy."""
    if _thread.findings is not None:
        _thread.findings.doubts.append(reason)
