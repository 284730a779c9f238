"""Keys of the dicts in elements, which have to be text."""

from .errors import InvalidArgument


def key_text(key):
    """Return the key of a dict as text. Raise InvalidArgument if it is not text."""
    if not isinstance(key, str):
        raise InvalidArgument(f"expected text as the key of an element, got {key!r} of type {type(key).__name__}; "
                              f"use {str(key)!r}")
    return str.__str__(key)  # the value of a member of an enumeration of text


def check_keys(value):
    """Raise InvalidArgument if a key of a structure is not text."""
    if isinstance(value, dict):
        for key in value:
            key_text(key)
        value = value.values()
    elif not isinstance(value, (tuple, list)):
        return
    for part in value:
        if isinstance(part, (dict, tuple, list)):
            check_keys(part)
