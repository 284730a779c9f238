"""`sk.pack`, `sk.index`, `sk.verify` and `sk.inspect`: results, errors, progress, and Ctrl-C."""

import contextlib
import io
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
import zlib

import numpy as np

import stoker as sk
from stoker import _prepare


def png(color=0):
    """Return a PNG of 4 x 4 pixels."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes([color]) * 12) * 4
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 4, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def put_mnist(folder, count):
    """Write MNIST's files for training, sparse, with black images."""
    for name, header, size in (("train-images-idx3-ubyte", struct.pack(">IIII", 0x803, count, 28, 28), 28 * 28),
                               ("train-labels-idx1-ubyte", struct.pack(">II", 0x801, count), 1)):
        (folder / name).write_bytes(header)
        os.truncate(folder / name, len(header) + count * size)


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def put(self, name, data):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def put_photos(self):
        for i, name in enumerate(("cat/1.png", "cat/2.png", "dog/3.png")):
            self.put(f"photos/{name}", png(i))
        return self.folder / "photos"

    def put_records(self, *labels):
        path = self.folder / "a.tfrecord"
        with sk.io.TFRecordWriter(path) as writer:
            for label in labels:
                writer.write(sk.io.encode_example({"image": [png()], "label": [label]}))
        return path


class Pack(WithFolder):
    def test_returns_what_the_shards_contain(self):
        result = sk.pack(self.put_photos(), self.folder / "packed", name="all", shards=2, seed=3)
        self.assertEqual((result.records, result.classes, result.skipped), (3, ["cat", "dog"], []))
        self.assertEqual([os.path.basename(shard) for shard in result.shards],
                         ["all-00000-of-00002.tfrecord", "all-00001-of-00002.tfrecord"])
        self.assertEqual(len(list(sk.data.TFRecordDataset(result.shards))), 3)

    def test_a_bad_file_is_raised_or_skipped(self):
        photos = self.put_photos()
        self.put("photos/dog/4.png", b"no image")
        with self.assertRaisesRegex(sk.DataLoss, r"dog/4\.png.*on_error=skip"):
            sk.pack(photos, self.folder / "packed")
        result = sk.pack(photos, self.folder / "packed", on_error="skip")
        self.assertEqual([file.path for file in result.skipped], ["dog/4.png"])

    def test_errors_name_the_option_of_python(self):
        photos = self.put_photos()
        sk.pack(photos, self.folder / "packed")
        with self.assertRaisesRegex(sk.FailedPrecondition, "exists; use overwrite to replace"):
            sk.pack(photos, self.folder / "packed")
        sk.pack(photos, self.folder / "packed", overwrite=True)
        with self.assertRaisesRegex(sk.FailedPrecondition, "shards is 0, expected 1 to 99999"):
            sk.pack(photos, self.folder / "other", shards=0)
        with self.assertRaisesRegex(sk.InvalidArgument, "shards: expected a whole number of at most 64 bits, got"):
            sk.pack(photos, self.folder / "other", shards=2**64)
        with self.assertRaisesRegex(sk.InvalidArgument, "on_error: expected 'raise' or 'skip', got 'ignore'"):
            sk.pack(photos, self.folder / "other", on_error="ignore")
        with self.assertRaisesRegex(sk.InvalidArgument, "source: expected a path, got ''"):
            sk.pack("", self.folder / "other")

    def test_a_split_may_be_a_dict(self):
        for i in range(60):
            self.put(f"photos/cat/{i}.png", png(i))
        shares = {"train": 0.7, "validation": 0.2, "test": 0.1}
        by_dict = sk.pack(self.folder / "photos", self.folder / "dict", split=shares)
        by_text = sk.pack(self.folder / "photos", self.folder / "text", split="train=0.7,validation=0.2,test=0.1")
        self.assertEqual(len(by_dict.shards), 3)
        for one, other in zip(by_dict.shards, by_text.shards):
            self.assertEqual(os.path.basename(one), os.path.basename(other))
            self.assertEqual(pathlib.Path(one).read_bytes(), pathlib.Path(other).read_bytes())

    def test_invalid_shares_of_a_split_are_rejected(self):
        photos = self.put_photos()
        for wrong in ({"train": 0.5, "test": 0.6}, {"train": 1.5, "test": -0.5}, {"a/b": 1.0}, {"": 1.0}):
            with self.assertRaisesRegex(sk.FailedPrecondition, "split.*expected names with shares that add up to 1"):
                sk.pack(photos, self.folder / "packed", split=wrong)
        with self.assertRaisesRegex(sk.InvalidArgument, "split: expected at least one name"):
            sk.pack(photos, self.folder / "packed", split={})
        with self.assertRaisesRegex(sk.InvalidArgument, "split: expected a name without '=' and ',', got 'a=0.5,b'"):
            sk.pack(photos, self.folder / "packed", split={"a=0.5,b": 0.5})

    def test_an_option_of_another_type_is_rejected_by_its_name(self):
        photos = self.put_photos()
        text, number, flag = "text", "a number|a whole number|a JPEG quality", "True or False"
        expected = {"split": (r"a dict such as \{.*\}, or the text", [0.2, ["train"], {"train": "all"}, {1: 1.0}]),
                    "resize": ("a number of pixels for the short side", [(64, 64), "64", 64.0, True, np.arange(2)]),
                    "shards": (number, [2.5]), "seed": (number, ["x", None]), "quality": (number, ["high"]),
                    "labels": ("a path", [3]), "name": (text, [3]), "image_feature": (text, [3]),
                    "label_feature": (text, [3]), "keep_bytes": (flag, ["no"]), "overwrite": (flag, [None]),
                    "on_error": ("'raise' or 'skip'", [None])}
        for option, (form, values) in expected.items():
            for value in values:
                with self.subTest(option, value=value):
                    with self.assertRaisesRegex(TypeError, f"^{option}: expected ({form}).*, got {re.escape(repr(value))}$"):
                        sk.pack(photos, self.folder / "packed", **{option: value})
        with self.assertRaisesRegex(TypeError, "^source: expected a path, got 3$"):
            sk.pack(3, self.folder / "packed")
        self.assertEqual(sk.pack(photos, self.folder / "packed", resize=np.int64(64), seed=np.array(1)).records, 3)

    def test_paths_may_have_any_bytes(self):
        self.put_photos()
        os.rename(os.fsencode(self.folder / "photos"), os.fsencode(self.folder) + b"/\xff")
        result = sk.pack(os.fsencode(self.folder) + b"/\xff", self.folder / "packed")
        self.assertTrue(os.path.exists(result.shards[0]))

    def test_other_threads_run_meanwhile(self):
        put_mnist(self.folder, 20_000)
        ticks, done = [], threading.Event()

        def tick():
            while not done.wait(0.001):
                ticks.append(1)

        thread = threading.Thread(target=tick)
        thread.start()
        sk.pack(self.folder, self.folder / "packed")
        done.set()
        thread.join()
        self.assertGreater(len(ticks), 5)


