"""Whether a Python function may draw random numbers from Stoker.

A dataset counts its passes at the first stage that draws, and every dataset built on that stage shares the count. A function
that only decodes must not be such a stage: iterating a validation set built on it would shift the random numbers of the
training set. A function that draws must be one: otherwise, a dataset that is built again for each epoch would repeat its
random numbers. What cannot be examined counts as drawing.
"""

import dis
import functools
import itertools
import sys
import types

from ._code_origin import is_installed, is_of_python
from ._user_objects import MISSING, attributes_of, found_in, module_of

_DRAWING = {"op", "rand_augment", "trivial_augment", "color_jitter", "mixup", "cutmix"}
_ORDERING = {"shuffle", "list_files", "ImageFolder", "image_folder", "make_csv_dataset", "load_graph"}
_DYNAMIC = {"getattr", "eval", "exec", "globals", "vars", "attrgetter", "methodcaller"}
_METHODS = ("__call__", "__getitem__", "__iter__", "__next__")  # by which a stage calls a user's object
_SIMPLE = (type(None), bool, int, float, complex, str, bytes, range, slice)
_CONTAINERS = (list, tuple, set, frozenset)
_MOST_EXAMINED = 2000  # functions and objects; a function that reaches more may draw
_MOST_MEMBERS = 200  # of a container or an object


def may_draw(function, *, opens_datasets=False) -> bool:
    """Return whether the function, or one that it reaches, may mention a function of Stoker that draws.

    A function that opens datasets also counts if it may mention a stage with an order of its own, such as `shuffle`. Runs
    no code of the user's objects: even `isinstance` may read an attribute with effects.
    """
    return _Walk(_DRAWING | _ORDERING if opens_datasets else _DRAWING).finds(function)


class _Walk:
    """Goes over the functions that a function reaches: by a name, in a closure, default, container or object."""

    def __init__(self, drawing):
        self._drawing = drawing
        self._seen = {}  # keeps the values alive, so that no other value gets their identity
        self._waiting = []

    def finds(self, function):
        self._add(function)
        while self._waiting:
            if len(self._seen) > _MOST_EXAMINED or self._draws(*self._waiting.pop()):
                return True
        return False

    def _add(self, value, receiver=None):
        if type(value) in _SIMPLE or (id(value), id(receiver)) in self._seen:
            return
        self._seen[id(value), id(receiver)] = value, receiver
        self._waiting.append((value, receiver))

    def _draws(self, value, receiver):
        kind = type(value)
        if kind is types.FunctionType:
            return self._function_draws(value, receiver)
        if kind is types.MethodType:
            self._add(value.__func__, value.__self__)
        elif kind in (staticmethod, classmethod):
            self._add(value.__func__, receiver)
        elif kind is property:
            self._add(value.fget, receiver)
        elif issubclass(kind, functools.partial):
            for part in (value.func, *value.args, *value.keywords.values()):
                self._add(part)
        elif issubclass(kind, type):
            self._add_methods(value)
        elif kind is not types.ModuleType:
            self._add_parts(value, receiver)
        return False

    def _add_methods(self, user_class):
        module = module_of(user_class)
        if type(module) is str and (_is_stoker(module) or _is_installed(module)):
            return
        for part in list(attributes_of(user_class).values()):
            self._add(part)

    def _add_parts(self, value, receiver):
        """Add the members of a container, or the attributes and methods of an object."""
        for part in _members(value):
            self._add(part)
        wrapped = _stored(value, "__wrapped__")  # such as that of functools.lru_cache
        if type(wrapped) is types.FunctionType:
            self._add(wrapped, receiver)
        for name in _METHODS:
            method = found_in(type(value), name)
            if type(method) is types.FunctionType:
                self._add(method, value)

    def _function_draws(self, function, receiver):
        module = function.__globals__.get("__name__") or ""
        if _is_stoker(module):
            return self._is_drawing(function.__name__)
        for value in _variables(function):
            self._add(value)
        if _is_installed(module) and not _mentions_stoker(module.partition(".")[0]):
            return False
        names, imported = _names_in(function.__code__)
        if any(map(self._is_drawing, names)):
            return True
        if names & _DYNAMIC and any(map(_is_of_stoker, function.__globals__.values())):
            return True
        if any(name not in sys.modules for name in imported):
            return True
        holders = [function.__globals__[name] for name in names if name in function.__globals__]
        holders += [sys.modules[name] for name in imported]
        self._add_named(names, [receiver, *holders, *_variables(function)])
        return False

    def _add_named(self, names, holders):
        """Add the values of these names, and of their attributes with these names."""
        seen = {}
        while holders and len(seen) < _MOST_EXAMINED:
            holder = holders.pop()
            if type(holder) in _SIMPLE or id(holder) in seen:
                continue
            seen[id(holder)] = holder
            is_module = type(holder) is types.ModuleType
            if not is_module:
                self._add(holder)
                holders += _members(holder)
            elif _is_stoker(holder.__name__):
                continue
            for name in names:
                found = vars(holder).get(name, MISSING) if is_module else _stored(holder, name)
                if type(found) in (types.FunctionType, staticmethod, classmethod, property):
                    self._add(found, None if is_module else holder)
                elif found is not MISSING:
                    holders.append(found)

    def _is_drawing(self, name):
        return name in self._drawing or name.startswith("random_")


def _variables(function):
    """Return the closed-over values and defaults."""
    values = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    for cell in function.__closure__ or ():
        try:
            values.append(cell.cell_contents)
        except ValueError:  # not assigned yet
            pass
    return values


def _members(value):
    """Return some members of a container, or attributes of an object of a Python class."""
    if type(value) in _CONTAINERS:
        return list(itertools.islice(value, _MOST_MEMBERS))
    if type(value) is dict:
        return list(itertools.islice(value.values(), _MOST_MEMBERS))
    return list(itertools.islice(_own_attributes(value).values(), _MOST_MEMBERS))


def _own_attributes(value):
    """Return the attributes that an object stores itself, unless its class computes them."""
    descriptor = found_in(type(value), "__dict__")
    own = descriptor.__get__(value) if type(descriptor) is types.GetSetDescriptorType else None
    return own if type(own) is dict else {}


def _stored(value, name):
    """Return the attribute of an object or a class as it is stored; `MISSING` if there is none."""
    found = found_in(value, name) if issubclass(type(value), type) else _own_attributes(value).get(name, MISSING)
    return found_in(type(value), name) if found is MISSING else found


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
    return module == "stoker" or module.startswith("stoker.")


def _is_of_stoker(value):
    if type(value) is types.ModuleType:
        return _is_stoker(value.__name__)
    return type(value) is types.FunctionType and _is_stoker(value.__globals__.get("__name__") or "")


def _is_installed(module):
    """Return whether a module belongs to Python or an installed package, not to the user's program."""
    return is_of_python(module) or is_installed(module)


_mentions = {}  # by package and number of modules


def _mentions_stoker(package):
    """Return whether a module of the package refers to Stoker."""
    key = package, len(sys.modules)
    if key not in _mentions:
        modules = [module for name, module in list(sys.modules.items())
                   if (name == package or name.startswith(package + ".")) and type(module) is types.ModuleType]
        _mentions[key] = any(any(map(_is_of_stoker, list(vars(module).values()))) for module in modules)
    return _mentions[key]
