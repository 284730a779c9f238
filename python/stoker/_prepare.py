"""`sk.pack`, `sk.index`, `sk.verify` and `sk.inspect`: work on data files before training. The work is done in C++."""

import dataclasses
import numbers
import os
import sys
import time
from collections.abc import Iterable, Mapping
from typing import Any  # noqa: F401, in annotations

import numpy as np

from . import _core, errors
from ._arguments import whole_number


def pack(source, destination, *, labels=None, name=None, shards=None, seed=0,
         split: "str | Mapping[str, float] | None" = None, resize=None, quality=None, image_feature=None,
         label_feature=None, keep_bytes=False, on_error="raise", overwrite=False, progress=None) -> "PackResult":
    """Write images and labels to TFRecord shards in the folder `destination`, in an order that `seed` determines.

    `source` is a folder with one folder per class, a folder of images with a CSV file `labels`, MNIST's idx files, or
    tar (WebDataset) or TFRecord files: one file, a folder, or a pattern. `split` is a dict such as
    {"train": 0.9, "validation": 0.1}, or the text "train=0.9,validation=0.1". `resize` is the maximum length of the
    short side, in pixels, and `quality` the JPEG quality of resized images. JPEG images get restart markers, with which
    a crop can be decoded alone and which change no pixel, unless `keep_bytes` is true. on_error="skip" skips files that
    cannot be packed.

    `progress` is None for a progress bar in terminals and notebooks, True or False to show or hide it, or a function
    that receives a `Progress`.

    Return a `PackResult`. Raise TypeError if an option has the wrong type, and InvalidArgument or FailedPrecondition if
    it has an invalid value. Raise NotFound if `source` does not exist. Raise FailedPrecondition if the options
    contradict each other, or `destination` already has shards of that name and `overwrite` is false. Raise DataLoss if
    a file cannot be packed.
    A call that fails or is interrupted leaves existing files unchanged; the same call continues where it stopped.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> images = bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 10, 20])  # two images of one pixel
    >>> _ = (folder / "train-images-idx3-ubyte").write_bytes(images)
    >>> _ = (folder / "train-labels-idx1-ubyte").write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 2, 0, 1]))
    >>> result = sk.pack(folder, folder / "packed")
    >>> result.records, result.classes
    (2, ['0', '1'])
    """
    if not isinstance(on_error, str):
        raise _wrong_type("on_error", "'raise' or 'skip'", on_error)
    if on_error not in ("raise", "skip"):
        raise errors.InvalidArgument(f"on_error: expected 'raise' or 'skip', got {on_error!r}")
    with _shown("pack", progress) as report:
        made = _core.pack(_path("source", source), _path("destination", destination), _optional_path("labels", labels),
                          _encoded("name", name), _optional_whole("shards", shards, "a number of shards"),
                          _whole("seed", seed, "a whole number"), _split(split),
                          _optional_whole("resize", resize, "a number of pixels for the short side, such as 256"),
                          _optional_whole("quality", quality, "a JPEG quality from 1 to 100", bits=32),
                          _encoded("image_feature", image_feature), _encoded("label_feature", label_feature),
                          _flag("keep_bytes", keep_bytes), on_error == "skip", _flag("overwrite", overwrite), report)
    made["skipped"] = [SkippedFile(*one) for one in made["skipped"]]
    return PackResult(**made)


def index(path, *, label=None, progress=None) -> "IndexResult":
    """Store where each record of TFRecord files starts, so that datasets of these files start faster.

    `path` is a file, a pattern, a folder, which is searched recursively, or a list of these. `label` names an int64
    feature whose value is stored for each record. `progress` is as in `sk.pack`.

    Return an `IndexResult`. A file that cannot be indexed has an `error` there. Raise NotFound if a path does not
    exist, and FailedPrecondition if there are no data files.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "train.tfrecord")
    >>> with sk.io.TFRecordWriter(path) as writer:
    ...     writer.write(sk.io.encode_example({"label": [3]}))
    >>> file = sk.index(path, label="label").files[0]
    >>> file.records, file.labels
    (1, {3: 1})
    """
    with _shown("index", progress) as report:
        return IndexResult([IndexedFile(**one) for one in _core.index(_paths(path), _encoded("label", label), report)])


def verify(path, *, images=True, progress=None) -> "VerifyResult":
    """Check both checksums of every record, and decode every image, in files and in tf.train.Example records.

    `path` is a file, a pattern, a folder, which is searched recursively, or a list of these. With images=False, only
    checksums are checked. `progress` is as in `sk.pack`.

    Return a `VerifyResult`, whose `bad` lists what is wrong. Raise NotFound if a path does not exist, and
    FailedPrecondition if there are no data files.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "train.tfrecord")
    >>> with sk.io.TFRecordWriter(path) as writer:
    ...     writer.write(b"one")
    >>> sk.verify(path).bad
    []
    """
    with _shown("verify", progress) as report:
        made = _core.verify(_paths(path), _flag("images", images), report)
    for kind in ("bad", "damaged"):
        made[kind] = [Finding(*one) for one in made[kind]]
    return VerifyResult(**made)


