"""Image functions with the names of `tf.image`, and the transforms of torchvision.

An image has the shape [height, width, channels], a batch of images [count, height, width, channels]. Inside `map`, the
functions take symbolic values and become native operations. Elsewhere, they take arrays and return new arrays. All of
them raise `InvalidArgument` if the shape, the type or a parameter is not supported: immediately for arrays, and inside
`map` when the dataset is built or, if the shape is unknown until then, when the element is computed.

The `random_` functions draw from the random numbers of the element, so a result depends only on the seed and the origin
of the element. Their parameter `seed` adds a seed of its own; None uses the seed of the dataset.
"""

import numpy as np

from . import errors
from . import io as _io
from ._values import dtype_name, op

__all__ = [
    "ResizeMethod", "adjust_brightness", "adjust_contrast", "adjust_gamma", "adjust_hue", "adjust_jpeg_quality",
    "adjust_saturation", "augment", "center_crop", "central_crop", "color_jitter", "convert_image_dtype",
    "crop_and_resize", "crop_to_bounding_box", "cutmix", "decode_and_crop_jpeg", "decode_bmp", "decode_gif",
    "decode_image", "decode_jpeg", "decode_png", "decode_webp", "extract_jpeg_shape", "extract_shape",
    "flip_left_right", "flip_up_down", "grayscale_to_rgb", "hsv_to_rgb", "is_jpeg", "mixup", "normalize",
    "pad_to_bounding_box", "per_image_standardization", "rand_augment", "random_brightness", "random_contrast",
    "random_crop", "random_erasing", "random_flip_left_right", "random_flip_up_down", "random_hue",
    "random_jpeg_quality", "random_resized_crop", "random_saturation", "resize", "resize_shorter",
    "resize_with_crop_or_pad", "resize_with_pad", "rgb_to_grayscale", "rgb_to_hsv", "rgb_to_yiq", "rgb_to_yuv", "rot90",
    "stateless_random_brightness", "stateless_random_contrast", "stateless_random_crop",
    "stateless_random_flip_left_right", "stateless_random_flip_up_down", "stateless_random_hue",
    "stateless_random_jpeg_quality", "stateless_random_saturation", "transpose", "trivial_augment", "yiq_to_rgb",
    "yuv_to_rgb",
]


def __dir__():
    return __all__


decode_jpeg = _io.decode_jpeg
decode_png = _io.decode_png
decode_image = _io.decode_image
decode_bmp = _io.decode_bmp
decode_gif = _io.decode_gif
decode_webp = _io.decode_webp
decode_and_crop_jpeg = _io.decode_and_crop_jpeg
is_jpeg = _io.is_jpeg
extract_jpeg_shape = _io.extract_jpeg_shape
extract_shape = _io.extract_shape


class ResizeMethod:
    """Names of the resize methods, for the parameter `method`.

    >>> sk.image.ResizeMethod.BICUBIC
    'bicubic'
    """

    AREA = "area"
    BICUBIC = "bicubic"
    BILINEAR = "bilinear"
    GAUSSIAN = "gaussian"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    MITCHELLCUBIC = "mitchellcubic"
    NEAREST_NEIGHBOR = "nearest"


def _height_and_width(size):
    sides = np.asarray(size)
    if sides.shape != (2,) or sides.dtype.kind not in "iu":
        raise errors.InvalidArgument(f"size: expected two integers, a height and a width, got {size!r}")
    return sides.tolist()


def resize(images, size, method=ResizeMethod.BILINEAR, preserve_aspect_ratio=False, antialias=False, name=None, *,
           like=""):
    """Resize an image or a batch of images to `size`, a height and a width.

    `method` is a name of `ResizeMethod`. With `preserve_aspect_ratio`, the result is the largest one of the same
    proportions that fits into `size`. With `antialias`, the filter covers more pixels when the image shrinks.

    Return float32, as TensorFlow does; "nearest" keeps the type. With `like="pillow"`, return the same bits as Pillow:
    uint8 for uint8, always antialiased. Raise InvalidArgument if `size` is not two integers, or if `like="pillow"` does
    not support the method.

    >>> sk.image.resize(np.zeros((4, 6, 3), np.uint8), (2, 3)).shape
    (2, 3, 3)
    >>> sk.image.resize(np.zeros((4, 6, 3), np.uint8), (2, 3), like="pillow").dtype
    dtype('uint8')
    """
    return op("resize", images, size=_height_and_width(size), method=method, preserve_aspect_ratio=preserve_aspect_ratio,
              antialias=antialias, like=like)


