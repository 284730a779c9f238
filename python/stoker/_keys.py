"""Checks of the structure of elements: keys of dicts have to be text, and components must not be None."""

from .errors import InvalidArgument


def key_text(key):
    """Return the key of a dict as text. Raise InvalidArgument if it is not text."""
    if not isinstance(key, str):
        raise InvalidArgument(f"expected text as the key of an element, got {key!r} of type {type(key).__name__}; "
                              f"use {str(key)!r}")
    return str.__str__(key)  # the value of a member of an enumeration of text


def path_below(path, key):
    """Return the path to a part of the component at `path`: "image", "0", "meta/size"."""
    return f"{path}/{key}" if path else str(key)


def check_keys(value, path=""):
    """Raise InvalidArgument if a key of a structure is not text, or if a component of it is None."""
    if value is None:
        place = f"component {path if path.isdigit() else repr(path)} of the result" if path else "the result"
        raise InvalidArgument(f"{place} is None, expected an array, a number or text; return a value, or a placeholder "
                              "such as 0 or b''")
    if isinstance(value, dict):
        parts = [(key_text(key), part) for key, part in value.items()]
    elif isinstance(value, (tuple, list)):
        parts = enumerate(value)
    else:
        return
    for key, part in parts:
        if part is None or isinstance(part, (dict, tuple, list)):
            check_keys(part, path_below(path, key))
