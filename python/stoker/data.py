"""Datasets that read files, and constants, with the names of `tf.data`.

`filenames` is a path, a list of paths, or a dataset of paths. `compression_type` is "", "GZIP", "ZLIB", "ZSTD" or
"AUTO". Files are read one after the other. With `num_parallel_reads`, this many files are open, and one record of each
is returned in turn. `buffer_size` is accepted for tf.data, without effect. A missing file raises `NotFound`, and a
damaged one `DataLoss`, when it is read.
"""

import os
from collections.abc import Callable
from typing import Any

from ._arguments import AUTOTUNE, count_of, number, paths
from ._arguments import INFINITE as INFINITE_CARDINALITY
from ._arguments import UNKNOWN as UNKNOWN_CARDINALITY
from ._csv import csv_dataset, make_csv_dataset
from ._dataset import Dataset
from ._iterator import Iterator
from ._missing import IN_TF_DATA, missing
from ._spec import dtype_name
from ._values import constant
from .errors import InvalidArgument, NotFound

__all__ = [
    "AUTOTUNE", "Dataset", "FixedLengthRecordDataset", "INFINITE_CARDINALITY", "IdxDataset", "ImageFolder", "Iterator",
    "JsonLinesDataset", "NpyDataset", "TFRecordDataset", "TextLineDataset", "UNKNOWN_CARDINALITY", "WebDataset",
    "experimental", "image_classes",
]


def __dir__():
    return __all__


def __getattr__(name):
    if not name.startswith("_") and hasattr(experimental, name):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'; use sk.data.experimental.{name}")
    raise missing(__name__, name, __all__, IN_TF_DATA)


def TextLineDataset(filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None):
    r"""Return a dataset of the lines of text files, as bytes without the line ends.

    >>> import os, pathlib, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "lines.txt")
    >>> _ = pathlib.Path(path).write_text("one\ntwo\n")
    >>> list(sk.data.TextLineDataset(path))
    [b'one', b'two']
    """
    return _files("text_lines", filenames, compression_type, num_parallel_reads, name)


def TFRecordDataset(filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None):
    """Return a dataset of the records of TFRecord files, as bytes.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "train.tfrecord")
    >>> with sk.io.TFRecordWriter(path) as writer:
    ...     writer.write(b"one")
    >>> list(sk.data.TFRecordDataset(path))
    [b'one']
    """
    return _files("tfrecord", filenames, compression_type, num_parallel_reads, name)


def FixedLengthRecordDataset(filenames, record_bytes, header_bytes=None, footer_bytes=None, buffer_size=None,
                             compression_type=None, num_parallel_reads=None, name=None):
    """Return a dataset of records of `record_bytes` bytes each, as bytes.

    The first `header_bytes` and the last `footer_bytes` of each file are skipped. Raise InvalidArgument if a number is
    negative. A file whose length is not a multiple of the record length is an error when it is read.

    >>> import os, pathlib, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "records.bin")
    >>> _ = pathlib.Path(path).write_bytes(b"headaabb")
    >>> list(sk.data.FixedLengthRecordDataset(path, record_bytes=2, header_bytes=4))
    [b'aa', b'bb']
    """
    return _files("fixed_length_records", filenames, compression_type, num_parallel_reads, name,
                  record_bytes=number(record_bytes), header_bytes=number(header_bytes) or 0,
                  footer_bytes=number(footer_bytes) or 0)


def WebDataset(urls, components=None, compression_type=None, num_parallel_reads=None, name=None):
    """Return a dataset of the samples of tar files in the layout of WebDataset.

    An element is a dict of "__key__", "__url__" and the bytes of each extension. `components` lists the extensions to
    read; by default, those of the first sample. Uncompressed files can be read by position: they have a length, `at`,
    and a uniform shuffle. Compressed files are read forward.

    >>> import io, os, tarfile, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "train.tar")
    >>> with tarfile.open(path, "w") as tar:
    ...     info = tarfile.TarInfo("cat.txt")
    ...     info.size = 4
    ...     tar.addfile(info, io.BytesIO(b"meow"))
    >>> sk.data.WebDataset(path).get_single_element()["txt"]
    b'meow'
    """
    return _files("tar", urls, compression_type, num_parallel_reads, name, components=list(components or ()))


def JsonLinesDataset(filenames, features, compression_type=None, num_parallel_reads=None, name=None):
    """Return a dataset of the objects of JSON lines files, as dicts.

    `features` maps each name to a `FixedLenFeature` or `TensorSpec`. A shape may contain None for any length. Raise
    InvalidArgument if `features` is not a dict or is empty.

    >>> import os, pathlib, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "lines.jsonl")
    >>> _ = pathlib.Path(path).write_text('{"x": [1, 2]}')
    >>> sk.data.JsonLinesDataset(path, {"x": sk.TensorSpec((2,), sk.int64)}).get_single_element()
    {'x': array([1, 2])}
    """
    if not isinstance(features, dict) or not features:
        raise InvalidArgument("features: expected a dict of names to FixedLenFeature or TensorSpec, with at least one "
                              "entry")
    shapes = [[-1 if side is None else int(side) for side in feature.shape] for feature in features.values()]
    defaults = [getattr(feature, "default_value", None) for feature in features.values()]
    types = [dtype_name(feature.dtype) for feature in features.values()]
    return _files("jsonl", filenames, compression_type, num_parallel_reads, name,
                  names=[str(key) for key in features], dtypes=types, shapes=shapes,
                  defaults=[_default(*each) for each in zip(defaults, types)])


