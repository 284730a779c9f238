"""TFRecord files and examples from Python."""

import os
import tempfile
import unittest

import numpy as np

import stoker as sk

FEATURES = {
    "image": sk.io.FixedLenFeature([], sk.string),
    "label": sk.io.FixedLenFeature([], sk.int64),
    "box": sk.io.FixedLenFeature([2, 2], sk.float32, default_value=[0, 0, 0, 0]),
}


def example(i, **more):
    return sk.io.encode_example({"image": b"picture %d" % i, "label": i, **more})


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, records, options=None):
        with sk.io.TFRecordWriter(self.path(name), options) as writer:
            for record in records:
                writer.write(record)
        return self.path(name)


class Records(Folder):
    def test_the_bytes_of_a_record_are_the_formats(self):
        with open(self.write("a", [b"", b"hello"]), "rb") as file:
            self.assertEqual(file.read().hex(), "000000000000000029039807d8ea82a2" "0500000000000000eab2043e68656c6c6fbb1f1c19")

    def test_what_was_written_is_read_in_order(self):
        files = [self.write("a", [b"one", "two"]), self.write("b", []), self.write("c", [b"three"])]
        self.assertEqual(list(sk.data.TFRecordDataset(files)), [b"one", b"two", b"three"])
        self.assertEqual(list(sk.data.TFRecordDataset(files[0])), [b"one", b"two"])

    def test_compressed_files(self):
        for kind in ("GZIP", "ZLIB"):
            path = self.write(kind, [b"one", b"two"], sk.io.TFRecordOptions(kind))
            self.assertEqual(list(sk.data.TFRecordDataset(path, kind)), [b"one", b"two"])
        with self.assertRaisesRegex(sk.InvalidArgument, "SNAPPY"):
            sk.io.TFRecordOptions("SNAPPY")

    def test_a_flushed_file_can_be_read_before_it_is_closed(self):
        writer = sk.io.TFRecordWriter(self.path("a"))
        writer.write(b"one")
        writer.flush()
        self.assertEqual(list(sk.data.TFRecordDataset(self.path("a"))), [b"one"])
        writer.close()
        with self.assertRaisesRegex(sk.FailedPrecondition, "closed"):
            writer.write(b"two")

    def test_several_files_are_read_in_turn(self):
        files = [self.write("a", [b"a0", b"a1"]), self.write("b", [b"b0", b"b1"])]
        ds = sk.data.TFRecordDataset(files, num_parallel_reads=2)
        self.assertEqual(list(ds), [b"a0", b"b0", b"a1", b"b1"])
        ds.save_graph(self.path("graph.json"))
        self.assertEqual(list(sk.load_graph(self.path("graph.json"))), list(ds))

    def test_a_data_set_of_names_is_read_file_by_file(self):
        files = [self.write("a", [b"a0", b"a1"]), self.write("b", [b"b0"])]
        self.assertEqual(list(sk.data.TFRecordDataset(sk.Dataset.from_tensor_slices(files))), [b"a0", b"a1", b"b0"])

    def test_damage_names_the_file_and_the_rest_follows(self):
        path = self.write("a", [b"one", b"two", b"three"])
        with open(path, "r+b") as file:
            file.seek(19 + 12)
            file.write(b"x")
        it = iter(sk.data.TFRecordDataset(path))
        self.assertEqual(next(it), b"one")
        with self.assertRaises(sk.DataLoss) as lost:
            next(it)
        self.assertEqual((lost.exception.path, lost.exception.offset), (path, 19))
        self.assertEqual(list(it), [b"three"])

    def test_a_missing_file_is_named(self):
        with self.assertRaises(sk.NotFound) as missing:
            list(sk.data.TFRecordDataset(self.path("gone")))
        self.assertEqual(missing.exception.path, self.path("gone"))


class Idx(Folder):
    def test_entries_come_in_order(self):
        with open(self.path("labels"), "wb") as file:
            file.write(bytes([0, 0, 8, 1, 0, 0, 0, 3, 5, 0, 9]))
        labels = sk.data.IdxDataset(self.path("labels"))
        self.assertEqual(len(labels), 3)
        self.assertEqual([int(label) for label in labels], [5, 0, 9])


class Examples(Folder):
    def test_features_come_in_their_shapes(self):
        path = self.write("a", [example(7, box=[1, 2, 3, 4.5]), example(8)])
        ds = sk.data.TFRecordDataset(path).map(lambda record: sk.io.parse_single_example(record, FEATURES))
        self.assertNotIn("Python", ds.explain())
        first, second = list(ds)
        self.assertEqual((first["image"], first["label"]), (b"picture 7", 7))
        self.assertEqual(first["label"].dtype, np.int64)
        np.testing.assert_array_equal(first["box"], np.array([[1, 2], [3, 4.5]], np.float32))
        np.testing.assert_array_equal(second["box"], np.zeros((2, 2), np.float32))

    def test_one_example_can_be_parsed_at_once(self):
        self.assertEqual(sk.io.parse_single_example(example(3), FEATURES)["label"], 3)

    def test_what_does_not_fit_is_named_with_file_and_byte(self):
        path = self.write("a", [example(1), sk.io.encode_example({"image": b"x"}), example(2), example(3, label=1.5)])
        ds = sk.data.TFRecordDataset(path).map(lambda r: sk.io.parse_single_example(r, FEATURES)["label"])
        it = iter(ds)
        self.assertEqual(next(it), 1)
        with self.assertRaisesRegex(sk.InvalidArgument, "'label' .int64. is required") as missing:
            next(it)
        self.assertEqual((missing.exception.path, missing.exception.offset), (path, 16 + len(example(1))))
        self.assertEqual(next(it), 2)
        with self.assertRaisesRegex(sk.InvalidArgument, "'label' is float32, int64 was wanted"):
            next(it)
        skipping = iter(ds.on_error("skip"))
        with self.assertLogs("stoker", "WARNING") as told:
            self.assertEqual(list(skipping), [1, 2])
        self.assertEqual(len(skipping.skipped()), 2)
        self.assertIn("2 elements were skipped:\n", told.output[0])
        self.assertIn(path, told.output[0])

    def test_features_that_cannot_be_are_told_at_the_call(self):
        for wrong, words in (
            ({"a": sk.io.FixedLenFeature([None], sk.int64)}, "known"),
            ({"a": sk.io.FixedLenFeature([], sk.int32)}, "cannot be int32"),
            ({"a": sk.io.FixedLenFeature([2], sk.int64, default_value=1)}, "1 values"),
            ({}, "at least one"),
        ):
            with self.assertRaisesRegex(sk.InvalidArgument, words):
                sk.Dataset.from_tensors(example(1)).map(lambda r: sk.io.parse_single_example(r, wrong))

    def test_other_types_are_refused_when_encoding(self):
        with self.assertRaisesRegex(sk.InvalidArgument, "complex"):
            sk.io.encode_example({"a": np.array([1j])})


if __name__ == "__main__":
    unittest.main()
