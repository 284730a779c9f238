"""Run a user's function in an environment of pure objects, so that tracing it cannot be observed.

A function is native only if everything it uses is known to be pure: Stoker's operations, numbers, strings, arrays and
containers of these, some functions of Python and NumPy, and the user's functions, methods and objects that meet the same
condition. `Sandbox` copies a function so that its globals, closure, defaults and attributes contain only such objects. Every
other object is replaced by an `Outside`. Any use of it is a reason for Python, recorded even if the exception is caught.
"""

import abc
import builtins
import collections
import dis
import enum
import functools
import inspect
import itertools
import math
import operator
import os
import re
import sys
import sysconfig
import types

import numpy as np

from . import _composite, _ops, _spec, _values, errors, image, io
from ._findings import Outside, needs_python
from ._values import Value

_MOST_ENTRIES = 10_000  # in captured containers; copying more takes longer than tracing

# ---- what is known to be pure

_BUILTINS = """abs all any ascii bin bool bytearray bytes chr complex dict divmod enumerate filter float format frozenset hex int
    iter len list map max min next oct ord pow range repr reversed round set slice sorted str sum tuple zip
    Ellipsis NotImplemented True False None __debug__""".split()
_NUMPY = """abs absolute add all allclose amax amin any append arange arccos arcsin arctan arctan2 argmax argmin argsort array
    array_equal asarray ascontiguousarray atleast_1d atleast_2d atleast_3d bitwise_and bitwise_or bool_ broadcast_to ceil clip
    column_stack concatenate cos cosh cross cumprod cumsum deg2rad degrees diag diff divide dot dstack dtype e equal exp
    expand_dims expm1 eye finfo flip float16 float32 float64 floating floor floor_divide fmax fmin full full_like gcd greater
    greater_equal hstack hypot identity iinfo inf int16 int32 int64 int8 integer interp intp isfinite isinf isnan kron
    linspace log log10 log1p log2 logical_and logical_not logical_or logspace matmul maximum mean median meshgrid minimum mod
    moveaxis multiply nan negative newaxis nonzero not_equal number ones ones_like outer percentile pi power prod quantile
    rad2deg radians ravel reciprocal remainder repeat reshape rint roll round sign signedinteger sin sinh sort split sqrt
    square squeeze stack std subtract sum swapaxes take tan tanh tensordot tile transpose tri tril triu true_divide trunc
    uint16 uint32 uint64 uint8 unique unsignedinteger var vstack where zeros zeros_like""".split()
_NOT_OPERATIONS = {"TFRecordOptions", "TFRecordWriter"}
_NOT_OPERATORS = {"attrgetter", "methodcaller", "is_", "is_not"}


def _public(module, leave_out=()):
    return [value for name, value in vars(module).items() if not name.startswith("_") and name not in leave_out]


def _pure_objects():
    found = [getattr(builtins, name) for name in _BUILTINS]
    found += [value for value in vars(builtins).values() if isinstance(value, type) and issubclass(value, Exception)]
    found += [getattr(np, name) for name in _NUMPY if hasattr(np, name)]
    found += _public(math) + _public(operator, _NOT_OPERATORS) + _public(itertools) + [functools.reduce, functools.partial]
    for module in (_ops, image, io):
        found += [value for value in _public(module, _NOT_OPERATIONS) if _is_of_stoker(value)]
    found += [_values.op, _values.constant, _spec.TensorSpec, _spec.string, *_composite.COMPOSITES]
    found += [value for value in vars(errors).values() if isinstance(value, type)]
    return {id(value): value for value in found}


def _is_of_stoker(value):
    return str(getattr(value, "__module__", "")).startswith("stoker.") and callable(value)


_PURE = _pure_objects()
_PLAIN = frozenset(map(type, (None, True, 0, 0.0, 0j, "", b"", range(0), Ellipsis, NotImplemented)))
_KNOWN_MODULES = {math, operator, itertools, functools, np}
_STANDARD, _INSTALLED = (tuple({os.path.join(sysconfig.get_paths()[name], "") for name in names})
                         for names in (("stdlib", "platstdlib"), ("purelib", "platlib")))
_HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")


def is_internal(function):
    """Return whether a function is part of this package and calls no function passed to it."""
    return (isinstance(function, types.FunctionType) and function.__code__.co_filename.startswith(_HERE)
            and not any(callable(cell.cell_contents) for cell in function.__closure__ or ()))


def is_raised_here(failed):
    """Return whether this package raised an exception, and not a user function."""
    trace = failed.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code.co_filename.startswith(_HERE)


def _is_of_python(module_name):
    """Return whether a module belongs to Python itself."""
    top = module_name.partition(".")[0]
    if top in sys.builtin_module_names or top in getattr(sys, "stdlib_module_names", ()):  # the latter since 3.10
        return True
    file = _file_of(module_name)
    return file.startswith(_STANDARD) and not _is_installed(module_name)


def _is_installed(module_name):
    """Return whether a module is part of an installed package."""
    file = _file_of(module_name)
    return file.startswith(_INSTALLED) or "site-packages" in file or "dist-packages" in file


def _file_of(module_name):
    return getattr(sys.modules.get(module_name), "__file__", None) or ""


def _package_of(function):
    """Return the top-level package that defines a function or the class of an object."""
    is_code = isinstance(function, (types.FunctionType, types.MethodType))
    return str((is_code and function.__module__) or _module_of(type(function))).partition(".")[0]


# ---- what code does, found without running it

_CATCHES = {"POP_EXCEPT", "CHECK_EXC_MATCH", "JUMP_IF_NOT_EXC_MATCH"}
_WITH = {"SETUP_WITH", "BEFORE_WITH", "WITH_EXCEPT_START", "SETUP_ASYNC_WITH", "BEFORE_ASYNC_WITH", "LOAD_SPECIAL"}
_WRITES = {"STORE_GLOBAL": "the global variable", "DELETE_GLOBAL": "the global variable", "STORE_ATTR": "the attribute",
           "DELETE_ATTR": "the attribute"}
_OUTER_WRITES = {"STORE_DEREF", "DELETE_DEREF"}
_ATTRIBUTES = {"LOAD_ATTR", "LOAD_METHOD"}
# Attributes of arrays, functions of NumPy (`np.add.at` writes to read-only arrays, too), generators and named tuples.
_EFFECT_ATTRIBUTES = {"tofile", "dump", "setflags", "ctypes", "at", "gi_frame", "_field_defaults", "_fields_defaults"}
_LENT_ATTRIBUTES = {"base", "flags", "readonly"}  # attributes of arrays that show that an array is lent
_FORMATS = {"format", "format_map"}
# Not True and False: comparing strings returns these, and natively a symbolic value.
_SINGLE = (None, Ellipsis, NotImplemented)


@functools.lru_cache(maxsize=1024)
def _examined(code):
    """Return the names of the globals and of the attributes that code loads, and what it does that tracing does not allow."""
    names, attributes = set(), set()
    return names, attributes, _problem(code, code.co_freevars, names, attributes)


def _problem(code, outer, names, attributes):
    found, previous = None, None
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            names.add(instruction.argval)
        if instruction.opname in _ATTRIBUTES:
            attributes.add(instruction.argval)
        found = found or _forbidden(instruction, previous, outer)
        previous = instruction
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found = _problem(constant, outer, names, attributes) or found
    return found


def _forbidden(instruction, previous, outer):
    name, argument = instruction.opname, instruction.argval
    if name in _WRITES:
        return f"writes to {_WRITES[name]} '{argument}'"
    if name in _OUTER_WRITES and argument in outer:
        return f"writes to the outer variable '{argument}'"
    if name in _ATTRIBUTES and (argument in _EFFECT_ATTRIBUTES or _is_special(argument)):
        return f"uses '.{argument}'"
    if name in _ATTRIBUTES and argument in _FORMATS and not _is_plain_template(previous):
        return f"uses '.{argument}', which can read attributes"
    if name in _CATCHES:
        return "catches exceptions"
    if name in _WITH:
        return "has a 'with' statement"
    if name == "IMPORT_NAME" or argument == "__import__":
        return f"imports '{argument}'"
    if name == "LOAD_BUILD_CLASS":
        return "defines a class"
    if name.startswith("MATCH_") or (name == "IS_OP" and not _is_single(previous)):
        return "compares types or identities"
    return None