def flip_left_right(image):
    """Return the image, or each image of a batch, mirrored horizontally.

    >>> sk.image.flip_left_right(np.array([[[1], [2]]]))[0, :, 0]
    array([2, 1])
    """
    return op("flip_left_right", image)


def flip_up_down(image):
    """Return the image, or each image of a batch, mirrored vertically.

    >>> sk.image.flip_up_down(np.array([[[1]], [[2]]]))[:, 0, 0]
    array([2, 1])
    """
    return op("flip_up_down", image)


def random_flip_left_right(image, seed=None):
    """Mirror the image, or each image of a batch, horizontally with a probability of 1/2, and return it.

    >>> ds = sk.Dataset.from_tensors(np.zeros((2, 4, 3), np.uint8))
    >>> ds.map(lambda image: sk.image.random_flip_left_right(image, seed=7)).get_single_element().shape
    (2, 4, 3)
    """
    return op("random_flip_left_right", image, seed=seed)


def adjust_brightness(image, delta):
    """Add `delta` to the image and return it in the same type.

    For integer types, 1.0 is the highest value of the type, and results outside the range are clipped.

    >>> sk.image.adjust_brightness(np.array([0.5], np.float32), 0.25)
    array([0.75], dtype=float32)
    """
    return op("adjust_brightness", image, delta=float(delta))


def random_brightness(image, max_delta, seed=None):
    """Add a random number from [-max_delta, max_delta) to the image, as `adjust_brightness` does, and return it.

    Raise InvalidArgument if `max_delta` is negative.

    >>> sk.image.random_brightness(np.zeros((2, 2, 3), np.float32), 0.1).shape
    (2, 2, 3)
    """
    return op("random_brightness", image, max_delta=float(max_delta), seed=seed)


def convert_image_dtype(image, dtype, saturate=False, name=None):
    """Convert the image to `dtype`, scaled, and return it.

    A float from 0 to 1 corresponds to an integer from 0 to the highest value of its type. Values outside the range wrap
    around, or are clipped with `saturate=True`.

    >>> sk.image.convert_image_dtype(np.array([0, 255], np.uint8), "float32")
    array([0., 1.], dtype=float32)
    """
    return op("convert_image_dtype", image, dtype=dtype_name(dtype), saturate=saturate)


def crop_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """Return the window of an image, or of each image of a batch, that starts at a row and a column.

    Raise InvalidArgument if the window does not fit the image.

    >>> sk.image.crop_to_bounding_box(np.zeros((4, 6, 3)), 1, 2, 2, 3).shape
    (2, 3, 3)
    """
    return op("crop_to_bounding_box", image, offset_height=int(offset_height), offset_width=int(offset_width),
              target_height=int(target_height), target_width=int(target_width))


def pad_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """Return an image of the target size, filled with 0, that contains the given image at a row and a column.

    Raise InvalidArgument if the image does not fit.

    >>> sk.image.pad_to_bounding_box(np.ones((1, 1, 1)), 0, 1, 1, 3)[0, :, 0]
    array([0., 1., 0.])
    """
    return op("pad_to_bounding_box", image, offset_height=int(offset_height), offset_width=int(offset_width),
              target_height=int(target_height), target_width=int(target_width))


def central_crop(image, central_fraction):
    """Return the center of the image: `central_fraction` of its height and of its width.

    Raise InvalidArgument if the fraction is not above 0 and at most 1.

    >>> sk.image.central_crop(np.zeros((4, 8, 3)), 0.5).shape
    (2, 4, 3)
    """
    return op("central_crop", image, central_fraction=float(central_fraction))


def resize_with_crop_or_pad(image, target_height, target_width):
    """Crop the image at its center, or pad it with 0 on all sides, to the target size, and return it.

    >>> sk.image.resize_with_crop_or_pad(np.zeros((4, 2, 3)), 3, 3).shape
    (3, 3, 3)
    """
    return op("resize_with_crop_or_pad", image, target_height=int(target_height), target_width=int(target_width))


