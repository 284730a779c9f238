"""A dataset as a chain of stages of the engine's table. Stages without a method of their own are added by name."""

import difflib
import inspect
import threading

from . import _core, _kept, _sample, random
from ._arguments import caller, check_name
from ._composite import with_composites
from ._missing import DIFFERENCES
from ._signature import known_of_others
from ._spec import TensorSpec, structure_map

# Public names of tf.data.Dataset (TensorFlow 2.21) that a dataset does not have.
_ONLY_IN_TF_DATA = frozenset((
    "bucket_by_sequence_length", "choose_from_datasets", "fingerprint", "group_by_window", "load", "options",
    "padded_batch", "ragged_batch", "random", "rebatch", "rejection_resample", "sample_from_datasets", "save", "scan",
    "snapshot", "sparse_batch", "take_while", "unique", "window", "with_options"))
NOT_KNOWN = object()

_STAGES = _core.stages()


def _by_name(stage, make):
    """Return a function for a stage of the table that has no method of its own. Its parameters are keyword-only."""

    def call(*, name=None, **params):
        return make(stage, name, **params)

    keyword = inspect.Parameter.KEYWORD_ONLY
    known = [inspect.Parameter(param["name"], keyword, default=inspect.Parameter.empty if param["required"] else None)
             for param in _STAGES[stage]["params"]]
    call.__signature__ = inspect.Signature([*known, inspect.Parameter("name", keyword, default=None)])
    call.__name__ = call.__qualname__ = stage
    described = [f"{param['name']}: {param['doc']}" for param in _STAGES[stage]["params"]]
    call.__doc__ = "\n".join([_STAGES[stage]["doc"], "", "Parameters, by keyword:", *described])
    return call


def _names(cls, sources):
    """Return the attribute names of a dataset: its methods, and the stages of the table."""
    return sorted({*type.__dir__(cls), *(name for name, stage in _STAGES.items() if stage["source"] == sources)})


def _no_attribute(name, names):
    if name in _ONLY_IN_TF_DATA:
        return AttributeError(f"a dataset has no attribute {name!r}: Stoker does not implement this method of tf.data; "
                              f"{DIFFERENCES}")
    near = difflib.get_close_matches(name, [known for known in names if not known.startswith("_")], 1)
    return AttributeError(f"a dataset has no attribute {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))


def _for_engine(params):
    """Return the parameters as the engine takes them, and the functions that the dataset must keep alive."""
    kept = []

    def unwrapped(value):
        if isinstance(value, _kept.EngineFunction):
            kept.append(value.kept)
            return value.core
        if isinstance(value, Stages):
            kept.extend(value._kept)
            return value._core
        return [unwrapped(part) for part in value] if isinstance(value, list) else value

    return {name: unwrapped(value) for name, value in params.items()}, tuple(kept)


def _unseeded(stage, params):
    """Return the stage, or one upstream of an input among its parameters, that draws an order of its own in each process.

    Return None if there is none.
    """
    shuffles = stage == "shuffle" or stage == "list_files" and params.get("shuffle") is not False
    if shuffles and params.get("seed") is None and not random._is_seeded():
        return stage
    inputs = [params.get("dataset"), *(params.get("datasets") or ())]
    return next((one._unseeded for one in inputs if isinstance(one, Stages) and one._unseeded), None)


class _Sources(type):
    """Metaclass that makes the sources of the table attributes of the class: `Dataset.idx(filenames=[…])`."""

    def __getattr__(cls, name):
        if _STAGES.get(name, {}).get("source"):
            return _by_name(name, cls._source)
        raise _no_attribute(name, _names(cls, sources=True))

    def __dir__(cls):
        return _names(cls, sources=True)


class Stages(metaclass=_Sources):
    """The base class of `Dataset`: a chain of stages, and what is known about its elements without computing them."""

    __slots__ = ("_core", "_idle", "_lock", "_hooks", "_kept", "_sample", "_unseeded", "__weakref__")

    def __init__(self, core, hooks=(), sample=None, kept=(), unseeded=None):
        if not isinstance(core, _core.Dataset):
            raise TypeError(f"a dataset cannot be made of a {type(core).__name__} directly; use "
                            "Dataset.from_tensor_slices for arrays and lists, and Dataset.from_generator for iterables")
        self._core = core
        self._unseeded = unseeded  # a stage whose order each process draws, because it has no seed; None if none has
        self._kept = kept  # the functions that it calls; the engine holds weak references to them
        self._sample = sample  # its first elements, on which `map` compares results; None if there are none
        self._hooks = hooks  # called when a pass has ended; the next pass is not prefetched
        self._idle = None  # a loader whose iterator no longer exists
        self._lock = threading.Lock()

    @classmethod
    def _source(cls, stage, name, _hooks=(), **params):
        unseeded = _unseeded(stage, params)
        params, kept = _for_engine(params)
        core = _core.Dataset.source(stage, params, *caller(), check_name(name))
        return cls(core, _hooks, _sample.of_source(core, stage, params), kept, unseeded)

    def _then(self, stage, name, _hooks=(), **params):
        unseeded = self._unseeded or _unseeded(stage, params)
        params, kept = _for_engine(params)
        core = self._core.then(stage, params, *caller(), check_name(name))
        return type(self)(core, self._hooks + _hooks, _sample.after(self._sample, stage, params), self._kept + kept,
                          unseeded)

    def _known_spec(self):
        """Return `element_spec`, or None if an element would have to be computed for it."""
        known = self._core.element_spec()
        is_unknown = known is None or any(dtype is None for dtype, _ in known[1])
        return None if is_unknown else self._engine_structure()

    def _engine_structure(self):
        """Return the structure that the engine knows, each leaf a TensorSpec or None; `NOT_KNOWN` if it knows none."""
        known = self._core.element_spec()
        if known is None:
            return NOT_KNOWN
        specs = [None if dtype is None else TensorSpec(shape, dtype) for dtype, shape in known[1]]
        return with_composites(structure_map(lambda leaf: specs[int(leaf)], known[0]))

    def _spec_text(self):
        """Return `element_spec` as text, without computing an element."""
        known = self._known_spec()
        return "unknown until an element is computed" if known is None else repr(known)

    def _structure(self):
        """Return the structure of an element, each leaf a TensorSpec or None; `NOT_KNOWN` if it is unknown."""
        found = self._engine_structure()
        if found is not NOT_KNOWN:
            return found
        one = self._one(may_call=False)
        return one if one is NOT_KNOWN else structure_map(known_of_others, one)

    def _one(self, may_call):
        """Return one of the first elements; `NOT_KNOWN` if there is none.

        User functions are called for it only with `may_call`: they must not be called while a dataset is built.
        """
        return next(iter(self._core.first_elements(1, may_call)), NOT_KNOWN)

    def __getattr__(self, name):
        stage = _STAGES.get(name)
        if stage is None:
            raise _no_attribute(name, _names(type(self), sources=False))
        if stage["source"]:
            raise AttributeError(f"{name} is a source, which has no input; call Dataset.{name}(…)")
        return _by_name(name, self._then)

    def __dir__(self):
        return _names(type(self), sources=False)
