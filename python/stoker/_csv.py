"""CSV files by tf.data's rules: CsvDataset and make_csv_dataset."""

import csv
import itertools

import numpy as np

from . import errors
from ._dataset import AUTOTUNE, Dataset, _number, _paths
from ._trace import trace
from ._values import constant, dtype_name

_TYPES = ("int32", "int64", "float32", "float64", "string")


def csv_dataset(filenames, record_defaults, compression_type=None, buffer_size=None, header=False, field_delim=",",
                use_quote_delim=True, na_value="", select_cols=None, exclude_cols=None, name=None):
    """A tuple of scalars for each record. A default that is a type makes its column required."""
    if buffer_size is not None and _number(buffer_size) <= 0:
        raise errors.InvalidArgument(f"buffer_size is {buffer_size}, it must be at least 1")
    return Dataset._source("csv", name, filenames=_paths(filenames),
                           **_params(record_defaults, compression_type, header, field_delim, use_quote_delim, na_value,
                                     select_cols, exclude_cols))


def _params(record_defaults, compression_type, header, field_delim, use_quote_delim, na_value, select_cols=None,
            exclude_cols=None):
    return {"record_defaults": [_default(value) for value in record_defaults], "compression_type": compression_type or "",
            "header": bool(header), "field_delim": field_delim, "use_quote_delim": bool(use_quote_delim),
            "na_value": na_value, "select_cols": [int(i) for i in (() if select_cols is None else select_cols)],
            "exclude_cols": [int(i) for i in (() if exclude_cols is None else exclude_cols)]}


def _default(value):
    """A default as a graph file has it; a type is an empty array: required."""
    if _is_type(value):
        return {"const": [], "dtype": dtype_name(value)}
    array = value if isinstance(value, np.ndarray) else constant(value)
    items = array.tolist()
    if array.dtype.kind in "OSU":
        return {"const": items, "dtype": "string", "shape": list(array.shape)}
    return {"const": items, "dtype": array.dtype.name, "shape": list(array.shape)}


def _is_type(value):
    if isinstance(value, (np.ndarray, np.generic, list, tuple, int, float, bytes)):
        return False
    if isinstance(value, str):
        return value in _TYPES
    return isinstance(value, type) or hasattr(value, "name")


def make_csv_dataset(file_pattern, batch_size, column_names=None, column_defaults=None, label_name=None,
                     select_columns=None, field_delim=",", use_quote_delim=True, na_value="", header=True, num_epochs=None,
                     shuffle=True, shuffle_buffer_size=10000, shuffle_seed=None, prefetch_buffer_size=None,
                     num_parallel_reads=None, sloppy=False, num_rows_for_inference=100, compression_type=None,
                     ignore_errors=False, encoding="utf-8"):
    """Batches of CSV records as dicts of columns, or (dict, label).

    Names come from the header, types from the first rows.
    """
    files = _matching(file_pattern)

    def rows(path):
        return _rows(path, compression_type, field_delim, use_quote_delim, encoding)

    if column_names is None:
        if not header:
            raise errors.InvalidArgument("column_names are wanted where there is no header")
        column_names = _names(files, rows)
    twice = sorted({name for name in column_names if column_names.count(name) > 1})
    if twice:
        raise errors.InvalidArgument(f"the columns {twice} stand twice")
    selected = list(range(len(column_names))) if select_columns is None else _selected(select_columns, column_names)
    if column_defaults is None:
        bodies = (itertools.islice(rows(path), 1 if header else 0, None) for path in files)
        first = itertools.islice(itertools.chain.from_iterable(bodies), num_rows_for_inference)
        column_defaults = _inferred(first, selected, len(column_names), na_value)
    if len(column_defaults) != len(selected):
        raise errors.InvalidArgument(f"{len(column_defaults)} column_defaults for {len(selected)} columns")
    names = [column_names[i] for i in selected]
    if label_name is not None and label_name not in names:
        raise errors.InvalidArgument(f"label_name {label_name!r} is none of the columns {names}")

    params = _params(column_defaults, compression_type, header, field_delim, use_quote_delim, na_value,
                     selected if select_columns is not None else None)
    opened = [{"stage": "csv", "filenames": [{"element": ""}], **params}]
    if ignore_errors:
        opened.append({"stage": "ignore_errors"})
    ds = Dataset.from_tensor_slices(constant(files))
    if shuffle:
        ds = ds.shuffle(len(files), shuffle_seed)
    reads = 1 if num_parallel_reads is None else int(num_parallel_reads)
    ds = ds._then("interleave", None, map_func=opened, cycle_length=None if reads == AUTOTUNE else reads, block_length=1)
    if shuffle:
        ds = ds.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        ds = ds.repeat(num_epochs)
    ds = ds.batch(batch_size, drop_remainder=num_epochs is None)
    ds = ds._then("map", None, map_func=trace(_as_features(names, label_name), (None,) * len(names)).function)
    return ds.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def _as_features(names, label_name):
    def features_of(*columns):
        features = dict(zip(names, columns))
        if label_name is None:
            return features
        return {name: column for name, column in features.items() if name != label_name}, features[label_name]

    return features_of