def random_crop(value, size, seed=None, name=None):
    """Return a part of an array, of the shape `size`, at a random position.

    `size` includes the channels. Raise InvalidArgument if the part does not fit the array.

    >>> sk.image.random_crop(np.zeros((8, 8, 3), np.uint8), (4, 4, 3)).shape
    (4, 4, 3)
    """
    return op("random_crop", value, size=[int(side) for side in size], seed=seed)


def resize_with_pad(image, target_height, target_width, method=ResizeMethod.BILINEAR, antialias=False, *, like=""):
    """Resize the image to fit the target size, keep its proportions, pad the rest with 0, and return it.

    `method`, `antialias` and `like` are those of `resize`.

    >>> sk.image.resize_with_pad(np.zeros((4, 2, 3), np.uint8), 8, 8).shape
    (8, 8, 3)
    """
    return op("resize_with_pad", image, target_height=int(target_height), target_width=int(target_width),
              method=method, antialias=antialias, like=like)


def crop_and_resize(image, boxes, box_indices, crop_size, method="bilinear", extrapolation_value=0.0, name=None):
    """Cut windows out of a batch of images, resize each to `crop_size`, and return them as one float32 array.

    Row i of `boxes` is [top, left, bottom, right], from 0 to 1, in the image number `box_indices[i]`. `method` is
    "bilinear" or "nearest". Pixels outside an image have the value `extrapolation_value`. Raise InvalidArgument if an
    index is outside the batch.

    >>> sk.image.crop_and_resize(np.zeros((1, 8, 8, 3), np.float32), [[0.0, 0.0, 0.5, 0.5]], [0], (4, 4)).shape
    (1, 4, 4, 3)
    """
    return op("crop_and_resize", image, boxes, box_indices, crop_size=_height_and_width(crop_size), method=method,
              extrapolation_value=float(extrapolation_value))


def rot90(image, k=1, name=None):
    """Return the image, or each image of a batch, rotated counterclockwise by `k` quarter turns.

    >>> sk.image.rot90(np.zeros((2, 4, 3))).shape
    (4, 2, 3)
    """
    return op("rot90", image, k=int(k))


def transpose(image, name=None):
    """Return the image, or each image of a batch, with rows and columns exchanged.

    >>> sk.image.transpose(np.zeros((2, 4, 3))).shape
    (4, 2, 3)
    """
    return op("transpose_image", image)


def random_flip_up_down(image, seed=None):
    """Mirror the image, or each image of a batch, vertically with a probability of 1/2, and return it.

    >>> sk.image.random_flip_up_down(np.zeros((2, 4, 3))).shape
    (2, 4, 3)
    """
    return op("random_flip_up_down", image, seed=seed)


def adjust_contrast(images, contrast_factor):
    """Multiply the distance of each value from the mean of its channel by `contrast_factor`, and return the image.

    >>> sk.image.adjust_contrast(np.array([[[0.0], [1.0]]], np.float32), 0.5)[0, :, 0]
    array([0.25, 0.75], dtype=float32)
    """
    return op("adjust_contrast", images, contrast_factor=float(contrast_factor))


def adjust_gamma(image, gamma=1, gain=1):
    """Return `gain * image ** gamma`, in the type of the image.

    Integers are scaled to [0, 1] for this. Raise InvalidArgument if `gamma` is negative.

    >>> sk.image.adjust_gamma(np.array([0.5], np.float32), gamma=2)
    array([0.25], dtype=float32)
    """
    return op("adjust_gamma", image, gamma=float(gamma), gain=float(gain))


def adjust_hue(image, delta, name=None):
    """Rotate the hue of an RGB image by `delta`, from -1 to 1, and return the image.

    A delta of 1 or -1 is a full turn. Raise InvalidArgument if `delta` is outside the range.

    >>> sk.image.adjust_hue(np.array([[[1.0, 0.0, 0.0]]], np.float32), 0.5)[0, 0]
    array([0., 1., 1.], dtype=float32)
    """
    return op("adjust_hue", image, delta=float(delta))


