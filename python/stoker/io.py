"""Functions and classes with the names of `tf.io`: reading and decoding files, `tf.train.Example`, TFRecord files.

Inside `map`, the functions take symbolic values and become native operations. Elsewhere, they take bytes and arrays.
Data that cannot be decoded raises `DataLoss` or `InvalidArgument`: immediately, or inside `map` as the error of the
element.

All decoders return uint8 by default. `channels` is 0 for those of the file, 1 for gray, 3 for RGB, 4 for RGBA.
`like="pillow"` returns the pixels of Pillow instead of those of TensorFlow. `exif_orientation=True` rotates the image
as its EXIF data specifies.
"""

import collections
import os
import zlib

import numpy as np

from . import _core, errors
from ._example_encoder import as_features, as_steps
from ._example_parser import now_or_later, parse, parse_sequences
from ._spec import dtype_name
from ._values import Value, op

__all__ = [
    "FixedLenFeature", "FixedLenSequenceFeature", "RaggedFeature", "SparseFeature", "TFRecordOptions", "TFRecordWriter",
    "VarLenFeature", "decode_and_crop_jpeg", "decode_bmp", "decode_gif", "decode_image", "decode_jpeg", "decode_png",
    "decode_webp", "encode_example", "encode_sequence_example", "extract_jpeg_shape", "extract_shape", "is_jpeg",
    "parse_example", "parse_sequence_example", "parse_single_example", "parse_single_sequence_example", "read_file",
]


def __dir__():
    return __all__


def read_file(filename, name=None):
    """Return the contents of a file, as bytes. Raise NotFound if there is no such file.

    >>> import os, pathlib, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.txt")
    >>> _ = pathlib.Path(path).write_bytes(b"hello")
    >>> sk.io.read_file(path)
    b'hello'
    """
    return op("read_file", filename)


def decode_jpeg(contents, channels=0, ratio=1, fancy_upscaling=True, try_recover_truncated=False, acceptable_fraction=1.0,
                dct_method="", name=None, *, like="", exif_orientation=False):
    """Decode a JPEG and return an array [height, width, channels] of uint8.

    `ratio` of 2, 4 or 8 decodes at a smaller size, which is faster than resizing. `try_recover_truncated` fills missing
    rows of a truncated file with gray. `acceptable_fraction` accepts a truncated file if this share of its rows is
    present. `fancy_upscaling` smooths subsampled colors. `dct_method` is "INTEGER_FAST" (the default) or
    "INTEGER_ACCURATE" (the default with `like="pillow"`). Raise InvalidArgument or DataLoss if the bytes are not a
    complete JPEG.

    >>> paths = sk.Dataset.from_tensor_slices(["cat.jpg"])
    >>> paths.map(lambda path: sk.io.decode_jpeg(sk.io.read_file(path), channels=3)).element_spec
    sk.TensorSpec(shape=(None, None, 3), dtype=sk.uint8)
    """
    return op("decode_jpeg", contents, channels=channels, ratio=ratio, fancy_upscaling=fancy_upscaling,
              try_recover_truncated=try_recover_truncated, acceptable_fraction=float(acceptable_fraction),
              dct_method=dct_method, like=like, exif_orientation=exif_orientation)


def decode_and_crop_jpeg(contents, crop_window, channels=0, ratio=1, fancy_upscaling=True, try_recover_truncated=False,
                         acceptable_fraction=1.0, dct_method="", name=None, *, like=""):
    """Decode only the window [row, column, height, width] of a JPEG, and return it as uint8.

    The pixels are those of decoding the whole image and cropping it. The other parameters are those of `decode_jpeg`.
    Raise InvalidArgument if the window does not fit the image.

    >>> paths = sk.Dataset.from_tensor_slices(["cat.jpg"])
    >>> ds = paths.map(lambda path: sk.io.decode_and_crop_jpeg(sk.io.read_file(path), [0, 0, 32, 32], channels=3))
    >>> ds.element_spec.dtype
    dtype('uint8')
    """
    if not isinstance(crop_window, Value):
        crop_window = np.asarray(crop_window)
    return op("decode_and_crop_jpeg", contents, crop_window, channels=channels, ratio=ratio,
              fancy_upscaling=fancy_upscaling, try_recover_truncated=try_recover_truncated,
              acceptable_fraction=float(acceptable_fraction), dct_method=dct_method, like=like)