def _is_single(instruction):
    """Return whether it loads a constant that exists only once, so that `is` means `==`."""
    return instruction.opname == "LOAD_CONST" and any(instruction.argval is one for one in _SINGLE)


def _is_plain_template(instruction):
    """Return whether it loads a format string that reads no attributes: '{0.flags}' would."""
    template = instruction.argval if instruction is not None and instruction.opname == "LOAD_CONST" else None
    return isinstance(template, str) and not re.search(r"\{[^{}:!]*[.\[]", template)


def _is_special(name):
    """Return whether Python defines the name, such as `__dict__`, or `_member_map_` of enumerations."""
    return len(name) > 1 and name.startswith("_") and name.endswith("_")


# ---- stand-ins


class _Namespace(Outside):
    """A stand-in for a user's module, class or object. Its attributes are made pure when they are read."""

    __slots__ = ("_read", "_called")

    def __init__(self, reason, read, called=None):
        super().__init__(reason)
        object.__setattr__(self, "_read", read)
        object.__setattr__(self, "_called", called)

    def __getattribute__(self, name):
        if _is_special(name):
            return super().__getattribute__(name)
        return object.__getattribute__(self, "_read")(name)

    def __call__(self, *args, **kwargs):
        called = object.__getattribute__(self, "_called")
        return called()(*args, **kwargs) if called else super().__call__()


class _Lent:
    """The owner of a read-only array's memory. It keeps the memory alive and provides no writable array."""

    __slots__ = ("__array_interface__", "__lender__")

    def __init__(self, array):
        self.__lender__ = array
        self.__array_interface__ = {**array.__array_interface__, "data": (array.__array_interface__["data"][0], True)}


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


_GUARDED = {kind: _guarded(kind) for kind in (list, dict, set, collections.OrderedDict)}


def _read_of(kind, name):
    if name in _CONTAINER_WRITES:
        raise needs_python(f"it uses {kind.__name__}.{name}")  # as `list.append(rows, x)`, which does not see `_outside_`
    return getattr(kind, name)


# By id: stand-ins for the types of containers.
_CONTAINER_TYPES = {id(kind): _Namespace(f"it uses the class {kind.__name__} as a value", functools.partial(_read_of, kind),
                                         lambda kind=kind: kind) for kind in (list, dict, set)}


def _actual_types(kinds):
    """Return types for isinstance() in place of their stand-ins."""
    if isinstance(kinds, tuple):
        return tuple(map(_actual_types, kinds))
    return next((kind for kind in (list, dict, set) if _CONTAINER_TYPES[id(kind)] is kinds), kinds)


class MissingName(AttributeError):
    """Raised if a module has no such name."""


def _isinstance(value, kinds):
    kinds = _actual_types(kinds)
    if type(value) in _PLAIN or isinstance(value, (tuple, list, dict, slice, np.ndarray, np.generic)):
        return isinstance(value, kinds)
    raise needs_python("isinstance() requires an actual value, and there is none while a function is traced")


def _type(value):
    if type(value) in _PLAIN or isinstance(value, (np.ndarray, np.generic)):
        return type(value)
    raise needs_python("type() requires an actual value, and there is none while a function is traced")


_OWN_BUILTINS = dict(vars(builtins))
_SANDBOX_BUILTINS = {name: value if id(value) in _PURE else Outside(f"it uses {name}") for name, value in vars(builtins).items()}
_SANDBOX_BUILTINS.update({kind.__name__: _CONTAINER_TYPES[id(kind)] for kind in (list, dict, set)})
# NumPy imports its own modules through the builtins of the calling code.
_SANDBOX_BUILTINS.update(isinstance=_isinstance, type=_type, __import__=__import__)


