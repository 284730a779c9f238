"""What tracing a function finds out about it, and what stands there for things that it must not use."""

import contextlib
import threading

from .errors import NeedsValue


class Findings:
    """What one call of a traced function showed."""

    def __init__(self):
        self.reasons = []  # why the function has to run as Python
        self.doubts = []  # where NumPy may have another result; real elements have to show that it has not
        self.random = False  # an operation draws the element's random numbers
        self.divides = False  # by what may be zero: of whole numbers an error natively, 0 in NumPy


class _Thread(threading.local):
    findings = None  # of the trace that this thread is in


_thread = _Thread()


def findings():
    """Those of the trace that this thread is in; None outside of one."""
    return _thread.findings


@contextlib.contextmanager
def tracing():
    """Collects findings inside of the block, also those whose exception is caught there."""
    previous, _thread.findings = _thread.findings, Findings()
    try:
        yield _thread.findings
    finally:
        _thread.findings = previous


def needs_python(reason):
    """Returns the exception to raise; a trace of this thread keeps the reason."""
    if _thread.findings is not None:
        _thread.findings.reasons.append(reason)
    return NeedsValue(reason)


class Outside:
    """Stands for what a traced function must not use. Any use of it is a reason for Python."""

    __slots__ = ("_reason",)

    def __init__(self, reason):
        object.__setattr__(self, "_reason", reason)


def _refuse(self, *_, **__):
    raise needs_python(object.__getattribute__(self, "_reason"))


def _attribute(self, name):
    return object.__getattribute__(self, name) if name == "__class__" else _refuse(self)


_SPECIAL_NAMES = """call bool len iter next contains getitem setitem delitem setattr delattr eq ne lt le gt ge hash str repr
    format bytes int float complex index round trunc floor ceil neg pos abs invert array fspath enter exit await aiter anext reversed
    length_hint reduce_ex""".split()
_OPERATOR_NAMES = "add sub mul truediv floordiv mod divmod pow matmul lshift rshift and or xor".split()
for _name in _SPECIAL_NAMES + [side + _name for _name in _OPERATOR_NAMES for side in ("", "r", "i")]:
    setattr(Outside, f"__{_name}__", _refuse)
Outside.__getattribute__ = _attribute
Outside.__array_ufunc__ = None


def doubt(reason):
    """Records that only real elements can show that a native result is NumPy's."""
    if _thread.findings is not None:
        _thread.findings.doubts.append(reason)
