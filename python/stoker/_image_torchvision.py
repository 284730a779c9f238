"""The functions of `sk.image` for transforms of torchvision that `tf.image` does not have."""

from ._values import op


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


def resize_shorter(image, size, method="bilinear", antialias=False, *, like=""):
    """Resize the shorter side of the image to `size`, keep its proportions, and return it.

    This is torchvision's `Resize` with one number. `method`, `antialias` and `like` are those of `resize`.

    >>> sk.image.resize_shorter(np.zeros((4, 8, 3), np.uint8), 2).shape
    (2, 4, 3)
    """
    return op("resize_shorter", image, size=int(size), method=method, antialias=antialias, like=like)


def random_resized_crop(image, size, scale=(0.08, 1.0), ratio=(3 / 4, 4 / 3), method="bilinear", antialias=False,
                        seed=None, *, like=""):
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
