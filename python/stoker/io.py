"""tf.io's names: on symbolic values inside `map`, on bytes and arrays elsewhere."""

from ._values import dtype_name, op


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
