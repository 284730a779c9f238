"""Data sets and their iterators, by tf.data's names."""

import copy
import difflib
import inspect
import json
import logging
import os
import sys
import textwrap
import threading
import warnings
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _sample, errors
from ._composite import COMPOSITES, RaggedTensor, SparseTensor
from ._keras import KerasAdapter, data_adapter_class
from ._spec import TensorSpec, convert, string, structure_map
from ._trace import python_function, trace
from ._values import check_keys, constant, dtype_name, key_text

if TYPE_CHECKING:
    from ._torch import TorchLoader

AUTOTUNE = -1
INFINITE = -1
UNKNOWN = -2

_ASKED_BY_KERAS = {name for name in vars(KerasAdapter) if not name.startswith("_")}
_MOST_LISTED = 20
_NOT_KNOWN = object()
_log = logging.getLogger("stoker")
_HERE = os.path.dirname(os.path.abspath(__file__))


def _caller():
    """File and line of the user's call."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def _check_name(name):
    if name is not None and not str(name).isidentifier():
        raise errors.InvalidArgument(f"name={name!r} is no identifier")
    return name or ""


def _number(value):
    """An array of rank 0 as its number. What is no whole number the stage refuses, by the parameter's name."""
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return value
    return np.asarray(value).item()


def _most_calls(num_parallel_calls, workers):
    """How many threads may call a Python function at a time; 0: any number. One unless the user asks for more."""
    if num_parallel_calls is None or workers == "serial" or not isinstance(num_parallel_calls, int):
        return 1
    return max(num_parallel_calls, 0)


def _has_effect(deterministic, num_parallel_calls):
    """`deterministic`, or None with a warning where it says nothing, as in tf.data."""
    if deterministic is None or num_parallel_calls is not None:
        return deterministic
    warnings.warn("`deterministic` has no effect without `num_parallel_calls`", stacklevel=3)
    return None


def _has_composites(structure):
    if isinstance(structure, dict):
        structure = tuple(structure.values())
    if isinstance(structure, tuple):
        return any(_has_composites(part) for part in structure)
    return isinstance(structure, COMPOSITES)


def _as_data(value):
    """Structure of arrays: tuples and dicts stay, everything else is one array."""
    if isinstance(value, tuple):
        return tuple(_as_data(part) for part in value)
    if isinstance(value, dict):
        return {key_text(key): _as_data(part) for key, part in value.items()}
    if isinstance(value, COMPOSITES):
        return _as_data(value._parts())
    if isinstance(value, (np.ndarray, np.generic, bool, int, float, bytes, str)):
        return value
    return constant(value)


def _paths(value):
    if isinstance(value, (str, bytes, os.PathLike)):
        return [os.fspath(value)]
    if isinstance(value, np.ndarray):
        return [os.fspath(v) for v in value.reshape(-1).tolist()]
    return [os.fspath(v) for v in value]


_STAGES = _core.stages()


def _by_name(stage, make):
    """A stage of the table that has no method of its own: a function of its parameters, by keyword."""

    def call(*, name=None, **params):
        return make(stage, name, **params)

    keyword = inspect.Parameter.KEYWORD_ONLY
    known = [inspect.Parameter(param["name"], keyword, default=inspect.Parameter.empty if param["required"] else None)
             for param in _STAGES[stage]["params"]]
    call.__signature__ = inspect.Signature([*known, inspect.Parameter("name", keyword, default=None)])
    call.__name__ = call.__qualname__ = stage
    call.__doc__ = _STAGES[stage]["doc"]
    return call


def _names(sources):
    """What a data set has: methods, and stages of the table."""
    return [*type.__dir__(Dataset), *(name for name, stage in _STAGES.items() if stage["source"] == sources)]


