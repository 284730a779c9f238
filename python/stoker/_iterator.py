"""`Iterator`: one pass over a dataset."""

import functools
import json
import logging
import textwrap
import threading
import weakref
from typing import Any, NamedTuple

from . import _kept, errors
from ._composite import RaggedTensor, SparseTensor

_MOST_LISTED = 20
_log = logging.getLogger("stoker")


class Skipped(NamedTuple):
    """An element that `on_error("skip")` skipped.

    `origin` identifies it and can be passed to `Dataset.replay`. `kind` is the name of the error's class. `path` is the
    file, or None if there is none.

    >>> it = iter(sk.Dataset.range(2).map(lambda x: 6 // int(x), workers="thread").on_error("skip"))
    >>> _ = list(it)
    >>> it.skipped()[0].origin, it.skipped()[0].kind, it.skipped()[0].path
    ('range:0', 'Unknown', None)
    """

    origin: str
    kind: str
    message: str
    path: "str | None"


class Iterator:
    """One pass over a dataset, returned by `iter(ds)`. All methods may be called from several threads.

    At the end, `next(it)` raises StopIteration and `get_next()` raises OutOfRange. If an element fails, both raise its
    error, and the next call continues after it. Dropping the iterator stops its work.

    >>> it = iter(sk.Dataset.range(2))
    >>> [int(x) for x in it]
    [0, 1]
    """

    def __init__(self, dataset):
        self._dataset = dataset
        self._raised = _kept.Raised()
        self._loader = dataset._take_loader(self._raised)
        self._lock = threading.Lock()
        self._ended = False  # under _lock, as _closed
        self._closed = False
        # When the iterator is dropped, its loader stops and goes back to the dataset. The callback is C code: Python would
        # ignore the KeyboardInterrupt that Ctrl-C raises in a callback written in Python.
        self._when_dropped = weakref.ref(self, functools.partial(self._loader.give_back, weakref.ref(dataset)))

    def __iter__(self) -> "Iterator":
        return self

    def __next__(self) -> Any:
        """Return the next element. Raise StopIteration at the end, or the error of the element."""
        found = self._loader.next()
        if found is None:
            self._end()
            raise StopIteration
        return found[0]

    def get_next(self, name=None) -> Any:
        """Return the next element. Raise OutOfRange at the end, or the error of the element.

        >>> int(iter(sk.Dataset.range(3)).get_next())
        0
        """
        found = self._loader.next()
        if found is None:
            self._end()
            raise errors.OutOfRange("the dataset has ended")
        return found[0]

    def _end(self):
        with self._lock:
            ended, self._ended = self._ended or self._closed, True
        if ended:
            return
        self._log_skipped()
        for hook in self._dataset._hooks:
            hook()

    def _log_skipped(self):
        skipped = self.skipped()
        if not skipped:
            return
        listed = "".join("\n" + textwrap.indent(one.message, "  ") for one in skipped[:_MOST_LISTED])
        more = "\n  …; skipped() of the iterator lists up to 1,000" if len(skipped) > _MOST_LISTED else ""
        count = self.stats().get("skipped", len(skipped))  # empty if another thread has closed the iterator
        _log.warning("%d %s skipped:%s%s", count, "element was" if count == 1 else "elements were", listed, more)

    def save(self) -> bytes:
        """Serialize the iterator's position. Restoring it continues with the next element.

        Return bytes, usually a few hundred. The iterator keeps running.

        >>> ds = sk.Dataset.range(5)
        >>> it = iter(ds)
        >>> _ = next(it)
        >>> checkpoint = it.save()
        >>> again = iter(ds)
        >>> again.restore(checkpoint)
        >>> int(next(again))
        1
        """
        return self._loader.save()

    def restore(self, checkpoint) -> None:
        """Continue from a position that `save()` returned, also if this iterator has started or ended.

        The dataset must have the same stages. Raise TypeError if `checkpoint` is not bytes, InvalidArgument or DataLoss
        if it is damaged, and FailedPrecondition if it belongs to another dataset. After any of these errors, the
        iterator is unchanged.

        >>> it = iter(sk.Dataset.range(3))
        >>> start = it.save()
        >>> _ = list(it)
        >>> it.restore(start)
        >>> int(next(it))
        0
        """
        if not isinstance(checkpoint, (bytes, bytearray, memoryview)):
            raise TypeError(f"restore: expected the bytes that save() returned, got {type(checkpoint).__name__}")
        self._loader.restore(bytes(checkpoint))
        with self._lock:
            self._ended = False

    def stats(self) -> dict:
        """Return counters as a dict: of this pass, and for each stage and window of all passes of the dataset.

        >>> it = iter(sk.Dataset.range(3))
        >>> _ = list(it)
        >>> isinstance(it.stats(), dict)
        True
        """
        return json.loads(self._loader.stats().to_json())

    def skipped(self) -> "list[Skipped]":
        """Return the first 1,000 skipped elements of this pass, as a list of `Skipped`: origin, kind, message and path.

        >>> iter(sk.Dataset.range(3)).skipped()
        []
        """
        return [Skipped(*one) for one in self._loader.skipped()]

    def wait_seconds(self) -> float:
        """Return how long calls have waited for elements in this pass, in seconds.

        >>> iter(sk.Dataset.range(3)).wait_seconds() >= 0
        True
        """
        return self._loader.wait_seconds()

    def close(self) -> None:
        """End the pass and release its memory. Wait for calls of user functions that are in progress.

        Afterward, `next(it)` raises StopIteration.

        >>> it = iter(sk.Dataset.counter())
        >>> it.close()
        """
        with self._lock:
            self._closed = True  # before its end: no hook is called
        self._when_dropped = None
        self._loader.close()

    @property
    def element_spec(self) -> Any:
        """The structure, types and shapes of the elements, as `Dataset.element_spec`.

        >>> iter(sk.Dataset.range(3)).element_spec
        sk.TensorSpec(shape=(), dtype=sk.int64)
        """
        return self._dataset.element_spec

    def __repr__(self):
        return f"<stoker.Iterator element_spec={self._dataset._spec_text()}>"


class NumpyIterator(Iterator):
    """Iterator that returns sparse and ragged values as arrays."""

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