def decode_png(contents, channels=0, dtype="uint8", name=None, *, like="", exif_orientation=False):
    """Decode a PNG and return an array [height, width, channels] of `dtype`: uint8 or uint16.

    Raise InvalidArgument or DataLoss if the bytes are not a complete PNG.

    >>> paths = sk.Dataset.from_tensor_slices(["cat.png"])
    >>> paths.map(lambda path: sk.io.decode_png(sk.io.read_file(path), channels=1)).element_spec
    sk.TensorSpec(shape=(None, None, 1), dtype=sk.uint8)
    """
    return op("decode_png", contents, channels=channels, dtype=dtype_name(dtype), like=like,
              exif_orientation=exif_orientation)


def decode_image(contents, channels=None, dtype="uint8", name=None, expand_animations=True, *, like="",
                 exif_orientation=False, try_recover_truncated=False):
    """Decode a JPEG, PNG, GIF, BMP or WebP, detected by its first bytes, and return an array.

    `dtype` is uint8, uint16, or float32 from 0 to 1. A GIF or an animated WebP returns [frames, height, width,
    channels], or its first frame with `expand_animations=False`. `try_recover_truncated` accepts truncated JPEG and GIF
    files. Raise InvalidArgument or DataLoss if the bytes cannot be decoded.

    >>> paths = sk.Dataset.from_tensor_slices(["cat.jpg"])
    >>> ds = paths.map(lambda path: sk.io.decode_image(sk.io.read_file(path), channels=3, expand_animations=False))
    >>> ds.element_spec.dtype
    dtype('uint8')
    """
    return op("decode_image", contents, channels=channels or 0, dtype=dtype_name(dtype),
              expand_animations=expand_animations, like=like, exif_orientation=exif_orientation,
              try_recover_truncated=try_recover_truncated)


def decode_bmp(contents, channels=0, name=None):
    """Decode a BMP and return an array [height, width, channels] of uint8. A palette is applied.

    Raise InvalidArgument or DataLoss if the bytes are not a complete BMP.

    >>> paths = sk.Dataset.from_tensor_slices(["cat.bmp"])
    >>> paths.map(lambda path: sk.io.decode_bmp(sk.io.read_file(path), channels=3)).element_spec
    sk.TensorSpec(shape=(None, None, 3), dtype=sk.uint8)
    """
    return op("decode_bmp", contents, channels=channels)


def decode_gif(contents, name=None, *, try_recover_truncated=False):
    """Decode a GIF and return its frames as an array [frames, height, width, 3] of uint8.

    `try_recover_truncated` returns the complete frames of a truncated or damaged file. Otherwise such a file raises
    InvalidArgument or DataLoss.

    >>> paths = sk.Dataset.from_tensor_slices(["cat.gif"])
    >>> paths.map(lambda path: sk.io.decode_gif(sk.io.read_file(path))).element_spec
    sk.TensorSpec(shape=(None, None, None, 3), dtype=sk.uint8)
    """
    return op("decode_gif", contents, try_recover_truncated=try_recover_truncated)


def decode_webp(contents, channels=0, dtype="uint8", name=None):
    """Decode a WebP and return its frames as an array [frames, height, width, channels] of uint8.

    A still image has one frame. Raise InvalidArgument if `dtype` is not uint8, and InvalidArgument or DataLoss if the
    bytes are not a complete WebP.

    >>> paths = sk.Dataset.from_tensor_slices(["cat.webp"])
    >>> paths.map(lambda path: sk.io.decode_webp(sk.io.read_file(path), channels=3)).element_spec
    sk.TensorSpec(shape=(None, None, None, 3), dtype=sk.uint8)
    """
    if dtype_name(dtype) != "uint8":
        raise errors.InvalidArgument(f"dtype: expected uint8 for a WebP, got {dtype_name(dtype)}")
    return op("decode_webp", contents, channels=channels)


