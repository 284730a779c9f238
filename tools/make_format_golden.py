#!/usr/bin/env python3
"""Write tests/fixtures/image_formats: image files that Pillow encodes, and what TensorFlow and Pillow decode from them.

Requires TensorFlow and Pillow. The WebP files are also written as separate files for the C++ tests; their pixels are
those of pattern(). golden.npz has all files, for tests/python/image_formats_test.py: "bytes NAME", and the expected
pixels as "tensorflow NAME" if Stoker returns TensorFlow's pixels, otherwise as "pillow NAME".
"""

import io
import os
import pathlib

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "tests" / "fixtures" / "image_formats"


def pattern(height, width, channels, frame=0):
    y, x, c = np.mgrid[:height, :width, :channels]
    return ((x * 7 + y * 13 + c * 50 + frame * 31) % 256).astype(np.uint8)


def saved(images, kind, **how):
    file = io.BytesIO()
    more = {"save_all": True, "append_images": images[1:]} if len(images) > 1 else {}
    images[0].save(file, kind, **more, **how)
    return file.getvalue()


def webps():
    from PIL import Image

    def images(channels, count=1):
        return [Image.fromarray(pattern(5, 7, channels, frame)) for frame in range(count)]

    turned = Image.Exif()
    turned[0x0112] = 6
    return {
        "still.webp": saved(images(3), "WEBP", lossless=True),
        "alpha.webp": saved(images(4), "WEBP", lossless=True, exact=True),
        "lossy.webp": saved(images(3), "WEBP", quality=80),
        "turned.webp": saved(images(3), "WEBP", lossless=True, exif=turned.tobytes()),
        "animated.webp": saved(images(3, 3), "WEBP", lossless=True, duration=50),
        "animated_alpha.webp": saved(images(4, 2), "WEBP", lossless=True, exact=True, duration=50),
    }


def gifs():
    from PIL import Image

    draw = np.random.default_rng(7)

    def images(count):
        return [Image.fromarray(draw.integers(0, 256, (9, 11, 3), dtype=np.uint8)).quantize(20) for _ in range(count)]

    parts = []
    for _ in range(4):  # each later frame differs in one part, and only that part is stored
        base = parts[-1].copy() if parts else images(1)[0]
        base.paste(int(draw.integers(0, 20)), (3, 2, 7, 6))
        parts.append(base)
    return {
        "still.gif": saved(images(1), "GIF"),
        "interlaced.gif": saved(images(1), "GIF", interlace=1),
        "transparent.gif": saved(images(1), "GIF", transparency=3),
        "animated.gif": saved(images(3), "GIF", duration=20, loop=0),
        "parts.gif": saved(parts, "GIF", duration=20, optimize=True),
    }


def jpegs():
    from PIL import Image

    colors = Image.fromarray(np.random.default_rng(4).integers(0, 256, (7, 11, 3), dtype=np.uint8)).resize((33, 21))
    return {"colors.jpg": saved([colors], "JPEG", quality=80)}


def bmps():
    """Return {name: (bytes, whether TensorFlow decodes the same pixels as Stoker)}."""
    from PIL import Image

    draw = np.random.default_rng(9)
    rgb = Image.fromarray(draw.integers(0, 256, (6, 5, 3), dtype=np.uint8))
    gray = Image.fromarray(draw.integers(0, 256, (6, 5), dtype=np.uint8))
    return {
        "rgb.bmp": (saved([rgb], "BMP"), True),
        "gray.bmp": (saved([gray], "BMP"), True),
        "rgba.bmp": (saved([Image.fromarray(draw.integers(0, 256, (6, 5, 4), dtype=np.uint8))], "BMP"), True),
        "palette.bmp": (saved([rgb.quantize(16)], "BMP"), False),
        "bits.bmp": (saved([gray.convert("1")], "BMP"), False),
    }


def by_pillow(data):
    from PIL import Image, ImageSequence

    image = Image.open(io.BytesIO(data))
    gray = image.mode in ("1", "L")
    frames = [np.asarray(f.convert("L" if gray else "RGBA" if f.mode == "RGBA" else "RGB"))
              for f in ImageSequence.Iterator(image)]
    frames = [f[..., None] if gray else f for f in frames]
    return np.stack(frames) if len(frames) > 1 else frames[0]


def main():
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import PIL
    import tensorflow as tf

    FOLDER.mkdir(parents=True, exist_ok=True)
    arrays = {"versions": np.array([tf.__version__, PIL.__version__])}
    for name, data in webps().items():
        (FOLDER / name).write_bytes(data)
        arrays[f"bytes {name}"] = np.frombuffer(data, np.uint8)
        arrays[f"pillow {name}"] = by_pillow(data)
    for name, data in gifs().items():
        arrays[f"bytes {name}"] = np.frombuffer(data, np.uint8)
        arrays[f"tensorflow {name}"] = tf.io.decode_gif(data).numpy()
    for name, data in jpegs().items():
        arrays[f"bytes {name}"] = np.frombuffer(data, np.uint8)
        arrays[f"tensorflow {name}"] = tf.io.decode_jpeg(data).numpy()
    for name, (data, alike) in bmps().items():
        arrays[f"bytes {name}"] = np.frombuffer(data, np.uint8)
        arrays[f"{'tensorflow' if alike else 'pillow'} {name}"] = (tf.io.decode_bmp(data).numpy() if alike
                                                                   else by_pillow(data))
    path = FOLDER / "golden.npz"
    np.savez_compressed(path, **arrays)
    print(f"{path}: {len(arrays)} arrays, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
