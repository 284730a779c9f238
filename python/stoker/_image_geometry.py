"""The functions of `sk.image` with names of `tf.image` that resize, crop, pad, mirror or rotate images."""

import numpy as np

from . import errors
from ._values import op


def _height_and_width(size):
    sides = np.asarray(size)
    if sides.shape != (2,) or sides.dtype.kind not in "iu":
        raise errors.InvalidArgument(f"size: expected two integers, a height and a width, got {size!r}")
    return sides.tolist()


def resize(images, size, method="bilinear", preserve_aspect_ratio=False, antialias=False, name=None, *, like=""):
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


def resize_with_crop_or_pad(image, target_height, target_width):
    """Crop the image at its center, or pad it with 0 on all sides, to the target size, and return it.

    >>> sk.image.resize_with_crop_or_pad(np.zeros((4, 2, 3)), 3, 3).shape
    (3, 3, 3)
    """
    return op("resize_with_crop_or_pad", image, target_height=int(target_height), target_width=int(target_width))


def resize_with_pad(image, target_height, target_width, method="bilinear", antialias=False, *, like=""):
    """Resize the image to fit the target size, keep its proportions, pad the rest with 0, and return it.

    `method`, `antialias` and `like` are those of `resize`.

    >>> sk.image.resize_with_pad(np.zeros((4, 2, 3), np.uint8), 8, 8).shape
    (8, 8, 3)
    """
    return op("resize_with_pad", image, target_height=int(target_height), target_width=int(target_width),
              method=method, antialias=antialias, like=like)


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


def random_crop(value, size, seed=None, name=None):
    """Return a part of an array, of the shape `size`, at a random position.

    `size` includes the channels. Raise InvalidArgument if the part does not fit the array.

    >>> sk.image.random_crop(np.zeros((8, 8, 3), np.uint8), (4, 4, 3)).shape
    (4, 4, 3)
    """
    return op("random_crop", value, size=[int(side) for side in size], seed=seed)


def stateless_random_crop(value, size, seed, name=None):
    """Return a part of an array, of the shape `size`, at a position that depends only on `seed`, two integers.

    `size` includes the channels. Raise InvalidArgument if the part does not fit the array.

    >>> sk.image.stateless_random_crop(np.zeros((8, 8, 3)), (4, 4, 3), seed=(1, 2)).shape
    (4, 4, 3)
    """
    return op("stateless_random_crop", value, seed, size=[int(side) for side in size])


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


def random_flip_up_down(image, seed=None):
    """Mirror the image, or each image of a batch, vertically with a probability of 1/2, and return it.

    >>> sk.image.random_flip_up_down(np.zeros((2, 4, 3))).shape
    (2, 4, 3)
    """
    return op("random_flip_up_down", image, seed=seed)


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