class Sandbox:
    """Pure copies of what one function uses. `problem()` returns what the calls did that tracing does not allow."""

    def __init__(self, root):
        self.has_outside = False  # whether the function names something that is not pure
        self._package = _package_of(root)
        self._made = {}  # by id: the stand-in, and the object itself, so that its id is not reused
        self._globals = {}
        self._attributes = set()  # that the copied functions read
        self._guarded = {}  # attributes that they must not read, and why
        self._entries = 0

    def pure(self, value):
        """Return the value itself, its copy, or an `Outside`."""
        if id(value) in _CONTAINER_TYPES:
            return _CONTAINER_TYPES[id(value)]
        if type(value) in _PLAIN or type(value) in (Value, _spec.TensorSpec) or id(value) in _PURE or _is_dtype(value):
            return value
        known = self._made.get(id(value))
        return known[0] if known else self._keep(value, self._stand_in(value))

    def problem(self):
        """Return why the function has to run as Python, or None."""
        used = sorted(self._guarded.keys() & self._attributes)
        return f"it uses '.{used[0]}', {self._guarded[used[0]]}" if used else None

    def _is_foreign(self, module_name):
        """Return whether code is not examined: installed packages may have caches and other hidden state."""
        if _is_of_python(module_name):
            return True
        return module_name.partition(".")[0] != self._package and _is_installed(module_name)

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
            return self._outside(f"it uses a {_name_of(type(array))} of {array.dtype}")
        self._guarded.update(dict.fromkeys(_LENT_ATTRIBUTES, "which differs for captured arrays"))
        lent = np.asarray(_Lent(array))
        return lent if lent.dtype == array.dtype else lent.view(array.dtype)

    def _scalar(self, scalar):
        if isinstance(scalar, np.void):  # a record, which can be written to
            return self._outside(f"it uses a {_name_of(type(scalar))}")
        return scalar if _name_of(type(scalar)).startswith("numpy.") else self._object(scalar)

    def _slice(self, bounds):
        return slice(self.pure(bounds.start), self.pure(bounds.stop), self.pure(bounds.step))

    def _container(self, value):
        kind = type(value)
        if kind not in (list, dict, set, collections.OrderedDict, tuple, frozenset) and not _is_named_tuple(kind):
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
        copy = self._keep(value, _GUARDED[type(value)]())
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
        names, attributes, problem = _examined(function.__code__)
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
        made = self._globals.setdefault(id(outer), {"__builtins__": _SANDBOX_BUILTINS})
        known = outer.get("__builtins__", vars(builtins))
        known = vars(known) if isinstance(known, types.ModuleType) else known
        for name in names:
            if name in outer and name not in made:
                made[name] = self.pure(outer[name])
            elif name not in made and known.get(name, _MISSING) is not _OWN_BUILTINS.get(name, _MISSING):
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
        if function.__name__ not in _FORMATS and type(owner) in (*_PLAIN, list, tuple, dict, set, frozenset):
            return getattr(self.pure(owner), function.__name__)
        return self._outside(f"it uses a {_name_of(type(owner))}")

    # ---- objects with attributes

    def _module(self, module):
        if type(module) is not types.ModuleType and not _is_of_python(_module_of(type(module))):
            return self._outside(f"it uses a {_name_of(type(module))}")
        known = module in _KNOWN_MODULES or module.__name__ == "stoker" or module.__name__.startswith(("stoker.", "numpy."))
        read = self._of_foreign_module if not known and self._is_foreign(module.__name__) else self._of_module
        return _Namespace(f"it uses the module {module.__name__} as a value", lambda name: read(module, name, known))

    def _of_module(self, module, name, known):
        if name not in vars(module) and not (known and hasattr(module, name)):
            if type(module) is not types.ModuleType or "__getattr__" in vars(module) and not known:
                return self._outside(f"it uses {module.__name__}.{name}")  # computed when it is read
            raise MissingName(f"module '{module.__name__}' has no attribute '{name}'")
        value = getattr(module, name) if known else vars(module)[name]
        if not known or id(value) in _PURE or type(value) in _PLAIN or isinstance(value, (np.dtype, types.ModuleType)):
            return self.pure(value)
        return self._outside(f"it uses {module.__name__}.{name}")

    def _of_foreign_module(self, module, name, _):
        value = vars(module).get(name)
        return value if _is_dtype(value) else self._outside(f"it uses {module.__name__}.{name}")

    def _class(self, kind):
        if type(kind) not in _METACLASSES or self._is_foreign(_module_of(kind)):
            return self._outside(f"it uses {_name_of(kind)}")
        return _Namespace(f"it uses the class {_name_of(kind)}", lambda name: self._of_class(kind, name))

    def _of_class(self, kind, name):
        if issubclass(kind, enum.Enum) and name in kind.__members__:
            return self.pure(kind.__members__[name])
        found = _found_in(kind, name)
        if type(found) is staticmethod:
            return self.pure(found.__func__)
        if type(found) is classmethod:
            return types.MethodType(self.pure(found.__func__), self.pure(kind))
        if type(found) is types.FunctionType or (found is not _MISSING and not _has(found, "__get__")):
            return self.pure(found)
        return self._outside(f"it uses {_name_of(kind)}.{name}")  # a descriptor, or an attribute of the metaclass

    def _object(self, value):
        kind = type(value)
        if str(_module_of(kind)).startswith("_cython"):  # a function of a Cython module
            return self._outside(f"it calls {value.__qualname__}")
        if _is_plain_member(value):
            return value
        if kind is not types.SimpleNamespace and not self._has_plain_attributes(kind):
            return self._outside(f"it uses a {_name_of(kind)}")
        return _Namespace(f"it uses a {_name_of(kind)} as a value", lambda name: self._of_object(value, name),
                          lambda: self._call_of(value))

    def _has_plain_attributes(self, kind):
        """Return whether a class is the user's own and has no hook that runs code when an attribute is read."""
        return (type(kind) in _METACLASSES and kind.__flags__ & _HEAP and isinstance(_module_of(kind), str)
                and not self._is_foreign(_module_of(kind)) and _found_in(kind, "__getattr__") is _MISSING
                and id(_found_in(kind, "__getattribute__")) in _USUAL_READS
                and type(_found_in(kind, "__dict__")) in (types.GetSetDescriptorType, object))

    def _of_object(self, value, name):
        """Return an attribute in the order of Python: data descriptors of the class, the object, others of the class."""
        found = _found_in(type(value), name)
        if type(found) is property and found.fget is not None:
            return self.pure(found.fget)(self.pure(value))
        if type(found) in (types.MemberDescriptorType, _FIELD):
            return self.pure(found.__get__(value))
        own = _own_of(value)
        if found is not _MISSING and name in _MEMBER and found is _MEMBER[name] and issubclass(type(value), enum.Enum):
            return self.pure(own[f"_{name}_"])
        if _has(found, "__get__") and (_has(found, "__set__") or _has(found, "__delete__")):
            return self._outside(f"it uses {_name_of(type(value))}.{name}")
        if name in own:
            return self.pure(own[name])
        if type(found) is types.FunctionType:
            return types.MethodType(self.pure(found), self.pure(value))
        if found is _MISSING:
            raise AttributeError(f"'{_name_of(type(value))}' object has no attribute '{name}'")
        return self._of_class(type(value), name)

    def _call_of(self, value):
        """Return what a call of an object calls: the method of its class."""
        found = _found_in(type(value), "__call__")
        if type(found) is types.FunctionType:
            return types.MethodType(self.pure(found), self.pure(value))
        return self._outside(f"it calls a {_name_of(type(value))}")


