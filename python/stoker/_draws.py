"""Whether a Python function may draw random numbers from Stoker.

A dataset counts its passes at the first stage that draws, and every dataset built on that stage shares the count. A function
that only decodes must not be such a stage: iterating a validation set built on it would shift the random numbers of the
training set.
"""

import functools
import inspect
import types

_CALLABLES = (types.FunctionType, types.MethodType, functools.partial, staticmethod, classmethod,
              functools._lru_cache_wrapper)
_DRAWING = {"op", "rand_augment", "trivial_augment", "color_jitter", "mixup", "cutmix"}
_MOST_FUNCTIONS = 200  # that are examined; a function that reaches more may draw


def may_draw(function) -> bool:
    """Return whether the function, or one that it reaches by name, mentions a function of Stoker that draws."""
    seen, waiting = set(), [(function, None)]
    while waiting and len(seen) < _MOST_FUNCTIONS:
        found, owner = _code_of(*waiting.pop())
        if found is None or found in seen:
            continue
        seen.add(found)
        if _is_drawing(found.__name__) and _module_of(found).startswith("stoker"):
            return True
        names = _names_in(found.__code__)
        if any(map(_is_drawing, names)):
            return True
        if not _module_of(found).startswith("stoker"):
            waiting += _reached(found, owner, names)
    return bool(waiting)


def _is_drawing(name):
    return name in _DRAWING or name.startswith("random_")


def _module_of(function):
    return function.__module__ or ""


def _code_of(function, owner):
    """Return the Python function that a callable runs, and the object to which it is bound; None if it is not Python.

    Runs no code of the object: even `isinstance` may read an attribute with effects.
    """
    while True:
        kind = type(function)
        if kind is types.FunctionType:
            return function, owner
        if kind is types.MethodType:
            function, owner = function.__func__, function.__self__
        elif kind is functools.partial:
            function = function.func
        elif kind in (staticmethod, classmethod):
            function = function.__func__
        else:
            break
    wrapped = inspect.getattr_static(function, "__wrapped__", None)  # such as that of functools.lru_cache
    if type(wrapped) is types.FunctionType:
        return wrapped, owner
    call = inspect.getattr_static(kind, "__call__", None)
    return (call, function) if type(call) is types.FunctionType else (None, None)


def _names_in(code):
    names = set(code.co_names)
    for constant in code.co_consts:
        if type(constant) is types.CodeType:
            names |= _names_in(constant)
    return names


def _reached(function, owner, names):
    """Return the callables that a function refers to by a global name, a closure, a default, or its object."""
    found = [function.__globals__.get(name) for name in names]
    found += [inspect.getattr_static(owner, name, None) for name in names if owner is not None]
    found += function.__defaults__ or ()
    found += (function.__kwdefaults__ or {}).values()
    found += [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
    return [(one, owner) for one in found if type(one) in _CALLABLES]


def _is_filled(cell):
    try:
        cell.cell_contents
    except ValueError:
        return False
    return True
