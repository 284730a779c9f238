"""Calls that are spelled alike in tf.image and sk.image, with the distance allowed between their results.

tools/make_image_golden.py keeps TensorFlow's results for one set of inputs, image_golden_test.py compares with
those, image_tensorflow_test.py asks TensorFlow itself about other inputs.
"""

import json

import numpy as np

METHODS = ["bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"]
# Up, down, one of each, to one pixel, and by factors that are not round.
SIZES = [(3, 2), (11, 17), (5, 19), (15, 4), (1, 1)]


def inputs(seed):
    """Return the images of the cases: small, with odd sizes."""
    draw = np.random.default_rng(seed)
    return {
        "bytes": draw.integers(0, 256, (9, 13, 3), dtype=np.uint8),
        "gray": draw.integers(0, 256, (7, 5, 1), dtype=np.uint8),
        "batch": draw.integers(0, 256, (3, 5, 6, 3), dtype=np.uint8),
        "words": draw.integers(0, 65536, (4, 5, 3), dtype=np.uint16),
        "floats": draw.random((9, 13, 3), dtype=np.float32),
        "wide": (draw.random((6, 7, 3), dtype=np.float32) * 4 - 1).astype(np.float32),
        "seeds": draw.integers(-(2**31), 2**31, (6, 2), dtype=np.int64),
    }


def cases():
    """Name, the input it takes, the call, and how far apart results may be: in uint8, and of the range in floats."""
    for name, call in _geometry():
        for input in ("bytes", "batch", "floats"):
            yield f"{name} of {input}", input, call, 0, 0
    for name, call in _colors():
        for input in ("bytes", "words", "floats", "batch"):
            yield f"{name} of {input}", input, call, 1, 1e-6
    for input in ("bytes", "floats", "batch"):
        yield (f"grayscale_to_rgb of {input}", input,
               lambda image, x, s: image.grayscale_to_rgb(image.rgb_to_grayscale(x)), 1, 1e-6)
    for name, call in _spaces():
        for input in ("floats", "wide"):
            yield f"{name} of {input}", input, call, 0, 1e-6
    for method in METHODS:
        for height, width in SIZES:
            for antialias in (False, True):
                yield (f"resize {method}{' antialias' * antialias} to {height}x{width}", "bytes",
                       lambda image, x, s, m=method, h=height, w=width, a=antialias: image.resize(
                           x, [h, w], method=m, antialias=a), 0, 1e-4)
        yield (f"resize {method} in proportion", "batch",
               lambda image, x, s, m=method: image.resize(x, [8, 7], method=m, preserve_aspect_ratio=True), 0, 1e-4)
        yield (f"resize_with_pad {method}", "bytes",
               lambda image, x, s, m=method: image.resize_with_pad(x, 11, 8, method=m, antialias=True), 0, 1e-4)
    for quality in (5, 50, 95):
        for input in ("bytes", "gray", "floats"):
            yield (f"adjust_jpeg_quality {quality} of {input}", input,
                   lambda image, x, s, q=quality: image.adjust_jpeg_quality(x, q), 0, 1e-6)
    for number in range(6):
        for name, input, call, whole in _stateless():
            yield (f"{name} {number} of {input}", input,
                   lambda image, x, s, n=number, c=call: c(image, x, s[n]), whole, 1e-6)


def _geometry():
    yield "crop_to_bounding_box", lambda image, x, s: image.crop_to_bounding_box(x, 1, 2, 3, 4)
    yield "pad_to_bounding_box", lambda image, x, s: image.pad_to_bounding_box(x, 1, 2, 12, 17)
    for fraction in (0.1, 0.5, 0.87, 1.0):
        yield f"central_crop {fraction}", lambda image, x, s, f=fraction: image.central_crop(x, f)
    for size in ((4, 4), (12, 4), (3, 20), (14, 15)):
        yield f"resize_with_crop_or_pad {size}", lambda image, x, s, t=size: image.resize_with_crop_or_pad(x, *t)
    for k in (-1, 0, 1, 2, 3, 5):
        yield f"rot90 {k}", lambda image, x, s, k=k: image.rot90(x, k)
    yield "transpose", lambda image, x, s: image.transpose(x)
    yield "flip_left_right", lambda image, x, s: image.flip_left_right(x)
    yield "flip_up_down", lambda image, x, s: image.flip_up_down(x)


