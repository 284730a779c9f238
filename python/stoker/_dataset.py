"""`Dataset`, with the method names of tf.data.

A `Dataset` describes how elements are produced. An `Iterator` is one pass over it. Both call the engine through
`_core`.
"""

import os
from typing import TYPE_CHECKING, Any

from . import _core, errors
from ._arguments import AUTOTUNE, INFINITE, UNKNOWN, caller, copied, count_of, most_calls, whole_number
from ._iterator import Iterator, NumpyIterator
from ._keras import KerasAdapter, shown_class
from ._signature import any_rows, has_composites, spec_of_value
from ._sources import Sources
from ._spec import structure_map
from ._stages import NOT_KNOWN, Stages
from ._trace import python_function
from ._transforms import Transforms

if TYPE_CHECKING:
    from ._torch import TorchLoader

_ASKED_BY_KERAS = {name for name in vars(KerasAdapter) if not name.startswith("_")}


class Dataset(Sources, Transforms):
    """A description of how elements are produced, with the methods of `tf.data.Dataset`.

    A dataset is immutable: every method returns a new one. Iterating over it yields NumPy arrays, in the tuples and
    dicts of the elements. Delivered arrays are writable and belong to the caller. Every loop is a new pass.

    Building a dataset checks parameters, types and shapes as far as they are known, and raises InvalidArgument or
    TypeError. Errors of elements are raised while iterating (see `on_error`). `name` is an identifier that errors and
    statistics show instead of the stage's name.

    >>> ds = sk.Dataset.range(6).map(lambda x: x * 10).batch(4)
    >>> for batch in ds:
    ...     print(batch)
    [ 0 10 20 30]
    [40 50]
    """

    __slots__ = ()

    def apply(self, transformation_func):
        """Return `transformation_func(self)`.

        Raise TypeError if the function does not return a dataset.

        >>> def evens(ds):
        ...     return ds.filter(lambda x: x % 2 == 0)
        >>> [int(x) for x in sk.Dataset.range(5).apply(evens)]
        [0, 2, 4]
        """
        made = transformation_func(self)
        if not isinstance(made, Dataset):
            raise TypeError(f"the function returned a {type(made).__name__}, expected a dataset")
        return made

    def __iter__(self) -> "Iterator":
        """Start a pass and return its iterator."""
        return Iterator(self)

    def as_numpy_iterator(self) -> "Iterator":
        """Return an iterator whose sparse and ragged values are arrays. Other elements are NumPy arrays in any case.

        >>> next(sk.Dataset.range(3).batch(3).as_numpy_iterator())
        array([0, 1, 2])
        """
        known = self._engine_structure()
        return iter(self) if known is not NOT_KNOWN and not has_composites(known) else NumpyIterator(self)

    def __bool__(self):
        return True

    def __len__(self):
        """Return the number of elements. Raise TypeError if it is infinite or unknown."""
        count = self.cardinality()
        if count == INFINITE:
            raise TypeError("the dataset is infinite and has no length; cardinality() returns INFINITE")
        if count == UNKNOWN:
            raise TypeError("the length of the dataset is unknown; cardinality() returns UNKNOWN")
        return count

    def cardinality(self) -> int:
        """Return the number of elements, or INFINITE or UNKNOWN.

        >>> sk.Dataset.range(10).batch(3).cardinality()
        4
        >>> sk.Dataset.range(10).repeat().cardinality() == sk.INFINITE
        True
        """
        return self._core.cardinality()

    def at(self, i) -> Any:
        """Return the element at position `i` of the first pass.

        Raise OutOfRange if there is no such position, and FailedPrecondition if the dataset cannot be read by position,
        for example after `filter`.

        >>> int(sk.Dataset.range(10, 20).at(3))
        13
        """
        return self._core.at(whole_number("i", i))

    def replay(self, origin: str) -> Any:
        """Recompute the element with this origin, bit for bit, and return it, or raise its error.

        `origin` is what errors and `Iterator.skipped()` report, for example "train:18204@2". An element that was
        delivered inside a batch is returned as it was upstream of the batch. Raise OutOfRange or NotFound if no element
        has the origin, and InvalidArgument if the text is not an origin.

        >>> int(sk.Dataset.range(100).map(lambda x: x * x).replay("range:12"))
        144
        """
        if not isinstance(origin, str):
            raise TypeError(f"replay: expected an origin such as 'train:18204@2', got {origin!r}")
        return self._core.replay(origin)

    def get_single_element(self, name=None) -> Any:
        """Return the only element. Raise InvalidArgument if there is none, or more than one.

        >>> sk.Dataset.range(3).batch(3).get_single_element()
        array([0, 1, 2])
        """
        found = [value for value, _ in zip(self, (0, 1))]
        if len(found) != 1:
            raise errors.InvalidArgument(f"expected one element, got {'several' if found else 'none'}")
        return found[0]

    def reduce(self, initial_state, reduce_func, name=None) -> Any:
        """Return the result of `state = reduce_func(state, element)` over all elements, starting with `initial_state`.

        The function runs as Python. It may modify its arguments: `initial_state` is copied first.

        >>> int(sk.Dataset.range(5).reduce(0, lambda total, x: total + x))
        10
        """
        state = copied(initial_state)
        for element in self:
            state = reduce_func(state, element)
        return state

    @property
    def element_spec(self) -> Any:
        """The structure, types and shapes of the elements, as a `TensorSpec` or a tuple or dict of these.

        If they are unknown in advance, the first element is computed, which calls user functions. Raise
        FailedPrecondition if the dataset has no element then.

        >>> sk.Dataset.from_tensor_slices(np.zeros((2, 4))).element_spec
        sk.TensorSpec(shape=(4,), dtype=sk.float64)
        """
        known = self._known_spec()
        if known is not None:
            return known
        one = self._one(may_call=True)
        if one is NOT_KNOWN:
            raise errors.FailedPrecondition("the types are unknown: the dataset has no element that shows them")
        shown = structure_map(spec_of_value, one)
        return structure_map(any_rows, shown) if self._core.may_end_with_a_short_batch() else shown

    def torch(self, device=None) -> "TorchLoader":
        """Return an iterable, with a length, of the same elements as PyTorch tensors, on `device` if one is given.

        Byte strings stay `bytes`. Raise ImportError if PyTorch is not installed.

        >>> for images in sk.Dataset.range(4).batch(2).torch():  # doctest: +SKIP
        ...     print(images)
        tensor([0, 1])
        tensor([2, 3])
        """
        from ._torch import TorchLoader

        return TorchLoader(self, device)

    def keras(self) -> Any:
        """Return a Keras data adapter of this dataset.

        `fit`, `evaluate` and `predict` accept the adapter, and the dataset itself.

        >>> model.fit(ds.keras())  # doctest: +SKIP
        """
        return KerasAdapter(self)

    @property
    def __class__(self):
        # Keras accepts only instances of its DataAdapter without converting them.
        return shown_class(self) or Dataset

    def __getattr__(self, name):
        if name in _ASKED_BY_KERAS:
            return getattr(KerasAdapter(self), name)
        return Stages.__getattr__(self, name)

    def explain(self) -> str:
        """Return a description of how the dataset runs: segments, native functions, memory and seeds.

        For each function that is not native, it contains the reason.

        >>> "batch" in sk.Dataset.range(10).batch(2).explain()
        True
        """
        return self._core.explain()

    def save_graph(self, path) -> None:
        """Write the graph to a JSON file, which `stoker run` and `sk.load_graph` read.

        Large arrays are written to .npy files next to it. Raise FailedPrecondition if the graph contains a Python
        function.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "graph.json")
        >>> sk.Dataset.range(3).save_graph(path)
        >>> [int(x) for x in sk.load_graph(path)]
        [0, 1, 2]
        """
        self._core.save_graph(os.fspath(path))

    def to_json(self) -> str:
        """Return the graph as JSON text. Raise FailedPrecondition if it contains a Python function.

        >>> import json
        >>> json.loads(sk.Dataset.range(3).to_json())["stages"][0]["stop"]
        3
        """
        return self._core.to_json()

    def __repr__(self):
        return f"<stoker.Dataset element_spec={self._spec_text()}>"

    def __reduce__(self):
        raise TypeError("a dataset cannot be pickled; use ds.save_graph(path), or build it in the other process")

    # ---- loaders are reused, because they keep the measured speeds

    def _take_loader(self, raised):
        """Return a loader at the start of a pass. Exceptions for elements that are not delivered yet are in `raised`."""
        with self._lock:
            loader, self._idle = self._idle, None
        file, line = caller()
        if loader is None:
            return _core.Loader(self._core, raised, file=file, line=line)
        loader.begin_epoch(raised, file, line)
        return loader


