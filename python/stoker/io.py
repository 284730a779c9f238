"""tf.io's names: on symbolic values inside `map`, on bytes and arrays elsewhere."""

import collections
import os
import zlib

import numpy as np

from . import _core, errors
from ._composite import RaggedTensor, SparseTensor
from ._values import Value, computed_now, constant, dtype_name, op


def read_file(filename, name=None):
    """The bytes of a file."""
    return op("read_file", filename)


def decode_jpeg(contents, channels=0, ratio=1, fancy_upscaling=True, try_recover_truncated=False, acceptable_fraction=1.0,
                dct_method="", name=None, *, like="", exif_orientation=False):
    """The picture in the bytes of a JPEG; like="pillow" gives Pillow's pixels."""
    return op("decode_jpeg", contents, channels=channels, ratio=ratio, fancy_upscaling=fancy_upscaling,
              try_recover_truncated=try_recover_truncated, acceptable_fraction=float(acceptable_fraction),
              dct_method=dct_method, like=like, exif_orientation=exif_orientation)


def decode_and_crop_jpeg(contents, crop_window, channels=0, ratio=1, fancy_upscaling=True, try_recover_truncated=False,
                         acceptable_fraction=1.0, dct_method="", name=None, *, like=""):
    """The window [row, column, height, width] of a JPEG: the pixels of decoding it and cutting, for less work."""
    if not isinstance(crop_window, Value):
        crop_window = np.asarray(crop_window)
    return op("decode_and_crop_jpeg", contents, crop_window, channels=channels, ratio=ratio,
              fancy_upscaling=fancy_upscaling, try_recover_truncated=try_recover_truncated,
              acceptable_fraction=float(acceptable_fraction), dct_method=dct_method, like=like)


def decode_png(contents, channels=0, dtype="uint8", name=None, *, like="", exif_orientation=False):
    """The picture in the bytes of a PNG."""
    return op("decode_png", contents, channels=channels, dtype=dtype_name(dtype), like=like,
              exif_orientation=exif_orientation)


def decode_image(contents, channels=None, dtype="uint8", name=None, expand_animations=True, *, like="",
                 exif_orientation=False, try_recover_truncated=False):
    """The picture in bytes of JPEG, PNG, GIF, BMP or WebP; of a GIF or an animated WebP its frames."""
    return op("decode_image", contents, channels=channels or 0, dtype=dtype_name(dtype),
              expand_animations=expand_animations, like=like, exif_orientation=exif_orientation,
              try_recover_truncated=try_recover_truncated)


def decode_bmp(contents, channels=0, name=None):
    """The picture in the bytes of a BMP; a palette is applied."""
    return op("decode_bmp", contents, channels=channels)


def decode_gif(contents, name=None, *, try_recover_truncated=False):
    """The frames in the bytes of a GIF: [frames, height, width, 3]."""
    return op("decode_gif", contents, try_recover_truncated=try_recover_truncated)


def decode_webp(contents, channels=0, dtype="uint8", name=None):
    """The frames in the bytes of a WebP: [frames, height, width, channels]; a still one has one."""
    if dtype_name(dtype) != "uint8":
        raise errors.InvalidArgument(f"dtype is {dtype_name(dtype)}, a WebP is decoded to uint8")
    return op("decode_webp", contents, channels=channels)


def is_jpeg(contents, name=None):
    """Whether bytes begin as a JPEG does."""
    return op("is_jpeg", contents)


def extract_jpeg_shape(contents, output_type="int32", name=None):
    """Height, width and channels of a JPEG, without decoding it."""
    return op("extract_jpeg_shape", contents, output_type=dtype_name(output_type))


def extract_shape(contents, output_type="int32", *, expand_animations=True, exif_orientation=False):
    """The shape that `decode_image` gives bytes of any format, without decoding them."""
    return op("extract_shape", contents, output_type=dtype_name(output_type), expand_animations=expand_animations,
              exif_orientation=exif_orientation)


