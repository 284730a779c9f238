"""tf.data's names."""

from ._dataset import AUTOTUNE, Dataset, Iterator, _paths
from ._dataset import INFINITE as INFINITE_CARDINALITY
from ._dataset import UNKNOWN as UNKNOWN_CARDINALITY


def TextLineDataset(filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None):
    """Lines of text files."""
    if isinstance(filenames, Dataset):
        return filenames.flat_map(lambda path: TextLineDataset([path], compression_type), name=name)
    return Dataset._source("text_lines", name, filenames=_paths(filenames), compression_type=compression_type or "")


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
