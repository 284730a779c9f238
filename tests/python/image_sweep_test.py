"""Every image below $STOKER_IMAGES against TensorFlow and Pillow; skipped without that folder or without them.

What both accept we accept, with Pillow's pixels; what both reject we reject.
"""

import importlib.util
import io
import os
import pathlib
import unittest
import warnings

import numpy as np

import stoker as sk

FOLDER = os.environ.get("STOKER_IMAGES")
HAS_BOTH = all(importlib.util.find_spec(name) for name in ("tensorflow", "PIL"))
SUFFIXES = {".jpg", ".jpeg", ".png", ".gif", ".bmp", ".webp"}


@unittest.skipUnless(FOLDER, "no folder in $STOKER_IMAGES")
@unittest.skipUnless(HAS_BOTH, "TensorFlow or Pillow is not installed")
class Sweep(unittest.TestCase):
    def test_every_image(self):
        files = sorted(p for p in pathlib.Path(FOLDER).rglob("*") if p.suffix.lower() in SUFFIXES and p.is_file())
        self.assertTrue(files, FOLDER)
        for path in files:
            with self.subTest(path.name):
                self.compare(path.read_bytes())

    def compare(self, data):
        ours, theirs, pillows = attempt(by_stoker, data), attempt(by_tensorflow, data), attempt(by_pillow, data)
        failed = [isinstance(image, Exception) for image in (theirs, pillows)]
        if all(failed):
            self.assertIsInstance(ours, Exception)
        if any(failed):
            return
        if isinstance(ours, Exception):
            raise ours
        np.testing.assert_array_equal(ours, pillows)


def attempt(decode, data):
    try:
        return decode(data)
    except Exception as error:
        return error


def by_stoker(data):
    return sk.io.decode_image(data, channels=3, expand_animations=False, like="pillow")


def by_tensorflow(data):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    if data[8:12] == b"WEBP":  # TensorFlow 2.21 may damage the process's memory; it takes what Pillow takes
        return by_pillow(data)
    return tf.io.decode_image(data, channels=3, expand_animations=False).numpy()


def by_pillow(data):
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        image = Image.open(io.BytesIO(data))
        image.load()
    if image.mode.startswith("I"):  # 16 bits of grey
        return np.repeat((np.asarray(image).astype(np.uint32) >> 8).astype(np.uint8)[..., None], 3, 2)
    if image.mode in ("RGBA", "LA"):  # without alpha
        return np.asarray(image.convert("RGBA"))[..., :3]
    if image.mode == "CMYK":
        inks = np.asarray(image).astype(np.uint16)
        return ((255 - inks[..., :3]) * (255 - inks[..., 3:]) // 255).astype(np.uint8)
    return np.asarray(image.convert("RGB"))


if __name__ == "__main__":
    unittest.main()
