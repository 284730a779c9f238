"""What a function's code does, found without running it: the names that it loads, and what tracing does not allow."""

import dis
import functools
import re
import types

from ._user_objects import is_special

_CATCHES = {"POP_EXCEPT", "CHECK_EXC_MATCH", "JUMP_IF_NOT_EXC_MATCH"}
_WITH = {"SETUP_WITH", "BEFORE_WITH", "WITH_EXCEPT_START", "SETUP_ASYNC_WITH", "BEFORE_ASYNC_WITH", "LOAD_SPECIAL"}
_WRITES = {"STORE_GLOBAL": "the global variable", "DELETE_GLOBAL": "the global variable", "STORE_ATTR": "the attribute",
           "DELETE_ATTR": "the attribute"}
_OUTER_WRITES = {"STORE_DEREF", "DELETE_DEREF"}
_ATTRIBUTES = {"LOAD_ATTR", "LOAD_METHOD"}
# Attributes of arrays, functions of NumPy (`np.add.at` writes to read-only arrays, too), generators and named tuples.
_EFFECT_ATTRIBUTES = {"tofile", "dump", "setflags", "ctypes", "at", "gi_frame", "_field_defaults", "_fields_defaults"}
FORMATS = {"format", "format_map"}
# Not True and False: comparing strings returns these, and natively a symbolic value.
_SINGLE = (None, Ellipsis, NotImplemented)


@functools.lru_cache(maxsize=1024)
def examined(code):
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
    if name in _ATTRIBUTES and (argument in _EFFECT_ATTRIBUTES or is_special(argument)):
        return f"uses '.{argument}'"
    if name in _ATTRIBUTES and argument in FORMATS and not _is_plain_template(previous):
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
