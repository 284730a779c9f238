"""The first real elements of a dataset. `map` compares the native and the Python results of a function on them.

Taking a sample has no effect: the first elements of a source are read outside any pass, stages that only reorder or select
elements are skipped, and no user code runs. If that is not possible, there is no sample.
"""

import os
import stat

import numpy as np

from . import _core
from ._composite import COMPOSITES
from ._findings import BAD_INDEX, DIVISION_BY_ZERO
from ._spec import structure_map
from ._trace import python_function
from .errors import Error, Unimplemented

_COUNT = 2
_MOST_BYTES = 1 << 22  # of an element; computing larger ones twice would delay the program
_MOST_RESULT_BYTES = 1 << 25  # of a result; larger ones would take several times the memory that the program needs
_BY_POSITION = {"range", "counter", "from_tensors", "from_tensor_slices", "list_files", "image_folder", "npy"}
_FORWARD = {"text_lines", "tfrecord", "csv", "jsonl", "fixed_length_records", "tar"}
_SAME_ELEMENTS = {"shuffle", "repeat", "take", "skip", "shard", "cache", "prefetch", "filter", "ignore_errors",
                  "assert_cardinality", "on_error"}


class Sample:
    """A few elements, computed on first use from the samples of the inputs, which are then dropped."""

    def __init__(self, make, inputs=()):
        self._make = make
        self._inputs = inputs
        self._found = None

    @property
    def elements(self):
        if self._found is None:
            try:
                self._found = [value for value in self._make() if _size_of(value) <= _MOST_BYTES]
            except (Error, ValueError, TypeError, IndexError):  # there are none, they fail, or their shapes differ
                self._found = []
            for sample in self._inputs:
                sample._found = None
        return self._found


def of_source(core, stage, params):
    """Return the sample of a source; None if taking it could be observed."""
    if stage in _BY_POSITION:
        return Sample(lambda: _by_position(core))
    return Sample(lambda: _read_forward(stage, params)) if stage in _FORWARD else None


def after(sample, stage, params):
    """Return the sample after one more stage."""
    if sample is None or stage in _SAME_ELEMENTS:
        return sample
    if stage == "map":
        return Sample(lambda: [_core.computed(params["map_func"], _core.Element(value)) for value in sample.elements
                               if _is_safe_to_read(value)], (sample,))
    if stage == "batch":
        return Sample(lambda: [_stacked(sample.elements)], (sample,))
    return None


def zipped(samples):
    """Return the sample of zipped datasets."""
    if any(sample is None for sample in samples):
        return None
    return Sample(lambda: list(zip(*(sample.elements for sample in samples))), tuple(samples))


def confirmed(function, traced, sample):
    """Compare the program with the function it was traced from. Return why it must not be used; None if it may be used."""
    found = traced.found
    plain = python_function(function, "", 1)  # alive while it is called
    for value in [] if found.draws or sample is None else filter(_is_safe_to_read, sample.elements):
        native = _result(traced.function, value)
        if _size_of(native) > _MOST_RESULT_BYTES:
            continue
        python = _result(plain.core, value)
        if found.adds_axes_to_text and isinstance(python, Error) and isinstance(python.__cause__, TypeError):
            continue
        if any(map(_has_no_python_type, (native, python))):
            continue
        if not _same(native, python) and not (found.divides and _is_division_by_zero(native)):
            return f"as Python it has another result: {_described(python)} instead of {_described(native)}"
    return None


def _is_division_by_zero(result):
    """Return whether it is the one documented difference: an error natively, 0 with a warning in NumPy."""
    return isinstance(result, Error) and DIVISION_BY_ZERO in str(result)


def _has_no_python_type(result):
    """Return whether NumPy lacks a type of the function, so that the native result cannot be compared.

    The type bfloat16 requires the package ml_dtypes.
    """
    return isinstance(result, Unimplemented) and "ml_dtypes" in str(result)


def _result(function, value):
    try:
        with np.errstate(all="ignore"):
            return _core.computed(function, _core.Element(_copy(value)))
    except Error as failed:
        return failed


def _same(a, b):
    if isinstance(a, Error) and isinstance(b, Error):
        is_index = isinstance(b.__cause__, IndexError) and BAD_INDEX in str(a)
        # Errors of the same operation are equal in their first line. The lines after it name the record, which only one has.
        return is_index or (type(a) is type(b) and str(a).partition("\n")[0] in str(b))
    if type(a) is not type(b):
        return False
    if isinstance(a, COMPOSITES):
        return _same(a._parts(), b._parts())
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, (np.ndarray, np.generic)):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    return a == b


def _described(value):
    if isinstance(value, tuple):
        return f"({', '.join(map(_described, value))})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {_described(part)}' for key, part in value.items())}}}"
    if isinstance(value, np.ndarray) and value.ndim:
        return f"{value.dtype} of shape {value.shape}"
    return f"{value!r:.80}" if not isinstance(value, Error) else f"the error '{value}'"


def _size_of(value):
    sizes = []
    structure_map(lambda part: sizes.append(_texts_size(part) or getattr(part, "nbytes", 0)), value)
    return sum(sizes)


def _texts_of(part):
    return [part] if isinstance(part, bytes) else part.ravel().tolist() if getattr(part, "dtype", None) == object else []


def _texts_size(part):
    return sum(map(len, _texts_of(part)))


def _is_safe_to_read(value):
    """Return whether functions may read the files that an element names. Reading a pipe would consume its data."""
    texts = []
    structure_map(lambda part: texts.extend(_texts_of(part)), value)
    return all(map(_is_absent_or_small, texts))


def _is_absent_or_small(path):
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return True
    return stat.S_ISREG(found.st_mode) and found.st_size <= _MOST_BYTES


def _copy(value):
    """Copy the arrays: a function may modify what it receives."""
    return structure_map(lambda part: part.copy() if isinstance(part, np.ndarray) else part, value)


def _by_position(core):
    first = core.then("take", {"count": _COUNT}, "", 0, "")
    found = []
    for i in range(_COUNT):
        try:
            found.append(first.at(i))
        except Error:
            break
    return found


def _read_forward(stage, params):
    """Read the first file through a new source, since each read is a pass. Reading a pipe would consume its data."""
    first = list(params["filenames"][:1])
    if not all(os.path.isfile(file) for file in first):
        return []
    return _core.Dataset.source(stage, {**params, "filenames": first}, "", 0, "").first_elements(_COUNT, False)


def _stacked(values):
    first = values[0]
    if isinstance(first, COMPOSITES):
        raise ValueError("sparse and ragged values cannot be stacked")
    if isinstance(first, tuple):
        return tuple(_stacked(parts) for parts in zip(*values))
    if isinstance(first, dict):
        return {key: _stacked([value[key] for value in values]) for key in first}
    if isinstance(first, bytes):
        return np.array(values, dtype=object)
    return np.stack(values)