def _matching(file_pattern):
    """As tf.data has it: every pattern must match, and names come in order."""
    files = []
    for pattern in _paths(file_pattern):
        files.extend(Dataset.list_files(pattern, shuffle=False))
    return sorted(files)


def _rows(path, compression_type, field_delim, use_quote_delim, encoding):
    lines = Dataset._source("text_lines", None, filenames=[path], compression_type=compression_type or "")
    texts = (bytes(line).decode(encoding) + "\n" for line in lines)
    reader = csv.reader(texts, delimiter=field_delim,
                        quoting=csv.QUOTE_MINIMAL if use_quote_delim else csv.QUOTE_NONE)
    for number, row in enumerate(reader):
        if number == 0 and row:
            row[0] = row[0].removeprefix("\ufeff").strip('"') if row[0].startswith("\ufeff") else row[0]
        yield row


def _names(files, rows):
    names = None
    for path in files:
        found = next(rows(path), None)
        if found is None:
            raise errors.InvalidArgument(f"{path.decode(errors='replace')} is empty, a header was wanted")
        if names is not None and found != names:
            raise errors.InvalidArgument(f"the columns of {path.decode(errors='replace')} are {found}, "
                                         f"those of the first file are {names}")
        names = found
    return names


def _selected(columns, names):
    """Columns given by name or number, as rising numbers."""
    places = []
    for column in columns:
        if isinstance(column, int) and not 0 <= column < len(names):
            raise errors.InvalidArgument(f"select_columns has {column}, there are {len(names)} columns")
        if not isinstance(column, int) and column not in names:
            raise errors.InvalidArgument(f"select_columns has {column!r}, the columns are {names}")
        places.append(column if isinstance(column, int) else names.index(column))
    if len(set(places)) != len(places):
        raise errors.InvalidArgument(f"select_columns has a column twice: {list(columns)}")
    return sorted(places)


def _inferred(rows, selected, columns, na_value):
    """The defaults of the narrowest types that hold every value, 0 or "" each."""
    levels = [0] * len(selected)
    told = [False] * len(selected)
    for row in rows:
        if len(row) != columns:
            raise errors.InvalidArgument(f"types cannot be inferred: a row has {len(row)} fields, {columns} were wanted")
        for j, column in enumerate(selected):
            text = row[column]
            if text in ("", na_value):
                continue
            told[j] = True
            while not _holds(_TYPES[levels[j]], text):
                levels[j] += 1
    types = [_TYPES[level] if seen else "string" for level, seen in zip(levels, told)]
    return [np.array([b""], dtype=object) if t == "string" else np.zeros(1, dtype=t) for t in types]


def _holds(dtype, text):
    if dtype == "string":
        return True
    try:
        if dtype in ("int32", "int64"):
            info = np.iinfo(dtype)
            return info.min <= int(text) <= info.max
        with np.errstate(over="ignore"):
            return bool(np.dtype(dtype).type(text) < np.inf)
    except ValueError:
        return False
