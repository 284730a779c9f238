"""CSV files by the rules of tf.data: `CsvDataset` and `make_csv_dataset`."""

import csv
import itertools
import os

import numpy as np

from . import errors
from ._arguments import AUTOTUNE, count_of, number, paths, whole_number
from ._dataset import Dataset
from ._spec import dtype_name
from ._trace import trace
from ._values import constant

_COMPRESSED = {b"\x1f\x8b": "GZIP", b"\x28\xb5\x2f\xfd": "ZSTD"}  # by the first bytes
_TYPES = ("int32", "int64", "float32", "float64", "string")


def csv_dataset(filenames, record_defaults, compression_type=None, buffer_size=None, header=False, field_delim=",",
                use_quote_delim=True, na_value="", select_cols=None, exclude_cols=None, name=None):
    r"""Return a dataset of the records of CSV files, as tuples of scalars.

    `record_defaults` has one entry per column: a default value, or a type, which makes the column required. `na_value`
    is another text for a missing value. `select_cols` lists the columns to read, `exclude_cols` those not to read.
    `buffer_size` has no effect. Raise InvalidArgument if the parameters contradict each other. A record that does not
    fit is an error of its element.

    >>> import os, pathlib, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "table.csv")
    >>> _ = pathlib.Path(path).write_text("x,name\n1,one\n2,\n")
    >>> for x, name in sk.data.experimental.CsvDataset(path, [sk.int32, "none"], header=True):
    ...     print(x, name)
    1 b'one'
    2 b'none'
    """
    if buffer_size is not None and number(buffer_size) <= 0:
        raise errors.InvalidArgument(f"buffer_size: expected at least 1, got {buffer_size}")
    return Dataset._source("csv", name, filenames=paths(filenames),
                           **_params(record_defaults, compression_type, header, field_delim, use_quote_delim, na_value,
                                     select_cols, exclude_cols))


def _params(record_defaults, compression_type, header, field_delim, use_quote_delim, na_value, select_cols=None,
            exclude_cols=None):
    return {"record_defaults": [_default(value) for value in record_defaults], "compression_type": compression_type or "",
            "header": bool(header), "field_delim": field_delim, "use_quote_delim": bool(use_quote_delim),
            "na_value": na_value, "select_cols": _numbers("select_cols", select_cols),
            "exclude_cols": _numbers("exclude_cols", exclude_cols)}


def _numbers(parameter, columns):
    columns = () if columns is None else columns
    for column in columns:
        if isinstance(column, (str, bytes)):
            raise errors.InvalidArgument(f"{parameter}: expected the numbers of columns, counted from 0, got {column!r}; "
                                         "make_csv_dataset selects columns by name (select_columns)")
    return [whole_number(parameter, column) for column in columns]


def _default(value):
    """Return a default in the form of a graph file. A type is an empty array, which means required."""
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
    r"""Return a dataset of batches of CSV records, as dicts of columns or tuples of such a dict and the labels.

    With `label_name`, the column of this name is the label. Column names come from the header, or from `column_names`.
    Types come from the first `num_rows_for_inference` rows, or from `column_defaults`. By default, records are shuffled
    and repeated indefinitely (`num_epochs=None`). `sloppy` has no effect.

    Raise InvalidArgument if names are missing or occur twice, if the headers of files differ, if a column does not
    exist, or if a file is not text of this `encoding` and `compression_type`.

    >>> import os, pathlib, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "table.csv")
    >>> _ = pathlib.Path(path).write_text("x,y\n1,0\n2,1\n")
    >>> ds = sk.data.experimental.make_csv_dataset(path, 2, label_name="y", num_epochs=1, shuffle=False)
    >>> features, labels = ds.get_single_element()
    >>> features["x"], labels
    (array([1, 2], dtype=int32), array([0, 1], dtype=int32))
    """
    files = _matching(file_pattern)

    def rows(path):
        return _rows(path, compression_type, field_delim, use_quote_delim, encoding)

    column_names = _distinct(_names(files, rows, header) if column_names is None else column_names)
    selected = list(range(len(column_names))) if select_columns is None else _selected(select_columns, column_names)
    if column_defaults is None:
        bodies = (itertools.islice(rows(path), 1 if header else 0, None) for path in files)
        first = itertools.islice(itertools.chain.from_iterable(bodies), _most_rows(num_rows_for_inference))
        column_defaults = _inferred(first, selected, len(column_names), na_value)
    if len(column_defaults) != len(selected):
        raise errors.InvalidArgument(f"column_defaults: expected {len(selected)}, one for each column, "
                                     f"got {len(column_defaults)}")
    names = [column_names[i] for i in selected]
    if label_name is not None and label_name not in names:
        raise errors.InvalidArgument(f"label_name: expected one of the columns {names}, got {label_name!r}")

    params = _params(column_defaults, compression_type, header, field_delim, use_quote_delim, na_value,
                     selected if select_columns is not None else None)
    opened = [{"stage": "csv", "filenames": [{"element": ""}], **params}]
    if ignore_errors:
        opened.append({"stage": "ignore_errors"})
    ds = Dataset.from_tensor_slices(constant(files))
    if shuffle:
        ds = ds.shuffle(len(files), shuffle_seed)
    reads = 1 if num_parallel_reads is None else count_of("num_parallel_reads", num_parallel_reads, least=1)
    ds = ds._then("interleave", None, map_func=opened, cycle_length=None if reads == AUTOTUNE else reads, block_length=1)
    if shuffle:
        ds = ds.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        ds = ds.repeat(num_epochs)
    ds = ds.batch(batch_size, drop_remainder=num_epochs is None)
    ds = ds._then("map", None, map_func=trace(_as_features(names, label_name), (None,) * len(names)).function)
    return ds.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def _most_rows(number_of_rows):
    """Return the number of rows that determine the types; None for all of them, as in tf.data."""
    if number_of_rows is None:
        return None
    most = whole_number("num_rows_for_inference", number_of_rows)
    if most < 0:
        raise errors.InvalidArgument(f"num_rows_for_inference: expected at least 0, or None for all rows, got {most}")
    return most