def _no_attribute(name, names):
    near = difflib.get_close_matches(name, names, 1)
    return AttributeError(f"a data set has no {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))


class _Sources(type):
    """Sources of the table stand at the class, `Dataset.idx(filenames=[…])`, as range does."""

    def __getattr__(cls, name):
        if _STAGES.get(name, {}).get("source"):
            return _by_name(name, Dataset._source)
        raise _no_attribute(name, _names(sources=True))

    def __dir__(cls):
        return _names(sources=True)


class Dataset(metaclass=_Sources):
    """A data set: how elements are made. Immutable; every method gives a new one."""

    __slots__ = ("_core", "_idle", "_lock", "_hooks", "_sample", "__weakref__")

    def __init__(self, core, hooks=(), sample=None):
        self._core = core
        self._sample = sample  # its first elements, for `map` to compare a function's results; None where there are none
        self._hooks = hooks  # called when a pass has ended; the next begins afterwards, never ahead
        self._idle = None  # a loader whose iterator has gone
        self._lock = threading.Lock()

    # ---- making one

    @staticmethod
    def _source(stage, name, _hooks=(), **params):
        core = _core.Dataset.source(stage, params, *_caller(), _check_name(name))
        return Dataset(core, _hooks, _sample.of_source(core, stage, params))

    def _then(self, stage, name, _hooks=(), **params):
        core = self._core.then(stage, params, *_caller(), _check_name(name))
        return Dataset(core, self._hooks + _hooks, _sample.after(self._sample, stage, params))

    @staticmethod
    def range(*args, output_type=np.int64, name=None):
        """Numbers from 0 or `start` up to `stop`, itself not in it, by `step`."""
        if not 1 <= len(args) <= 3:
            raise errors.InvalidArgument(f"range takes 1 to 3 numbers, found {len(args)}")
        start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
        return Dataset._source("range", name, start=_number(start), stop=_number(stop), step=_number(step),
                               output_type=dtype_name(output_type))

    @staticmethod
    def counter(start=0, step=1, dtype=np.int64, name=None):
        """Numbers without end."""
        return Dataset._source("counter", name, start=_number(start), step=_number(step), dtype=dtype_name(dtype))

    @staticmethod
    def from_tensors(tensors, name=None):
        """One element."""
        return Dataset._source("from_tensors", name, tensors=_core.Element(_as_data(tensors)))

    @staticmethod
    def from_tensor_slices(tensors, name=None):
        """The rows of arrays. The memory is not copied: do not change it while it is in use."""
        return Dataset._source("from_tensor_slices", name, tensors=_core.Element(_as_data(tensors)))

    @staticmethod
    def from_generator(generator, output_types=None, output_shapes=None, args=None, output_signature=None, name=None):
        """Elements from a function that gives an iterable for each pass."""
        if not callable(generator):
            raise TypeError("`generator` must be callable: a function that gives an iterable")
        if output_signature is not None and (output_types is not None or output_shapes is not None):
            raise TypeError("give `output_signature` or `output_types` and `output_shapes`, not both")
        signature = output_signature
        if output_types is not None:
            signature = _signature(output_types, output_shapes)
        if signature is not None:
            check_keys(signature)
            signature = structure_map(_checked_spec, signature)
        given = tuple(args or ())
        converted = _as_data if signature is None else lambda value: convert(value, signature)
        return Dataset._source("from_generator", name, generator=_core.Generator(lambda: generator(*given), converted),
                               output_signature=None if signature is None else _engine_signature(signature))

    @staticmethod
    def list_files(file_pattern, shuffle=None, seed=None, name=None):
        """Names of the files that match, in another order in each pass unless shuffle=False."""
        return Dataset._source("list_files", name, file_pattern=_paths(file_pattern), shuffle=shuffle,
                               seed=_number(seed))

    @staticmethod
    def zip(*args, datasets=None, name=None):
        """Elements side by side; ends with the shortest."""
        structure = datasets if datasets is not None else args[0] if len(args) == 1 else args
        if isinstance(structure, Dataset):
            return structure
        if isinstance(structure, list):
            structure = tuple(structure)
        if isinstance(structure, dict) and structure:
            return Dataset._zip_dict(structure, name)
        if not isinstance(structure, tuple):
            raise TypeError("zip takes data sets, or a tuple or dict of them")
        parts = [part if isinstance(part, Dataset) else Dataset.zip(part) for part in structure]
        hooks = tuple(hook for part in parts for hook in part._hooks)
        made = Dataset._source("zip", name, hooks, datasets=[part._core for part in parts])
        made._sample = _sample.zipped([part._sample for part in parts])
        return made

    @staticmethod
    def _zip_dict(structure, name):
        keys = tuple(structure)
        if len(keys) == 1:
            return Dataset.zip(structure[keys[0]], name=name).map(lambda part: {keys[0]: part})
        return Dataset.zip(tuple(structure.values()), name=name).map(lambda *parts: dict(zip(keys, parts)))

    # ---- element by element

    def map(self, map_func, num_parallel_calls=None, deterministic=None, synchronous=None, use_unbounded_threadpool=False,
            name=None, *, workers=None):
        """Applies a function to each element: natively where it can be traced, else as Python."""
        calls = _number(num_parallel_calls)
        function, python = self._function(map_func, workers, calls)
        if python and (calls is None or workers == "serial"):
            calls = 1
        made = self._then("map", name, map_func=function, num_parallel_calls=calls,
                          deterministic=_has_effect(deterministic, num_parallel_calls))
        if python:
            made._sample = None  # making one would call the function once more
        return made

    def filter(self, predicate, name=None):
        """Keeps the elements for which `predicate` is true."""
        return self._then("filter", name, predicate=self._function(predicate, None, None)[0])

    def _function(self, function, workers, calls):
        if not callable(function):
            raise TypeError(f"a function is wanted, found {type(function).__name__}")
        if workers not in (None, "thread", "serial", "process"):
            raise errors.InvalidArgument(f"workers={workers!r} is none of 'thread', 'serial', 'process'")
        if workers == "process":
            raise errors.Unimplemented("workers='process' is not there yet; 'thread' is")
        most_calls = _most_calls(calls, workers)
        if workers is not None:
            why = f"workers={workers!r}"
            return python_function(function, why, most_calls, is_sequence=workers == "serial"), True
        structure = self._structure()
        if structure is _NOT_KNOWN:
            return python_function(function, "the types of its input are known only when it runs", most_calls), True
        traced = trace(function, structure, self._core)
        why = traced.why if traced.function is None else _sample.confirmed(function, traced, self._sample)
        return (traced.function, False) if why is None else (python_function(function, why, most_calls), True)

    def flat_map(self, map_func, name=None):
        """The elements of the data sets that `map_func` gives, one after the other."""
        return self._then("flat_map", name, map_func=_graph_function(map_func))

    def interleave(self, map_func, cycle_length=None, block_length=None, num_parallel_calls=None, deterministic=None,
                   name=None):
        """The elements of the data sets that `map_func` gives, in turns."""
        return self._then("interleave", name, map_func=_graph_function(map_func), cycle_length=_number(cycle_length),
                          block_length=_number(block_length), num_parallel_calls=_number(num_parallel_calls),
                          deterministic=_has_effect(deterministic, num_parallel_calls))

    # ---- batches

    def batch(self, batch_size, drop_remainder=False, num_parallel_calls=None, deterministic=None, name=None):
        """Elements stacked, `batch_size` at a time."""
        _has_effect(deterministic, num_parallel_calls)
        known = self._core.element_spec()
        if known is not None and _has_composites(known[0]):
            raise errors.Unimplemented("sparse and ragged values are not stacked; put parse_example behind batch, which "
                                       "makes one sparse or ragged value of the whole batch")
        return self._then("batch", name, batch_size=_number(batch_size), drop_remainder=bool(drop_remainder))

    def unbatch(self, name=None):
        """The rows of each element."""
        return self._then("unbatch", name)

    # ---- order, count and selection

    def shuffle(self, buffer_size=None, seed=None, reshuffle_each_iteration=True, name=None):
        """Another order in each pass. Without a size: of all elements, held nowhere where they have positions."""
        if buffer_size is not None and _number(buffer_size) == UNKNOWN:
            buffer_size = None
        if buffer_size is None and self._core.is_endless():
            raise errors.InvalidArgument("shuffle: without buffer_size the input must have an end; give a buffer_size, or "
                                         "shuffle before repeat")
        return self._then("shuffle", name, buffer_size=_number(buffer_size), seed=_number(seed),
                          reshuffle_each_iteration=True if reshuffle_each_iteration is None else reshuffle_each_iteration)

    def repeat(self, count=None, name=None):
        """Several passes; without a number, for ever."""
        return self._then("repeat", name, count=_number(count))

    def take(self, count, name=None):
        """The first elements; all for -1."""
        return self._then("take", name, count=_number(count))

    def skip(self, count, name=None):
        """All but the first elements; none for -1."""
        return self._then("skip", name, count=_number(count))

    def shard(self, num_shards, index, name=None):
        """Every num_shards-th element, from `index` on."""
        return self._then("shard", name, num_shards=_number(num_shards), index=_number(index))

    def concatenate(self, dataset, name=None):
        """These elements, then the other's."""
        return self._then("concatenate", name, dataset._hooks, dataset=dataset._core)

    def enumerate(self, start=0, name=None):
        """Elements with their numbers."""
        return self._then("enumerate", name, start=_number(start))

    # ---- keeping, making ahead

    def cache(self, filename="", name=None):
        """Keeps elements in memory once they are made."""
        if filename:
            raise errors.Unimplemented("a cache in a file is not there yet; cache() keeps elements in memory")
        return self._then("cache", name)

    def prefetch(self, buffer_size, name=None):
        """At least so many elements are made ahead; AUTOTUNE, the standard, finds the number."""
        return self._then("prefetch", name, buffer_size=_number(buffer_size))

    # ---- errors

    def ignore_errors(self, log_warning=False, name=None):
        """Drops elements that failed."""
        return self._then("ignore_errors", name, log_warning=log_warning)

    def assert_cardinality(self, expected_cardinality, name=None):
        """An error at the end unless there were so many elements."""
        return self._then("assert_cardinality", name, expected_cardinality=_number(expected_cardinality))

    def on_error(self, policy, at_most=1.0, name=None):
        """"raise" or "skip", the latter up to a share of the elements."""
        return self._then("on_error", name, policy=policy, at_most=float(at_most))

    # ---- ends

    def apply(self, transformation_func):
        """What a function makes of the data set."""
        made = transformation_func(self)
        if not isinstance(made, Dataset):
            raise TypeError(f"the function gave a {type(made).__name__} instead of a data set")
        return made

    def __iter__(self) -> "Iterator":
        return Iterator(self)

    def as_numpy_iterator(self) -> "Iterator":
        """As iter(ds), whose elements are NumPy's already; sparse and ragged values become arrays, too."""
        known = self._core.element_spec()
        return iter(self) if known is not None and not _has_composites(known[0]) else _NumpyIterator(self)

    def __bool__(self):
        return True

    def __len__(self):
        count = self.cardinality()
        if count == INFINITE:
            raise TypeError("the data set has no end, so it has no length")
        if count == UNKNOWN:
            raise TypeError("the length of the data set is not known")
        return count

    def cardinality(self) -> int:
        """A number, INFINITE or UNKNOWN."""
        return self._core.cardinality()

    def at(self, i) -> Any:
        """What the first pass gives at place i."""
        return self._core.at(_number(i))

    def replay(self, origin: str) -> Any:
        """Make the element with this origin again, bit for bit, as errors and `it.skipped()` name it: "train:18204@2".

        Return the element that the dataset delivers with this origin, or raise its error. An element that is delivered
        inside a batch is returned as it was before the batch. Raise NotFound if no element has the origin, and
        InvalidArgument if it is not an origin.
        """
        return self._core.replay(origin)

    def get_single_element(self, name=None) -> Any:
        """The only element; an error where there are none or several."""
        found = [value for value, _ in zip(self, (0, 1))]
        if len(found) != 1:
            raise errors.InvalidArgument("the data set has no element" if not found else "the data set has several elements")
        return found[0]

    def reduce(self, initial_state, reduce_func, name=None) -> Any:
        """`reduce_func(state, element)` over all elements, in Python. What it is given is its own to modify."""
        state = copy.deepcopy(initial_state)
        for element in self:
            state = reduce_func(state, element)
        return state

    @property
    def element_spec(self) -> Any:
        """Structure, shapes and types of the elements."""
        known = self._known_spec()
        if known is not None:
            return known
        one = self._one(may_call=True)
        if one is _NOT_KNOWN:
            raise errors.FailedPrecondition("the data set has no element that could show its types")
        return structure_map(_spec_of_value, one)

    def _known_spec(self):
        """The same, or None where an element would have to be made to know it."""
        known = self._core.element_spec()
        if known is None or any(dtype is None for dtype, _ in known[1]):
            return None
        specs = [TensorSpec(shape, dtype) for dtype, shape in known[1]]
        return structure_map(lambda leaf: specs[int(leaf)], known[0])

    def _structure(self):
        """Tuples and dicts with what is known of each leaf, a TensorSpec or None; or _NOT_KNOWN."""
        known = self._core.element_spec()
        if known is None:
            one = self._one(may_call=False)
            return one if one is _NOT_KNOWN else structure_map(_known_of_others, one)
        specs = [None if dtype is None else TensorSpec(shape, dtype) for dtype, shape in known[1]]
        return structure_map(lambda leaf: specs[int(leaf)], known[0])

    def _one(self, may_call):
        """One of the first elements; _NOT_KNOWN where there is none.

        Functions of the user's are called for it only if they `may_call`: a call at construction would be one too many.
        """
        return next(iter(self._core.first_elements(1, may_call)), _NOT_KNOWN)

    def torch(self, device=None) -> "TorchLoader":
        """The same elements as PyTorch's tensors, on a device if one is named; strings stay bytes."""
        from ._torch import TorchLoader

        return TorchLoader(self, device)

    def keras(self) -> Any:
        """What Keras' fit, evaluate and predict take; they take the data set itself, too."""
        return KerasAdapter(self)

    @property
    def __class__(self):
        # Keras takes an instance of its DataAdapter as it is, and nothing else of ours.
        return data_adapter_class() or Dataset

    def __getattr__(self, name):
        if name in _ASKED_BY_KERAS:
            return getattr(KerasAdapter(self), name)
        stage = _STAGES.get(name)
        if stage is None:
            raise _no_attribute(name, _names(sources=False))
        if stage["source"]:
            raise AttributeError(f"{name} is a source and has nothing before it: Dataset.{name}(…)")
        return _by_name(name, self._then)

    def __dir__(self):
        return _names(sources=False)

    def explain(self) -> str:
        """How it runs: segments, what is native, what is held."""
        return self._core.explain()

    def save_graph(self, path) -> None:
        """Writes the graph; `stoker run` and load_graph read it."""
        self._core.save_graph(os.fspath(path))

    def to_json(self) -> str:
        """The graph as text."""
        return self._core.to_json()

    def __repr__(self):
        known = self._known_spec()
        return f"<stoker.Dataset, elements {'not known before one is made' if known is None else known}>"

    # ---- loaders are kept: the next epoch goes on with the same engine

    def _take_loader(self):
        with self._lock:
            loader, self._idle = self._idle, None
        file, line = _caller()
        if loader is None:
            return _core.Loader(self._core, file=file, line=line)
        loader.begin_epoch(file, line)
        return loader

    def _give_loader(self, loader):
        with self._lock:
            if self._idle is None:
                self._idle = loader


def _checked_spec(spec):
    if isinstance(spec, TensorSpec):
        return spec
    if hasattr(spec, "shape") and hasattr(spec, "dtype"):  # TensorFlow's own
        shape = getattr(spec.shape, "as_list", None)
        return TensorSpec(shape() if shape else spec.shape, spec.dtype)
    raise TypeError(f"output_signature wants TensorSpec, found {spec!r}")


def _signature(types, shapes):
    if isinstance(types, tuple):
        shapes = shapes if shapes is not None else [None] * len(types)
        return tuple(_signature(t, s) for t, s in zip(types, shapes))
    if isinstance(types, dict):
        return {key: _signature(t, None if shapes is None else shapes[key]) for key, t in types.items()}
    as_list = getattr(shapes, "as_list", None)
    return TensorSpec(as_list() if as_list else shapes, types)


def _engine_signature(signature):
    """Values of the types and, beside them, dims: -1 for any length, a single number for any shape."""
    types = structure_map(lambda spec: b"" if spec.dtype is string else np.zeros((), spec.dtype), signature)
    dims = structure_map(lambda spec: np.array(-1 if spec.shape is None else [-1 if d is None else d for d in spec.shape],
                                               np.int64), signature)
    return _core.Signature(_core.Element(types), _core.Element(dims))


def _spec_of_value(value):
    if isinstance(value, (bytes, str)):
        return TensorSpec((), "string")
    array = np.asarray(value)
    return TensorSpec(array.shape, "string" if array.dtype == object else array.dtype)


def _known_of_others(value):
    """What one element shows of the same leaf of the others: whether it is text, on which operators are Python's."""
    is_text = isinstance(value, (bytes, str)) or np.asarray(value).dtype == object
    return TensorSpec(None, "string") if is_text else None


def _graph_function(function):
    if not callable(function):
        raise TypeError(f"a function is wanted, found {type(function).__name__}")

    def open_dataset(*fields):
        made = function(*fields)
        if not isinstance(made, Dataset):
            raise TypeError(f"the function gave a {type(made).__name__} instead of a data set")
        return made._core

    return _core.GraphFunction(open_dataset)


class Iterator:
    """One pass over a data set. Safe from several threads."""

    def __init__(self, dataset):
        self._dataset = dataset
        self._loader = dataset._take_loader()
        self._lock = threading.Lock()
        self._ended = False
        self._give_back = _when_dropped(self, dataset, self._loader)

    def __iter__(self) -> "Iterator":
        return self

    def __next__(self) -> Any:
        found = self._loader.next()
        if found is None:
            self._end()
            raise StopIteration
        return found[0]

    def get_next(self, name=None) -> Any:
        """The next element; OutOfRange at the end."""
        found = self._loader.next()
        if found is None:
            self._end()
            raise errors.OutOfRange("the data set has ended")
        return found[0]

    def _end(self):
        with self._lock:
            ended, self._ended = self._ended, True
        if ended:
            return
        self._tell_skipped()
        for hook in self._dataset._hooks:
            hook()

    def _tell_skipped(self):
        skipped = self.skipped()
        if not skipped:
            return
        listed = "".join("\n" + textwrap.indent(words, "  ") for _, _, words in skipped[:_MOST_LISTED])
        more = "\n  …; the iterator's skipped() has more" if len(skipped) > _MOST_LISTED else ""
        count = self.stats().get("skipped", len(skipped))  # no statistics once another thread has closed it
        _log.warning("%d %s skipped:%s%s", count, "element was" if count == 1 else "elements were", listed, more)

    def save(self) -> bytes:
        """The place behind the last element given, as bytes."""
        return self._loader.save()

    def restore(self, checkpoint) -> None:
        """Goes to a place that was saved; also one that has begun or ended."""
        if not isinstance(checkpoint, (bytes, bytearray, memoryview)):
            raise TypeError(f"restore wants the bytes that save() gave, found {type(checkpoint).__name__}")
        self._loader.restore(bytes(checkpoint))
        self._ended = False

    def stats(self) -> dict:
        """Counts, times and shares for each stage and window."""
        return json.loads(self._loader.stats())

    def skipped(self) -> list:
        """[(origin, kind, message)…] of the elements that were left out."""
        return self._loader.skipped()

    def wait_seconds(self) -> float:
        """How long next() has waited, this epoch."""
        return self._loader.wait_seconds()

    def close(self) -> None:
        """Ends the pass; waits for calls in progress."""
        with self._lock:
            self._ended = True  # before its end: no hook is called
        self._give_back.detach()
        self._loader.close()

    @property
    def element_spec(self) -> Any:
        return self._dataset.element_spec


class _NumpyIterator(Iterator):
    """Gives sparse and ragged values as arrays."""

    def __next__(self):
        return _arrays(super().__next__())

    def get_next(self, name=None):
        return _arrays(super().get_next(name))


def _arrays(value):
    if isinstance(value, SparseTensor):
        return value.to_dense()
    if isinstance(value, RaggedTensor):
        return value.numpy()
    if isinstance(value, dict):
        return {key: _arrays(part) for key, part in value.items()}
    return tuple(_arrays(part) for part in value) if isinstance(value, tuple) else value


def _when_dropped(iterator, dataset, loader):
    finalizer = weakref.finalize(iterator, _give_back, weakref.ref(dataset), loader)
    finalizer.atexit = False  # at exit all loaders are closed, and none begins another pass
    return finalizer


def _give_back(dataset, loader):
    """Stops the work of an iterator that was dropped. What it learned about speeds is kept for the next epoch."""
    loader.release()
    alive = dataset()
    if alive is not None and not alive._hooks:  # a loader that is kept would begin the next pass early
        alive._give_loader(loader)


def load_graph(path):
    """A data set from a graph file."""
    return Dataset(_core.Dataset.load_graph(os.fspath(path)))


def from_sequence(sequence, workers=None, use_multiprocessing=None, max_queue_size=None):
    """Batches of anything with `__len__` and `__getitem__`: a keras.utils.Sequence, a list, an array of files.

    Items are prefetched and come in order. `workers` threads call `__getitem__` at a time: one by default, or as many
    as a Keras PyDataset declares in its own `workers`. `on_epoch_end`, where there is one, is called when a pass has
    ended, before the next begins.
    """
    if not hasattr(sequence, "__len__") or not hasattr(sequence, "__getitem__"):
        raise TypeError(f"a {type(sequence).__name__} has no __len__ and __getitem__; from_generator takes iterables")
    if use_multiprocessing is None:
        use_multiprocessing = getattr(sequence, "use_multiprocessing", False)
    if workers is None:
        workers = getattr(sequence, "workers", 1)
    if use_multiprocessing:
        raise errors.Unimplemented("worker processes are not implemented; workers=4 starts threads")
    hook = getattr(sequence, "on_epoch_end", None)
    places = Dataset._source("range", None, (hook,) if callable(hook) else (), start=0, stop=len(sequence))
    return places.map(lambda i: sequence[int(i)], num_parallel_calls=max(1, int(workers)), workers="thread")