def is_jpeg(contents, name=None):
    """Return whether bytes start as a JPEG does.

    >>> bool(sk.io.is_jpeg(b"GIF89a"))
    False
    """
    return op("is_jpeg", contents)


def extract_jpeg_shape(contents, output_type="int32", name=None):
    """Return height, width and channels of a JPEG, as an array of `output_type`, without decoding it.

    Raise InvalidArgument or DataLoss if the bytes are not a JPEG.

    >>> paths = sk.Dataset.from_tensor_slices(["cat.jpg"])
    >>> paths.map(lambda path: sk.io.extract_jpeg_shape(sk.io.read_file(path))).element_spec
    sk.TensorSpec(shape=(3,), dtype=sk.int32)
    """
    return op("extract_jpeg_shape", contents, output_type=dtype_name(output_type))


def extract_shape(contents, output_type="int32", *, expand_animations=True, exif_orientation=False):
    """Return the shape that `decode_image` would return, as an array of `output_type`, without decoding the image.

    Raise InvalidArgument or DataLoss if the bytes are not an image.

    >>> paths = sk.Dataset.from_tensor_slices(["cat.jpg"])
    >>> paths.map(lambda path: sk.io.extract_shape(sk.io.read_file(path))).element_spec.dtype
    dtype('int32')
    """
    return op("extract_shape", contents, output_type=dtype_name(output_type), expand_animations=expand_animations,
              exif_orientation=exif_orientation)