def NpyDataset(filenames, name=None):
    """Return a dataset of the rows of .npy files. Rows of .npz files are dicts of the rows of their arrays.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "rows.npy")
    >>> np.save(path, np.array([[1, 2], [3, 4]]))
    >>> list(sk.data.NpyDataset(path))
    [array([1, 2]), array([3, 4])]
    """
    files = paths(filenames)
    zipped = [os.fsencode(path).endswith(b".npz") for path in files]
    return Dataset._source("npz" if files and all(zipped) else "npy", name, filenames=files)


def ImageFolder(directory, name=None):
    """Return a dataset of (path, label) of the images in a folder that has one folder per class.

    Labels are the positions in `image_classes(directory)`. Images may be at any depth below the folder of their class,
    and a class may be empty. Every file counts as an image, except hidden ones and those with an extension of another
    kind, such as .txt, .csv or .zip. No file is opened: one that is not an image fails when it is decoded.

    Raise NotFound if there is no such folder. Raise DataLoss if it contains no images, or an image that is not in the
    folder of a class.

    >>> import os, pathlib, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> for name in ("cat", "dog"):
    ...     os.mkdir(os.path.join(folder, name))
    ...     pathlib.Path(folder, name, "1.jpg").touch()
    >>> [int(label) for path, label in sk.data.ImageFolder(folder)]
    [0, 1]
    """
    return Dataset._source("image_folder", name, directory=os.fspath(directory))


def image_classes(directory) -> list:
    """Return the names of the classes of an image folder, in the order of their labels.

    Raise NotFound if there is no such folder.

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> for name in ("dog", "cat"):
    ...     os.mkdir(os.path.join(folder, name))
    >>> sk.data.image_classes(folder)
    ['cat', 'dog']
    """
    try:
        with os.scandir(directory) as entries:
            names = [entry.name for entry in entries if entry.is_dir() and not entry.name.startswith(".")]
    except FileNotFoundError as missing:
        raise NotFound(f"cannot list the folder {os.fsdecode(directory)}: {missing.strerror}") from None
    return sorted((name for name in names if name != "__MACOSX"), key=os.fsencode)


def _default(value, dtype):
    if value is None:
        return None
    array = constant(value) if dtype == "string" else constant(value).astype(dtype)
    return {"const": array.tolist(), "dtype": dtype, "shape": list(array.shape)}


def IdxDataset(filenames, name=None):
    """Return a dataset of the entries of idx files (the format of MNIST), plain or GZIP.

    >>> import os, pathlib, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "labels-idx1-ubyte")
    >>> _ = pathlib.Path(path).write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 2, 7, 9]))
    >>> [int(label) for label in sk.data.IdxDataset(path)]
    [7, 9]
    """
    return Dataset._source("idx", name, filenames=paths(filenames))


def _files(stage, filenames, compression_type, num_parallel_reads, name, **params):
    """Return a dataset that reads files one after the other, or one record of each of several files in turn."""
    compression_type = compression_type or ""
    if num_parallel_reads is None and not isinstance(filenames, Dataset):
        return Dataset._source(stage, name, filenames=paths(filenames), compression_type=compression_type, **params)
    files = filenames if isinstance(filenames, Dataset) else Dataset.from_tensor_slices(constant(paths(filenames)))
    opened = [{"stage": stage, "filenames": [{"element": ""}], "compression_type": compression_type, **params}]
    if num_parallel_reads is None:
        return files._then("flat_map", name, map_func=opened)
    return files._then("interleave", name, map_func=opened, block_length=1,
                       cycle_length=count_of("num_parallel_reads", num_parallel_reads, least=1))


class experimental:
    """Names of `tf.data.experimental`.

    >>> sk.data.experimental.cardinality(sk.Dataset.range(3))
    3
    """

    AUTOTUNE = AUTOTUNE
    INFINITE_CARDINALITY = INFINITE_CARDINALITY
    UNKNOWN_CARDINALITY = UNKNOWN_CARDINALITY

    CsvDataset = staticmethod(csv_dataset)
    make_csv_dataset = staticmethod(make_csv_dataset)

    @staticmethod
    def cardinality(dataset) -> int:
        """Return `dataset.cardinality()`: the number of elements, INFINITE or UNKNOWN.

        >>> sk.data.experimental.cardinality(sk.Dataset.range(3))
        3
        """
        return dataset.cardinality()

    @staticmethod
    def assert_cardinality(expected_cardinality) -> Callable[[Dataset], Dataset]:
        """Return a function for `Dataset.apply` that calls `assert_cardinality`.

        >>> len(sk.Dataset.range(4).apply(sk.data.experimental.assert_cardinality(4)))
        4
        """
        return lambda dataset: dataset.assert_cardinality(expected_cardinality)

    @staticmethod
    def ignore_errors(log_warning=False) -> Callable[[Dataset], Dataset]:
        """Return a function for `Dataset.apply` that calls `ignore_errors`.

        >>> len(list(sk.Dataset.range(4).apply(sk.data.experimental.ignore_errors())))
        4
        """
        return lambda dataset: dataset.ignore_errors(log_warning)

    @staticmethod
    def at(dataset, index) -> Any:
        """Return `dataset.at(index)`: the element at a position of the first pass.

        >>> int(sk.data.experimental.at(sk.Dataset.range(10, 20), 3))
        13
        """
        return dataset.at(index)

    @staticmethod
    def Counter(start=0, step=1, dtype="int64"):
        """Return `Dataset.counter(start, step, dtype)`: an infinite dataset of numbers.

        >>> [int(x) for x in sk.data.experimental.Counter(5).take(2)]
        [5, 6]
        """
        return Dataset.counter(start, step, dtype)
