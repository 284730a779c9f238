"""tf.image's names: on symbolic values inside `map`, on arrays elsewhere."""

import numpy as np

from . import errors
from . import io as _io
from ._values import dtype_name, op

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
        raise errors.InvalidArgument(f"size is height and width, found {size!r}")
    return sides.tolist()


def resize(images, size, method=ResizeMethod.BILINEAR, preserve_aspect_ratio=False, antialias=False, name=None, *,
           like=""):
    """Pictures of another size: float32 as TensorFlow gives them, or like="pillow"."""
    return op("resize", images, size=_height_and_width(size), method=method, preserve_aspect_ratio=preserve_aspect_ratio,
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


def crop_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    return op("crop_to_bounding_box", image, offset_height=int(offset_height), offset_width=int(offset_width),
              target_height=int(target_height), target_width=int(target_width))


def pad_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    return op("pad_to_bounding_box", image, offset_height=int(offset_height), offset_width=int(offset_width),
              target_height=int(target_height), target_width=int(target_width))


def central_crop(image, central_fraction):
    return op("central_crop", image, central_fraction=float(central_fraction))


def resize_with_crop_or_pad(image, target_height, target_width):
    return op("resize_with_crop_or_pad", image, target_height=int(target_height), target_width=int(target_width))


def random_crop(value, size, seed=None, name=None):
    """A part of that shape, from where the element's own numbers have it."""
    return op("random_crop", value, size=[int(side) for side in size], seed=seed)


def resize_with_pad(image, target_height, target_width, method=ResizeMethod.BILINEAR, antialias=False, *, like=""):
    return op("resize_with_pad", image, target_height=int(target_height), target_width=int(target_width),
              method=method, antialias=antialias, like=like)


def crop_and_resize(image, boxes, box_indices, crop_size, method="bilinear", extrapolation_value=0.0, name=None):
    return op("crop_and_resize", image, boxes, box_indices, crop_size=_height_and_width(crop_size), method=method,
              extrapolation_value=float(extrapolation_value))


def rot90(image, k=1, name=None):
    return op("rot90", image, k=int(k))


def transpose(image, name=None):
    return op("transpose_image", image)


def random_flip_up_down(image, seed=None):
    return op("random_flip_up_down", image, seed=seed)


def adjust_contrast(images, contrast_factor):
    return op("adjust_contrast", images, contrast_factor=float(contrast_factor))


def adjust_gamma(image, gamma=1, gain=1):
    return op("adjust_gamma", image, gamma=float(gamma), gain=float(gain))


def adjust_hue(image, delta, name=None):
    return op("adjust_hue", image, delta=float(delta))


def adjust_saturation(image, saturation_factor, name=None):
    return op("adjust_saturation", image, saturation_factor=float(saturation_factor))


def adjust_jpeg_quality(image, jpeg_quality, dct_method="", name=None):
    return op("adjust_jpeg_quality", image, jpeg_quality=int(jpeg_quality), dct_method=dct_method)


def per_image_standardization(image):
    return op("per_image_standardization", image)


def rgb_to_grayscale(images, name=None):
    return op("rgb_to_grayscale", images)


def grayscale_to_rgb(images, name=None):
    return op("grayscale_to_rgb", images)


def rgb_to_hsv(images, name=None):
    return op("rgb_to_hsv", images)


def hsv_to_rgb(images, name=None):
    return op("hsv_to_rgb", images)


def rgb_to_yuv(images):
    return op("rgb_to_yuv", images)


def yuv_to_rgb(images):
    return op("yuv_to_rgb", images)


def rgb_to_yiq(images):
    return op("rgb_to_yiq", images)


def yiq_to_rgb(images):
    return op("yiq_to_rgb", images)


def random_contrast(image, lower, upper, seed=None):
    return op("random_contrast", image, lower=float(lower), upper=float(upper), seed=seed)


def random_hue(image, max_delta, seed=None):
    return op("random_hue", image, max_delta=float(max_delta), seed=seed)


def random_saturation(image, lower, upper, seed=None):
    return op("random_saturation", image, lower=float(lower), upper=float(upper), seed=seed)


def random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed=None):
    return op("random_jpeg_quality", image, min_jpeg_quality=int(min_jpeg_quality),
              max_jpeg_quality=int(max_jpeg_quality), seed=seed)


# TensorFlow's own numbers for a seed of two.


def stateless_random_brightness(image, max_delta, seed):
    return op("stateless_random_brightness", image, seed, max_delta=float(max_delta))


def stateless_random_contrast(image, lower, upper, seed):
    return op("stateless_random_contrast", image, seed, lower=float(lower), upper=float(upper))


