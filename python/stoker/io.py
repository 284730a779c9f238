"""tf.io's names: on symbolic values inside `map`, on bytes and arrays elsewhere."""

import collections
import os
import zlib

import numpy as np

from . import _core, errors
from ._values import Value, constant, dtype_name, op


def read_file(filename, name=None):
    """The bytes of a file."""
    return op("read_file", filename)


def decode_jpeg(contents, channels=0, ratio=1, fancy_upscaling=True, try_recover_truncated=False, acceptable_fraction=1.0,
                dct_method="", name=None, *, like=""):
    """The picture in the bytes of a JPEG; like="pillow" gives Pillow's pixels."""
    return op("decode_jpeg", contents, channels=channels, ratio=ratio, fancy_upscaling=fancy_upscaling,
              try_recover_truncated=try_recover_truncated, acceptable_fraction=float(acceptable_fraction),
              dct_method=dct_method, like=like)


def decode_png(contents, channels=0, dtype="uint8", name=None, *, like=""):
    """The picture in the bytes of a PNG."""
    return op("decode_png", contents, channels=channels, dtype=dtype_name(dtype), like=like)


def decode_image(contents, channels=None, dtype="uint8", name=None, expand_animations=True, *, like=""):
    """The picture in bytes of any format that is known."""
    return op("decode_image", contents, channels=channels or 0, dtype=dtype_name(dtype),
              expand_animations=expand_animations, like=like)


class FixedLenFeature(collections.namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"])):
    """A feature with as many values as the shape has; one that is missing is the default, or an error."""

    __slots__ = ()

    def __new__(cls, shape, dtype, default_value=None):
        return super().__new__(cls, shape, dtype, default_value)


def parse_single_example(serialized, features, example_names=None, name=None):
    """A dict of the features of one serialized tf.train.Example."""
    if not isinstance(features, dict) or not features:
        raise errors.InvalidArgument("features wants a dict of names to FixedLenFeature, and at least one")
    return {key: _feature(serialized, str(key), feature) for key, feature in features.items()}


def _feature(serialized, key, feature):
    if not (hasattr(feature, "default_value") and hasattr(feature, "shape")):
        raise errors.Unimplemented(f"the feature '{key}' is a {type(feature).__name__}; FixedLenFeature is there so far")
    shape = feature.shape.as_list() if hasattr(feature.shape, "as_list") else feature.shape
    shape = [shape] if isinstance(shape, int) else list(shape)
    if any(side is None for side in shape):
        raise errors.InvalidArgument(f"the feature '{key}' wants a shape that is known, not {shape}")
    default = feature.default_value
    return op("fixed_len_feature", serialized, key=key, shape=[int(side) for side in shape],
              dtype=dtype_name(feature.dtype), default_value=None if default is None else _core.Array(constant(default)))


def encode_example(features):
    """A serialized tf.train.Example: integers become int64, floats float32, strings bytes."""
    return _core.encode_example({str(key): _as_feature(key, value) for key, value in features.items()})


def _as_feature(key, value):
    if isinstance(value, Value):
        raise errors.NeedsValue("encode_example needs the values themselves")
    array = np.atleast_1d(constant(value))
    if array.dtype.kind in "iub":
        return array.astype(np.int64)
    if array.dtype.kind == "f":
        return array.astype(np.float32)
    return array


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

    def write(self, record):
        """One record: bytes, or text as UTF-8."""
        self._check_open()
        framed = _core.framed(record.encode() if isinstance(record, str) else bytes(record))
        self._file.write(self._compressor.compress(framed) if self._compressor else framed)

    def flush(self):
        """What was written so far is in the file, readable."""
        self._check_open()
        if self._compressor:
            self._file.write(self._compressor.flush(zlib.Z_SYNC_FLUSH))
        self._file.flush()

    def close(self):
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
