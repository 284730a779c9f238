"""`stoker verify`: what it checks, and how it lists what is bad."""

import gzip
import json
import os
import unittest
import zlib

from command import BAD_DATA, FINE, TestCase
from command import stoker
from data_files import flat_jpeg, frame, number_png, to_example

JPEG = flat_jpeg(16, 24)
STRAY = JPEG[:-2] + bytes(range(100)) + JPEG[-2:]


class VerifyCase(TestCase):
    def put(self, name, data):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def verify(self, *arguments, status=FINE):
        result = stoker("verify", self.folder, *arguments, "--json")
        self.assertEqual((result.status, result.errors), (status, ""), result.text)
        return json.loads(result.text)

    def bad(self, *arguments):
        found = self.verify(*arguments, status=BAD_DATA)["bad"]
        return [(os.path.basename(one["path"]), one.get("record"), one.get("offset"), one["error"]) for one in found]


class Records(VerifyCase):
    def test_complete_records_are_counted(self):
        data = frame(b"1") + frame(b"")
        self.put("a.tfrecord", data)
        self.put("b.tfrecord.gz", gzip.compress(data))
        self.put("deep/c.tfrecord.z", zlib.compress(data))
        self.put("empty.tfrecord", b"")
        found = self.verify()
        self.assertEqual((found["files"], found["records"], found["images"]), (4, 6, 0))
        result = stoker("verify", self.folder)
        self.assertIn("6 records, 0 images, 4 files", result.text)
        self.assertIn("no errors found", result.text)

    def test_wrong_checksums_are_listed_in_plain_and_compressed_files(self):
        whole = frame(b"first") + frame(b"second") + frame(b"third")
        damaged = whole.replace(b"second", b"sEcond")
        self.put("a.tfrecord", damaged)
        self.put("b.tfrecord.gz", gzip.compress(damaged))
        for name, (_, record, offset, error) in zip(("a.tfrecord", "b.tfrecord.gz"), self.bad()):
            self.assertEqual((record, offset), (1, 21), name)
            self.assertIn("the checksum of its 6 bytes is wrong", error)
        self.assertEqual(self.verify(status=BAD_DATA)["records"], 4)
        result = stoker("verify", self.folder)
        self.assertEqual(result.status, BAD_DATA)
        self.assertIn("2 bad:", result.text)
        self.assertIn(f"{self.folder}/a.tfrecord, record 1 at byte 21: ", result.text)

    def test_records_after_damage_keep_their_positions(self):
        payload = bytes(1 << 20)
        frames = [frame(payload)] * 40
        frames[30] = frames[30][:500] + b"x" + frames[30][501:]
        self.put("a.tfrecord", b"".join(frames))
        ((_, record, offset, _),) = self.bad()
        self.assertEqual((record, offset), (30, 30 * len(frames[0])))
        self.assertEqual(self.verify(status=BAD_DATA)["records"], 39)

    def test_cut_records_are_listed(self):
        whole = frame(b"first") + frame(b"second")
        self.put("a.tfrecord", whole[:-3])
        self.put("b.tfrecord.gz", gzip.compress(whole)[:-12])
        plain, compressed = self.bad()
        self.assertEqual(plain[:3], ("a.tfrecord", 1, 21))
        self.assertIn("3 bytes too early", plain[3])
        self.assertEqual(compressed[0], "b.tfrecord.gz")

    def test_findings_are_the_same_for_any_number_of_workers(self):
        data = bytearray(b"".join(frame(os.urandom(50_000)) for _ in range(600)))
        for at in range(1000, len(data), 3_000_000):
            data[at] ^= 1
        self.put("a.tfrecord", data)
        expected = self.verify("--workers", "0", status=BAD_DATA)
        self.assertGreater(len(expected["bad"]), 9)
        for workers in ("1", "4"):
            self.assertEqual(self.verify("--workers", workers, status=BAD_DATA), expected)


