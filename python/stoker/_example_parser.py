"""Expressions that parse the features of `tf.train.Example` and `tf.train.SequenceExample`."""

import numpy as np

from . import _core, errors
from ._composite import RaggedTensor, SparseTensor
from ._spec import dtype_name, string
from ._values import Value, computed_now, constant, op

_IN_EXAMPLES = ("FixedLenFeature", "FixedLenSequenceFeature", "VarLenFeature", "SparseFeature", "RaggedFeature")
_IN_CONTEXTS = ("FixedLenFeature", "VarLenFeature", "RaggedFeature")
_IN_LISTS = ("FixedLenSequenceFeature", "VarLenFeature", "RaggedFeature")
_PARTITIONS = {"RowSplits": "row_splits", "RowLengths": "row_lengths", "RowStarts": "row_starts",
               "RowLimits": "row_limits", "ValueRowIds": "value_rowids", "UniformRowLength": "uniform_row_length"}


_PYTHON_NAMES = {"int": "int64", "float": "float32", "str": "string"}  # dtypes as text, and what Examples contain


def now_or_later(serialized, parse_records):
    """Return an expression inside `map`, and the values elsewhere."""
    if isinstance(serialized, Value):
        return parse_records(serialized)
    records = serialized if isinstance(serialized, (bytes, str)) else np.asarray(serialized, dtype=object)
    return computed_now(parse_records, records)


def parse(records, features, batched):
    """Return a dict of the features of Examples."""
    return _Parser(records, features, _IN_EXAMPLES, batched).features()


def parse_sequences(records, context_features, sequence_features, batched):
    """Return dicts of SequenceExamples: the features of the contexts, those of the lists, and the lengths of the lists."""
    if not context_features and not sequence_features:
        raise errors.InvalidArgument("expected at least one feature in context_features or sequence_features, got none")
    context = _Parser(records, context_features, _IN_CONTEXTS, batched).features() if context_features else {}
    lists, lengths = {}, {}
    if sequence_features:
        parser = _Parser(records, sequence_features, _IN_LISTS, batched, lists=True)
        lists, lengths = parser.features(), parser.lengths()
    return context, lists, lengths


class _Parser:
    """A builder of the expressions for features. Each name is looked up once, even if several features use it."""

    def __init__(self, records, features, kinds, batched, lists=False):
        if not isinstance(features, dict) or not features:
            raise errors.InvalidArgument("features: expected a dict of names to features, such as FixedLenFeature, "
                                         "with at least one entry")
        self._features = {key: (_kind(key, feature, kinds), feature) for key, feature in features.items()}
        self._names = list(dict.fromkeys(name for key, (kind, feature) in self._features.items()
                                         for name in _names_in(str(key), kind, feature)))
        self._batched = batched
        self._lists = lists
        self._inputs = records, op("example_features", records, keys=self._names, lists=lists)

    def features(self):
        return {key: getattr(self, "_" + kind)(str(key), feature) for key, (kind, feature) in self._features.items()}

    def lengths(self):
        return {key: op("sequence_length", *self._inputs, key=str(key), at=self._names.index(str(key)))
                for key, (kind, _) in self._features.items() if kind == "FixedLenSequenceFeature"}

    def _decode(self, name, key, dtype, **params):
        return op(name, *self._inputs, key=key, at=self._names.index(key), dtype=_checked_type(key, dtype), **params)

    def _FixedLenFeature(self, key, feature):
        return self._decode("fixed_len_feature", key, feature.dtype, shape=_shape(key, feature.shape),
                            default_value=_default(feature))

    def _FixedLenSequenceFeature(self, key, feature):
        if not self._lists and not feature.allow_missing:
            raise errors.InvalidArgument(f"the feature '{key}' requires allow_missing=True: an Example does not "
                                         "distinguish missing and empty features")
        if self._lists and feature.default_value is not None:
            raise errors.InvalidArgument(f"the feature '{key}' is a list of a SequenceExample, which has no "
                                         "default_value; remove it")
        return self._decode("fixed_len_sequence_feature", key, feature.dtype, shape=_shape(key, feature.shape),
                            allow_missing=bool(feature.allow_missing), default_value=_default(feature), steps=self._lists)

    def _VarLenFeature(self, key, feature):
        return SparseTensor(**{part: self._decode("var_len_feature", key, feature.dtype, part=part, steps=self._lists)
                               for part in ("indices", "values", "dense_shape")})

    def _SparseFeature(self, key, feature):
        index_keys, size = _listed(feature.index_key), [int(side) for side in np.atleast_1d(feature.size)]
        params = {"index_keys": index_keys, "index_at": [self._names.index(name) for name in index_keys],
                  "value_key": feature.value_key, "value_at": self._names.index(feature.value_key),
                  "dtype": _checked_type(key, feature.dtype), "size": size, "already_sorted": bool(feature.already_sorted)}
        return SparseTensor(**{part: op("sparse_feature", *self._inputs, part=part, **params)
                               for part in ("indices", "values", "dense_shape")})

    def _RaggedFeature(self, key, feature):
        value_key = str(feature.value_key or key)
        kinds = [_PARTITIONS[type(partition).__name__] for partition in feature.partitions]
        uniform = [kind == "uniform_row_length" for kind in kinds]
        rows = {"partitions": kinds,
                "partition_keys": ["" if same else part.key for same, part in zip(uniform, feature.partitions)],
                "partition_at": [int(part.length) if same else self._names.index(part.key)
                                 for same, part in zip(uniform, feature.partitions)],
                "row_splits_dtype": dtype_name(feature.row_splits_dtype), "steps": self._lists}

        def part(number):
            return self._decode("ragged_feature", value_key, feature.dtype, part=number, **rows)

        # Innermost uniform rows are dimensions of the values.
        levels = self._batched + self._lists + (len(uniform) - uniform[::-1].index(False) if False in uniform else 0)
        made = part(-1)
        for level in reversed(range(levels)):
            made = RaggedTensor(made, part(level))
        return made


