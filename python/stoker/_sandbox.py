"""Run a user's function in an environment of pure objects, so that tracing it cannot be observed.

A function is native only if everything it uses is known to be pure: Stoker's operations, numbers, strings, arrays and
containers of these, some functions of Python and NumPy, and the user's functions, methods and objects that meet the same
condition. `Sandbox` copies a function so that its globals, closure, defaults and attributes contain only such objects. Every
other object is replaced by an `Outside`. Any use of it is a reason for Python, recorded even if the exception is caught.
"""

import builtins
import collections
import enum
import functools
import inspect
import types

import numpy as np

from ._bytecode import FORMATS, examined
from ._code_origin import is_installed, is_of_python, package_of
from ._findings import Outside
from ._purity import KNOWN_MODULES, PLAIN, PURE
from ._spec import TensorSpec
from ._stand_ins import CONTAINER_TYPES, GUARDED, LENT_ATTRIBUTES, OWN_BUILTINS, SANDBOX_BUILTINS, Lent, Namespace
from ._user_objects import (FIELD, HEAP, MEMBER, METACLASSES, MISSING, USUAL_READS, found_in, has, is_dtype, is_named_tuple,
                            is_plain_member, module_of, name_of, own_of)
from ._values import Value

_MOST_ENTRIES = 10_000  # in captured containers; copying more takes longer than tracing


class MissingName(AttributeError):
    """Raised if a module has no such name."""