# ---- attributes, read without running user code

_MISSING = object()
_USUAL_READS = {id(vars(kind)["__getattribute__"]) for kind in (object, tuple, int, float, str, bytes)}
_METACLASSES = {type, abc.ABCMeta, enum.EnumMeta}
_module_of = vars(type)["__module__"].__get__
_order_of, _attributes_of = vars(type)["__mro__"].__get__, vars(type)["__dict__"].__get__


def _found_in(kind, name):
    """Return the attribute of a class or of its bases as it is stored; `_MISSING` if there is none."""
    return next((_attributes_of(base)[name] for base in _order_of(kind) if name in _attributes_of(base)), _MISSING)


def _has(value, name):
    """Return whether the class of a value has a special method."""
    return _found_in(type(value), name) is not _MISSING


def _own_of(value):
    """Return the attributes that an object stores itself."""
    return object.__getattribute__(value, "__dict__") if _has(value, "__dict__") else {}


_HEAP = 1 << 9  # Py_TPFLAGS_HEAPTYPE: not a static C type
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


def _is_dtype(value):
    """Return whether it is a dtype of NumPy or TensorFlow."""
    kind = type(value)
    return issubclass(kind, np.dtype) or _name_of(kind).startswith("tensorflow.") and _name_of(kind).endswith(".DType")


