"""A file may be truncated at any time: elements are what was in the file, or errors. This holds for every source."""

import faulthandler
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import unittest

import numpy as np

import stoker as sk

ROWS = 1000
TEXTS = [b"%06d" % (i + 1) + b"." * 94 for i in range(ROWS)]  # no zero byte in them
MATRIX = np.arange(1, ROWS * 100 + 1, dtype=np.int64).reshape(ROWS, 100)


def write_records(path):
    with sk.io.TFRecordWriter(path) as file:
        for text in TEXTS:
            file.write(text)


def write_bytes(data):
    def write(path):
        with open(path, "wb") as file:
            file.write(data)

    return write


def write_npy(path):
    with open(path, "wb") as file:
        np.save(file, MATRIX)


def write_npz(path):
    with open(path, "wb") as file:
        np.savez(file, MATRIX)


def tar_bytes():
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        for i, text in enumerate(TEXTS):
            info = tarfile.TarInfo(f"{i:06}.txt")
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text))
    return data.getvalue()


LINES = b"".join(text + b"\n" for text in TEXTS)
IDX = bytes([0, 0, 8, 2, 0, 0, ROWS >> 8, ROWS & 255, 0, 0, 0, 100]) + b"".join(text for text in TEXTS)


def is_text(x):
    return x in TEXTS


def begins_a_text(x):
    """What is left of the last line may be one."""
    return bytes(x).startswith(b"0") and any(text.startswith(bytes(x)) for text in TEXTS)


def is_row(x):
    return 0 < x[0] and x[0] % 100 == 1 and (x == np.arange(x[0], x[0] + 100)).all()


# For each source: what writes its file, the dataset, and whether an element was in the file.
SOURCES = {
    "tfrecord": (write_records, sk.data.TFRecordDataset, is_text),
    "tfrecord by position": (write_records, lambda p: sk.data.TFRecordDataset(p).shuffle(seed=1), is_text),
    "tfrecord in several readers":
        (write_records, lambda p: sk.data.TFRecordDataset([p, p, p], num_parallel_reads=3), is_text),
    "text": (write_bytes(LINES), sk.data.TextLineDataset, begins_a_text),
    "csv": (write_bytes(LINES), lambda p: sk.data.experimental.CsvDataset(p, [b""]), lambda x: begins_a_text(x[0])),
    "fixed": (write_bytes(LINES), lambda p: sk.data.FixedLengthRecordDataset(p, 101), lambda x: is_text(x[:-1])),
    "json":
        (write_bytes(b"".join(json.dumps({"a": text.decode()}).encode() + b"\n" for text in TEXTS)),
         lambda p: sk.data.JsonLinesDataset(p, {"a": sk.io.FixedLenFeature([], sk.string)}), lambda x: is_text(x["a"])),
    "tar": (write_bytes(tar_bytes()), sk.data.WebDataset, lambda x: is_text(x["txt"])),
    "idx": (write_bytes(IDX), sk.data.IdxDataset, lambda x: is_text(np.asarray(x).tobytes())),
    "npy": (write_npy, sk.data.NpyDataset, is_row),
    "npy by position": (write_npy, lambda p: sk.data.NpyDataset(p).shuffle(seed=1), is_row),
    "npz": (write_npz, sk.data.NpyDataset, lambda x: is_row(x["arr_0"])),
    "read_file":
        (write_bytes(LINES), lambda p: sk.Dataset.from_tensor_slices([p] * 50).map(sk.io.read_file), LINES.startswith),
}

# What elements may wait in, and what may read them. Each gives single elements again.
STAGES = {
    "alone": lambda ds: ds,
    "prefetch": lambda ds: ds.prefetch(300),
    "shuffle": lambda ds: ds.shuffle(300, seed=1),
    "batch": lambda ds: ds.batch(8).unbatch(),
    "shuffled batch": lambda ds: ds.shuffle(300, seed=1).batch(8).unbatch(),
    "cache": lambda ds: ds.cache(),
    "function": lambda ds: ds.map(lambda x: (lambda y: y)(x), workers="thread"),
}


def drain(rows):
    """The rest of the elements, and of the errors."""
    found, errors = [], []
    while True:
        try:
            found.append(next(rows))
        except StopIteration:
            return found, errors
        except sk.Error as error:
            errors.append(error)