def _colors():
    yield "adjust_brightness", lambda image, x, s: image.adjust_brightness(x, 0.13)
    for factor in (0.0, 0.4, 1.7):
        yield f"adjust_contrast {factor}", lambda image, x, s, f=factor: image.adjust_contrast(x, f)
        yield f"adjust_saturation {factor}", lambda image, x, s, f=factor: image.adjust_saturation(x, f)
    for gamma, gain in ((0.45, 1), (2.2, 1.3), (1, 1), (0, 1)):
        yield f"adjust_gamma {gamma} {gain}", lambda image, x, s, g=gamma, n=gain: image.adjust_gamma(x, g, n)
    for delta in (-1, -0.3, 0.1, 0.5, 0.99):
        yield f"adjust_hue {delta}", lambda image, x, s, d=delta: image.adjust_hue(x, d)
    yield "per_image_standardization", lambda image, x, s: image.per_image_standardization(x)
    yield "rgb_to_grayscale", lambda image, x, s: image.rgb_to_grayscale(x)


def _spaces():
    for name in ("rgb_to_hsv", "hsv_to_rgb", "rgb_to_yuv", "yuv_to_rgb", "rgb_to_yiq", "yiq_to_rgb"):
        yield name, lambda image, x, s, n=name: getattr(image, n)(x)


def _stateless():
    """Name, input, call with a seed, and the distance allowed in uint8."""
    for input in ("bytes", "floats"):
        yield "brightness", input, lambda image, x, s: image.stateless_random_brightness(x, 0.3, s), 1
        yield "contrast", input, lambda image, x, s: image.stateless_random_contrast(x, 0.2, 1.9, s), 1
        yield "hue", input, lambda image, x, s: image.stateless_random_hue(x, 0.4, s), 1
        yield "saturation", input, lambda image, x, s: image.stateless_random_saturation(x, 0.1, 2.0, s), 1
        yield "jpeg_quality", input, lambda image, x, s: image.stateless_random_jpeg_quality(x, 20, 90, s), 0
        yield "crop", input, lambda image, x, s: image.stateless_random_crop(x, (4, 5, 2), s), 0
    for input in ("bytes", "batch"):
        yield "flip_left_right", input, lambda image, x, s: image.stateless_random_flip_left_right(x, s), 0
        yield "flip_up_down", input, lambda image, x, s: image.stateless_random_flip_up_down(x, s), 0


BOXES = np.array([[0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9], [1.2, -0.3, -0.1, 0.7], [0.5, 0.5, 0.5, 0.5]], np.float32)


def boxes():
    """crop_and_resize, which takes more than one array."""
    for method in ("bilinear", "nearest"):
        for size in ((3, 4), (1, 1), (9, 11)):
            yield f"crop_and_resize {method} {size}", "batch", lambda image, x, s, m=method, z=size: image.crop_and_resize(
                x, BOXES, np.array([0, 2, 1, 0], np.int32), z, method=m, extrapolation_value=3.5), 0, 1e-6


def distance(ours, theirs):
    """How far apart: whole numbers as they are, floats as a share of the range of theirs."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return f"{ours.dtype} of {ours.shape} instead of {theirs.dtype} of {theirs.shape}"
    if theirs.size == 0:
        return 0.0
    apart = np.abs(ours.astype(np.float64) - theirs.astype(np.float64)).max()
    if np.issubdtype(theirs.dtype, np.integer):
        return apart / (np.iinfo(theirs.dtype).max // 255)
    return apart / max(1.0, float(theirs.max()) - float(theirs.min()))


def packed(arrays):
    """Many small arrays as three: a file of its own for each would be mostly names."""
    index = [[name, str(array.dtype), list(array.shape)] for name, array in arrays.items()]
    data = b"".join(np.ascontiguousarray(array).tobytes() for array in arrays.values())
    return {"index": np.frombuffer(json.dumps(index).encode(), np.uint8), "data": np.frombuffer(data, np.uint8)}


def unpacked(golden):
    data, at, arrays = golden["data"].tobytes(), 0, {}
    for name, dtype, shape in json.loads(golden["index"].tobytes()):
        count = int(np.prod(shape))
        arrays[name] = np.frombuffer(data, dtype, count, at).reshape(shape)
        at += count * np.dtype(dtype).itemsize
    return arrays
