"""Whether a Python function may draw random numbers from Stoker.

A dataset counts its passes at the first stage that draws, and every dataset built on that stage shares the count. A function
that only decodes must not be such a stage: iterating a validation set built on it would shift the random numbers of the
training set. A function that draws must be one: otherwise, a dataset that is built again for each epoch would repeat its
random numbers. What cannot be examined counts as drawing.
"""

import contextvars
import dis
import gc
import sys
import threading
import types
import weakref

import numpy as np

from ._code_origin import is_installed, is_of_python
from ._user_objects import METACLASSES, attributes_of, module_of, order_of

_DRAWING = {"op", "rand_augment", "trivial_augment", "color_jitter", "mixup", "cutmix"}
_ORDERING = {"shuffle", "list_files", "ImageFolder", "image_folder", "make_csv_dataset", "load_graph"}
# Names by which code reaches objects whose names it does not mention.
_DYNAMIC = {"getattr", "eval", "exec", "globals", "locals", "vars", "__dict__", "__getattribute__", "attrgetter",
            "methodcaller", "import_module", "__import__"}
_SIMPLE = (type(None), bool, int, float, complex, str, bytes, bytearray, range, slice, types.CodeType)
# Objects that reach others in ways that are not visible from outside.
_OPAQUE = (weakref.ref, weakref.ProxyType, weakref.CallableProxyType, contextvars.ContextVar, threading.local,
           types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType, types.FrameType)
_MOST_EXAMINED = 2000  # functions, classes and objects; a function that reaches more may draw


def may_draw(function, *, opens_datasets=False) -> bool:
    """Return whether the function, or one that it reaches, may mention a function of Stoker that draws.

    A function that opens datasets also counts if it may mention a stage with an order of its own, such as `shuffle`. Runs
    no code of the user's objects: even `isinstance` may read an attribute with effects.
    """
    return _Walk(_DRAWING | _ORDERING if opens_datasets else _DRAWING).finds(function)


class _Walk:
    """Goes over everything that a function reaches: by a name, or in a closure, default, container, object or class."""

    def __init__(self, drawing):
        self._drawing = drawing
        self._seen = {}  # keeps the values alive, so that no other value gets their identity
        self._waiting = []

    def finds(self, function):
        self._add(function)
        while self._waiting:
            if len(self._seen) > _MOST_EXAMINED or self._draws(self._waiting.pop()):
                return True
        return False

    def _add(self, value):
        if type(value) not in _SIMPLE and id(value) not in self._seen:
            self._seen[id(value)] = value
            self._waiting.append(value)

    def _draws(self, value):
        kind = type(value)
        if kind is types.FunctionType:
            return self._function_draws(value)
        if issubclass(kind, type):
            self._add_class(value)
        elif issubclass(kind, _OPAQUE):
            return True
        elif kind is not types.ModuleType and not _is_stoker(module_of(kind)):
            self._add_object(value)
        return False

    def _add_class(self, user_class):
        """Add the functions of a class and its bases, whichever of them are called."""
        if type(user_class) not in METACLASSES:
            self._add(type(user_class))
        for base in order_of(user_class):
            if not _cannot_draw(module_of(base)):
                for part in list(attributes_of(base).values()):
                    self._add(part)

    def _add_object(self, value):
        self._add(type(value))
        if issubclass(type(value), np.ndarray):
            if np.ndarray.dtype.__get__(value) == object:
                for part in np.ndarray.tolist(np.ndarray.ravel(value)):
                    self._add(part)
            return
        for part in gc.get_referents(value):  # the members of a container, the attributes and slots of an object
            self._add(part)

    def _function_draws(self, function):
        module = function.__globals__.get("__name__") or ""
        if _is_stoker(module):
            return self._is_drawing(function.__name__)
        for value in _variables(function):
            self._add(value)
        if _cannot_draw(module):
            return False
        names, imported = _names_in(function.__code__)
        if names & _DYNAMIC or any(map(self._is_drawing, names)):
            return True
        if any(name not in sys.modules for name in imported):
            return True
        found = [function.__globals__[name] for name in names if name in function.__globals__]
        self._add_named(names, found + [sys.modules[name] for name in imported])
        return False

    def _add_named(self, names, values):
        """Add the values. Of modules, add the attributes with these names."""
        modules = set()
        while values:
            value = values.pop()
            if type(value) is not types.ModuleType:
                self._add(value)
            elif id(value) not in modules and not _is_stoker(value.__name__) and not _cannot_draw(value.__name__):
                modules.add(id(value))
                values += [vars(value)[name] for name in names if name in vars(value)]

    def _is_drawing(self, name):
        return name in self._drawing or name.startswith("random_")


def _variables(function):
    """Return the closed-over values, defaults and attributes."""
    values = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values(), *function.__dict__.values()]
    for cell in function.__closure__ or ():
        try:
            values.append(cell.cell_contents)
        except ValueError:  # not assigned yet
            pass
    return values


def _names_in(code):
    """Return the names in a function and the functions in it, and the modules that they import."""
    names, imported = set(code.co_names), set()
    for instruction in dis.get_instructions(code):
        if instruction.opname == "IMPORT_NAME":
            imported.add(instruction.argval)
    for constant in code.co_consts:
        if type(constant) is types.CodeType:
            inner_names, inner_imported = _names_in(constant)
            names |= inner_names
            imported |= inner_imported
    return names, imported


# ---- modules


def _is_stoker(module):
    return type(module) is str and (module == "stoker" or module.startswith("stoker."))


def _is_of_stoker(value):
    if type(value) is types.ModuleType:
        return _is_stoker(value.__name__)
    return type(value) is types.FunctionType and _is_stoker(value.__globals__.get("__name__") or "")


def _cannot_draw(module):
    """Return whether a module belongs to Python or to an installed package that does not refer to Stoker."""
    if type(module) is not str or _is_stoker(module):
        return False
    return (is_of_python(module) or is_installed(module)) and not _mentions_stoker(module.partition(".")[0])


_mentions = {}  # by package and number of modules


def _mentions_stoker(package):
    """Return whether a module of the package refers to Stoker."""
    key = package, len(sys.modules)
    if key not in _mentions:
        modules = [module for name, module in list(sys.modules.items())
                   if (name == package or name.startswith(package + ".")) and type(module) is types.ModuleType]
        _mentions[key] = any(any(map(_is_of_stoker, list(vars(module).values()))) for module in modules)
    return _mentions[key]