def adjust_saturation(image, saturation_factor, name=None):
    """Multiply the saturation of an RGB image by `saturation_factor`, and return the image.

    A factor of 0 makes it gray, a factor of 1 leaves it unchanged.

    >>> sk.image.adjust_saturation(np.array([[[1.0, 0.0, 0.0]]], np.float32), 0.5)[0, 0]
    array([1. , 0.5, 0.5], dtype=float32)
    """
    return op("adjust_saturation", image, saturation_factor=float(saturation_factor))


def adjust_jpeg_quality(image, jpeg_quality, dct_method="", name=None):
    """Encode the image as a JPEG of `jpeg_quality`, from 0 to 100, decode it again, and return it.

    `dct_method` is that of `decode_jpeg`. Raise InvalidArgument if the array is not one image of 1 or 3 channels.

    >>> sk.image.adjust_jpeg_quality(np.zeros((8, 8, 3), np.uint8), 50).shape
    (8, 8, 3)
    """
    return op("adjust_jpeg_quality", image, jpeg_quality=int(jpeg_quality), dct_method=dct_method)


def per_image_standardization(image):
    """Return the image, or each image of a batch, as float32 with a mean of 0 and a standard deviation of 1.

    >>> sk.image.per_image_standardization(np.array([[[1], [3]]], np.uint8))[0, :, 0]
    array([-1.,  1.], dtype=float32)
    """
    return op("per_image_standardization", image)


def rgb_to_grayscale(images, name=None):
    """Return the brightness of an RGB image as an image of one channel.

    It is 0.2989 red + 0.587 green + 0.114 blue.

    >>> sk.image.rgb_to_grayscale(np.zeros((2, 2, 3), np.uint8)).shape
    (2, 2, 1)
    """
    return op("rgb_to_grayscale", images)


def grayscale_to_rgb(images, name=None):
    """Return an image of three channels, each equal to the only channel of the given image.

    >>> sk.image.grayscale_to_rgb(np.zeros((2, 2, 1), np.uint8)).shape
    (2, 2, 3)
    """
    return op("grayscale_to_rgb", images)


def rgb_to_hsv(images, name=None):
    """Return hue, saturation and value of an RGB image of floats from 0 to 1.

    >>> sk.image.rgb_to_hsv(np.array([0.0, 1.0, 0.0], np.float32))
    array([0.33333334, 1.        , 1.        ], dtype=float32)
    """
    return op("rgb_to_hsv", images)


def hsv_to_rgb(images, name=None):
    """Return the RGB image of hue, saturation and value, floats from 0 to 1.

    >>> sk.image.hsv_to_rgb(np.array([0.0, 1.0, 1.0], np.float32))
    array([1., 0., 0.], dtype=float32)
    """
    return op("hsv_to_rgb", images)


def rgb_to_yuv(images):
    """Return luma and chroma (YUV, as in PAL) of an RGB image of floats.

    >>> sk.image.rgb_to_yuv(np.zeros((2, 2, 3), np.float32)).shape
    (2, 2, 3)
    """
    return op("rgb_to_yuv", images)


def yuv_to_rgb(images):
    """Return the RGB image of luma and chroma (YUV, as in PAL).

    >>> sk.image.yuv_to_rgb(np.zeros((2, 2, 3), np.float32)).shape
    (2, 2, 3)
    """
    return op("yuv_to_rgb", images)


def rgb_to_yiq(images):
    """Return luma and chroma (YIQ, as in NTSC) of an RGB image of floats.

    >>> sk.image.rgb_to_yiq(np.zeros((2, 2, 3), np.float32)).shape
    (2, 2, 3)
    """
    return op("rgb_to_yiq", images)


def yiq_to_rgb(images):
    """Return the RGB image of luma and chroma (YIQ, as in NTSC).

    >>> sk.image.yiq_to_rgb(np.zeros((2, 2, 3), np.float32)).shape
    (2, 2, 3)
    """
    return op("yiq_to_rgb", images)


def random_contrast(image, lower, upper, seed=None):
    """Adjust the contrast by a random factor from [lower, upper), and return the image.

    Raise InvalidArgument if `lower` is negative or not below `upper`.

    >>> sk.image.random_contrast(np.zeros((2, 2, 3), np.float32), 0.5, 1.5).shape
    (2, 2, 3)
    """
    return op("random_contrast", image, lower=float(lower), upper=float(upper), seed=seed)


