"""tf.data's names."""

from ._dataset import AUTOTUNE, Dataset, Iterator, _paths
from ._dataset import INFINITE as INFINITE_CARDINALITY
from ._dataset import UNKNOWN as UNKNOWN_CARDINALITY
from ._values import constant


def TextLineDataset(filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None):
    """Lines of text files."""
    return _files("text_lines", filenames, compression_type, num_parallel_reads, name)


def TFRecordDataset(filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None):
    """Records of TFRecord files, as bytes."""
    return _files("tfrecord", filenames, compression_type, num_parallel_reads, name)


def IdxDataset(filenames, name=None):
    """Entries of idx files (MNIST's), plain or GZIP, in order."""
    return Dataset._source("idx", name, filenames=_paths(filenames))


def _files(stage, filenames, compression_type, num_parallel_reads, name):
    """Files one after the other, or a record from each of several in turn."""
    compression_type = compression_type or ""
    if num_parallel_reads is None and not isinstance(filenames, Dataset):
        return Dataset._source(stage, name, filenames=_paths(filenames), compression_type=compression_type)
    files = filenames if isinstance(filenames, Dataset) else Dataset.from_tensor_slices(constant(_paths(filenames)))
    opened = [{"stage": stage, "filenames": [{"element": ""}], "compression_type": compression_type}]
    if num_parallel_reads is None:
        return files._then("flat_map", name, map_func=opened)
    return files._then("interleave", name, map_func=opened, cycle_length=int(num_parallel_reads), block_length=1)


class experimental:
    AUTOTUNE = AUTOTUNE
    INFINITE_CARDINALITY = INFINITE_CARDINALITY
    UNKNOWN_CARDINALITY = UNKNOWN_CARDINALITY

    @staticmethod
    def cardinality(dataset):
        return dataset.cardinality()

    @staticmethod
    def assert_cardinality(expected_cardinality):
        return lambda dataset: dataset.assert_cardinality(expected_cardinality)

    @staticmethod
    def ignore_errors(log_warning=False):
        return lambda dataset: dataset.ignore_errors(log_warning)

    @staticmethod
    def at(dataset, index):
        return dataset.at(index)

    @staticmethod
    def Counter(start=0, step=1, dtype="int64"):
        return Dataset.counter(start, step, dtype)
