"""Examine a user's objects and classes without running their code."""

import abc
import collections
import enum
import types

import numpy as np

from ._purity import PLAIN, is_of_stoker

MISSING = object()
USUAL_READS = {id(vars(kind)["__getattribute__"]) for kind in (object, tuple, int, float, str, bytes)}
METACLASSES = {type, abc.ABCMeta, enum.EnumMeta}
HEAP = 1 << 9  # Py_TPFLAGS_HEAPTYPE: not a static C type
module_of = vars(type)["__module__"].__get__
order_of, attributes_of = vars(type)["__mro__"].__get__, vars(type)["__dict__"].__get__


def found_in(kind, name):
    """Return the attribute of a class or of its bases as it is stored; `MISSING` if there is none."""
    return next((attributes_of(base)[name] for base in order_of(kind) if name in attributes_of(base)), MISSING)


def has(value, name):
    """Return whether the class of a value has a special method."""
    return found_in(type(value), name) is not MISSING


def own_of(value):
    """Return the attributes that an object stores itself."""
    return object.__getattribute__(value, "__dict__") if has(value, "__dict__") else {}


def is_dtype(value):
    """Return whether it is a dtype of NumPy or TensorFlow."""
    kind = type(value)
    return issubclass(kind, np.dtype) or name_of(kind).startswith("tensorflow.") and name_of(kind).endswith(".DType")


def is_special(name):
    """Return whether Python defines the name, such as `__dict__`, or `_member_map_` of enumerations."""
    return len(name) > 1 and name.startswith("_") and name.endswith("_")


def name_of(kind):
    """Return the name of a class with its module, as it appears in messages."""
    name = vars(type)["__qualname__"].__get__(kind)
    return f"{module_of(kind)}.{name}".replace("builtins.", "").replace("__main__.", "")


# ---- enumerations and named tuples, whose instances stay themselves if all their code is Python's

_ENUMS = [getattr(enum, name) for name in ("Enum", "IntEnum", "Flag", "IntFlag", "StrEnum", "ReprEnum") if hasattr(enum, name)]
_ENUM_CODE = {id(getattr(part, "__func__", part)) for kind in (*_ENUMS, object, int, str, float, bytes)
              for part in attributes_of(kind).values()}
_ENUM_NAMES = {"_value_", "_name_", "__objclass__", "_sort_order_"}
MEMBER = {name: found_in(enum.Enum, name) for name in ("name", "value")}


def is_plain_member(value):
    """Return whether it is a member of an enumeration of constants without code and attributes of its own."""
    kind = type(value)
    return (type(kind) is enum.EnumMeta and all(_is_plain_enum(base) for base in order_of(kind))
            and own_of(value).keys() <= _ENUM_NAMES and type(own_of(value)["_value_"]) in PLAIN)


def _is_plain_enum(kind):
    if kind in _ENUMS or kind in (object, int, str, float, bytes):
        return True
    return type(kind) is enum.EnumMeta and all(
        name in kind.__members__ or id(getattr(part, "__func__", part)) in _ENUM_CODE
        or type(part) in (*PLAIN, list, dict, type, types.GetSetDescriptorType) and is_special(name)
        for name, part in attributes_of(kind).items())


_Sample = collections.namedtuple("_Sample", "a")
FIELD = type(attributes_of(_Sample)["a"])


def is_named_tuple(kind):
    """Return whether it is a named tuple, or a subclass of one, without code of its own, as the features of `sk.io`."""
    return order_of(kind)[-2:] == (tuple, object) and found_in(kind, "_fields") is not MISSING and all(
        _is_of_named_tuple(name, part) for base in order_of(kind)[:-2] if not is_of_stoker(base)
        for name, part in attributes_of(base).items())


def _is_of_named_tuple(name, part):
    if name in ("__new__", "_field_defaults", "_fields_defaults"):
        return True  # not called; not allowed
    if name in attributes_of(_Sample) and type(part) in (types.FunctionType, classmethod):
        usual = attributes_of(_Sample)[name]
        return getattr(part, "__func__", part).__code__ is getattr(usual, "__func__", usual).__code__
    return type(part) in (FIELD, types.GetSetDescriptorType) or name == "_fields" or is_special(name) and not callable(part)