def random_hue(image, max_delta, seed=None):
    """Rotate the hue of an RGB image by a random number from [-max_delta, max_delta), and return the image.

    Raise InvalidArgument if `max_delta` is not from 0 to 0.5.

    >>> sk.image.random_hue(np.zeros((2, 2, 3), np.float32), 0.1).shape
    (2, 2, 3)
    """
    return op("random_hue", image, max_delta=float(max_delta), seed=seed)


def random_saturation(image, lower, upper, seed=None):
    """Multiply the saturation of an RGB image by a random factor from [lower, upper), and return the image.

    Raise InvalidArgument if `lower` is negative or not below `upper`.

    >>> sk.image.random_saturation(np.zeros((2, 2, 3), np.float32), 0.5, 1.5).shape
    (2, 2, 3)
    """
    return op("random_saturation", image, lower=float(lower), upper=float(upper), seed=seed)


def random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed=None):
    """Encode the image as a JPEG of a random quality, decode it, and return it.

    The quality is drawn from [min_jpeg_quality, max_jpeg_quality). Raise InvalidArgument if the array is not one image
    of 1 or 3 channels.

    >>> sk.image.random_jpeg_quality(np.zeros((8, 8, 3), np.uint8), 40, 60).shape
    (8, 8, 3)
    """
    return op("random_jpeg_quality", image, min_jpeg_quality=int(min_jpeg_quality),
              max_jpeg_quality=int(max_jpeg_quality), seed=seed)


# Functions whose random numbers depend only on a seed of two integers: those of TensorFlow.


def stateless_random_brightness(image, max_delta, seed):
    """Adjust the brightness by a number from [-max_delta, max_delta) that depends only on `seed`, and return the image.

    `seed` is two integers. The number is that of TensorFlow.

    >>> images = np.zeros((2, 2, 3), np.float32)
    >>> one, again = (sk.image.stateless_random_brightness(images, 0.5, seed=(1, 2)) for _ in range(2))
    >>> np.array_equal(one, again)
    True
    """
    return op("stateless_random_brightness", image, seed, max_delta=float(max_delta))


def stateless_random_contrast(image, lower, upper, seed):
    """Adjust the contrast by a factor from [lower, upper) that depends only on `seed`, and return the image.

    `seed` is two integers. The factor is that of TensorFlow.

    >>> sk.image.stateless_random_contrast(np.zeros((2, 2, 3), np.float32), 0.5, 1.5, seed=(1, 2)).shape
    (2, 2, 3)
    """
    return op("stateless_random_contrast", image, seed, lower=float(lower), upper=float(upper))


def stateless_random_hue(image, max_delta, seed):
    """Rotate the hue by a number from [-max_delta, max_delta) that depends only on `seed`, and return the image.

    `seed` is two integers. The number is that of TensorFlow.

    >>> sk.image.stateless_random_hue(np.zeros((2, 2, 3), np.float32), 0.1, seed=(1, 2)).shape
    (2, 2, 3)
    """
    return op("stateless_random_hue", image, seed, max_delta=float(max_delta))


def stateless_random_saturation(image, lower, upper, seed=None):
    """Multiply the saturation by a factor from [lower, upper) that depends only on `seed`, and return the image.

    `seed` is two integers and is required. The factor is that of TensorFlow. Raise InvalidArgument without a seed.

    >>> sk.image.stateless_random_saturation(np.zeros((2, 2, 3), np.float32), 0.5, 1.5, seed=(1, 2)).shape
    (2, 2, 3)
    """
    return op("stateless_random_saturation", image, seed, lower=float(lower), upper=float(upper))


def stateless_random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed):
    """Encode and decode the image as a JPEG of a quality that depends only on `seed`, and return it.

    The quality is from [min_jpeg_quality, max_jpeg_quality). `seed` is two integers. The quality is that of TensorFlow.

    >>> sk.image.stateless_random_jpeg_quality(np.zeros((8, 8, 3), np.uint8), 40, 60, seed=(1, 2)).shape
    (8, 8, 3)
    """
    return op("stateless_random_jpeg_quality", image, seed, min_jpeg_quality=int(min_jpeg_quality),
              max_jpeg_quality=int(max_jpeg_quality))