class ImagesInRecords(VerifyCase):
    def test_images_in_features_are_decoded(self):
        good = frame(to_example(image=JPEG, label=1)) + frame(to_example(image=number_png(1), label=2))
        cut = frame(to_example(image=JPEG[:-4], label=1))
        for name, wrap in (("a.tfrecord", bytes), ("b.tfrecord.gz", gzip.compress)):
            self.put(name, wrap(good + cut))
        for name, record, offset, error in self.bad():
            self.assertEqual((record, offset), (2, len(good)), name)
            self.assertIn("feature 'image': JPEG data ends early", error)
        self.assertEqual(self.verify(status=BAD_DATA)["images"], 6)
        self.assertEqual(self.verify("--no-images")["images"], 0)

    def test_a_feature_with_images_must_have_images_in_all_records(self):
        self.put("a.tfrecord", b"".join(frame(to_example(image=image)) for image in (JPEG, b"<html>", b"", JPEG)))
        self.assertEqual([record for _, record, _, _ in self.bad()], [1, 2])
        self.put("a.tfrecord", frame(to_example(image=JPEG)) + frame(b"no example"))
        ((_, record, _, error),) = self.bad()
        self.assertEqual(record, 1)
        self.assertIn("not a tf.train.Example", error)

    def test_features_with_text_are_not_decoded(self):
        self.put("a.tfrecord", frame(to_example(text=b"BMW is a car, whatever BM means")))
        self.assertEqual(self.verify()["images"], 0)


class LooseImages(VerifyCase):
    def test_image_files_are_decoded_and_other_files_skipped(self):
        self.put("cat/1.jpg", JPEG)
        self.put("cat/2", number_png(1))
        for name in ("notes.txt", ".DS_Store", "cat/Thumbs.db", "cat/._1.jpg", "__MACOSX/1.jpg", ".ipynb_checkpoints/1.jpg"):
            self.put(name, b"anything")
        found = self.verify()
        self.assertEqual((found["images"], found["left_out"]), (2, 6))

    def test_bad_image_files_are_listed(self):
        self.put("a.jpg", JPEG[:-4])
        self.put("b.jpg", b"<html>")
        self.put("c.png", b"")
        self.put("d.png", number_png(1)[:-20])
        os.symlink("nowhere", self.folder / "e.jpg")
        self.assertEqual([name for name, *_ in self.bad()], ["a.jpg", "b.jpg", "c.png", "d.png", "e.jpg"])

    def test_image_files_of_an_unsupported_kind_are_listed(self):
        self.put("a.jpg", JPEG.replace(b"\xff\xc0\0\x0b\x08", b"\xff\xc0\0\x0b\x0c"))
        ((name, _, _, error),) = self.bad()
        self.assertEqual(name, "a.jpg")
        self.assertIn("precision 12", error)

    def test_images_decoded_with_a_warning_are_damaged_but_readable(self):
        self.put("a.jpg", STRAY)
        found = self.verify()
        self.assertEqual(found["bad"], [])
        self.assertEqual([os.path.basename(one["path"]) for one in found["damaged"]], ["a.jpg"])
        self.assertIn("extraneous bytes", found["damaged"][0]["note"])
        result = stoker("verify", self.folder)
        self.assertIn("1 damaged but readable:", result.text)
        self.assertIn("no errors found, but some images are damaged", result.text)

    def test_names_that_are_not_utf_8_are_base64(self):
        with open(os.fsencode(self.folder) + b"/\xff.jpg", "wb") as file:
            file.write(b"bad")
        self.assertEqual(set(self.verify(status=BAD_DATA)["bad"][0]["path"]), {"base64"})


class WrongUse(VerifyCase):
    def test_missing_paths_and_folders_without_data_are_rejected(self):
        self.assert_refused(stoker("verify", self.folder / "gone"), "No such file")
        self.assert_refused(stoker("verify", self.folder), "no TFRecord files and no images found in")


if __name__ == "__main__":
    unittest.main()
