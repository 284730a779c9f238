"""Image functions with the names of `tf.image`, and the transforms of torchvision.

An image has the shape [height, width, channels], a batch of images [count, height, width, channels]. Inside `map`, the
functions take symbolic values and become native operations. Elsewhere, they take arrays and return new arrays. All of
them raise `InvalidArgument` if the shape, the type or a parameter is not supported: immediately for arrays, and inside
`map` when the dataset is built or, if the shape is unknown until then, when the element is computed.

The `random_` functions draw from the random numbers of the element, so a result depends only on the seed and the origin
of the element. Their parameter `seed` adds a seed of its own; None uses the seed of the dataset.
"""

from ._image_color import (adjust_brightness, adjust_contrast, adjust_gamma, adjust_hue, adjust_jpeg_quality,
                           adjust_saturation, convert_image_dtype, grayscale_to_rgb, hsv_to_rgb,
                           per_image_standardization, random_brightness, random_contrast, random_hue,
                           random_jpeg_quality, random_saturation, rgb_to_grayscale, rgb_to_hsv, rgb_to_yiq, rgb_to_yuv,
                           stateless_random_brightness, stateless_random_contrast, stateless_random_hue,
                           stateless_random_jpeg_quality, stateless_random_saturation, yiq_to_rgb, yuv_to_rgb)
from ._image_geometry import (central_crop, crop_and_resize, crop_to_bounding_box, flip_left_right, flip_up_down,
                              pad_to_bounding_box, random_crop, random_flip_left_right, random_flip_up_down, resize,
                              resize_with_crop_or_pad, resize_with_pad, rot90, stateless_random_crop,
                              stateless_random_flip_left_right, stateless_random_flip_up_down, transpose)
from ._image_torchvision import (augment, center_crop, color_jitter, cutmix, mixup, normalize, rand_augment,
                                 random_erasing, random_resized_crop, resize_shorter, trivial_augment)
from .io import (decode_and_crop_jpeg, decode_bmp, decode_gif, decode_image, decode_jpeg, decode_png, decode_webp,
                 extract_jpeg_shape, extract_shape, is_jpeg)

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


# Pickles and checkpoints contain the names that users import, not those of the private modules.
for _name in __all__:
    if globals()[_name].__module__.startswith("stoker._image_"):
        globals()[_name].__module__ = __name__