def load_graph(path):
    """Return the dataset of a graph file, as written by `Dataset.save_graph`.

    Raise NotFound if there is no such file, and InvalidArgument if it is not a graph.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "graph.json")
    >>> sk.Dataset.range(3).batch(2).save_graph(path)
    >>> len(sk.load_graph(path))
    2
    """
    return Dataset(_core.Dataset.load_graph(os.fspath(path)))


def from_sequence(sequence, workers=None, use_multiprocessing=None, max_queue_size=None):
    """Return a dataset of the items of a sequence: anything with `__len__` and `__getitem__`.

    Examples are a keras.utils.Sequence, a list and an array. Items are prefetched and delivered in order. `workers` is
    the number of threads that call `__getitem__` at the same time: by default, the `workers` of a Keras PyDataset, else
    1. `on_epoch_end`, if the sequence has one, is called when a pass has ended, before the next one starts.
    `max_queue_size` has no effect.

    Raise TypeError if the object has no `__len__` or `__getitem__`, and Unimplemented for `use_multiprocessing=True`.

    >>> [int(x) for x in sk.from_sequence([3, 4, 5])]
    [3, 4, 5]
    """
    if not hasattr(sequence, "__len__") or not hasattr(sequence, "__getitem__"):
        raise TypeError(f"expected an object with __len__ and __getitem__, got {type(sequence).__name__}; use "
                        "from_generator for iterables")
    if use_multiprocessing is None:
        use_multiprocessing = getattr(sequence, "use_multiprocessing", False)
    if workers is None:
        workers = getattr(sequence, "workers", 1)
    workers = count_of("workers", workers, least=0)
    if use_multiprocessing:
        raise errors.Unimplemented("worker processes are not implemented; use threads, for example workers=4")
    hook = getattr(sequence, "on_epoch_end", None)
    places = Dataset._source("range", None, (hook,) if callable(hook) else (), start=0, stop=len(sequence))
    calls = workers if workers == AUTOTUNE else max(1, workers)
    function = python_function(lambda i: sequence[int(i)], "from_sequence", most_calls(calls, "thread"), called=sequence)
    return places._then("map", None, map_func=function, num_parallel_calls=calls)
