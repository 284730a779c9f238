"""Decoded images against TensorFlow and Pillow; skipped without them."""

import importlib.util
import io
import os
import struct
import unittest

import numpy as np

import stoker as sk

HAS_BOTH = all(importlib.util.find_spec(name) for name in ("tensorflow", "PIL"))


@unittest.skipUnless(HAS_BOTH, "TensorFlow or Pillow is not installed")
class Tensorflow(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
        global tf
        import tensorflow as tf

    def test_frames_of_gif(self):
        draw = np.random.default_rng(3)
        for number in range(60):
            data = gif(draw)
            with self.subTest(number):
                np.testing.assert_array_equal(sk.io.decode_gif(data), tf.io.decode_gif(data))
                for dtype in ("uint8", "uint16", "float32"):
                    np.testing.assert_array_equal(sk.io.decode_image(data, dtype=dtype),
                                                  tf.io.decode_image(data, dtype=getattr(tf, dtype)))
                np.testing.assert_array_equal(sk.io.decode_image(data, expand_animations=False),
                                              tf.io.decode_image(data, expand_animations=False))

    def test_bmp_without_a_palette(self):
        draw = np.random.default_rng(4)
        for shape in ((1, 1, 3), (5, 7, 3), (4, 3, 4), (6, 2)):
            data = saved(draw.integers(0, 256, shape, dtype=np.uint8), "BMP")
            for channels in (0, 3, 4):
                with self.subTest(shape=shape, channels=channels):
                    if len(shape) == 3 or channels != 4:
                        np.testing.assert_array_equal(sk.io.decode_bmp(data, channels), tf.io.decode_bmp(data, channels))
                        for dtype in ("uint16", "float32"):
                            np.testing.assert_array_equal(
                                sk.io.decode_image(data, channels, dtype),
                                tf.io.decode_image(data, channels, getattr(tf, dtype)))

    def test_headers_of_jpeg(self):
        draw = np.random.default_rng(5)
        for shape in ((9, 7), (30, 50, 3)):
            data = saved(draw.integers(0, 256, shape, dtype=np.uint8), "JPEG")
            np.testing.assert_array_equal(sk.io.extract_jpeg_shape(data), tf.io.extract_jpeg_shape(data))
            self.assertTrue(sk.io.is_jpeg(data))
        for data in (b"", b"\xff\xd8", b"\xff\xd8\xff", b"GIF89a"):
            self.assertEqual(sk.io.is_jpeg(data), tf.io.is_jpeg(data).numpy())

    def test_parameters_of_jpeg(self):
        draw = np.random.default_rng(6)
        smooth = np.kron(draw.integers(0, 256, (5, 7, 3)), np.ones((8, 8, 1))).astype(np.uint8)
        data = saved(smooth, "JPEG", quality=70)
        for how in ({}, {"channels": 1}, {"ratio": 2}, {"ratio": 8}, {"fancy_upscaling": False},
                    {"dct_method": "INTEGER_ACCURATE"}, {"dct_method": "INTEGER_FAST", "channels": 3}):
            with self.subTest(**how):
                np.testing.assert_array_equal(sk.io.decode_jpeg(data, **how), tf.io.decode_jpeg(data, **how))
        whole = saved(draw.integers(0, 256, (48, 64, 3), dtype=np.uint8), "JPEG")
        cut = whole[:len(whole) * 2 // 3]
        np.testing.assert_array_equal(sk.io.decode_jpeg(cut, acceptable_fraction=0.2),
                                      tf.io.decode_jpeg(cut, acceptable_fraction=0.2))


@unittest.skipUnless(HAS_BOTH, "TensorFlow or Pillow is not installed")
class Pillow(unittest.TestCase):
    def test_orientation(self):
        from PIL import Image, ImageOps

        image = Image.fromarray(np.random.default_rng(7).integers(0, 256, (24, 40, 3), dtype=np.uint8))
        for kind in ("JPEG", "PNG", "WEBP"):
            for orientation in range(10):
                with self.subTest(kind, orientation=orientation):
                    exif = Image.Exif()
                    exif[0x0112] = orientation
                    file = io.BytesIO()
                    image.save(file, kind, exif=exif.tobytes())
                    upright = np.asarray(ImageOps.exif_transpose(Image.open(file)))
                    ours = sk.io.decode_image(file.getvalue(), exif_orientation=True, like="pillow")
                    np.testing.assert_array_equal(ours, upright)

    def test_a_truncated_jpeg_that_is_recovered(self):
        from PIL import Image, ImageFile

        draw = np.random.default_rng(11)
        self.addCleanup(setattr, ImageFile, "LOAD_TRUNCATED_IMAGES", ImageFile.LOAD_TRUNCATED_IMAGES)
        ImageFile.LOAD_TRUNCATED_IMAGES = True
        for subsampling in (0, 2):
            whole = saved(draw.integers(0, 256, (48, 64, 3), dtype=np.uint8), "JPEG", subsampling=subsampling)
            for share in (0.5, 0.66, 0.8):
                with self.subTest(subsampling=subsampling, share=share):
                    cut = whole[:int(len(whole) * share)]
                    ours = sk.io.decode_jpeg(cut, try_recover_truncated=True, like="pillow")
                    np.testing.assert_array_equal(ours, np.asarray(Image.open(io.BytesIO(cut))))

    def test_bmp_with_and_without_a_palette(self):
        from PIL import Image

        draw = np.random.default_rng(8)
        rgb = Image.fromarray(draw.integers(0, 256, (9, 13, 3), dtype=np.uint8))
        for image in (rgb, rgb.quantize(200), rgb.quantize(9), rgb.convert("L"), rgb.convert("1")):
            with self.subTest(image.mode):
                file = io.BytesIO()
                image.save(file, "BMP")
                again = Image.open(file)
                np.testing.assert_array_equal(sk.io.decode_bmp(file.getvalue(), 3), np.asarray(again.convert("RGB")))

    def test_bmp_of_sixteen_bits_and_of_runs(self):
        from PIL import Image

        draw = np.random.default_rng(9)
        palette = draw.integers(0, 256, (16, 4), dtype=np.uint8).tobytes()
        masks = struct.pack("<III", 0xF800, 0x7E0, 0x1F)
        files = {
            "555": bmp(16, 0, draw.bytes(8 * 3), 3, 3),
            "565": bmp(16, 3, draw.bytes(8 * 3), 3, 3, masks),
            "rle8": bmp(8, 1, runs(draw, 5, 4), 5, 4, palette, 16),
            "top-down": bmp(24, 0, draw.bytes(12 * 2), 4, -2),
        }
        for name, data in files.items():
            with self.subTest(name):
                theirs = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
                np.testing.assert_array_equal(sk.io.decode_bmp(data, 3), theirs)

    def test_webp(self):
        draw = np.random.default_rng(10)
        from PIL import Image

        for shape in ((30, 21, 3), (16, 16, 4)):
            for how in ({"lossless": True, "exact": True}, {"quality": 50}, {"quality": 95}):
                with self.subTest(shape=shape, **how):
                    data = saved(draw.integers(0, 256, shape, dtype=np.uint8), "WEBP", **how)
                    np.testing.assert_array_equal(sk.io.decode_image(data), np.asarray(Image.open(io.BytesIO(data))))


def saved(array, kind, **how):
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(array).save(file, kind, **how)
    return file.getvalue()


def bmp(bits, compression, pixels, width, height, before=b"", colors=0):
    info = struct.pack("<IiiHHIIIIII", 40, width, height, 1, bits, compression, 0, 0, 0, colors, 0) + before
    return b"BM" + struct.pack("<III", 14 + len(info) + len(pixels), 0, 14 + len(info)) + info + pixels


def runs(draw, width, height):
    """Return rows of runs, of literal pixels, and of both."""
    rows = []
    for row in range(height):
        some = bytes(draw.integers(0, 16, 3, dtype=np.uint8).tolist())
        one = bytes([width - 3, int(draw.integers(0, 16))])
        rows.append([bytes([width, 7]), b"\0\3" + some + b"\0" + one][row % 2] + b"\0\0")
    return b"".join(rows)[:-2] + b"\0\1"


def gif(draw):
    """Return random frames at random positions, some transparent, interlaced, or with a palette of their own."""
    palette = draw.integers(0, 256, 384, dtype=np.uint8).tobytes()
    file = b"GIF89a" + struct.pack("<HHBBB", 12, 10, 0x86, 5, 0) + palette
    for number in range(int(draw.integers(1, 5))):
        left, top, width, height = (int(draw.integers(low, 9)) for low in (0, 0, 1, 1))
        flags = 0x40 * int(draw.integers(0, 2))
        own = b""
        if draw.integers(0, 3) == 0:
            flags, own = flags | 0x86, draw.integers(0, 256, 384, dtype=np.uint8).tobytes()
        if draw.integers(0, 2):
            file += b"!\xf9\4" + bytes([int(draw.integers(0, 4)) << 2 | int(draw.integers(0, 2)), 1, 0, 3]) + b"\0"
        codes = b""
        for at in range(0, width * height, 126):
            count = min(126, width * height - at)
            codes += b"\x80" + bytes(draw.integers(0, 8, count, dtype=np.uint8).tolist())
        codes += b"\x81"
        file += b"," + struct.pack("<HHHHB", left, top, width, height, flags) + own + b"\7"
        file += bytes([len(codes)]) + codes + b"\0"
    return file + b";"


if __name__ == "__main__":
    unittest.main()