def stateless_random_hue(image, max_delta, seed):
    return op("stateless_random_hue", image, seed, max_delta=float(max_delta))


def stateless_random_saturation(image, lower, upper, seed=None):
    return op("stateless_random_saturation", image, seed, lower=float(lower), upper=float(upper))


def stateless_random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed):
    return op("stateless_random_jpeg_quality", image, seed, min_jpeg_quality=int(min_jpeg_quality),
              max_jpeg_quality=int(max_jpeg_quality))


def stateless_random_flip_left_right(image, seed):
    return op("stateless_random_flip_left_right", image, seed)


def stateless_random_flip_up_down(image, seed):
    return op("stateless_random_flip_up_down", image, seed)


def stateless_random_crop(value, size, seed, name=None):
    return op("stateless_random_crop", value, seed, size=[int(side) for side in size])


# What torchvision has besides.


def _sides(size):
    """Height and width; one number is both."""
    return [int(size)] * 2 if isinstance(size, int) else [int(side) for side in size]


def center_crop(image, size):
    """torchvision's CenterCrop."""
    return op("center_crop", image, size=_sides(size))


def resize_shorter(image, size, method=ResizeMethod.BILINEAR, antialias=False, *, like=""):
    """torchvision's Resize of one number: the size of the shorter side, proportions kept."""
    return op("resize_shorter", image, size=int(size), method=method, antialias=antialias, like=like)


def random_resized_crop(image, size, scale=(0.08, 1.0), ratio=(3 / 4, 4 / 3), method=ResizeMethod.BILINEAR,
                        antialias=False, seed=None, *, like=""):
    """torchvision's RandomResizedCrop."""
    return op("random_resized_crop", image, size=_sides(size), scale=[float(s) for s in scale],
              ratio=[float(r) for r in ratio], method=method, antialias=antialias, seed=seed, like=like)


def normalize(image, mean, std, layout="HWC", scale=None):
    """float32 of (x * scale - mean) / std; integers are scaled to [0, 1] unless told otherwise."""
    return op("normalize", image, mean=_numbers(mean), std=_numbers(std), layout=layout,
              scale=None if scale is None else float(scale))


def augment(image, operation, magnitude=0.0):
    """One of the changes among which rand_augment chooses, by torchvision's name."""
    return op("augment", image, operation=operation, magnitude=float(magnitude))


def rand_augment(image, num_ops=2, magnitude=9, num_magnitude_bins=31, seed=None):
    """torchvision's RandAugment."""
    return op("rand_augment", image, num_ops=int(num_ops), magnitude=int(magnitude),
              num_magnitude_bins=int(num_magnitude_bins), seed=seed)


def trivial_augment(image, num_magnitude_bins=31, seed=None):
    """torchvision's TrivialAugmentWide."""
    return op("trivial_augment", image, num_magnitude_bins=int(num_magnitude_bins), seed=seed)


def color_jitter(image, brightness=0, contrast=0, saturation=0, hue=0, seed=None):
    """torchvision's ColorJitter: numbers or pairs."""
    amounts = dict(brightness=brightness, contrast=contrast, saturation=saturation, hue=hue)
    return op("color_jitter", image, seed=seed,
              **{name: [] if amount == 0 else _numbers(amount) for name, amount in amounts.items()})


def random_erasing(image, p=0.5, scale=(0.02, 0.33), ratio=(0.3, 3.3), value=0, layout="HWC", seed=None):
    """torchvision's RandomErasing."""
    return op("random_erasing", image, p=float(p), scale=_numbers(scale), ratio=_numbers(ratio),
              value=_numbers(value), layout=layout, seed=seed)


def mixup(images, labels, num_classes=None, alpha=1.0, seed=None) -> tuple:
    """torchvision's MixUp on a batch: pictures and labels as float32. Labels are one-hot, or numbers of classes."""
    share = op("mixup_share", images, alpha=float(alpha), seed=seed)
    return op("mixup", images, share), op("mix_labels", labels, share, num_classes=int(num_classes or 0))


def cutmix(images, labels, num_classes=None, alpha=1.0, seed=None) -> tuple:
    """torchvision's CutMix on a batch: pictures, and labels as float32."""
    box = op("cutmix_box", images, alpha=float(alpha), seed=seed)
    share = op("cutmix_share", images, box)
    return op("cutmix", images, box), op("mix_labels", labels, share, num_classes=int(num_classes or 0))


def _numbers(values):
    return [float(value) for value in values] if hasattr(values, "__iter__") else [float(values)]
