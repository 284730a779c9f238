"""The identity of a user's function, which checkpoints compare, and the datasets that the function captured."""

import dis
import functools
import hashlib
import types

# User objects are examined by their types alone: `isinstance` and `==` may run user code.
_SIMPLE = (type(None), bool, int, float, complex, str, bytes)
_CACHED = type(functools.lru_cache(len))
_FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial, _CACHED)
_LONGEST = 60  # characters of a value that are kept as they are


def identity_of(function):
    """Return a text that is equal in every process that runs the same program, and differs for another function.

    It covers the import name, the code, and those defaults, bound arguments and closed-over values that are numbers, text,
    tuples of these, or functions. Other values are omitted: nothing that changes with the process, such as an address,
    may enter. Text with a slash is omitted, too: it may name a folder, and a moved dataset is the same dataset.
    """
    return "the Python function " + _identity(function, set())


def captured_by(function, kind):
    """Return the objects of the class `kind` that a function closes over, has as defaults or bound arguments, or names.

    It looks at globals and attributes of the bound object that the code names, and into lists, tuples and dicts. The order
    is the same in every process that runs the same program.
    """
    found = {}
    for value in _captured(function, set()):
        for one in _members(value):
            if issubclass(type(one), kind):
                found.setdefault(id(one), one)
    return list(found.values())


def _parts(function):
    """Return the function in Python that a callable ends in (None if it has none), its object, and bound arguments."""
    bound = {}
    while issubclass(type(function), functools.partial):
        bound = {**{str(i): value for i, value in enumerate(function.args)}, **function.keywords, **bound}
        function = function.func
    if type(function) is _CACHED:
        function = function.__wrapped__
    receiver = None
    if type(function) is types.MethodType:
        function, receiver = function.__func__, function.__self__
    elif type(function) is not types.FunctionType:
        function, receiver = getattr(type(function), "__call__", None), function
    return (function if type(function) is types.FunctionType else None), receiver, bound


def _variables(plain):
    """Return closed-over values and defaults by name."""
    variables = {}
    for name, cell in zip(plain.__code__.co_freevars, plain.__closure__ or ()):
        try:
            variables[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            pass
    names = plain.__code__.co_varnames[:plain.__code__.co_argcount]
    defaults = plain.__defaults__ or ()
    variables.update(zip(names[len(names) - len(defaults):], defaults))
    variables.update(plain.__kwdefaults__ or {})
    return variables


# ---- identity


def _identity(function, seen):
    plain, receiver, bound = _parts(function)
    if plain is None:
        described, values = _import_name(receiver), bound
    else:
        described = f"{_import_name(plain)} with code {_hash(repr(_code_key(plain.__code__)))}"
        values = {**_variables(plain), **bound} if _is_first(plain, seen) else bound
    texts = ((name, _text_of(value, seen)) for name, value in values.items())
    return ", ".join([described, *(f"{name}={text}" for name, text in texts if text)])


def _import_name(function):
    try:
        name = function.__qualname__
    except Exception:  # an object without a name, such as a ufunc of NumPy
        name = f"{type(function).__qualname__} {_text_of(_attribute(function, '__name__'), set())}"
    module = str(_attribute(function, "__module__"))
    return f"{'__main__' if module == '__mp_main__' else module}.{name}"


def _attribute(value, name):
    try:
        return getattr(value, name)
    except Exception:  # of a user's object
        return None


def _is_first(plain, seen):
    """Return whether a function was not seen before: functions may close over one another."""
    count = len(seen)
    seen.add(id(plain))
    return len(seen) > count


def _text_of(value, seen):
    """Return a value as text; "" if it is omitted."""
    if issubclass(type(value), _FUNCTIONS):
        return f"({_identity(value, seen)})"
    if not _is_simple(value):
        return ""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… {_hash(text)}"


def _is_simple(value):
    if type(value) is tuple:
        return all(map(_is_simple, value))
    return any(type(value) is simple for simple in _SIMPLE) and not (type(value) is str and "/" in value)


def _code_key(code):
    """Return what a code object computes as values whose `repr` is the same in every process."""
    return (code.co_code, getattr(code, "co_exceptiontable", b""), code.co_names, code.co_freevars,
            code.co_argcount, code.co_kwonlyargcount, code.co_flags, [_constant_key(one) for one in code.co_consts])


def _constant_key(constant):
    if isinstance(constant, types.CodeType):
        return _code_key(constant)
    if isinstance(constant, tuple):
        return [_constant_key(one) for one in constant]
    if isinstance(constant, frozenset):
        return sorted(map(repr, constant))  # its own order depends on the process
    return constant


def _hash(text):
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


# ---- captured values


def _captured(function, seen):
    plain, receiver, bound = _parts(function)
    yield from bound.values()
    if plain is None or not _is_first(plain, seen):
        return
    variables = _variables(plain)
    yield from variables.values()
    yield from _named_in(plain, receiver)
    for value in (*bound.values(), *variables.values()):
        if issubclass(type(value), _FUNCTIONS):
            yield from _captured(value, seen)


def _named_in(plain, receiver):
    attributes = _attribute(receiver, "__dict__")
    for instruction in _instructions(plain.__code__):
        name = instruction.argval
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield plain.__globals__.get(name)
        elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD") and type(attributes) is dict:
            yield attributes.get(name)


def _instructions(code):
    for instruction in dis.get_instructions(code):
        yield instruction
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _instructions(constant)


def _members(value):
    yield value
    if type(value) is list or type(value) is tuple:
        yield from value
    elif type(value) is dict:
        yield from value.values()
