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
