"""`sk.watch`: measures a training loop and its input, and reports what slows it down. The analysis is in C++."""

import inspect
import json
import statistics
import sys
import threading
import time
import weakref
from typing import Any

from . import _core, errors
from ._arguments import caller
from ._dataset import Dataset
from ._iterator import Iterator
from ._keras import KerasAdapter


def watch(loader, *, window=None, steps=None) -> "Watch":
    """Return an iterable of the same batches that reports on standard error what delays the training loop.

    `loader` is anything that can be iterated over: a Stoker dataset, a DataLoader, a generator, a Sequence. `window` is
    (seconds, steps), the minimum over which times are compared. `steps` is the number of batches that an epoch will
    request. Raise TypeError if `loader` cannot be iterated over.

    >>> for batch in sk.watch(sk.Dataset.range(4).batch(2)):
    ...     print(batch)
    [0 1]
    [2 3]
    """
    if not hasattr(loader, "__iter__") and not (hasattr(loader, "__len__") and hasattr(loader, "__getitem__")):
        raise TypeError(f"watch: expected something to iterate over, got {type(loader).__name__}")
    return Watch(loader, window=window, steps=steps)


class Watch:
    """The result of `sk.watch`: iterate over it once per epoch.

    `verdicts`, `report()` and `to_json()` are available at any time. Other attributes are those of the loader.

    >>> watched = sk.watch([1, 2, 3])
    >>> list(watched), len(watched)
    ([1, 2, 3], 3)
    """

    def __init__(self, loader, *, window=None, steps=None, stall=None, on_message=None, clock=None):
        self._loader = loader
        self._dataset = _dataset_of(loader)
        own = self._dataset is not None
        self._recorder = _core.Recorder(
            dataset=self._dataset._core if own else None, source="" if own else _description(loader),
            batches=None if own else _length(loader), workers=0 if not own and _is_made_in_loop(loader) else None,
            window=window, steps=steps, stall=stall, on_message=on_message or _print, clock=clock)
        self._stall = 30.0 if stall is None else stall
        self._engine = None  # the loader of a Stoker dataset's iterator, as long as the iterator is watched
        self._probe = None
        self._given = False

    def __iter__(self) -> "WatchedIterator":
        return WatchedIterator(self, "%s:%d" % caller())

    def __len__(self):
        return len(self._loader)

    def __bool__(self) -> bool:
        """Return the truth value of the loader; True if that raises, for example without a known length."""
        try:
            return bool(self._loader)
        except Exception:  # no length, or an array of several values
            return True

    def __repr__(self):
        return f"<stoker.Watch of {_description(self._loader) if self._dataset is None else repr(self._loader)}>"

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._loader, name)

    def keras(self) -> Any:
        """Return a Keras data adapter of the watched dataset, for `fit`, `evaluate` and `predict`.

        Raise TypeError if the watch is not of a Stoker dataset.

        >>> model.fit(sk.watch(ds).keras())  # doctest: +SKIP
        """
        if not isinstance(self._loader, Dataset):
            raise TypeError(f"keras: expected a watch of a Stoker dataset, got one of {_description(self._loader)}")
        return KerasAdapter(self._loader, self)

    @property
    def verdicts(self) -> list:
        """The findings of the run so far, as a list of dicts, the most expensive one first.

        >>> isinstance(sk.watch([1, 2]).verdicts, list)
        True
        """
        return self.to_json()["verdicts"]

    def report(self) -> str:
        """Return times, stages and findings as text.

        >>> isinstance(sk.watch([1, 2]).report(), str)
        True
        """
        return self._recorder.report(self._stats())

    def to_json(self) -> dict:
        """Return the same as a dict.

        >>> "verdicts" in sk.watch([1, 2]).to_json()
        True
        """
        return json.loads(self._recorder.to_json(self._stats()))

    def _stats(self):
        return self._engine.stats() if self._engine is not None else _core.LoaderStats()

    def _look(self):
        self._recorder.look(self._stats())
        self._note_skipped()
        if self._recorder.wants_probe() and (self._probe is None or not self._probe.is_alive()):
            self._probe = threading.Thread(target=_probe, args=(self._recorder,), daemon=True)
            self._probe.start()

    def _note_skipped(self):
        skipped = self._engine.skipped() if self._engine is not None else []
        if skipped:
            origin, _, message, path = skipped[0]
            count = max(self._stats().skipped, len(skipped))  # the list has 1,000 elements at most
            self._recorder.note_skipped(count, _first_line(message), path or origin)

    def _leave(self, engine):
        """Store the statistics of an iterator that is no longer watched. Its loader may be reused by another one."""
        self._recorder.note_stats(engine.stats())
        if self._engine is engine:
            self._engine = None


