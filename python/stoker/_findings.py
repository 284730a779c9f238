"""What a trace records about a function, and the stand-in for objects that the function must not use."""

import contextlib
import threading

import numpy as np

from .errors import NeedsValue

# Parts of messages of native operations that have to be recognized (src/stoker/ops/shape.cc and arithmetic.cc).
BAD_INDEX = "out of range for an axis"
DIVISION_BY_ZERO = "integer division by zero"


class Findings:
    """What one call of a traced function recorded. `specs` are the types and shapes of its expressions."""

    def __init__(self, specs):
        self.specs = specs
        self.reasons = []  # why the function has to run as Python
        self.draws = []  # the operations that draw the element's random numbers, and whether each has a seed of its own
        self.divides = False  # it divides; integer division by zero is an error natively and 0 in NumPy
        self.adds_axes_to_text = False  # as `s[None]` does, which is an error in Python
        self._steps = []  # (what, numbers of the inputs) of each expression
        self._numbers = {}  # by id: the number of an expression, and itself, so that its id is not reused

    def note(self, expr, what, inputs):
        """Record how an expression was made: a tuple of its kind and parameters, and its inputs."""
        self._numbers[id(expr)] = len(self._steps), expr
        self._steps.append((what, [self._numbers[id(one)][0] for one in inputs]))

    def first(self, condition):
        """Return how the first expression was made that meets a condition; None if there is none."""
        return next((self._steps[number][0] for number, expr in self._numbers.values() if condition(expr)), None)

    def draws_in_order(self, result):
        """Return whether the program of `result` draws in the order of the calls, and has the random numbers of Python."""
        calls = {self._numbers[id(expr)][0]: place for place, (expr, _) in enumerate(self.draws)}
        order = [calls[number] for number in self._order_of(result) if number in calls]
        return all(place == call or self.draws[call][1] for place, call in enumerate(order))

    def _order_of(self, result):
        """Return the numbers of the expressions in the order of the program: each after its inputs."""
        order, left = {}, [(self._numbers[id(result)][0], False)]
        while left:
            number, is_after_inputs = left.pop()
            if is_after_inputs:
                order.setdefault(number)
            elif number not in order:
                left.append((number, True))
                left.extend((one, False) for one in reversed(self._steps[number][1]))
        return list(order)

    def has_same_steps(self, other):
        """Return whether two calls made the same expressions. Arrays are compared by their contents."""
        return _equal(self._steps, other._steps)


def _equal(a, b):
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(_equal, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(_equal(a[key], b[key]) for key in a)
    if isinstance(a, np.ndarray):
        return a is b or (a.dtype == b.dtype and a.shape == b.shape and _contents(a) == _contents(b))
    if isinstance(a, (float, np.generic)):
        return repr(a) == repr(b)  # NaN is the same each time
    return a == b


def _contents(array):
    return array.tolist() if array.dtype.hasobject else array.tobytes()


class _Thread(threading.local):
    findings = None


_thread = _Thread()


def findings():
    """Return the findings of the current trace of this thread; None outside a trace."""
    return _thread.findings


@contextlib.contextmanager
def tracing(specs):
    """Collect findings inside the block, including those whose exception is caught there."""
    previous, _thread.findings = _thread.findings, Findings(specs)
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
    """A stand-in for an object that a traced function must not use. Any use of it is a reason for Python."""

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
