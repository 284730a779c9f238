"""JPEG, GIF, BMP and WebP against pixels from TensorFlow or Pillow, and the other image functions of tf.io.

The files and their pixels are in tests/fixtures/image_formats.
"""

import pathlib
import unittest

import numpy as np

import stoker as sk

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "image_formats" / "golden.npz"


def golden():
    """Return name, bytes, and the pixels that another library decoded from them."""
    with np.load(GOLDEN) as file:
        for key in file:
            if key.startswith("bytes "):
                name = key[len("bytes "):]
                wanted = file[f"tensorflow {name}"] if f"tensorflow {name}" in file else file[f"pillow {name}"]
                yield name, file[key].tobytes(), wanted


FILES = {name: data for name, data, _ in golden()}


class Golden(unittest.TestCase):
    def test_decode_image_returns_their_pixels(self):
        for name, data, wanted in golden():
            with self.subTest(name):
                ours = sk.io.decode_image(data)
                np.testing.assert_array_equal(ours, wanted)
                np.testing.assert_array_equal(sk.io.extract_shape(data), wanted.shape)

    def test_each_format_has_its_own_decoder(self):
        decoders = {"gif": sk.io.decode_gif, "bmp": sk.io.decode_bmp, "webp": sk.io.decode_webp, "jpg": sk.io.decode_jpeg}
        for name, data, wanted in golden():
            with self.subTest(name):
                ours = decoders[name.rsplit(".", 1)[1]](data)
                if wanted.ndim == 3 and name.endswith("webp"):
                    wanted = wanted[None]
                np.testing.assert_array_equal(ours, wanted)

    def test_the_first_frame_is_returned_if_animations_are_not_expanded(self):
        for name in ("animated.gif", "animated.webp"):
            all_frames = sk.io.decode_image(FILES[name])
            self.assertEqual(all_frames.ndim, 4)
            np.testing.assert_array_equal(sk.io.decode_image(FILES[name], expand_animations=False), all_frames[0])

    def test_a_truncated_gif_is_an_error_or_its_complete_frames(self):
        cut = FILES["animated.gif"][:-60]
        with self.assertRaisesRegex(sk.errors.DataLoss, "2 complete frames"):
            sk.io.decode_image(cut)
        np.testing.assert_array_equal(sk.io.decode_gif(cut, try_recover_truncated=True),
                                      sk.io.decode_gif(FILES["animated.gif"])[:2])

    def test_the_name_of_the_decoder_does_not_matter(self):
        np.testing.assert_array_equal(sk.io.decode_jpeg(FILES["still.webp"]), sk.io.decode_image(FILES["still.webp"]))
        np.testing.assert_array_equal(sk.io.decode_png(FILES["rgb.bmp"]), sk.io.decode_bmp(FILES["rgb.bmp"]))

    def test_inside_map(self):
        files = [FILES[name] for name in ("still.webp", "alpha.webp", "lossy.webp")]
        ds = sk.Dataset.from_tensor_slices(files).map(lambda x: sk.io.decode_image(x, channels=3))
        self.assertEqual([image.shape for image in ds], [(5, 7, 3)] * 3)

    def test_bytes_in_lists_keep_zeros_at_their_end(self):
        self.assertEqual(list(sk.Dataset.from_tensor_slices([b"a\0", b"\0\0"])), [b"a\0", b"\0\0"])

    def test_the_error_for_other_bytes_names_their_format(self):
        for data, words in ((b"\0\0\0\x18ftypheic\0\0\0\0", "the image is HEIC"), (b"<!doctype html>", "got an HTML page"),
                            (b"II*\0\x08\0\0\0", "the image is TIFF"), (bytes(10), "10 zero bytes")):
            for decode in (sk.io.decode_image, sk.io.decode_jpeg, sk.io.decode_png):
                with self.assertRaisesRegex(sk.errors.InvalidArgument, words):
                    decode(data)


class Orientation(unittest.TestCase):
    def test_an_image_is_rotated_if_requested(self):
        turned = FILES["turned.webp"]  # lies on its side
        plain = sk.io.decode_image(turned)
        np.testing.assert_array_equal(sk.io.decode_image(turned, exif_orientation=True), np.rot90(plain, -1))
        np.testing.assert_array_equal(sk.io.extract_shape(turned, exif_orientation=True), [7, 5, 3])


class Jpeg(unittest.TestCase):
    jpeg = FILES["colors.jpg"]

    def test_a_window_equals_decoding_and_cropping(self):
        whole = sk.io.decode_jpeg(self.jpeg)
        for y, x, height, width in ((0, 0, 21, 33), (3, 5, 7, 11), (20, 32, 1, 1)):
            np.testing.assert_array_equal(sk.io.decode_and_crop_jpeg(self.jpeg, [y, x, height, width]),
                                          whole[y:y + height, x:x + width])
        with self.assertRaisesRegex(sk.errors.InvalidArgument, "does not fit an image of 21x33"):
            sk.io.decode_and_crop_jpeg(self.jpeg, [0, 0, 22, 33])

    def test_a_window_may_be_computed(self):
        boxes = np.array([[1, 2, 3, 4], [5, 6, 3, 4]], np.int32)
        ds = sk.Dataset.from_tensor_slices(boxes).map(lambda box: sk.io.decode_and_crop_jpeg(self.jpeg, box))
        self.assertEqual([image.shape for image in ds], [(3, 4, 3)] * 2)

    def test_the_header_contains_the_shape(self):
        self.assertTrue(sk.io.is_jpeg(self.jpeg))
        self.assertFalse(sk.io.is_jpeg(FILES["still.gif"]))
        shape = sk.io.extract_jpeg_shape(self.jpeg[:-100])
        self.assertEqual((shape.dtype, list(shape)), (np.int32, [21, 33, 3]))
        self.assertEqual(sk.io.extract_jpeg_shape(self.jpeg, output_type=np.int64).dtype, np.int64)


if __name__ == "__main__":
    unittest.main()