def _as_features(names, label_name):
    def features_of(*columns):
        features = dict(zip(names, columns))
        if label_name is None:
            return features
        return {name: column for name, column in features.items() if name != label_name}, features[label_name]

    return features_of


def _matching(file_pattern):
    """Return the files that match, sorted. As in tf.data, every pattern must match a file."""
    files = []
    for pattern in paths(file_pattern):
        files.extend(Dataset.list_files(pattern, shuffle=False))
    if not files:
        raise errors.InvalidArgument("file_pattern: expected at least one file, got an empty list")
    return sorted(files)


def _rows(path, compression_type, field_delim, use_quote_delim, encoding):
    """Yield the rows of a file, as lists of texts. Raise InvalidArgument if it is not a table of text."""
    reader = csv.reader(_texts(path, compression_type or "", encoding), delimiter=field_delim,
                        quoting=csv.QUOTE_MINIMAL if use_quote_delim else csv.QUOTE_NONE)
    try:
        for line, row in enumerate(reader):
            if line == 0 and row:
                row[0] = row[0].removeprefix("\ufeff").strip('"') if row[0].startswith("\ufeff") else row[0]
            yield row
    except csv.Error as error:
        raise _about(path, f"line {reader.line_num}: {error}") from error


def _texts(path, compression_type, encoding):
    lines = Dataset._source("text_lines", None, filenames=[path], compression_type=compression_type)
    for number_of_line, line in enumerate(map(bytes, lines), 1):
        kind = next((kind for start, kind in _COMPRESSED.items() if line.startswith(start)), None)
        if number_of_line == 1 and not compression_type and kind is not None:
            raise _about(path, f"the file is compressed; set compression_type to {kind!r} or 'AUTO'")
        try:
            yield line.decode(encoding) + "\n"
        except UnicodeDecodeError as error:
            raise _about(path, f"line {number_of_line} is not {encoding} text; set encoding to that of the file, or "
                               "compression_type if the file is compressed") from error
        except LookupError as error:
            raise errors.InvalidArgument(f"encoding: Python has no encoding {encoding!r}") from error


def _about(path, text):
    error = errors.InvalidArgument(f"{path.decode(errors='replace')}: {text}")
    error.path = os.fsdecode(path)
    return error


def _distinct(names):
    """Return the names of the columns. Raise InvalidArgument if one occurs twice."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise errors.InvalidArgument(f"column_names: expected different names, got {twice} more than once")
    return names


def _names(files, rows, header):
    """Return the names of the columns from the headers of the files, which have to be equal."""
    if not header:
        raise errors.InvalidArgument("header=False requires column_names")
    names = None
    for path in files:
        found = next(rows(path), None)
        if found is None:
            raise errors.InvalidArgument(f"{path.decode(errors='replace')} is empty, expected a header")
        if names is not None and found != names:
            raise errors.InvalidArgument(f"the columns of {path.decode(errors='replace')} are {found}, "
                                         f"expected those of the first file, {names}")
        names = found
    return names


def _selected(columns, names):
    """Return columns that are given by name or number as ascending numbers."""
    places = []
    for column in columns:
        if isinstance(column, int) and not 0 <= column < len(names):
            raise errors.InvalidArgument(f"select_columns: expected 0 to {len(names) - 1}, got {column}")
        if not isinstance(column, int) and column not in names:
            raise errors.InvalidArgument(f"select_columns: expected one of {names}, got {column!r}")
        places.append(column if isinstance(column, int) else names.index(column))
    if len(set(places)) != len(places):
        raise errors.InvalidArgument(f"select_columns: expected different columns, got {list(columns)}")
    return sorted(places)


def _inferred(rows, selected, columns, na_value):
    """Return the defaults, 0 or "", of the narrowest types that hold every value."""
    levels = [0] * len(selected)
    told = [False] * len(selected)
    for row in rows:
        if len(row) != columns:
            raise errors.InvalidArgument(f"types cannot be inferred: a row has {len(row)} fields, expected {columns}")
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