def _kind(key, feature, kinds):
    """Return the name of a feature's class, so that classes of TensorFlow are accepted, too."""
    kind = type(feature).__name__
    if isinstance(feature, type) and feature.__name__ in kinds:
        raise errors.InvalidArgument(f"the feature '{key}' is the class {feature.__name__}; call it with the arguments of "
                                     "the feature")
    if isinstance(feature, (np.dtype, type, str)) or feature is string:
        raise errors.InvalidArgument(f"the feature '{key}' is the type {_type_text(feature)}, expected one of "
                                     f"{', '.join(kinds)}{_advice(feature)}")
    if kind not in kinds:
        raise errors.InvalidArgument(f"the feature '{key}' is a {kind}, expected one of {', '.join(kinds)}")
    if kind == "RaggedFeature":
        for partition in feature.partitions:
            if type(partition).__name__ not in _PARTITIONS:
                raise errors.InvalidArgument(f"the feature '{key}' has a partition of type {type(partition).__name__}, "
                                             f"expected one of {', '.join(_PARTITIONS)}")
    return kind


def _type_text(dtype):
    name = _name_of_type(dtype)
    return getattr(dtype, "__name__", repr(dtype)) if name is None else "sk." + _PYTHON_NAMES.get(name, name)


def _name_of_type(dtype):
    try:
        return dtype_name(dtype)
    except TypeError:
        return None


def _advice(dtype):
    """Return the feature to use instead of a type. Examples contain int64, float32 and string only."""
    name = _name_of_type(dtype) or ""
    stored = {"int": "int64", "uint": "int64", "bool": "int64", "float": "float32", "bfloat": "float32", "str": "string",
              "string": "string"}.get(name.rstrip("0123456789"))
    return f"; use sk.io.FixedLenFeature([], sk.{stored})" if stored else ""


def _checked_type(key, dtype):
    """Return the name of a type. Raise InvalidArgument for a name of Python that TensorFlow does not have."""
    name = dtype_name(dtype)
    if name in _PYTHON_NAMES:
        raise errors.InvalidArgument(f"the feature '{key}' has the dtype '{name}', expected int64, float32 or string; use "
                                     f"sk.{_PYTHON_NAMES[name]}")
    return name


def _names_in(key, kind, feature):
    if kind == "SparseFeature":
        return [*_listed(feature.index_key), feature.value_key]
    if kind == "RaggedFeature":
        return [feature.value_key or key, *(part.key for part in feature.partitions if hasattr(part, "key"))]
    return [key]


def _listed(value):
    return [value] if isinstance(value, str) else list(value)


def _shape(key, shape):
    shape = shape.as_list() if hasattr(shape, "as_list") else shape
    shape = [shape] if isinstance(shape, int) else list(shape)
    if any(side is None for side in shape):
        raise errors.InvalidArgument(f"the feature '{key}' has the shape {shape}, expected one without None")
    return [int(side) for side in shape]


def _default(feature):
    if feature.default_value is None:
        return None
    dtype = dtype_name(feature.dtype)
    if dtype == "string":
        return _core.Array(np.asarray(feature.default_value, dtype=object))
    value = constant(feature.default_value)
    return _core.Array(value if value.size else value.astype(dtype))