class Index(WithFolder):
    def test_counts_records_and_labels(self):
        self.put_records(7, 7, 8)
        first, second = (sk.index([self.folder], label=label).files[0] for label in ("label", None))
        self.assertEqual((first.records, first.labels, first.created, first.error), (3, {7: 2, 8: 1}, True, None))
        self.assertEqual((second.labels, second.created), ({7: 2, 8: 1}, False))
        self.assertTrue(os.path.exists(first.index))

    def test_a_file_that_cannot_be_indexed_has_an_error(self):
        file = sk.index(self.put("a.png", png())).files[0]
        self.assertEqual((file.error, file.index), ("the file is an image, expected a TFRecord file", None))


class Verify(WithFolder):
    def test_finds_bad_records_and_images(self):
        path = self.put_records(1, 2)
        data = bytearray(path.read_bytes())
        data[-1] ^= 1
        path.write_bytes(data)
        self.put("b.png", png()[:40])
        result = sk.verify(self.folder)
        self.assertEqual((result.files, result.records), (2, 1))
        self.assertEqual([(os.path.basename(bad.path), bad.record) for bad in result.bad], [("a.tfrecord", 1), ("b.png", None)])

    def test_without_images_only_checksums_are_checked(self):
        path = self.put("b.png", png()[:40])
        self.assertEqual(len(sk.verify(path).bad), 1)
        self.assertEqual(sk.verify(path, images=False).bad, [])

    def test_an_option_of_another_type_is_rejected_by_its_name(self):
        path = self.put_records(1)
        for call, options, form in ((sk.verify, {"images": "no"}, "images: expected True or False, got 'no'"),
                                    (sk.index, {"label": 3}, "label: expected text, got 3"),
                                    (sk.inspect, {"limit": "8"}, "limit: expected a number of images, got '8'"),
                                    (sk.inspect, {"sheet": True}, "sheet: expected a path, got True")):
            with self.assertRaisesRegex(TypeError, form):
                call(path, **options)
        with self.assertRaisesRegex(TypeError, "path: expected a path or a list of paths, got 3"):
            sk.verify(3)

    def test_missing_data_is_an_error(self):
        with self.assertRaisesRegex(sk.NotFound, "cannot open .*gone"):
            sk.verify(self.folder / "gone")
        with self.assertRaisesRegex(sk.FailedPrecondition, "expected at least one path"):
            sk.verify([])


class Inspect(WithFolder):
    def test_describes_records(self):
        (self.folder / "labels.txt").write_text("cat\ndog\n")
        result = sk.inspect(self.put_records(1, 1))
        self.assertEqual((result.records, result.examples, result.damaged), (2, 2, 0))
        self.assertEqual(result.features["image"]["images"]["formats"], {"PNG": 2})
        self.assertEqual(result.labels, {"feature": "label", "counts": [{"label": 1, "class": "dog", "records": 2}]})
        self.assertIsNone(result.images)

    def test_describes_image_files_and_writes_a_sheet(self):
        result = sk.inspect(self.put_photos(), sheet=self.folder / "sheet.html", limit=2)
        self.assertEqual(result.folders, {"cat": 2, "dog": 1})
        self.assertEqual(result.images["height"], {"min": 4, "mean": 4.0, "max": 4})
        self.assertIn("cat/1.png", (self.folder / "sheet.html").read_text())