# ---- enumerations and named tuples, whose instances stay themselves if all their code is Python's

_ENUMS = [getattr(enum, name) for name in ("Enum", "IntEnum", "Flag", "IntFlag", "StrEnum", "ReprEnum") if hasattr(enum, name)]
_ENUM_CODE = {id(getattr(part, "__func__", part)) for kind in (*_ENUMS, object, int, str, float, bytes)
              for part in _attributes_of(kind).values()}
_ENUM_NAMES = {"_value_", "_name_", "__objclass__", "_sort_order_"}
_MEMBER = {name: _found_in(enum.Enum, name) for name in ("name", "value")}


def _is_plain_member(value):
    """Return whether it is a member of an enumeration of constants without code and attributes of its own."""
    kind = type(value)
    return (type(kind) is enum.EnumMeta and all(_is_plain_enum(base) for base in _order_of(kind))
            and _own_of(value).keys() <= _ENUM_NAMES and type(_own_of(value)["_value_"]) in _PLAIN)


def _is_plain_enum(kind):
    if kind in _ENUMS or kind in (object, int, str, float, bytes):
        return True
    return type(kind) is enum.EnumMeta and all(
        name in kind.__members__ or id(getattr(part, "__func__", part)) in _ENUM_CODE
        or type(part) in (*_PLAIN, list, dict, type, types.GetSetDescriptorType) and _is_special(name)
        for name, part in _attributes_of(kind).items())


_Sample = collections.namedtuple("_Sample", "a")
_FIELD = type(_attributes_of(_Sample)["a"])


def _is_named_tuple(kind):
    """Return whether it is a named tuple, or a subclass of one, without code of its own, as the features of `sk.io`."""
    return _order_of(kind)[-2:] == (tuple, object) and _found_in(kind, "_fields") is not _MISSING and all(
        _is_of_named_tuple(name, part) for base in _order_of(kind)[:-2] if not _is_of_stoker(base)
        for name, part in _attributes_of(base).items())


def _is_of_named_tuple(name, part):
    if name in ("__new__", "_field_defaults", "_fields_defaults"):
        return True  # not called; not allowed
    if name in _attributes_of(_Sample) and type(part) in (types.FunctionType, classmethod):
        usual = _attributes_of(_Sample)[name]
        return getattr(part, "__func__", part).__code__ is getattr(usual, "__func__", usual).__code__
    return type(part) in (_FIELD, types.GetSetDescriptorType) or name == "_fields" or _is_special(name) and not callable(part)


def _name_of(kind):
    name = vars(type)["__qualname__"].__get__(kind)
    return f"{_module_of(kind)}.{name}".replace("builtins.", "").replace("__main__.", "")