class Sandbox:
    """Pure copies of what one function uses. `problem()` returns what the calls did that tracing does not allow."""

    def __init__(self, root):
        self.has_outside = False  # whether the function names something that is not pure
        self._package = package_of(root)
        self._made = {}  # by id: the stand-in, and the object itself, so that its id is not reused
        self._globals = {}
        self._attributes = set()  # that the copied functions read
        self._guarded = {}  # attributes that they must not read, and why
        self._entries = 0

    def pure(self, value):
        """Return the value itself, its copy, or an `Outside`."""
        if id(value) in CONTAINER_TYPES:
            return CONTAINER_TYPES[id(value)]
        if type(value) in PLAIN or type(value) in (Value, TensorSpec) or id(value) in PURE or is_dtype(value):
            return value
        known = self._made.get(id(value))
        return known[0] if known else self._keep(value, self._stand_in(value))

    def problem(self):
        """Return why the function has to run as Python, or None."""
        used = sorted(self._guarded.keys() & self._attributes)
        return f"it uses '.{used[0]}', {self._guarded[used[0]]}" if used else None

    def _is_foreign(self, module_name):
        """Return whether code is not examined: installed packages may have caches and other hidden state."""
        if is_of_python(module_name):
            return True
        return module_name.partition(".")[0] != self._package and is_installed(module_name)

    def _outside(self, reason):
        self.has_outside = True
        return Outside(reason)

    def _keep(self, value, made):
        self._made[id(value)] = (made, value)
        return made

    def _stand_in(self, value):
        for kind, make in _MAKERS:
            if issubclass(type(value), kind):  # not isinstance(), whose result an object can define itself
                return make(self, value)
        return self._object(value)

    # ---- data

    def _array(self, array):
        """Return an array of the same memory that cannot be written to, nor lead to one that can."""
        if type(array) is not np.ndarray or array.dtype.hasobject or array.dtype.names:
            return self._outside(f"it uses a {name_of(type(array))} of {array.dtype}")
        self._guarded.update(dict.fromkeys(LENT_ATTRIBUTES, "which differs for captured arrays"))
        lent = np.asarray(Lent(array))
        return lent if lent.dtype == array.dtype else lent.view(array.dtype)

    def _scalar(self, scalar):
        if isinstance(scalar, np.void):  # a record, which can be written to
            return self._outside(f"it uses a {name_of(type(scalar))}")
        return scalar if name_of(type(scalar)).startswith("numpy.") else self._object(scalar)

    def _slice(self, bounds):
        return slice(self.pure(bounds.start), self.pure(bounds.stop), self.pure(bounds.step))

    def _container(self, value):
        kind = type(value)
        if kind not in (list, dict, set, collections.OrderedDict, tuple, frozenset) and not is_named_tuple(kind):
            return self._object(value)
        self._entries += len(value)
        if self._entries > _MOST_ENTRIES:
            return self._outside(f"it uses containers of more than {_MOST_ENTRIES} entries")
        if kind in (list, dict, set, collections.OrderedDict):
            copy = self._mutable(value)
        else:
            copy = (kind if kind is frozenset else functools.partial(tuple.__new__, kind))([self.pure(part) for part in value])
        if kind in (set, frozenset) and list(copy) != [self.pure(part) for part in value]:
            return self._outside("it uses a set whose copy has another order")  # its history determines it
        return copy

    def _mutable(self, value):
        copy = self._keep(value, GUARDED[type(value)]())
        if isinstance(value, list):
            copy.extend(self.pure(part) for part in value)
        elif isinstance(value, dict):
            copy.update((self.pure(key), self.pure(part)) for key, part in value.items())
        else:
            copy.update(self.pure(part) for part in value)
        copy._outside_ = True
        return copy

    # ---- code

    def _function(self, function):
        module = function.__globals__.get("__name__", "")
        if self._is_foreign(module):
            return self._outside(f"it calls {module}.{function.__qualname__}")
        names, attributes, problem = examined(function.__code__)
        self._attributes |= attributes
        if problem:
            return self._outside(f"it {problem}")
        if function.__code__.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
            return self._outside("it is a coroutine")
        cells = tuple(types.CellType() for _ in function.__closure__ or ())
        made = self._keep(function, types.FunctionType(function.__code__, self._environment(function, names), function.__name__,
                                                       None, cells))
        self._fill(made, function)
        return made

    def _fill(self, made, function):
        for cell, outer in zip(made.__closure__ or (), function.__closure__ or ()):
            try:
                cell.cell_contents = self.pure(outer.cell_contents)
            except ValueError:  # an outer variable that has no value yet
                continue
        if function.__defaults__:
            made.__defaults__ = tuple(self.pure(value) for value in function.__defaults__)
        if function.__kwdefaults__:
            made.__kwdefaults__ = {name: self.pure(value) for name, value in function.__kwdefaults__.items()}

    def _environment(self, function, names):
        """Return the globals that the function names."""
        outer = function.__globals__
        made = self._globals.setdefault(id(outer), {"__builtins__": SANDBOX_BUILTINS})
        known = outer.get("__builtins__", vars(builtins))
        known = vars(known) if isinstance(known, types.ModuleType) else known
        for name in names:
            if name in outer and name not in made:
                made[name] = self.pure(outer[name])
            elif name not in made and known.get(name, MISSING) is not OWN_BUILTINS.get(name, MISSING):
                made[name] = self._outside(f"it uses {name}, which is not the one of Python")
        return made

    def _partial(self, partial):
        if type(partial) is not functools.partial:
            return self._object(partial)
        self._guarded["keywords"] = "a container outside of itself"
        return functools.partial(self.pure(partial.func), *[self.pure(value) for value in partial.args],
                                 **{name: self.pure(value) for name, value in partial.keywords.items()})

    def _method(self, method):
        return types.MethodType(self.pure(method.__func__), self.pure(method.__self__))

    def _builtin(self, function):
        """Return a method of a constant (`table.get`); other C functions are not known to be pure."""
        owner = function.__self__
        if owner is None or isinstance(owner, types.ModuleType):
            return self._outside(f"it calls {function.__module__ or ''}.{function.__qualname__}".replace(" .", " "))
        if function.__name__ not in FORMATS and type(owner) in (*PLAIN, list, tuple, dict, set, frozenset):
            return getattr(self.pure(owner), function.__name__)
        return self._outside(f"it uses a {name_of(type(owner))}")

    # ---- objects with attributes

    def _module(self, module):
        if type(module) is not types.ModuleType and not is_of_python(module_of(type(module))):
            return self._outside(f"it uses a {name_of(type(module))}")
        known = module in KNOWN_MODULES or module.__name__ == "stoker" or module.__name__.startswith(("stoker.", "numpy."))
        read = self._of_foreign_module if not known and self._is_foreign(module.__name__) else self._of_module
        return Namespace(f"it uses the module {module.__name__} as a value", lambda name: read(module, name, known))

    def _of_module(self, module, name, known):
        if name not in vars(module) and not (known and hasattr(module, name)):
            if type(module) is not types.ModuleType or "__getattr__" in vars(module) and not known:
                return self._outside(f"it uses {module.__name__}.{name}")  # computed when it is read
            raise MissingName(_why_missing(module, name))
        value = getattr(module, name) if known else vars(module)[name]
        if not known or id(value) in PURE or type(value) in PLAIN or isinstance(value, (np.dtype, types.ModuleType)):
            return self.pure(value)
        return self._outside(f"it uses {module.__name__}.{name}")

    def _of_foreign_module(self, module, name, _):
        value = vars(module).get(name)
        return value if is_dtype(value) else self._outside(f"it uses {module.__name__}.{name}")

    def _class(self, kind):
        if type(kind) not in METACLASSES or self._is_foreign(module_of(kind)):
            return self._outside(f"it uses {name_of(kind)}")
        return Namespace(f"it uses the class {name_of(kind)}", lambda name: self._of_class(kind, name))

    def _of_class(self, kind, name):
        if issubclass(kind, enum.Enum) and name in kind.__members__:
            return self.pure(kind.__members__[name])
        found = found_in(kind, name)
        if type(found) is staticmethod:
            return self.pure(found.__func__)
        if type(found) is classmethod:
            return types.MethodType(self.pure(found.__func__), self.pure(kind))
        if type(found) is types.FunctionType or (found is not MISSING and not has(found, "__get__")):
            return self.pure(found)
        return self._outside(f"it uses {name_of(kind)}.{name}")  # a descriptor, or an attribute of the metaclass

    def _object(self, value):
        kind = type(value)
        if str(module_of(kind)).startswith("_cython"):  # a function of a Cython module
            return self._outside(f"it calls {value.__qualname__}")
        if is_plain_member(value):
            return value
        if kind is not types.SimpleNamespace and not self._has_plain_attributes(kind):
            return self._outside(f"it uses a {name_of(kind)}")
        return Namespace(f"it uses a {name_of(kind)} as a value", lambda name: self._of_object(value, name),
                          lambda: self._call_of(value))

    def _has_plain_attributes(self, kind):
        """Return whether a class is the user's own and has no hook that runs code when an attribute is read."""
        return (type(kind) in METACLASSES and kind.__flags__ & HEAP and isinstance(module_of(kind), str)
                and not self._is_foreign(module_of(kind)) and found_in(kind, "__getattr__") is MISSING
                and id(found_in(kind, "__getattribute__")) in USUAL_READS
                and type(found_in(kind, "__dict__")) in (types.GetSetDescriptorType, object))

    def _of_object(self, value, name):
        """Return an attribute in the order of Python: data descriptors of the class, the object, others of the class."""
        found = found_in(type(value), name)
        if type(found) is property and found.fget is not None:
            return self.pure(found.fget)(self.pure(value))
        if type(found) in (types.MemberDescriptorType, FIELD):
            return self.pure(found.__get__(value))
        own = own_of(value)
        if found is not MISSING and name in MEMBER and found is MEMBER[name] and issubclass(type(value), enum.Enum):
            return self.pure(own[f"_{name}_"])
        if has(found, "__get__") and (has(found, "__set__") or has(found, "__delete__")):
            return self._outside(f"it uses {name_of(type(value))}.{name}")
        if name in own:
            return self.pure(own[name])
        if type(found) is types.FunctionType:
            return types.MethodType(self.pure(found), self.pure(value))
        if found is MISSING:
            raise AttributeError(f"'{name_of(type(value))}' object has no attribute '{name}'")
        return self._of_class(type(value), name)

    def _call_of(self, value):
        """Return what a call of an object calls: the method of its class."""
        found = found_in(type(value), "__call__")
        if type(found) is types.FunctionType:
            return types.MethodType(self.pure(found), self.pure(value))
        return self._outside(f"it calls a {name_of(type(value))}")


_MAKERS = (
    (np.ndarray, Sandbox._array),
    (np.generic, Sandbox._scalar),
    (slice, Sandbox._slice),
    ((list, tuple, dict, set, frozenset), Sandbox._container),
    (types.FunctionType, Sandbox._function),
    (functools.partial, Sandbox._partial),
    (types.MethodType, Sandbox._method),
    (types.BuiltinFunctionType, Sandbox._builtin),
    (types.ModuleType, Sandbox._module),
    (type, Sandbox._class),
)


def _why_missing(module, name):
    """Return the message for a name that a module does not have. A module of the package suggests another name."""
    try:
        getattr(module, name)
    except AttributeError as missing:
        return str(missing)
    return f"module '{module.__name__}' has no attribute '{name}'"