def stateless_random_flip_left_right(image, seed):
    """Mirror the image horizontally or not, depending only on `seed`, two integers, and return it.

    >>> sk.image.stateless_random_flip_left_right(np.zeros((2, 4, 3)), seed=(1, 2)).shape
    (2, 4, 3)
    """
    return op("stateless_random_flip_left_right", image, seed)


def stateless_random_flip_up_down(image, seed):
    """Mirror the image vertically or not, depending only on `seed`, two integers, and return it.

    >>> sk.image.stateless_random_flip_up_down(np.zeros((2, 4, 3)), seed=(1, 2)).shape
    (2, 4, 3)
    """
    return op("stateless_random_flip_up_down", image, seed)


def stateless_random_crop(value, size, seed, name=None):
    """Return a part of an array, of the shape `size`, at a position that depends only on `seed`, two integers.

    `size` includes the channels. Raise InvalidArgument if the part does not fit the array.

    >>> sk.image.stateless_random_crop(np.zeros((8, 8, 3)), (4, 4, 3), seed=(1, 2)).shape
    (4, 4, 3)
    """
    return op("stateless_random_crop", value, seed, size=[int(side) for side in size])


# Transforms of torchvision that tf.image does not have.


def _sides(size):
    """Return a height and a width; one number is used for both."""
    return [int(size)] * 2 if isinstance(size, int) else [int(side) for side in size]


def center_crop(image, size):
    """Return the center of the image as torchvision's `CenterCrop` does.

    `size` is a height and a width, or one number for both. A smaller image is padded with 0.

    >>> sk.image.center_crop(np.zeros((6, 8, 3), np.uint8), 4).shape
    (4, 4, 3)
    """
    return op("center_crop", image, size=_sides(size))


def resize_shorter(image, size, method=ResizeMethod.BILINEAR, antialias=False, *, like=""):
    """Resize the shorter side of the image to `size`, keep its proportions, and return it.

    This is torchvision's `Resize` with one number. `method`, `antialias` and `like` are those of `resize`.

    >>> sk.image.resize_shorter(np.zeros((4, 8, 3), np.uint8), 2).shape
    (2, 4, 3)
    """
    return op("resize_shorter", image, size=int(size), method=method, antialias=antialias, like=like)


def random_resized_crop(image, size, scale=(0.08, 1.0), ratio=(3 / 4, 4 / 3), method=ResizeMethod.BILINEAR,
                        antialias=False, seed=None, *, like=""):
    """Cut a random window out of the image, resize it to `size`, and return it.

    This is torchvision's `RandomResizedCrop`. `scale` bounds the window's share of the area, `ratio` its width divided
    by its height. `method`, `antialias` and `like` are those of `resize`.

    >>> sk.image.random_resized_crop(np.zeros((8, 8, 3), np.uint8), 4, like="pillow").shape
    (4, 4, 3)
    """
    return op("random_resized_crop", image, size=_sides(size), scale=[float(s) for s in scale],
              ratio=[float(r) for r in ratio], method=method, antialias=antialias, seed=seed, like=like)


def normalize(image, mean, std, layout="HWC", scale=None):
    """Return `(image * scale - mean) / std` as float32.

    `mean` and `std` are one number, or one per channel. By default, `scale` maps integers to [0, 1] and does not change
    floats. `layout="CHW"` returns channels first, as PyTorch expects them.

    >>> sk.image.normalize(np.full((2, 2, 3), 255, np.uint8), mean=0.5, std=0.5, layout="CHW").shape
    (3, 2, 2)
    """
    return op("normalize", image, mean=_numbers(mean), std=_numbers(std), layout=layout,
              scale=None if scale is None else float(scale))


def augment(image, operation, magnitude=0.0):
    """Apply one operation of `rand_augment` to a uint8 image, and return it.

    `operation` has torchvision's name: Identity, ShearX, ShearY, TranslateX, TranslateY, Rotate, Brightness, Color,
    Contrast, Sharpness, Posterize, Solarize, AutoContrast or Equalize. `magnitude` is a slope, pixels, degrees, a
    factor minus 1, bits or a threshold, depending on the operation.

    >>> sk.image.augment(np.zeros((4, 4, 3), np.uint8), "Rotate", 30).shape
    (4, 4, 3)
    """
    return op("augment", image, operation=operation, magnitude=float(magnitude))