def inspect(path, *, sheet=None, limit=64, progress=None) -> "InspectResult":
    """Count and measure records, their features, and images, without decoding pixels.

    `path` is a file, a pattern, a folder, which is searched recursively, or a list of these. `sheet` is a .png or .html
    file for a contact sheet of at most `limit` images. `progress` is as in `sk.pack`.

    Return an `InspectResult`. Raise NotFound if a path does not exist, and FailedPrecondition if there are no data
    files. Raise DataLoss if there are no images for the sheet.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "train.tfrecord")
    >>> with sk.io.TFRecordWriter(path) as writer:
    ...     writer.write(sk.io.encode_example({"label": [3]}))
    >>> sk.inspect(path).features["label"]["numbers"]
    {'min': 3, 'mean': 3.0, 'max': 3}
    """
    with _shown("inspect", progress) as report:
        made = _core.inspect(_paths(path), _optional_path("sheet", sheet), _whole("limit", limit, "a number of images"),
                             report)
    if made["first_damage"] is not None:
        made["first_damage"] = Finding(*made["first_damage"])
    return InspectResult(**made)


# ---- results

_MOST_SHOWN = 5


class _Result:
    """Shows one field per line, and the first items of long lists."""

    def __repr__(self):
        fields = "".join(f"  {field.name}={_text(getattr(self, field.name))},\n" for field in dataclasses.fields(self))
        return f"{type(self).__name__}(\n{fields})"


def _text(value):
    if not isinstance(value, (list, dict)) or len(value) <= _MOST_SHOWN:
        return repr(value)
    items = [f"{k!r}: {v!r}" for k, v in value.items()] if isinstance(value, dict) else [repr(one) for one in value]
    text = ", ".join(items[:_MOST_SHOWN]) + f", … {len(items) - _MOST_SHOWN} more"
    return f"{{{text}}}" if isinstance(value, dict) else f"[{text}]"


@dataclasses.dataclass(frozen=True)
class Progress:
    """The state of a call. `done` of `total` are counted in `unit`; `total` is 0 if it is not known yet."""

    phase: str  # "find", "decompress", "read" or "write"
    done: int
    total: int
    unit: str  # "files", "images", "records" or "bytes"
    items: int  # done in this phase
    item_unit: str  # "files", "images" or "records"
    bytes: int  # done in this phase


@dataclasses.dataclass(frozen=True)
class SkippedFile:
    """A file that could not be packed."""

    path: str
    error: str


@dataclasses.dataclass(frozen=True)
class Finding:
    """A bad or damaged record or image. `record` and `offset` are None for an image file."""

    path: str
    message: str
    record: "int | None"
    offset: "int | None"  # in bytes


@dataclasses.dataclass(frozen=True, repr=False)
class PackResult(_Result):
    """What `sk.pack` wrote."""

    records: int
    bytes: int
    shards: "list[str]"  # paths
    classes: "list[str]"  # by label; empty if labels are numbers without names
    skipped: "list[SkippedFile]"
    left_out: int  # files that were ignored: hidden, or with other extensions than images
    resized: int
    turned: int  # images whose EXIF orientation was applied
    continued: int  # shards that an earlier call wrote


@dataclasses.dataclass(frozen=True)
class IndexedFile:
    """The index of one file, or why there is none."""

    path: str
    bytes: int
    records: int
    index: "str | None"  # path
    created: bool  # by this call
    labels: "dict[int, int] | None"  # records per label
    error: "str | None"


@dataclasses.dataclass(frozen=True, repr=False)
class IndexResult(_Result):
    """What `sk.index` stored."""

    files: "list[IndexedFile]"


@dataclasses.dataclass(frozen=True, repr=False)
class VerifyResult(_Result):
    """What `sk.verify` found."""

    files: int
    bytes: int
    records: int
    images: int
    left_out: int  # files of a folder that were ignored: hidden, or neither records nor images
    bad: "list[Finding]"
    damaged: "list[Finding]"  # images that were decoded with a warning


@dataclasses.dataclass(frozen=True, repr=False)
class InspectResult(_Result):
    """What `sk.inspect` found. The keys of the dicts are those of `stoker inspect --json`."""

    files: int
    bytes: int
    left_out: int  # files of a folder that were ignored: hidden, or neither records nor images
    records: int
    record_bytes: "dict[str, float] | None"
    examples: int  # records that are tf.train.Example
    features: "dict[str, dict[str, Any]]"
    labels: "dict[str, Any] | None"
    damaged: int  # damaged places
    first_damage: "Finding | None"
    images: "dict[str, Any] | None"  # of image files
    folders: "dict[str, int]"  # image files per folder


