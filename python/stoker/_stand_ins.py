"""Stand-ins for the modules, objects, arrays, containers and builtins that a traced function uses, so that it changes none."""

import builtins
import collections
import functools

import numpy as np

from ._findings import Outside, needs_python
from ._purity import PLAIN, PURE
from ._user_objects import is_special


class Namespace(Outside):
    """A stand-in for a user's module, class or object. Its attributes are made pure when they are read."""

    __slots__ = ("_read", "_called")

    def __init__(self, reason, read, called=None):
        super().__init__(reason)
        object.__setattr__(self, "_read", read)
        object.__setattr__(self, "_called", called)

    def __getattribute__(self, name):
        if is_special(name):
            return super().__getattribute__(name)
        return object.__getattribute__(self, "_read")(name)

    def __call__(self, *args, **kwargs):
        called = object.__getattribute__(self, "_called")
        return called()(*args, **kwargs) if called else super().__call__()


class Lent:
    """The owner of a read-only array's memory. It keeps the memory alive and provides no writable array."""

    __slots__ = ("__array_interface__", "__lender__")

    def __init__(self, array):
        self.__lender__ = array
        self.__array_interface__ = {**array.__array_interface__, "data": (array.__array_interface__["data"][0], True)}


LENT_ATTRIBUTES = {"base", "flags", "readonly"}  # attributes of arrays that show that an array is lent

_CONTAINER_WRITES = """append extend insert remove pop popitem clear reverse sort setdefault update move_to_end add discard
    difference_update intersection_update symmetric_difference_update __setitem__ __delitem__ __iadd__ __imul__ __iand__ __ior__
    __isub__ __ixor__""".split()
_OUTER_CONTAINER = "it writes to a container outside of itself"


def _guarded(kind):
    """Return a subclass of a container type for copies of captured containers: those with `_outside_` cannot be written to.

    Comparing the entries before and after a call would miss writes that change nothing while the function is traced, such
    as `seen["a"] = True` if that is the value already. Containers that methods of a copy return have no `_outside_`.
    """

    def checked(name):
        write = getattr(kind, name)

        def method(self, *args, **kwargs):
            if hasattr(self, "_outside_"):
                raise needs_python(_OUTER_CONTAINER)
            return write(self, *args, **kwargs)

        return method

    methods = {name: checked(name) for name in _CONTAINER_WRITES if hasattr(kind, name)}
    if kind is set:  # a subclass would print its name
        methods["__repr__"] = lambda self: "{" + repr(list(self))[1:-1] + "}" if self else "set()"
    return type(kind.__name__, (kind,), {"__slots__": ("_outside_",), **methods})


GUARDED = {kind: _guarded(kind) for kind in (list, dict, set, collections.OrderedDict)}


def _read_of(kind, name):
    if name in _CONTAINER_WRITES:
        raise needs_python(f"it uses {kind.__name__}.{name}")  # as `list.append(rows, x)`, which does not see `_outside_`
    return getattr(kind, name)


# By id: stand-ins for the types of containers.
CONTAINER_TYPES = {id(kind): Namespace(f"it uses the class {kind.__name__} as a value", functools.partial(_read_of, kind),
                                       lambda kind=kind: kind) for kind in (list, dict, set)}


def _actual_types(kinds):
    """Return types for isinstance() in place of their stand-ins."""
    if isinstance(kinds, tuple):
        return tuple(map(_actual_types, kinds))
    return next((kind for kind in (list, dict, set) if CONTAINER_TYPES[id(kind)] is kinds), kinds)


def _isinstance(value, kinds):
    kinds = _actual_types(kinds)
    if type(value) in PLAIN or isinstance(value, (tuple, list, dict, slice, np.ndarray, np.generic)):
        return isinstance(value, kinds)
    raise needs_python("isinstance() requires an actual value, and there is none while a function is traced")


def _type(value):
    if type(value) in PLAIN or isinstance(value, (np.ndarray, np.generic)):
        return type(value)
    raise needs_python("type() requires an actual value, and there is none while a function is traced")


OWN_BUILTINS = dict(vars(builtins))
SANDBOX_BUILTINS = {name: value if id(value) in PURE else Outside(f"it uses {name}") for name, value in vars(builtins).items()}
SANDBOX_BUILTINS.update({kind.__name__: CONTAINER_TYPES[id(kind)] for kind in (list, dict, set)})
# NumPy imports its own modules through the builtins of the calling code.
SANDBOX_BUILTINS.update(isinstance=_isinstance, type=_type, __import__=__import__)
