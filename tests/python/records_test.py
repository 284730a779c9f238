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
    return sk.io.encode_example({"image": b"image %d" % i, "label": i, **more})


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

    def test_a_dataset_of_names_is_read_file_by_file(self):
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

    def test_a_name_that_is_not_utf_8_is_reported(self):
        path = self.path(os.fsdecode(b"gone\xff"))
        with self.assertRaises(sk.NotFound) as missing:
            list(sk.data.TFRecordDataset(path))
        self.assertEqual(missing.exception.path, path)
        self.assertIn("gone\\xff", str(missing.exception))
        it = iter(sk.data.TFRecordDataset([path, self.write("a", [b"one"])]).on_error("skip"))
        self.assertEqual(list(it), [b"one"])
        self.assertIn("gone\\xff", it.skipped()[0].message)
        self.assertEqual(it.skipped()[0].path, path)

    def test_a_pattern_is_not_a_file_name(self):
        self.write("a.tfrecord", [b"one"])
        pattern = self.path("*.tfrecord")
        for read in (sk.data.TFRecordDataset, sk.data.TextLineDataset):
            with self.assertRaisesRegex(sk.NotFound, "a pattern is not expanded here: list_files finds the files"):
                list(read(pattern))
        self.assertEqual(list(sk.data.TFRecordDataset(sk.Dataset.list_files(pattern))), [b"one"])


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
        self.assertEqual((first["image"], first["label"]), (b"image 7", 7))
        self.assertEqual(first["label"].dtype, np.int64)
        np.testing.assert_array_equal(first["box"], np.array([[1, 2], [3, 4.5]], np.float32))
        np.testing.assert_array_equal(second["box"], np.zeros((2, 2), np.float32))

    def test_one_example_can_be_parsed_at_once(self):
        self.assertEqual(sk.io.parse_single_example(example(3), FEATURES)["label"], 3)

    def test_a_record_that_does_not_fit_is_reported_with_file_and_byte(self):
        path = self.write("a", [example(1), sk.io.encode_example({"image": b"x"}), example(2), example(3, label=1.5)])
        ds = sk.data.TFRecordDataset(path).map(lambda r: sk.io.parse_single_example(r, FEATURES)["label"])
        it = iter(ds)
        self.assertEqual(next(it), 1)
        with self.assertRaisesRegex(sk.InvalidArgument, "'label' .int64. is missing from the example, which has these "
                                    "features: 'image'; set its default_value if it is optional") as missing:
            next(it)
        self.assertEqual((missing.exception.path, missing.exception.offset), (path, 16 + len(example(1))))
        self.assertEqual(next(it), 2)
        with self.assertRaisesRegex(sk.InvalidArgument, "'label' is float32, expected int64"):
            next(it)
        skipping = iter(ds.on_error("skip"))
        with self.assertLogs("stoker", "WARNING") as told:
            self.assertEqual(list(skipping), [1, 2])
        self.assertEqual(len(skipping.skipped()), 2)
        self.assertIn("2 elements were skipped:\n", told.output[0])
        self.assertIn(path, told.output[0])

    def test_values_that_no_feature_can_hold_are_rejected_by_name(self):
        for value, words in (([1, "a"], "contains 1 of type int"), (["a", 1], "contains 1 of type int"),
                             (None, "contains None of type NoneType"), ([b"a", None], "contains None"),
                             (np.array([b"a", 2], object), "contains 2"), ([[1], [2, 3]], "has rows of different lengths")):
            with self.assertRaisesRegex(sk.InvalidArgument, f"the feature 'x' {words}"):
                sk.io.encode_example({"fine": 1, "x": value})
        self.assertEqual(sk.io.encode_example({"x": [b"\xff", "e"]}), sk.io.encode_example({"x": [b"\xff", b"e"]}))

    def test_impossible_features_raise_at_the_call(self):
        for wrong, words in (
            ({"a": sk.io.FixedLenFeature([None], sk.int64)}, "expected one without None"),
            ({"a": sk.io.FixedLenFeature([], sk.int32)}, "has dtype int32"),
            ({"a": sk.io.FixedLenFeature([2], sk.int64, default_value=1)}, "1 values"),
            ({"a": sk.io.FixedLenFeature([], "int")}, "'a' has the dtype 'int', .*use sk.int64"),
            ({"a": sk.io.VarLenFeature("str")}, "'a' has the dtype 'str', .*use sk.string"),
            ({"a": sk.int64}, r"'a' is the type sk.int64, .*use sk.io.FixedLenFeature\(\[\], sk.int64\)"),
            ({"a": bytes}, r"use sk.io.FixedLenFeature\(\[\], sk.string\)"),
            ({"a": "float32"}, r"use sk.io.FixedLenFeature\(\[\], sk.float32\)"),
            ({"a": sk.uint8}, r"'a' is the type sk.uint8, .*use sk.io.FixedLenFeature\(\[\], sk.int64\)"),
            ({"a": sk.io.VarLenFeature}, "'a' is the class VarLenFeature; call it"),
            ({}, "at least one"),
        ):
            with self.assertRaisesRegex(sk.InvalidArgument, words):
                sk.Dataset.from_tensors(example(1)).map(lambda r: sk.io.parse_single_example(r, wrong))

    def test_values_of_any_length_are_sparse_or_ragged(self):
        records = [sk.io.encode_example({"a": [1, 2], "t": [b"x\0"]}), sk.io.encode_example({"t": ["y", "z"]})]
        features = {"a": sk.io.VarLenFeature(sk.int64), "t": sk.io.RaggedFeature(sk.string)}
        first = sk.io.parse_single_example(records[0], features)
        self.assertEqual(first["a"].to_dense().tolist(), [1, 2])
        self.assertEqual(first["t"].tolist(), [b"x\0"])
        both = sk.io.parse_example(records, features)
        self.assertEqual(both["a"].indices.tolist(), [[0, 0], [0, 1]])
        self.assertEqual(both["a"].to_dense(-1).tolist(), [[1, 2], [-1, -1]])
        self.assertEqual(both["t"].to_list(), [[b"x\0"], [b"y", b"z"]])
        self.assertEqual(both["t"].to_tensor().tolist(), [[b"x\0", b""], [b"y", b"z"]])

    def test_ragged_values_are_padded_or_cut_to_a_shape(self):
        rows = sk.RaggedTensor.from_row_splits(np.arange(12).reshape(6, 2), [0, 4, 4, 6])
        for shape in (None, (None, None, None), (3, 4, 2), (2, 3, None), (5, 7, 2), [-1, 0, 2], (4, 4, 3)):
            dense = rows.to_tensor(-1, None, shape)
            sides = [now if side in (None, -1) else side for side, now in zip(shape or (None,) * 3, (3, 4, 2))]
            self.assertEqual(list(dense.shape), sides)
            for i in np.ndindex(dense.shape):
                inside = i[0] < 3 and i[1] < len(rows[i[0]]) and i[2] < 2
                self.assertEqual(dense[i], rows[i[0]][i[1], i[2]] if inside else -1)
        with self.assertRaisesRegex(sk.InvalidArgument, "shape: expected 3 dimensions, got \\(2, 3\\)"):
            rows.to_tensor(shape=(2, 3))

    def test_sparse_and_ragged_values_are_arrays_for_numpy(self):
        records = [sk.io.encode_example({"a": np.arange(n)}) for n in (2, 0)]
        features = {"a": sk.io.VarLenFeature(sk.int64), "r": sk.io.RaggedFeature(sk.int64, "a")}
        ds = sk.Dataset.from_tensors(np.array(records, object)).map(lambda r: sk.io.parse_example(r, features))
        found = next(ds.as_numpy_iterator())
        self.assertEqual(found["a"].tolist(), [[0, 1], [0, 0]])
        self.assertEqual([row.tolist() for row in found["r"]], [[0, 1], []])

    def test_sparse_and_ragged_values_go_through_a_pipeline(self):
        path = self.write("a", [sk.io.encode_example({"a": np.array([i] * i, np.int64)}) for i in range(4)])
        features = {"s": sk.io.SparseFeature("a", "a", sk.int64, 10), "r": sk.io.RaggedFeature(sk.int64, "a")}
        ds = sk.data.TFRecordDataset(path).batch(2).map(lambda r: sk.io.parse_example(r, features))
        twice = ds.map(lambda x: (x["s"].values * 2, sk.RaggedTensor(x["r"].values + 1, x["r"].row_splits), x["s"]))
        self.assertNotIn("Python", twice.explain())
        self.assertIsInstance(twice.element_spec[1], sk.RaggedTensor)
        first, second = twice
        self.assertEqual(second[0].tolist(), [4, 4, 6, 6, 6])
        self.assertEqual(second[1].to_list(), [[3, 3], [4, 4, 4]])
        self.assertEqual(second[2].shape, (2, 10))
        again = sk.Dataset.from_tensors(first[2]).map(lambda s: s.dense_shape)
        self.assertEqual(next(iter(again)).tolist(), [2, 10])
        in_python = ds.map(lambda x: x["r"] if len(x["r"].to_list()) else x["r"])
        self.assertEqual([r.to_list() for r in in_python], [[[], [1]], [[2, 2], [3, 3, 3]]])
        with self.assertRaisesRegex(sk.Unimplemented, "call parse_example after batch"):
            ds.batch(2)

    def test_ragged_values_are_made_of_splits(self):
        flat = sk.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 2, 3])
        self.assertEqual(flat.to_list(), [[1, 2], [], [3]])
        self.assertEqual([row.tolist() for row in flat.numpy()], [[1, 2], [], [3]])
        nested = sk.RaggedTensor.from_nested_row_splits([1, 2, 3], [[0, 1, 2], [0, 2, 3]])
        self.assertEqual(nested.to_list(), [[[1, 2]], [[3]]])
        self.assertEqual(sk.RaggedTensor.from_row_splits([1, 2], [0, 1, 2]).numpy().tolist(), [[1], [2]])
        for wrong in ([], [1, 3], [0, 2], [0, 4], [0, 2, 1, 3], [[0, 3]]):
            with self.assertRaisesRegex(sk.InvalidArgument, "row_splits: expected numbers that ascend from 0 to 3"):
                sk.RaggedTensor.from_row_splits([1, 2, 3], wrong)

    def test_partitions_make_rows(self):
        Ragged = sk.io.RaggedFeature
        record = sk.io.encode_example({"v": range(8), "inner": [0, 1, 4], "outer": [1, 0, 1]})
        value = sk.io.parse_single_example(record, {"r": Ragged(
            sk.int64, "v", [Ragged.RowLengths("outer"), Ragged.RowSplits("inner"), Ragged.UniformRowLength(2)])})["r"]
        self.assertEqual(value.to_list(), [[[[0, 1]]], [], [[[2, 3], [4, 5], [6, 7]]]])
        self.assertEqual(value.ragged_rank, 2)
        self.assertEqual([splits.tolist() for splits in value.nested_row_splits], [[0, 1, 1, 2], [0, 1, 4]])

    def test_sequences_have_a_context_and_lists(self):
        records = [sk.io.encode_sequence_example({"id": i}, {"x": [[k, k] for k in range(i)], "w": [["a"] * i]})
                   for i in (1, 2)]
        context = {"id": sk.io.FixedLenFeature([], sk.int64)}
        lists = {"x": sk.io.FixedLenSequenceFeature([2], sk.int64), "w": sk.io.VarLenFeature(sk.string)}
        one, steps = sk.io.parse_single_sequence_example(records[1], context, lists)
        self.assertEqual((one["id"], steps["x"].tolist()), (2, [[0, 0], [1, 1]]))
        self.assertEqual(steps["w"].to_dense().tolist(), [[b"a", b"a"]])
        many, steps, lengths = sk.io.parse_sequence_example(records, context, lists)
        self.assertEqual(many["id"].tolist(), [1, 2])
        self.assertEqual(steps["x"].tolist(), [[[0, 0], [0, 0]], [[0, 0], [1, 1]]])
        self.assertEqual(lengths["x"].tolist(), [1, 2])
        with self.assertRaisesRegex(sk.InvalidArgument, "at least one"):
            sk.io.parse_sequence_example(records)

    def test_after_a_batch_only_a_bad_record_fails(self):
        path = self.write("a", [b"garbage" if i == 1 else sk.io.encode_example({"x": i}) for i in range(5)])
        features = {"x": sk.io.FixedLenFeature([], sk.int64)}
        ds = sk.data.TFRecordDataset(path).batch(2).map(lambda r: sk.io.parse_example(r, features))
        self.assertEqual(ds.element_spec["x"].shape, (None,))
        self.assertEqual([batch["x"].tolist() for batch in ds.ignore_errors()], [[0, 2], [3, 4]])
        features["y"] = sk.io.VarLenFeature(sk.int64)
        with self.assertRaisesRegex(sk.InvalidArgument, "in record 1 of the vector"):
            list(sk.data.TFRecordDataset(path).batch(2).map(lambda r: sk.io.parse_example(r, features)))

    def test_features_of_the_wrong_kind_raise_at_the_call(self):
        for wrong, words in (
            ({"a": sk.io.FixedLenSequenceFeature([], sk.int64)}, "allow_missing"),
            ({"a": 1}, "is a int"),
            ({"a": sk.io.RaggedFeature(sk.int64, partitions=[1])}, "partition of type int"),
        ):
            with self.assertRaisesRegex(sk.InvalidArgument, words):
                sk.io.parse_single_example(example(1), wrong)
        with self.assertRaisesRegex(sk.InvalidArgument, "is a FixedLenFeature"):
            sk.io.parse_single_sequence_example(b"", None, {"a": sk.io.FixedLenFeature([], sk.int64)})

    def test_strings_keep_the_zeros_at_their_end(self):
        record = sk.io.encode_example({"one": b"a\0", "many": [b"\0", b"b"]})
        self.assertEqual(sk.io.parse_single_example(record, {"one": sk.io.FixedLenFeature([], sk.string)})["one"], b"a\0")
        default = sk.io.FixedLenFeature([2], sk.string, [b"x\0", b"y"])
        self.assertEqual(sk.io.parse_single_example(record, {"gone": default})["gone"].tolist(), [b"x\0", b"y"])

    def test_an_empty_list_has_no_type_and_is_omitted(self):
        words = {"w": sk.io.VarLenFeature(sk.string)}
        for empty in ([], (), np.array([], dtype=object)):
            parsed = sk.io.parse_single_example(sk.io.encode_example({"w": empty}), words)
            self.assertEqual(parsed["w"].values.tolist(), [])
        with self.assertRaisesRegex(sk.InvalidArgument, "is float32, expected string"):
            sk.io.parse_single_example(sk.io.encode_example({"w": np.zeros(0, np.float32)}), words)

    def test_an_empty_step_has_the_type_of_the_others(self):
        record = sk.io.encode_sequence_example({}, {"w": [[], ["a"], []]})
        _, lists = sk.io.parse_single_sequence_example(record, sequence_features={"w": sk.io.RaggedFeature(sk.string)})
        self.assertEqual(lists["w"].to_list(), [[], [b"a"], []])
        with self.assertRaisesRegex(sk.InvalidArgument, "all steps of 'w' are empty lists"):
            sk.io.encode_sequence_example({}, {"w": [[], []]})

    def test_other_types_are_rejected_when_encoding(self):
        with self.assertRaisesRegex(sk.InvalidArgument, "complex"):
            sk.io.encode_example({"a": np.array([1j])})


if __name__ == "__main__":
    unittest.main()