class Truncation(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def check(self, source, stage, divisor, epochs):
        write, dataset, was_written = SOURCES[source]
        path = os.path.join(self.folder, "data.npz" if source == "npz" else "data")
        write(path)
        ds = STAGES[stage](dataset(path))
        rows = iter(ds)
        first = [next(rows) for _ in range(3)]
        size = os.path.getsize(path)
        os.truncate(path, size // divisor if divisor else size - 1700)
        for _ in range(epochs):
            found, errors = drain(rows)
            wrong = [x for x in first + found if not was_written(x)]
            self.assertEqual(wrong[:1], [])
            for error in errors:
                self.assertIsInstance(error, (sk.DataLoss, sk.OutOfRange))
            rows = iter(ds)

    def test_no_source_delivers_what_was_not_in_its_file(self):
        for source in SOURCES:
            # While Linux truncates a file inside a page, read() may return zeros for the rest of that page. Records have
            # checksums against this; files of other formats are truncated to nothing.
            for divisor in (10**9, 2, 0) if source.startswith("tfrecord") else (10**9,):
                with self.subTest(source=source, divisor=divisor):
                    self.check(source, "alone", divisor, 1)

    def test_nothing_else_comes_of_records_that_wait(self):
        for stage in STAGES:
            for divisor in (10**9, 2, 0):
                with self.subTest(stage=stage, divisor=divisor):
                    self.check("tfrecord", stage, divisor, 2 if stage == "cache" else 1)

    def test_a_record_that_waits_in_many_files_fails(self):
        paths = [os.path.join(self.folder, str(i)) for i in range(100)]
        for path in paths:
            write_records(path)
        files = sk.Dataset.from_tensor_slices(paths)
        rows = iter(files.interleave(sk.data.TFRecordDataset, cycle_length=100))
        for _ in range(100):
            next(rows)
        for path in paths:
            os.truncate(path, 100)
        found, errors = drain(rows)
        self.assertEqual([x for x in found if x not in TEXTS], [])
        self.assertGreaterEqual(len(errors), 100)
        self.assertEqual({type(error) for error in errors}, {sk.DataLoss})


class Handlers(unittest.TestCase):
    """The handler of SIGBUS stays in front of others, and leaves other faults to them."""

    SETUP = """
import faulthandler, mmap, os, signal, sys, stoker as sk
signal.alarm(20)  # instead of an endless loop
sk.configure(workers=0)  # nothing is read between two calls of next()
def begun():
    with sk.io.TFRecordWriter("r") as file:
        for i in range(10): file.write(b"x" * 5000)
    rows = iter(sk.data.TFRecordDataset("r"))
    next(rows)
    return rows
def truncated(rows):
    os.truncate("r", 0)
    lost = 0
    while True:
        try: assert next(rows) == b"x" * 5000
        except StopIteration: break
        except sk.DataLoss: lost += 1
    assert lost > 0
def other_fault():
    open("h", "wb").write(b"x" * 8192)
    with open("h", "r+b") as file: mapped = mmap.mmap(file.fileno(), 8192)
    os.truncate("h", 0)
    mapped[5000]
"""

    def status_of(self, program):
        with tempfile.TemporaryDirectory() as folder:
            return subprocess.run([sys.executable, "-c", self.SETUP + program], cwd=folder, stderr=subprocess.PIPE,
                                  check=False).returncode

    def test_a_truncated_file_is_no_crash_after_faulthandler_was_enabled_or_disabled(self):
        self.assertEqual(self.status_of("rows = begun(); faulthandler.enable(); truncated(rows)"), 0)
        self.assertEqual(self.status_of("""
faulthandler.enable(); rows = begun(); faulthandler.disable(); truncated(rows); truncated(begun())"""), 0)

    def test_a_fault_of_others_ends_the_process_after_faulthandler_was_disabled(self):
        self.assertEqual(self.status_of("""
begun(); faulthandler.enable(); begun(); faulthandler.disable(); other_fault()"""), -7)

    def test_a_fault_of_others_ends_the_process_after_a_handler_that_returned(self):
        self.assertEqual(self.status_of("""
signal.signal(signal.SIGBUS, lambda *_: None); begun(); other_fault()"""), -7)


if __name__ == "__main__":
    faulthandler.disable()
    unittest.main()
