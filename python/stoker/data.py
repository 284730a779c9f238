"""tf.data's names."""

import os
from collections.abc import Callable
from typing import Any

from ._csv import csv_dataset, make_csv_dataset
from ._dataset import AUTOTUNE as AUTOTUNE
from ._dataset import Dataset as Dataset
from ._dataset import INFINITE as INFINITE_CARDINALITY
from ._dataset import Iterator as Iterator
from ._dataset import UNKNOWN as UNKNOWN_CARDINALITY
from ._dataset import _number, _paths
from ._values import constant, dtype_name
from .errors import InvalidArgument


def TextLineDataset(filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None):
    """Lines of text files."""
    return _files("text_lines", filenames, compression_type, num_parallel_reads, name)


def TFRecordDataset(filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None):
    """Records of TFRecord files, as bytes."""
    return _files("tfrecord", filenames, compression_type, num_parallel_reads, name)


def FixedLengthRecordDataset(filenames, record_bytes, header_bytes=None, footer_bytes=None, buffer_size=None,
                             compression_type=None, num_parallel_reads=None, name=None):
    """Records of `record_bytes` each, between a header and a footer of each file, as bytes."""
    return _files("fixed_length_records", filenames, compression_type, num_parallel_reads, name,
                  record_bytes=_number(record_bytes), header_bytes=_number(header_bytes) or 0,
                  footer_bytes=_number(footer_bytes) or 0)


def WebDataset(urls, components=None, compression_type=None, num_parallel_reads=None, name=None):
    """Samples of tar files in WebDataset's layout: dicts of "__key__", "__url__" and the bytes of each extension.

    `components` are the extensions wanted; without it, those of the first sample. Plain files have positions: a length,
    `at`, an even shuffle of all samples. Compressed ones are read forward.
    """
    return _files("tar", urls, compression_type, num_parallel_reads, name, components=list(components or ()))


def JsonLinesDataset(filenames, features, compression_type=None, num_parallel_reads=None, name=None):
    """Objects of JSON lines files as dicts of `features`: names to FixedLenFeature or TensorSpec.

    None in a shape is any length.
    """
    if not isinstance(features, dict) or not features:
        raise InvalidArgument("features wants a dict of names to FixedLenFeature or TensorSpec, and at least one")
    shapes = [[-1 if side is None else int(side) for side in feature.shape] for feature in features.values()]
    defaults = [getattr(feature, "default_value", None) for feature in features.values()]
    types = [dtype_name(feature.dtype) for feature in features.values()]
    return _files("jsonl", filenames, compression_type, num_parallel_reads, name,
                  names=[str(key) for key in features], dtypes=types, shapes=shapes,
                  defaults=[_default(*each) for each in zip(defaults, types)])


def NpyDataset(filenames, name=None):
    """Rows of .npy files; files that end in .npz give dicts of rows of their arrays."""
    paths = _paths(filenames)
    zipped = [os.fsencode(path).endswith(b".npz") for path in paths]
    return Dataset._source("npz" if paths and all(zipped) else "npy", name, filenames=paths)


def PictureFolder(directory, name=None):
    """(path, label) of the pictures in a folder with a folder for each class; picture_classes() names the classes."""
    return Dataset._source("picture_folder", name, directory=os.fspath(directory))


def picture_classes(directory) -> list:
    """The classes of a picture folder in the order of their labels."""
    with os.scandir(directory) as entries:
        names = [entry.name for entry in entries if entry.is_dir() and not entry.name.startswith(".")]
    return sorted((name for name in names if name != "__MACOSX"), key=os.fsencode)


def _default(value, dtype):
    if value is None:
        return None
    array = constant(value) if dtype == "string" else constant(value).astype(dtype)
    return {"const": array.tolist(), "dtype": dtype, "shape": list(array.shape)}


def IdxDataset(filenames, name=None):
    """Entries of idx files (MNIST's), plain or GZIP, in order."""
    return Dataset._source("idx", name, filenames=_paths(filenames))


def _files(stage, filenames, compression_type, num_parallel_reads, name, **params):
    """Files one after the other, or a record from each of several in turn."""
    compression_type = compression_type or ""
    if num_parallel_reads is None and not isinstance(filenames, Dataset):
        return Dataset._source(stage, name, filenames=_paths(filenames), compression_type=compression_type, **params)
    files = filenames if isinstance(filenames, Dataset) else Dataset.from_tensor_slices(constant(_paths(filenames)))
    opened = [{"stage": stage, "filenames": [{"element": ""}], "compression_type": compression_type, **params}]
    if num_parallel_reads is None:
        return files._then("flat_map", name, map_func=opened)
    return files._then("interleave", name, map_func=opened, cycle_length=int(num_parallel_reads), block_length=1)


class experimental:
    AUTOTUNE = AUTOTUNE
    INFINITE_CARDINALITY = INFINITE_CARDINALITY
    UNKNOWN_CARDINALITY = UNKNOWN_CARDINALITY

    CsvDataset = staticmethod(csv_dataset)
    make_csv_dataset = staticmethod(make_csv_dataset)

    @staticmethod
    def cardinality(dataset) -> int:
        return dataset.cardinality()

    @staticmethod
    def assert_cardinality(expected_cardinality) -> Callable[[Dataset], Dataset]:
        return lambda dataset: dataset.assert_cardinality(expected_cardinality)

    @staticmethod
    def ignore_errors(log_warning=False) -> Callable[[Dataset], Dataset]:
        return lambda dataset: dataset.ignore_errors(log_warning)

    @staticmethod
    def at(dataset, index) -> Any:
        return dataset.at(index)

    @staticmethod
    def Counter(start=0, step=1, dtype="int64"):
        return Dataset.counter(start, step, dtype)