class FixedLenFeature(collections.namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"])):
    """A feature with as many values as the shape has; one that is missing is the default, or an error."""

    __slots__ = ()

    def __new__(cls, shape, dtype, default_value=None):
        return super().__new__(cls, shape, dtype, default_value)


class FixedLenSequenceFeature(
        collections.namedtuple("FixedLenSequenceFeature", ["shape", "dtype", "allow_missing", "default_value"])):
    """A feature of any number of rows of this shape; in a batch, short ones are filled up with the default."""

    __slots__ = ()

    def __new__(cls, shape, dtype, allow_missing=False, default_value=None):
        return super().__new__(cls, shape, dtype, allow_missing, default_value)


class VarLenFeature(collections.namedtuple("VarLenFeature", ["dtype"])):
    """A feature of any number of values, as a SparseTensor."""

    __slots__ = ()


class SparseFeature(
        collections.namedtuple("SparseFeature", ["index_key", "value_key", "dtype", "size", "already_sorted"])):
    """A SparseTensor from features that hold its indices, one for each dimension, and one that holds its values."""

    __slots__ = ()

    def __new__(cls, index_key, value_key, dtype, size, already_sorted=False):
        return super().__new__(cls, index_key, value_key, dtype, size, already_sorted)


class RaggedFeature(
        collections.namedtuple("RaggedFeature", ["dtype", "value_key", "partitions", "row_splits_dtype", "validate"])):
    """A RaggedTensor from a feature of values and features that say where rows of them end, outermost first.

    `validate` is taken for TensorFlow's sake: rows that do not fit the values are always an error.
    """

    __slots__ = ()

    RowSplits = collections.namedtuple("RowSplits", ["key"])
    RowLengths = collections.namedtuple("RowLengths", ["key"])
    RowStarts = collections.namedtuple("RowStarts", ["key"])
    RowLimits = collections.namedtuple("RowLimits", ["key"])
    ValueRowIds = collections.namedtuple("ValueRowIds", ["key"])
    UniformRowLength = collections.namedtuple("UniformRowLength", ["length"])

    def __new__(cls, dtype, value_key=None, partitions=(), row_splits_dtype="int32", validate=False):
        return super().__new__(cls, dtype, value_key, tuple(partitions), row_splits_dtype, validate)


def parse_example(serialized, features, example_names=None, name=None) -> dict:
    """A dict of the features of a vector of serialized tf.train.Examples."""
    return _now_or_later(serialized, lambda records: _parse(records, features, _IN_EXAMPLES, batched=True))


def parse_single_example(serialized, features, example_names=None, name=None) -> dict:
    """A dict of the features of one serialized tf.train.Example."""
    return _now_or_later(serialized, lambda records: _parse(records, features, _IN_EXAMPLES, batched=False))


def parse_sequence_example(serialized, context_features=None, sequence_features=None, example_names=None, name=None) -> tuple:
    """Of a vector of serialized tf.train.SequenceExamples: dicts of the features of their contexts, of their lists, and of
    the lengths of those lists that are FixedLenSequenceFeatures."""
    return _now_or_later(serialized, lambda records: _parse_sequences(records, context_features, sequence_features, True))


def parse_single_sequence_example(serialized, context_features=None, sequence_features=None, example_names=None, name=None) -> tuple:
    """Dicts of the features of one serialized tf.train.SequenceExample: of its context, and of its lists."""
    return _now_or_later(serialized,
                         lambda records: _parse_sequences(records, context_features, sequence_features, False)[:2])


_IN_EXAMPLES = ("FixedLenFeature", "FixedLenSequenceFeature", "VarLenFeature", "SparseFeature", "RaggedFeature")
_IN_CONTEXTS = ("FixedLenFeature", "VarLenFeature", "RaggedFeature")
_IN_LISTS = ("FixedLenSequenceFeature", "VarLenFeature", "RaggedFeature")
_PARTITIONS = {"RowSplits": "row_splits", "RowLengths": "row_lengths", "RowStarts": "row_starts",
               "RowLimits": "row_limits", "ValueRowIds": "value_rowids", "UniformRowLength": "uniform_row_length"}


def _now_or_later(serialized, parse):
    """Inside `map` an expression, elsewhere the values."""
    if isinstance(serialized, Value):
        return parse(serialized)
    return computed_now(parse, serialized if isinstance(serialized, (bytes, str)) else np.asarray(serialized, dtype=object))


def _parse_sequences(records, context_features, sequence_features, batched):
    if not context_features and not sequence_features:
        raise errors.InvalidArgument("context_features or sequence_features has to name at least one feature")
    context = _parse(records, context_features, _IN_CONTEXTS, batched) if context_features else {}
    lists, lengths = {}, {}
    if sequence_features:
        parser = _Parser(records, sequence_features, _IN_LISTS, batched, lists=True)
        lists, lengths = parser.features(), parser.lengths()
    return context, lists, lengths


def _parse(records, features, kinds, batched):
    return _Parser(records, features, kinds, batched).features()


class _Parser:
    """Makes expressions for features; each name is looked for once, however many want it."""

    def __init__(self, records, features, kinds, batched, lists=False):
        if not isinstance(features, dict) or not features:
            raise errors.InvalidArgument("features wants a dict of names to features as FixedLenFeature, and at least one")
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
        return op(name, *self._inputs, key=key, at=self._names.index(key), dtype=dtype_name(dtype), **params)

    def _FixedLenFeature(self, key, feature):
        return self._decode("fixed_len_feature", key, feature.dtype, shape=_shape(key, feature.shape),
                            default_value=_default(feature))

    def _FixedLenSequenceFeature(self, key, feature):
        if not self._lists and not feature.allow_missing:
            raise errors.InvalidArgument(f"the feature '{key}' wants allow_missing=True: in an Example, missing and empty are one")
        if self._lists and feature.default_value is not None:
            raise errors.InvalidArgument(f"the feature '{key}' is a list of a SequenceExample, which takes no default_value")
        return self._decode("fixed_len_sequence_feature", key, feature.dtype, shape=_shape(key, feature.shape),
                            allow_missing=bool(feature.allow_missing), default_value=_default(feature), steps=self._lists)

    def _VarLenFeature(self, key, feature):
        return SparseTensor(**{part: self._decode("var_len_feature", key, feature.dtype, part=part, steps=self._lists)
                               for part in ("indices", "values", "dense_shape")})

    def _SparseFeature(self, key, feature):
        index_keys, size = _listed(feature.index_key), [int(side) for side in np.atleast_1d(feature.size)]
        params = {"index_keys": index_keys, "index_at": [self._names.index(name) for name in index_keys],
                  "value_key": feature.value_key, "value_at": self._names.index(feature.value_key),
                  "dtype": dtype_name(feature.dtype), "size": size, "already_sorted": bool(feature.already_sorted)}
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

        # Uniform rows innermost are dims of the values.
        levels = self._batched + self._lists + (len(uniform) - uniform[::-1].index(False) if False in uniform else 0)
        made = part(-1)
        for level in reversed(range(levels)):
            made = RaggedTensor(made, part(level))
        return made


def _kind(key, feature, kinds):
    """By the name of its class, so that TensorFlow's own are taken too."""
    kind = type(feature).__name__
    if kind not in kinds:
        raise errors.InvalidArgument(f"the feature '{key}' is a {kind}; {', '.join(kinds)} are taken here")
    if kind == "RaggedFeature":
        for partition in feature.partitions:
            if type(partition).__name__ not in _PARTITIONS:
                raise errors.InvalidArgument(f"the feature '{key}' has a partition of type {type(partition).__name__}; "
                                             f"{', '.join(_PARTITIONS)} are taken")
    return kind


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
        raise errors.InvalidArgument(f"the feature '{key}' wants a shape that is known, not {shape}")
    return [int(side) for side in shape]


def _default(feature):
    if feature.default_value is None:
        return None
    dtype = dtype_name(feature.dtype)
    if dtype == "string":
        return _core.Array(np.asarray(feature.default_value, dtype=object))
    value = constant(feature.default_value)
    return _core.Array(value if value.size else value.astype(dtype))


def encode_example(features) -> bytes:
    """A serialized tf.train.Example: integers become int64, floats float32, strings bytes.

    An empty list has no type and is left out; an empty array has one and is a feature without values.
    """
    return _core.encode_example(_as_features(features))


def encode_sequence_example(context, feature_lists) -> bytes:
    """A serialized tf.train.SequenceExample: of features, and of lists that have a feature for each step."""
    return _core.encode_sequence_example(
        _as_features(context), {str(key): _as_steps(key, steps) for key, steps in feature_lists.items()})


def _as_features(features):
    return {str(key): _as_feature(key, value) for key, value in features.items() if not _is_empty(value)}


def _as_steps(key, steps):
    """Steps of one list; an empty one has the type of the others."""
    steps = list(steps)
    made = [None if _is_empty(step) else _as_feature(key, step) for step in steps]
    typed = next((step for step in made if step is not None), None)
    if steps and typed is None:
        raise errors.InvalidArgument(f"all steps of '{key}' are empty lists, which have no type; give empty arrays")
    return [typed[:0] if step is None else step for step in made]


def _is_empty(value):
    return isinstance(value, (list, tuple)) and not value


def _as_feature(key, value):
    if isinstance(value, Value):
        raise errors.NeedsValue(f"the feature '{key}' is to be encoded, which needs the value itself")
    if _is_text(value):
        return np.atleast_1d(np.asarray(value, dtype=object)).reshape(-1)  # NumPy's own strings lose zeros at the end
    array = np.atleast_1d(constant(value)).reshape(-1)
    if array.dtype.kind in "iub":
        return array.astype(np.int64)
    if array.dtype.kind == "f":
        return array.astype(np.float32)
    return array


def _is_text(value):
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    return isinstance(value, (bytes, str))


class TFRecordOptions:
    """How a TFRecord file is written: compression_type "", "GZIP" or "ZLIB", and its level."""

    def __init__(self, compression_type=None, flush_mode=None, input_buffer_size=None, output_buffer_size=None,
                 window_bits=None, compression_level=None, compression_method=None, mem_level=None,
                 compression_strategy=None):
        kind = getattr(compression_type, "compression_type", compression_type) or ""
        if kind not in ("", "GZIP", "ZLIB"):
            raise errors.InvalidArgument(f'compression_type is "", "GZIP" or "ZLIB", found {compression_type!r}')
        self.compression_type = kind
        self.compression_level = -1 if compression_level is None else int(compression_level)

    def _compressor(self):
        if not self.compression_type:
            return None
        bits = zlib.MAX_WBITS + (16 if self.compression_type == "GZIP" else 0)
        return zlib.compressobj(self.compression_level, zlib.DEFLATED, bits)


class TFRecordWriter:
    """Writes records to a file, one `write` each; TensorFlow reads it. Use it as a context manager, or close it."""

    def __init__(self, path, options=None):
        options = options if isinstance(options, TFRecordOptions) else TFRecordOptions(options)
        self._compressor = options._compressor()
        self._file = open(os.fspath(path), "wb", buffering=1 << 20)

    def write(self, record) -> None:
        """One record: bytes, or text as UTF-8."""
        self._check_open()
        framed = _core.framed(record.encode() if isinstance(record, str) else bytes(record))
        self._file.write(self._compressor.compress(framed) if self._compressor else framed)

    def flush(self) -> None:
        """What was written so far is in the file, readable."""
        self._check_open()
        if self._compressor:
            self._file.write(self._compressor.flush(zlib.Z_SYNC_FLUSH))
        self._file.flush()

    def close(self) -> None:
        if self._file.closed:
            return
        if self._compressor:
            self._file.write(self._compressor.flush())
        self._file.close()

    def _check_open(self):
        if self._file.closed:
            raise errors.FailedPrecondition(f"{self._file.name} is closed; nothing more can be written")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