class FixedLenFeature(collections.namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"])):
    """A feature with as many values as the shape has.

    A missing feature has the value `default_value`; without a default, it is an error. `dtype` is int64, float32 or
    string.

    >>> record = sk.io.encode_example({"x": [1, 2]})
    >>> sk.io.parse_single_example(record, {"x": sk.io.FixedLenFeature((2,), sk.int64)})
    {'x': array([1, 2])}
    """

    __slots__ = ()

    def __new__(cls, shape, dtype, default_value=None):
        return super().__new__(cls, shape, dtype, default_value)


class FixedLenSequenceFeature(
        collections.namedtuple("FixedLenSequenceFeature", ["shape", "dtype", "allow_missing", "default_value"])):
    """A feature with any number of rows of this shape.

    In a batch, short records are padded with `default_value`. In an Example, `allow_missing=True` is required.

    >>> record = sk.io.encode_example({"x": [1, 2, 3]})
    >>> feature = sk.io.FixedLenSequenceFeature((), sk.int64, allow_missing=True)
    >>> sk.io.parse_single_example(record, {"x": feature})
    {'x': array([1, 2, 3])}
    """

    __slots__ = ()

    def __new__(cls, shape, dtype, allow_missing=False, default_value=None):
        return super().__new__(cls, shape, dtype, allow_missing, default_value)


class VarLenFeature(collections.namedtuple("VarLenFeature", ["dtype"])):
    """A feature with any number of values, parsed to a SparseTensor.

    >>> record = sk.io.encode_example({"x": [1, 2, 3]})
    >>> sk.io.parse_single_example(record, {"x": sk.io.VarLenFeature(sk.int64)})["x"].values
    array([1, 2, 3])
    """

    __slots__ = ()


class SparseFeature(
        collections.namedtuple("SparseFeature", ["index_key", "value_key", "dtype", "size", "already_sorted"])):
    """A SparseTensor that is stored in several features.

    One feature holds the indices of each dimension, and one the values. `index_key` is a name, or a list of names for
    several dimensions, and `size` their lengths. `already_sorted` keeps the order of the values.

    >>> record = sk.io.encode_example({"at": [1, 3], "x": [5, 6]})
    >>> feature = sk.io.SparseFeature("at", "x", sk.int64, size=4)
    >>> sk.io.parse_single_example(record, {"x": feature})["x"].to_dense()
    array([0, 5, 0, 6])
    """

    __slots__ = ()

    def __new__(cls, index_key, value_key, dtype, size, already_sorted=False):
        return super().__new__(cls, index_key, value_key, dtype, size, already_sorted)


class RaggedFeature(
        collections.namedtuple("RaggedFeature", ["dtype", "value_key", "partitions", "row_splits_dtype", "validate"])):
    """A RaggedTensor that is stored in a feature of values, and features that describe its rows, outermost first.

    `value_key` is the name of the values, by default the key of this feature. `partitions` lists the row partitions,
    for example `RaggedFeature.RowSplits("splits")`. `validate` is accepted for TensorFlow: rows that do not fit the
    values are always an error.

    >>> record = sk.io.encode_example({"x": [1, 2, 3], "splits": [0, 2, 3]})
    >>> feature = sk.io.RaggedFeature(sk.int64, partitions=[sk.io.RaggedFeature.RowSplits("splits")])
    >>> sk.io.parse_single_example(record, {"x": feature})["x"].to_list()
    [[1, 2], [3]]
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
    """Parse a vector of serialized tf.train.Examples, and return a dict of their features.

    `features` maps names to FixedLenFeature, FixedLenSequenceFeature, VarLenFeature, SparseFeature or RaggedFeature;
    those of TensorFlow are accepted, too. `example_names` and `name` have no effect.

    Raise InvalidArgument if `features` is empty or not supported, or if a record does not fit or is damaged.

    >>> records = np.array([sk.io.encode_example({"x": i}) for i in (3, 4)], dtype=object)
    >>> sk.io.parse_example(records, {"x": sk.io.FixedLenFeature((), sk.int64)})
    {'x': array([3, 4])}
    """
    return now_or_later(serialized, lambda records: parse(records, features, batched=True))


def parse_single_example(serialized, features, example_names=None, name=None) -> dict:
    """Parse one serialized tf.train.Example, and return a dict of its features.

    The parameters and errors are those of `parse_example`.

    >>> ds = sk.Dataset.from_tensor_slices([sk.io.encode_example({"x": i}) for i in (3, 4)])
    >>> features = {"x": sk.io.FixedLenFeature((), sk.int64)}
    >>> [int(e["x"]) for e in ds.map(lambda record: sk.io.parse_single_example(record, features))]
    [3, 4]
    """
    return now_or_later(serialized, lambda records: parse(records, features, batched=False))


def parse_sequence_example(serialized, context_features=None, sequence_features=None, example_names=None, name=None) -> tuple:
    """Parse a vector of serialized tf.train.SequenceExamples.

    Return three dicts: the features of their contexts, the features of their lists, and the lengths of those lists that
    are FixedLenSequenceFeatures. Raise InvalidArgument if no feature is requested or a record does not fit.

    >>> records = np.array([sk.io.encode_sequence_example({"id": 7}, {"x": [[1], [2]]})], dtype=object)
    >>> context, lists, lengths = sk.io.parse_sequence_example(
    ...     records, {"id": sk.io.FixedLenFeature((), sk.int64)}, {"x": sk.io.FixedLenSequenceFeature((1,), sk.int64)})
    >>> context["id"], lists["x"].shape, lengths["x"]
    (array([7]), (1, 2, 1), array([2]))
    """
    return now_or_later(serialized, lambda records: parse_sequences(records, context_features, sequence_features, True))


def parse_single_sequence_example(serialized, context_features=None, sequence_features=None, example_names=None, name=None) -> tuple:
    """Parse one serialized tf.train.SequenceExample.

    Return two dicts: the features of its context, and the features of its lists. Raise InvalidArgument if no feature is
    requested or the record does not fit.

    >>> record = sk.io.encode_sequence_example({"id": 7}, {"x": [[1], [2]]})
    >>> context, lists = sk.io.parse_single_sequence_example(
    ...     record, {"id": sk.io.FixedLenFeature((), sk.int64)}, {"x": sk.io.FixedLenSequenceFeature((1,), sk.int64)})
    >>> int(context["id"]), lists["x"].shape
    (7, (2, 1))
    """
    return now_or_later(serialized,
                        lambda records: parse_sequences(records, context_features, sequence_features, False)[:2])


def encode_example(features) -> bytes:
    """Return the bytes of a tf.train.Example: integers become int64, floats float32, text bytes.

    `features` maps names to values. An empty list has no type and is omitted; an empty array has one and becomes a
    feature without values. Raise InvalidArgument if a value has another type.

    >>> record = sk.io.encode_example({"label": 3, "name": "cat"})
    >>> sk.io.parse_single_example(record, {"name": sk.io.FixedLenFeature((), sk.string)})
    {'name': b'cat'}
    """
    return _core.encode_example(as_features(features))


def encode_sequence_example(context, feature_lists) -> bytes:
    """Return the bytes of a tf.train.SequenceExample.

    `context` maps names to values, `feature_lists` maps names to lists of values, one for each step. Raise
    InvalidArgument if a value has another type than integer, float or text, or if all steps of a list are empty lists.

    >>> record = sk.io.encode_sequence_example({"id": 7}, {"x": [[1, 2], [3]]})
    >>> type(record)
    <class 'bytes'>
    """
    return _core.encode_sequence_example(
        as_features(context), {str(key): as_steps(key, steps) for key, steps in feature_lists.items()})


class TFRecordOptions:
    """Options of `TFRecordWriter`: `compression_type` ("", "GZIP" or "ZLIB") and `compression_level`.

    The other parameters are accepted for TensorFlow, without effect. Raise InvalidArgument for another compression
    type.

    >>> sk.io.TFRecordOptions("GZIP", compression_level=9).compression_type
    'GZIP'
    """

    def __init__(self, compression_type=None, flush_mode=None, input_buffer_size=None, output_buffer_size=None,
                 window_bits=None, compression_level=None, compression_method=None, mem_level=None,
                 compression_strategy=None):
        kind = getattr(compression_type, "compression_type", compression_type) or ""
        if kind not in ("", "GZIP", "ZLIB"):
            raise errors.InvalidArgument(f'compression_type: expected "", "GZIP" or "ZLIB", got {compression_type!r}')
        self.compression_type = kind
        self.compression_level = -1 if compression_level is None else int(compression_level)

    def _compressor(self):
        if not self.compression_type:
            return None
        bits = zlib.MAX_WBITS + (16 if self.compression_type == "GZIP" else 0)
        return zlib.compressobj(self.compression_level, zlib.DEFLATED, bits)


class TFRecordWriter:
    """A writer of a TFRecord file, which TensorFlow reads, too. Use it as a context manager, or call `close()`.

    `options` is a TFRecordOptions, or a compression type. Raise OSError if the file cannot be opened.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "train.tfrecord")
    >>> with sk.io.TFRecordWriter(path) as writer:
    ...     writer.write(b"one")
    ...     writer.write("two")
    >>> list(sk.data.TFRecordDataset(path))
    [b'one', b'two']
    """

    def __init__(self, path, options=None):
        options = options if isinstance(options, TFRecordOptions) else TFRecordOptions(options)
        self._compressor = options._compressor()
        self._file = open(os.fspath(path), "wb", buffering=1 << 20)

    def write(self, record) -> None:
        """Append one record: bytes, or text, which is encoded as UTF-8.

        Raise FailedPrecondition if the writer is closed.

        >>> import os
        >>> with sk.io.TFRecordWriter(os.devnull) as writer:
        ...     writer.write(b"one")
        """
        self._check_open()
        framed = _core.framed(record.encode() if isinstance(record, str) else bytes(record))
        self._file.write(self._compressor.compress(framed) if self._compressor else framed)

    def flush(self) -> None:
        """Write all records so far to the file, so that readers see them.

        Raise FailedPrecondition if the writer is closed.

        >>> import os
        >>> with sk.io.TFRecordWriter(os.devnull) as writer:
        ...     writer.flush()
        """
        self._check_open()
        if self._compressor:
            self._file.write(self._compressor.flush(zlib.Z_SYNC_FLUSH))
        self._file.flush()

    def close(self) -> None:
        """Write the remaining data and close the file. Further calls have no effect.

        >>> import os
        >>> sk.io.TFRecordWriter(os.devnull).close()
        """
        if self._file.closed:
            return
        if self._compressor:
            self._file.write(self._compressor.flush())
        self._file.close()

    def _check_open(self):
        if self._file.closed:
            raise errors.FailedPrecondition(f"the writer of {self._file.name} is closed; write before close()")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
