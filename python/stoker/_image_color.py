"""The functions of `sk.image` with names of `tf.image` that change or convert the colors of images.

The `stateless_` functions draw the random numbers of TensorFlow, which depend only on a seed of two integers.
"""

from ._spec import dtype_name
from ._values import op


def adjust_brightness(image, delta):
    """Add `delta` to the image and return it in the same type.

    For integer types, 1.0 is the highest value of the type, and results outside the range are clipped.

    >>> sk.image.adjust_brightness(np.array([0.5], np.float32), 0.25)
    array([0.75], dtype=float32)
    """
    return op("adjust_brightness", image, delta=float(delta))


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


def random_brightness(image, max_delta, seed=None):
    """Add a random number from [-max_delta, max_delta) to the image, as `adjust_brightness` does, and return it.

    Raise InvalidArgument if `max_delta` is negative.

    >>> sk.image.random_brightness(np.zeros((2, 2, 3), np.float32), 0.1).shape
    (2, 2, 3)
    """
    return op("random_brightness", image, max_delta=float(max_delta), seed=seed)


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


def convert_image_dtype(image, dtype, saturate=False, name=None):
    """Convert the image to `dtype`, scaled, and return it.

    A float from 0 to 1 corresponds to an integer from 0 to the highest value of its type. Values outside the range wrap
    around, or are clipped with `saturate=True`.

    >>> sk.image.convert_image_dtype(np.array([0, 255], np.uint8), "float32")
    array([0., 1.], dtype=float32)
    """
    return op("convert_image_dtype", image, dtype=dtype_name(dtype), saturate=saturate)


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
