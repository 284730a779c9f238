"""The methods of `Dataset` that return another dataset, with tf.data's signatures."""

import warnings

from . import _kept, _sample, errors
from ._arguments import UNKNOWN, effective_deterministic, most_calls, number
from ._draws import may_draw
from ._identity import captured_by, identity_of
from ._signature import has_composites
from ._stages import NOT_KNOWN, Stages
from ._trace import check_arguments, gate_of, python_function, trace


class Transforms(Stages):
    """The transformations of `Dataset`."""

    __slots__ = ()

    # ---- functions of elements

    def map(self, map_func, num_parallel_calls=None, deterministic=None, synchronous=None, use_unbounded_threadpool=False,
            name=None, *, workers=None):
        """Return a dataset of the results of `map_func` for each element.

        The components of a tuple are passed as separate arguments. The function is first called with symbolic values:
        if it is pure and uses only operations of Stoker, operators and some functions of NumPy, it becomes a native
        stage, which runs in parallel and without the interpreter. Otherwise it is a Python stage; `explain()` shows the
        reason.

        - `num_parallel_calls`: the most calls of a Python function at the same time (1 by default), or AUTOTUNE.
        - `workers`: "thread" or "serial" make the function a Python stage without tracing it. "serial" calls it from one
          thread at a time, in the order of the input. "process" is not implemented.
        - `deterministic`: accepted for tf.data; the order is always kept.
        - `synchronous`, `use_unbounded_threadpool`: accepted for tf.data, without effect.

        Raise TypeError if `map_func` is not callable or cannot take the components of an element, and InvalidArgument
        if an operation rejects its parameters or types. An exception of a Python function is the error of its element.

        >>> ds = sk.Dataset.from_tensor_slices((np.array([1, 2]), np.array([10, 20])))
        >>> [int(x) for x in ds.map(lambda x, y: x + y)]
        [11, 22]
        """
        calls = number(num_parallel_calls)
        function, python = self._function(map_func, workers, calls)
        if python and (calls is None or workers == "serial"):
            calls = 1
        made = self._then("map", name, map_func=function, num_parallel_calls=calls,
                          deterministic=effective_deterministic(deterministic, num_parallel_calls))
        if python:
            made._sample = None  # a sample would call the function once more
        return made

    def filter(self, predicate, name=None):
        """Return a dataset of the elements for which `predicate` returns true.

        The function is traced, and called, as by `map`. Raise TypeError if it is not callable.

        >>> [int(x) for x in sk.Dataset.range(6).filter(lambda x: x % 2 == 0)]
        [0, 2, 4]
        """
        return self._then("filter", name, predicate=self._function(predicate, None, None)[0])

    def _function(self, function, workers, calls):
        if not callable(function):
            raise TypeError(f"expected a function, got {type(function).__name__}")
        if workers not in (None, "thread", "serial", "process"):
            raise errors.InvalidArgument(f"workers: expected 'thread' or 'serial', got {workers!r}")
        if workers == "process":
            raise errors.Unimplemented("workers='process' is not implemented; use 'thread'")
        most = most_calls(calls, workers)
        if workers is not None:
            why = f"workers={workers!r}"
            return python_function(function, why, most, is_sequence=workers == "serial"), True
        structure = self._structure()
        if structure is NOT_KNOWN:
            return python_function(function, "the types of its input are known only when it runs", most), True
        check_arguments(function, len(structure) if isinstance(structure, tuple) else 1)
        traced = trace(function, structure, self._core)
        why = traced.why if traced.function is None else _sample.confirmed(function, traced, self._sample)
        return (traced.function, False) if why is None else (python_function(function, why, most), True)

    def flat_map(self, map_func, name=None):
        """Return a dataset of the elements of the datasets that `map_func` returns, one dataset after the other.

        Raise TypeError if `map_func` is not callable. If it does not return a dataset, that is an error of its element.

        >>> [int(x) for x in sk.Dataset.range(4).flat_map(sk.Dataset.range)]
        [0, 0, 1, 0, 1, 2]
        """
        return self._then("flat_map", name, map_func=_graph_function(map_func))

    def interleave(self, map_func, cycle_length=None, block_length=None, num_parallel_calls=None, deterministic=None,
                   name=None):
        """Return a dataset of the elements of the datasets that `map_func` returns, taken from several of them in turn.

        `cycle_length` datasets are open at a time. `block_length` elements (1 by default) are taken from a dataset
        before the next one has its turn. The order is always kept, also with `deterministic=False`. Raise TypeError if
        `map_func` is not callable.

        >>> ds = sk.Dataset.range(2).interleave(lambda x: sk.Dataset.from_tensors(x).repeat(2), cycle_length=2)
        >>> [int(x) for x in ds]
        [0, 1, 0, 1]
        """
        return self._then("interleave", name, map_func=_graph_function(map_func), cycle_length=number(cycle_length),
                          block_length=number(block_length), num_parallel_calls=number(num_parallel_calls),
                          deterministic=effective_deterministic(deterministic, num_parallel_calls))

    # ---- batches

    def batch(self, batch_size, drop_remainder=False, num_parallel_calls=None, deterministic=None, name=None):
        """Return a dataset of batches: `batch_size` elements stacked along a new first axis.

        The last batch may be smaller, unless `drop_remainder` is true. Elements of different shapes are errors. Batches
        are assembled in parallel in any case: `num_parallel_calls` and `deterministic` are accepted for tf.data.

        Raise InvalidArgument if `batch_size` is less than 1, and Unimplemented for sparse and ragged values.

        >>> for batch in sk.Dataset.range(5).batch(2):
        ...     print(batch)
        [0 1]
        [2 3]
        [4]
        """
        effective_deterministic(deterministic, num_parallel_calls)
        if has_composites(self._engine_structure()):
            raise errors.Unimplemented("batch cannot stack sparse or ragged values; call parse_example after batch, "
                                       "which returns one sparse or ragged value for the whole batch")
        return self._then("batch", name, batch_size=number(batch_size), drop_remainder=bool(drop_remainder))

    def unbatch(self, name=None):
        """Return a dataset of the rows of each element.

        >>> [int(x) for x in sk.Dataset.from_tensors(np.array([3, 4])).unbatch()]
        [3, 4]
        """
        return self._then("unbatch", name)

    # ---- order, count and selection

    def shuffle(self, buffer_size=None, seed=None, reshuffle_each_iteration=True, name=None):
        """Return a dataset of the same elements in random order.

        Without `buffer_size`, the order is uniform over all elements; if the input can be read by position, no elements
        are held in memory for this. With `buffer_size`, each element is drawn from a buffer of this size. The order
        differs in each pass, unless `reshuffle_each_iteration` is false. Without `seed`, a seed is drawn when the
        dataset is built.

        Raise InvalidArgument if the input is infinite and `buffer_size` is missing.

        >>> ds = sk.Dataset.range(100).shuffle(seed=1, reshuffle_each_iteration=False)
        >>> [int(x) for x in ds] == [int(x) for x in ds]
        True
        >>> sorted(int(x) for x in ds) == list(range(100))
        True
        """
        if buffer_size is not None and number(buffer_size) == UNKNOWN:
            buffer_size = None
        if buffer_size is None and self._core.is_endless():
            raise errors.InvalidArgument("shuffle: the input is infinite and there is no buffer_size; pass a "
                                         "buffer_size, or shuffle before repeat")
        return self._then("shuffle", name, buffer_size=number(buffer_size), seed=number(seed),
                          reshuffle_each_iteration=True if reshuffle_each_iteration is None else reshuffle_each_iteration)

    def repeat(self, count=None, name=None):
        """Return a dataset of `count` passes over the input; without a count, or with -1, of infinitely many.

        >>> [int(x) for x in sk.Dataset.range(2).repeat(2)]
        [0, 1, 0, 1]
        """
        return self._then("repeat", name, count=number(count))

    def take(self, count, name=None):
        """Return a dataset of the first `count` elements; of all elements if it is -1.

        >>> [int(x) for x in sk.Dataset.range(10).take(2)]
        [0, 1]
        """
        return self._then("take", name, count=number(count))

    def skip(self, count, name=None):
        """Return a dataset without the first `count` elements; without any element if it is -1.

        >>> [int(x) for x in sk.Dataset.range(5).skip(3)]
        [3, 4]
        """
        return self._then("skip", name, count=number(count))

    def shard(self, num_shards, index, name=None):
        """Return a dataset of every `num_shards`-th element, starting with the element number `index`.

        Each of `num_shards` processes can take another part, if the order of the input is the same in all of them.
        After a `shuffle` or `list_files` without a seed, the orders differ, and this method warns. Call `shard` before
        `shuffle`, or set the same seed in every process.

        Raise InvalidArgument if `index` is not from 0 to `num_shards` - 1.

        >>> [int(x) for x in sk.Dataset.range(7).shard(num_shards=3, index=1)]
        [1, 4]
        """
        made = self._then("shard", name, num_shards=number(num_shards), index=number(index))
        if self._unseeded and number(num_shards) > 1:
            fix = "call shard before shuffle" if self._unseeded == "shuffle" else "pass shuffle=False"
            warnings.warn(f"shard follows {self._unseeded} without a seed: each process draws another order, so that shards "
                          f"overlap and miss elements; {fix}, or set the same seed in every process", stacklevel=2)
        return made

    def concatenate(self, dataset, name=None):
        """Return a dataset of these elements, followed by the elements of another dataset.

        Raise TypeError if the argument is not a dataset, and InvalidArgument if the elements have different structures
        or types.

        >>> [int(x) for x in sk.Dataset.range(2).concatenate(sk.Dataset.range(7, 9))]
        [0, 1, 7, 8]
        """
        if not isinstance(dataset, Stages):
            raise TypeError(f"concatenate: expected a dataset, got {type(dataset).__name__}")
        return self._then("concatenate", name, dataset._hooks, dataset=dataset)

    def enumerate(self, start=0, name=None):
        """Return a dataset of tuples of a number, counted from `start`, and the element.

        >>> for i, x in sk.Dataset.range(7, 9).enumerate():
        ...     print(i, x)
        0 7
        1 8
        """
        return self._then("enumerate", name, start=number(start))

    # ---- caching and prefetching

    def cache(self, filename="", name=None):
        """Return a dataset that keeps its elements in memory when they are first computed.

        Later passes do not compute them again. Raise Unimplemented if `filename` is given.

        >>> ds = sk.Dataset.range(3).map(lambda x: x * x).cache()
        >>> sum(int(x) for x in ds)
        5
        """
        if filename:
            raise errors.Unimplemented("a cache in a file is not implemented; cache() keeps elements in memory")
        return self._then("cache", name)

    def prefetch(self, buffer_size, name=None):
        """Return a dataset that keeps at least `buffer_size` elements computed in advance.

        The engine prefetches without this method, too. AUTOTUNE lets it choose the number.

        >>> [int(x) for x in sk.Dataset.range(3).prefetch(sk.AUTOTUNE)]
        [0, 1, 2]
        """
        return self._then("prefetch", name, buffer_size=number(buffer_size))

    # ---- errors

    def ignore_errors(self, log_warning=False, name=None):
        """Return a dataset without the elements that failed upstream.

        Its cardinality is unknown. `on_error("skip")` does the same for the whole dataset and limits the number of
        failures. `log_warning` is accepted for tf.data, without effect.

        >>> ds = sk.Dataset.from_tensor_slices(np.array([1.0, np.nan])).map(lambda x: 1 // int(x), workers="thread")
        >>> [int(x) for x in ds.ignore_errors()]
        [1]
        """
        return self._then("ignore_errors", name, log_warning=log_warning)

    def assert_cardinality(self, expected_cardinality, name=None):
        """Return a dataset that fails at its end unless it had `expected_cardinality` elements.

        The error is FailedPrecondition. `cardinality()` returns the expected number.

        >>> ds = sk.Dataset.range(10).filter(lambda x: x > 5).assert_cardinality(4)
        >>> len(ds), sum(1 for _ in ds)
        (4, 4)
        """
        return self._then("assert_cardinality", name, expected_cardinality=number(expected_cardinality))

    def on_error(self, policy, at_most=1.0, name=None):
        """Set what happens when an element fails: "raise" (the default) or "skip".

        Return the new dataset. With "raise", `next()` raises the error, and the following call continues with the next
        element. With "skip", the first 20 failed elements are logged at the end of the pass, and `Iterator.skipped()`
        lists the first 1,000. If more than the fraction `at_most` of the elements fails, the error is raised. With
        "skip", the cardinality is unknown. Raise InvalidArgument for another policy.

        >>> ds = sk.Dataset.range(4).map(lambda x: 6 // int(x), workers="thread").on_error("skip", at_most=0.5)
        >>> it = iter(ds)
        >>> int(next(it))
        6
        >>> [skipped.origin for skipped in it.skipped()]
        ['range:0']
        """
        return self._then("on_error", name, policy=policy, at_most=number(at_most))


def _graph_function(function):
    if not callable(function):
        raise TypeError(f"expected a function, got {type(function).__name__}")

    def open_dataset(*fields):
        made = function(*fields)
        if not isinstance(made, Stages):
            raise TypeError(f"the function returned a {type(made).__name__}, expected a dataset")
        return made

    return _kept.graph_function(open_dataset, gate_of(function), identity_of(function), captured_by(function, Stages),
                                may_draw(function, opens_datasets=True))
