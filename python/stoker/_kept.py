"""User functions: datasets keep them alive, the engine refers to them weakly.

A reference from the engine is invisible to Python's garbage collector. With strong ones, a dataset that is stored on the
object whose method it calls (`self.data = dataset.map(self.augment)`) would be a reference cycle that is never freed.
"""

import functools
import itertools
import weakref

from . import _core, errors


class Kept:
    """Holds a user's function. Lives as long as a dataset that calls the function."""

    __slots__ = ("function", "opened", "__weakref__")

    def __init__(self, function):
        self.function = function
        self.opened = {}  # datasets that it returned and that the engine reads


class Raised(dict):
    """Exceptions of user functions, by number, for the elements that an iterator has not delivered yet.

    The iterator holds it, the engine refers to it weakly: an exception often leads back to the object that holds the iterator.
    """

    __slots__ = ("__weakref__",)


class _Reading:
    """A token that the engine holds while it reads a dataset that a function has returned."""

    __slots__ = ("__weakref__",)


_numbers = itertools.count()


def _keep_while_read(kept, dataset):
    """Put a dataset among those that a function has `opened`; return the token that keeps it there.

    The callback is C code. In a `__del__` or a callback in Python, Ctrl-C would raise KeyboardInterrupt, which Python
    ignores there.
    """
    token, number = _Reading(), next(_numbers)
    kept.opened[number] = dataset, weakref.ref(token, functools.partial(kept.opened.pop, number))
    return token


class EngineFunction:
    """What the engine calls, and what the dataset must keep for that."""

    __slots__ = ("core", "kept")

    def __init__(self, core, kept):
        self.core = core
        self.kept = kept


def _alive(kept_weakly):
    kept = kept_weakly()
    if kept is None:
        raise errors.Cancelled("the dataset that calls this function no longer exists")
    return kept


def function_of(kept_weakly):
    """Return the function of a weakly referenced `Kept`. Raise Cancelled if its datasets and iterators are gone."""
    return _alive(kept_weakly).function


def generator(function, convert, identity):
    """Return the `EngineFunction` of a function that returns an iterable for each pass.

    `convert` turns each value into a structure of arrays. Checkpoints compare `identity`.
    """
    kept = Kept(function)
    kept_weakly = weakref.ref(kept)
    return EngineFunction(_core.Generator(lambda: function_of(kept_weakly)(), convert, identity), kept)


def graph_function(function, gate, identity, captured, draws):
    """Return the `EngineFunction` of a function from an element to a dataset, which stays alive while it is read.

    One thread at a time calls what the gate belongs to. Checkpoints compare `identity`, and contain the seeds of the
    `captured` datasets. `draws`: whether its datasets may have random numbers or an order of their own.
    """
    kept = Kept(function)
    kept_weakly = weakref.ref(kept)

    def open_dataset(*fields):
        kept = _alive(kept_weakly)
        made = kept.function(*fields)
        return made._core, _keep_while_read(kept, made)

    core = _core.GraphFunction(open_dataset, gate, identity, [dataset._core for dataset in captured], draws)
    return EngineFunction(core, kept)
