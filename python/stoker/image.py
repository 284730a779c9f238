"""tf.image's names: on symbolic values inside `map`, on arrays elsewhere."""

from . import io as _io
from ._values import dtype_name, op

decode_jpeg = _io.decode_jpeg
decode_png = _io.decode_png
decode_image = _io.decode_image


class ResizeMethod:
    AREA = "area"
    BICUBIC = "bicubic"
    BILINEAR = "bilinear"
    GAUSSIAN = "gaussian"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    MITCHELLCUBIC = "mitchellcubic"
    NEAREST_NEIGHBOR = "nearest"


def resize(images, size, method=ResizeMethod.BILINEAR, preserve_aspect_ratio=False, antialias=False, name=None, *,
           like=""):
    """Pictures of another size: float32 as TensorFlow gives them, or like="pillow"."""
    height, width = (int(side) for side in size)
    return op("resize", images, size=[height, width], method=method, preserve_aspect_ratio=preserve_aspect_ratio,
              antialias=antialias, like=like)


def flip_left_right(image):
    return op("flip_left_right", image)


def flip_up_down(image):
    return op("flip_up_down", image)


def random_flip_left_right(image, seed=None):
    """Mirrored or not, by the element's own numbers."""
    return op("random_flip_left_right", image, seed=seed)


def adjust_brightness(image, delta):
    return op("adjust_brightness", image, delta=float(delta))


def random_brightness(image, max_delta, seed=None):
    return op("random_brightness", image, max_delta=float(max_delta), seed=seed)


def convert_image_dtype(image, dtype, saturate=False, name=None):
    """Another type, scaled: integers fill their range, floats go from 0 to 1."""
    return op("convert_image_dtype", image, dtype=dtype_name(dtype), saturate=saturate)
