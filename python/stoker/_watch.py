"""Stands between a training loop and its input and says what is wrong; the judging is C++'s."""

import inspect
import json
import statistics
import sys
import threading
import time
from typing import Any

from . import _core
from ._dataset import Dataset, Iterator, _caller


def watch(loader, model=None, optimizer=None, *, window=None, steps=None) -> "Watch":
    """`for batch in sk.watch(loader)`: the same batches, and what holds the loop up, on standard error.

    `loader` is anything that can be iterated: a Stoker data set, a DataLoader, a generator, a Sequence. `window` is
    (seconds, steps), the least over which times are judged; `steps` is how many batches an epoch will be asked for.
    `model` and `optimizer` are not looked at yet.
    """
    if not hasattr(loader, "__iter__") and not (hasattr(loader, "__len__") and hasattr(loader, "__getitem__")):
        raise TypeError(f"watch wants something to iterate over, found {type(loader).__name__}")
    return Watch(loader, model, optimizer, window=window, steps=steps)


class Watch:
    """What `sk.watch` gives: iterate it once an epoch; `verdicts` and `report()` at any time."""

    def __init__(self, loader, model=None, optimizer=None, *, window=None, steps=None, stall=None, tell=None,
                 clock=None):
        self._loader = loader
        self._dataset = _dataset_of(loader)
        own = self._dataset is not None
        self._recorder = _core.Recorder(
            dataset=self._dataset._core if own else None, source="" if own else _words(loader),
            batches=None if own else _length(loader), workers=0 if not own and _is_made_in_loop(loader) else None,
            window=window, steps=steps, stall=stall, tell=tell or _print, clock=clock)
        self._stall = 30.0 if stall is None else stall
        self._engine = None  # of our own data set's iterator
        self._probe = None
        self._given = False

    def __iter__(self) -> "WatchedIterator":
        return WatchedIterator(self, "%s:%d" % _caller())

    def __len__(self):
        return len(self._loader)

    def __bool__(self) -> bool:
        """Return the truth value of what is watched, and True where that raises, as without a known length."""
        try:
            return bool(self._loader)
        except Exception:  # a length that is not implemented, an array of several values
            return True

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._loader, name)

    @property
    def verdicts(self) -> list:
        """What is wrong over the run so far, as a list of dicts, the costliest first."""
        return self.to_json()["verdicts"]

    def report(self) -> str:
        """Times, stages and verdicts as text."""
        return self._recorder.report(self._stats())

    def to_json(self) -> dict:
        """The same as a dict."""
        return json.loads(self._recorder.to_json(self._stats()))

    def _stats(self):
        return self._engine.stats() if self._engine is not None else "{}"

    def _look(self):
        self._recorder.look(self._stats())
        self._note_skipped()
        if self._recorder.wants_probe() and (self._probe is None or not self._probe.is_alive()):
            self._probe = threading.Thread(target=_probe, args=(self._recorder,), daemon=True)
            self._probe.start()

    def _note_skipped(self):
        skipped = self._engine.skipped() if self._engine is not None else []
        if skipped:
            origin, _, words = skipped[0]
            self._recorder.note_skipped(len(skipped), _first_line(words), origin)


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
    """While the first batch is waited for: a thread that looks, once, what goes on instead."""

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
        """The line a generator has come to, else the one its thread has."""
        frame = getattr(self._items, "gi_frame", None) or sys._current_frames().get(self._thread)
        if frame is None:
            return ""
        return f"line {frame.f_lineno} of {frame.f_code.co_name} ({frame.f_code.co_filename})"


def _probe(recorder):
    """How late a thread that sleeps 5 ms gets the interpreter's lock back, for 200 ms."""
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
    """Whether iterating it makes the batches there and then, in the thread that trains."""
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


def _words(loader):
    if not inspect.isgenerator(loader):
        return f"a {type(loader).__qualname__}"
    code = loader.gi_code
    return f"the generator {code.co_name} ({code.co_filename}:{code.co_firstlineno})"


def _place(error):
    """The file of what failed, else its place in the data."""
    for name in ("path", "filename", "origin", "position", "index"):
        value = getattr(error, name, None)
        if value is not None and not callable(value):
            return f"{name} {value}" if isinstance(value, int) else str(value)
    return ""


def _first_line(text):
    return text.split("\n", 1)[0]