class WatchedIterator:
    """One epoch of a Watch."""

    def __init__(self, watch, begun_at):
        self._watch = watch
        self._recorder = watch._recorder
        self._convert = None
        dataset = watch._dataset
        if dataset is None:
            self._items = _items(watch._loader)
        elif isinstance(watch._loader, Iterator):
            self._items = watch._loader
        else:
            self._items = iter(dataset)
            self._convert = getattr(watch._loader, "convert", None)
        if dataset is not None:
            watch._engine = self._items._loader
            watch._engine.watched_by(self._recorder)
            _leave_when_dropped(self, watch)
        self._recorder.begin_epoch(begun_at)
        self._silence = None if watch._given or dataset is not None else Silence(watch, self._items)

    def __iter__(self) -> "WatchedIterator":
        return self

    def __next__(self) -> Any:
        asked = self._recorder.ask()
        if self._silence is not None:
            self._silence.begin()
        try:
            batch = next(self._items)
        except StopIteration:
            self._watch._note_skipped()
            self._recorder.end()
            raise
        except errors.Cancelled:  # an interruption
            raise
        except Exception as error:
            self._recorder.fail(_first_line(f"{type(error).__name__}: {error}"), _place(error))
            raise
        finally:
            if self._silence is not None:
                self._silence.end()
                self._silence = None
        self._watch._given = True
        if self._recorder.give(asked, batch):
            self._watch._look()
        return batch if self._convert is None else self._convert(batch)


class Silence:
    """A timer for the wait for the first batch. After `stall` seconds, it examines once what the loader is doing."""

    def __init__(self, watch, items):
        self._recorder = watch._recorder
        self._items = items
        self._timer = threading.Timer(watch._stall, self.look)
        self._timer.daemon = True

    def begin(self):
        self._thread = threading.get_ident()
        self._clock = time.pthread_getcpuclockid(self._thread)
        self._begun = time.monotonic(), time.clock_gettime(self._clock)
        self._timer.start()

    def end(self):
        self._timer.cancel()

    def look(self):
        wall = time.monotonic() - self._begun[0]
        cpu = time.clock_gettime(self._clock) - self._begun[1]
        self._recorder.note_silence(min(1.0, cpu / wall) if wall > 0 else None, self._where())

    def _where(self):
        """Return the current line of a generator, else that of its thread."""
        frame = getattr(self._items, "gi_frame", None) or sys._current_frames().get(self._thread)
        if frame is None:
            return ""
        return f"line {frame.f_lineno} of {frame.f_code.co_name} ({frame.f_code.co_filename})"


def _leave_when_dropped(iterator, watch):
    finalizer = weakref.finalize(iterator, watch._leave, watch._engine)
    finalizer.atexit = False  # at exit, all loaders are closed


def _probe(recorder):
    """Measure for 200 ms how late a thread that sleeps for 5 ms gets the GIL back, and record the median."""
    late = []
    until = time.monotonic() + 0.2
    while (begun := time.monotonic()) < until:
        time.sleep(0.005)
        late.append(time.monotonic() - begun - 0.005)
    recorder.note_probe(statistics.median(late))


def _print(text):
    print(text, file=sys.stderr, flush=True)


def _dataset_of(loader):
    if isinstance(loader, Dataset):
        return loader
    if isinstance(loader, Iterator):
        return loader._dataset
    behind = getattr(loader, "dataset", None)  # ds.torch()
    return behind if isinstance(behind, Dataset) and hasattr(loader, "convert") else None


def _is_made_in_loop(loader):
    """Return whether iterating computes the batches in the training thread."""
    if inspect.isgenerator(loader) or hasattr(loader, "__getitem__"):
        return True
    return getattr(loader, "num_workers", None) == 0  # a DataLoader


def _items(loader):
    if hasattr(loader, "__iter__"):
        return iter(loader)
    return (loader[i] for i in range(len(loader)))


def _length(loader):
    try:
        return len(loader)
    except (TypeError, NotImplementedError):
        return None


def _description(loader):
    if not inspect.isgenerator(loader):
        return f"a {type(loader).__qualname__}"
    code = loader.gi_code
    return f"the generator {code.co_name} ({code.co_filename}:{code.co_firstlineno})"


def _place(error):
    """Return the file of what failed, else its position in the data."""
    for name in ("path", "filename", "origin", "position", "index"):
        value = getattr(error, name, None)
        if value is not None and not callable(value):
            return f"{name} {value}" if isinstance(value, int) else str(value)
    return ""


def _first_line(text):
    return text.split("\n", 1)[0]