def rand_augment(image, num_ops=2, magnitude=9, num_magnitude_bins=31, seed=None):
    """Apply `num_ops` random operations to a uint8 image, and return it, as torchvision's `RandAugment` does.

    `magnitude` is the strength, one of `num_magnitude_bins` steps.

    >>> sk.image.rand_augment(np.zeros((4, 4, 3), np.uint8)).shape
    (4, 4, 3)
    """
    return op("rand_augment", image, num_ops=int(num_ops), magnitude=int(magnitude),
              num_magnitude_bins=int(num_magnitude_bins), seed=seed)


def trivial_augment(image, num_magnitude_bins=31, seed=None):
    """Apply one random operation of random strength to a uint8 image, and return it.

    This is torchvision's `TrivialAugmentWide`.

    >>> sk.image.trivial_augment(np.zeros((4, 4, 3), np.uint8)).shape
    (4, 4, 3)
    """
    return op("trivial_augment", image, num_magnitude_bins=int(num_magnitude_bins), seed=seed)


def color_jitter(image, brightness=0, contrast=0, saturation=0, hue=0, seed=None):
    """Change brightness, contrast, saturation and hue by random amounts, in random order, and return the image.

    This is torchvision's `ColorJitter` for uint8 and float32. Each amount is a pair, the range of the factor, or one
    number x: from 1 - x to 1 + x, and for the hue from -x to x. 0 leaves the image unchanged.

    >>> sk.image.color_jitter(np.zeros((4, 4, 3), np.uint8), brightness=0.4, hue=(-0.1, 0.1)).shape
    (4, 4, 3)
    """
    amounts = dict(brightness=brightness, contrast=contrast, saturation=saturation, hue=hue)
    return op("color_jitter", image, seed=seed,
              **{name: [] if amount == 0 else _numbers(amount) for name, amount in amounts.items()})


def random_erasing(image, p=0.5, scale=(0.02, 0.33), ratio=(0.3, 3.3), value=0, layout="HWC", seed=None):
    """Overwrite a random window of the image with `value`, with the probability `p`, and return it.

    This is torchvision's `RandomErasing`. `scale` bounds the window's share of the area, `ratio` its height divided by
    its width. `value` is one number, or one per channel. `layout` is "HWC" or "CHW".

    >>> sk.image.random_erasing(np.zeros((4, 4, 3), np.float32), p=1.0, value=1).shape
    (4, 4, 3)
    """
    return op("random_erasing", image, p=float(p), scale=_numbers(scale), ratio=_numbers(ratio),
              value=_numbers(value), layout=layout, seed=seed)


def mixup(images, labels, num_classes=None, alpha=1.0, seed=None) -> tuple:
    """Mix each image of a batch, and its label, with the previous one, and return both as float32.

    This is torchvision's `MixUp`. Labels are one-hot rows, or class numbers together with `num_classes`. The share that
    an image keeps is drawn from Beta(alpha, alpha). Raise InvalidArgument for class numbers without `num_classes`.

    >>> images, labels = sk.image.mixup(np.zeros((2, 4, 4, 3), np.float32), np.array([0, 1]), num_classes=2)
    >>> images.shape, labels.shape
    ((2, 4, 4, 3), (2, 2))
    """
    share = op("mixup_share", images, alpha=float(alpha), seed=seed)
    return op("mixup", images, share), op("mix_labels", labels, share, num_classes=int(num_classes or 0))


def cutmix(images, labels, num_classes=None, alpha=1.0, seed=None) -> tuple:
    """Replace a random window of each image of a batch by that of the previous image, and mix the labels accordingly.

    This is torchvision's `CutMix`. Return the images in their type and the labels as float32. The parameters are those
    of `mixup`. Raise InvalidArgument for class numbers without `num_classes`.

    >>> images, labels = sk.image.cutmix(np.zeros((2, 4, 4, 3), np.uint8), np.array([0, 1]), num_classes=2)
    >>> images.dtype, labels.shape
    (dtype('uint8'), (2, 2))
    """
    box = op("cutmix_box", images, alpha=float(alpha), seed=seed)
    share = op("cutmix_share", images, box)
    return op("cutmix", images, box), op("mix_labels", labels, share, num_classes=int(num_classes or 0))


def _numbers(values):
    return [float(value) for value in values] if hasattr(values, "__iter__") else [float(values)]