class Results(unittest.TestCase):
    def test_show_one_field_per_line_and_the_first_items_of_long_lists(self):
        self.assertEqual(repr(_prepare.VerifyResult(1, 2, 3, 4, 5, list(range(7)), [])),
                         "VerifyResult(\n  files=1,\n  bytes=2,\n  records=3,\n  images=4,\n  left_out=5,\n"
                         "  bad=[0, 1, 2, 3, 4, … 2 more],\n  damaged=[],\n)")


class ProgressOfACall(WithFolder):
    def test_a_function_receives_updates(self):
        updates = []
        sk.pack(self.put_photos(), self.folder / "packed", progress=updates.append)
        self.assertEqual((updates[0].phase, updates[0].total), ("find", 0))
        last = updates[-1]
        self.assertEqual((last.phase, last.done, last.total, last.unit), ("write", 3, 3, "images"))

    def test_an_exception_of_the_function_ends_the_call(self):
        put_mnist(self.folder, 100_000)

        def stop(now):
            if now.phase == "write":
                raise KeyError("enough")

        begun = time.monotonic()
        with self.assertRaisesRegex(KeyError, "enough"):
            sk.pack(self.folder, self.folder / "packed", progress=stop)
        self.assertEqual(list((self.folder / "packed").iterdir()), [])
        self.assertLess(time.monotonic() - begun, 5)

    def test_the_bar_shows_the_share_the_rate_and_the_time_left(self):
        now = _prepare.Progress("write", 50, 200, "images", 50, "images", 1000)
        self.assertEqual(_prepare._Bar("pack").text(now, 10.0),
                         "pack  █████░░░░░░░░░░░░░░░  25%  5 images/s  0:30 left")

    def test_the_bar_appears_after_a_moment_and_is_removed(self):
        seconds = iter((0.0, 0.0, 1.0))
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors), _prepare._Bar("pack", clock=lambda: next(seconds)) as update:
            update("write", 0, 4, "images", 0, "images", 0)
            self.assertEqual(errors.getvalue(), "")
            update("write", 1, 4, "images", 1, "images", 9)
            self.assertIn("25%", errors.getvalue())
        self.assertTrue(errors.getvalue().endswith(" \r"))

    def test_it_is_shown_in_terminals_and_notebooks_only(self):
        self.assertIsInstance(_prepare._shown("pack", False), _prepare._Hidden)
        self.assertIsInstance(_prepare._shown("pack", True), _prepare._Bar)
        with contextlib.redirect_stderr(io.StringIO()):
            self.assertIsInstance(_prepare._shown("pack", None), _prepare._Hidden)
            shell = type("ZMQInteractiveShell", (), {})()
            with unittest.mock.patch.dict(sys.modules, IPython=unittest.mock.Mock(get_ipython=lambda: shell)):
                self.assertIsInstance(_prepare._shown("pack", None), _prepare._Bar)
        with self.assertRaisesRegex(TypeError, "progress: expected None, True, False or a function, got 3"):
            _prepare._shown("pack", 3)


PACKS = """
import sys, time, stoker as sk
try:
    sk.pack(sys.argv[1], sys.argv[2], shards=2, progress=False)
except KeyboardInterrupt:
    print("interrupted", time.time(), flush=True)
"""


class Interrupted(WithFolder):
    def seconds_to_cancel(self, source, packed):
        """Interrupt a program that packs, and return how long it took until KeyboardInterrupt was raised."""
        before = signal.signal(signal.SIGINT, signal.SIG_DFL)  # a test in the background may have to ignore it
        child = subprocess.Popen([sys.executable, "-c", PACKS, source, packed], stdout=subprocess.PIPE, text=True)
        signal.signal(signal.SIGINT, before)
        while not list(packed.glob(".*/*.partial")):
            self.assertIsNone(child.poll(), "the program ended too early")
            os.sched_yield()
        sent = time.time()
        os.kill(child.pid, signal.SIGINT)
        answer, _ = child.communicate(timeout=60)
        self.assertEqual((child.returncode, answer.split()[0]), (0, "interrupted"))
        return float(answer.split()[1]) - sent

    def test_ctrl_c_cancels_within_a_fifth_of_a_second_and_the_same_call_completes(self):
        put_mnist(self.folder, 200_000)
        packed = self.folder / "packed"
        seconds = [self.seconds_to_cancel(self.folder, packed) for _ in range(3)]
        self.assertLess(min(seconds), 0.2, seconds)  # the machine may be busy
        self.assertEqual([path.name for path in packed.glob("*.tfrecord")], [])
        self.assertEqual(list(packed.glob(".*/*.partial")), [])
        self.assertEqual(sk.pack(self.folder, packed, shards=2).records, 200_000)


if __name__ == "__main__":
    unittest.main()