# ---- arguments

def _wrong_type(name, expected, value):
    return TypeError(f"{name}: expected {expected}, got {value!r}")


def _path(name, value):
    if not isinstance(value, (str, bytes, os.PathLike)):
        raise _wrong_type(name, "a path", value)
    path = os.fsencode(value)
    if not path or b"\0" in path:
        raise errors.InvalidArgument(f"{name}: expected a path, got {value!r}")
    return path


def _optional_path(name, value):
    return b"" if value is None else _path(name, value)


def _paths(value):
    if isinstance(value, (str, bytes, os.PathLike)):
        value = [value]
    elif isinstance(value, np.ndarray):
        value = value.reshape(-1).tolist()
    elif not isinstance(value, Iterable):
        raise _wrong_type("path", "a path or a list of paths", value)
    return [_path("path", one) for one in value]


def _encoded(name, text):
    if text is None:
        return b""
    if not isinstance(text, (str, bytes)):
        raise _wrong_type(name, "text", text)
    return os.fsencode(text)


def _whole(name, number, expected, bits=64):
    if isinstance(number, np.ndarray):
        is_whole = number.shape == () and number.dtype.kind in "iu"
    else:
        is_whole = isinstance(number, (int, np.integer)) and not isinstance(number, bool)
    if not is_whole:
        raise _wrong_type(name, expected, number)
    return whole_number(name, number, bits)


def _optional_whole(name, number, expected, bits=64):
    return None if number is None else _whole(name, number, expected, bits)


def _flag(name, value):
    if not isinstance(value, (bool, np.bool_)):
        raise _wrong_type(name, "True or False", value)
    return bool(value)


def _split(split):
    """Return the shares as text for the engine, which checks them."""
    expected = 'a dict such as {"train": 0.9, "validation": 0.1}, or the text "train=0.9,validation=0.1"'
    if split is None or isinstance(split, str):
        return split or ""
    if not isinstance(split, Mapping):
        raise _wrong_type("split", expected, split)
    for name, share in split.items():
        if not isinstance(name, str) or isinstance(share, bool) or not isinstance(share, numbers.Real):
            raise _wrong_type("split", expected, split)
        if "=" in name or "," in name:
            raise errors.InvalidArgument(f"split: expected a name without '=' and ',', got {name!r}")
    if not split:
        raise errors.InvalidArgument("split: expected at least one name with its share, got an empty dict")
    return ",".join(f"{name}={float(share)!r}" for name, share in split.items())


# ---- progress

class _Hidden:
    def __enter__(self):
        return None

    def __exit__(self, *_):
        pass


class _Called:
    """Calls the user's function."""

    def __init__(self, function):
        self._function = function

    def __enter__(self):
        return lambda *now: self._function(Progress(*now))

    def __exit__(self, *_):
        pass


class _Bar:
    """A line of text that is updated in place on standard error, and removed at the end."""

    _SHOW_AFTER = 0.2  # seconds; a faster call shows nothing
    _WIDTH = 20

    def __init__(self, what, clock=time.monotonic):
        self._what = what
        self._clock = clock
        self._phase = None
        self._start = 0.0
        self._shown = 0  # characters

    def __enter__(self):
        return self.update

    def __exit__(self, *_):
        self._write("")

    def update(self, *now):
        now = Progress(*now)
        if now.phase != self._phase:
            self._phase, self._start = now.phase, self._clock()
        seconds = self._clock() - self._start
        if now.total > 0 and seconds >= self._SHOW_AFTER:
            self._write(self.text(now, seconds))

    def text(self, now, seconds):
        share = min(1.0, now.done / now.total)
        full = int(share * self._WIDTH)
        left = "" if share == 0 else "  {}:{:02} left".format(*divmod(int(seconds / share - seconds), 60))
        return (f"{self._what}  {'█' * full}{'░' * (self._WIDTH - full)} {share:4.0%}  "
                f"{now.items / seconds:,.0f} {now.item_unit}/s{left}")

    def _write(self, text):
        if not text and not self._shown:
            return
        sys.stderr.write("\r" + text.ljust(self._shown) + ("" if text else "\r"))
        sys.stderr.flush()
        self._shown = len(text)


def _in_notebook():
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return type(shell).__name__ == "ZMQInteractiveShell"


def _shown(what, progress):
    """Return a context manager whose value is the function that receives the updates, or None."""
    if callable(progress):
        return _Called(progress)
    if progress is None:
        progress = _in_notebook() or (sys.stderr is not None and sys.stderr.isatty())
    if not isinstance(progress, (bool, np.bool_)):
        raise _wrong_type("progress", "None, True, False or a function", progress)
    return _Bar(what) if progress else _Hidden()
