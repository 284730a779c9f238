"""File formats from Python: records of one length, CSV, JSON lines, tar shards, NumPy's files, image folders."""

import base64
import gzip
import io
import json
import os
import pathlib
import tarfile
import tempfile
import threading
import unittest
import zlib

import numpy as np

import stoker as sk

FIXTURES = os.path.join(os.path.dirname(__file__), "..", "fixtures")


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, data):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode())
        return self.path(name)


def drawn(ds):
    """Return all elements, with errors at their positions."""
    found = []
    rows = iter(ds)
    while True:
        try:
            found.append(next(rows))
        except StopIteration:
            return found
        except sk.Error as error:
            found.append(error)


class FixedLength(Folder):
    def test_records_between_header_and_footer(self):
        paths = [self.write("a", b"hhabcdeff"), self.write("b", b"hhghif")]
        ds = sk.data.FixedLengthRecordDataset(paths, 3, 2, 1)
        self.assertEqual(list(ds), [b"abc", b"def", b"ghi"])
        self.assertEqual(len(ds), 3)
        self.assertEqual(ds.at(2), b"ghi")
        self.assertEqual(sorted(ds.shuffle(seed=1)), [b"abc", b"def", b"ghi"])

    def test_compressed_and_several_at_once(self):
        paths = [self.write("a", gzip.compress(b"abcdef")), self.write("b", gzip.compress(b"ghi"))]
        ds = sk.data.FixedLengthRecordDataset(paths, 3, compression_type="GZIP", num_parallel_reads=2)
        self.assertEqual(list(ds), [b"abc", b"ghi", b"def"])
        ds = sk.data.FixedLengthRecordDataset(sk.Dataset.from_tensor_slices(paths), 3, compression_type="GZIP")
        self.assertEqual(list(ds), [b"abc", b"def", b"ghi"])

    def test_wrong_sizes(self):
        with self.assertRaisesRegex(sk.InvalidArgument, "record_bytes is 0"):
            sk.data.FixedLengthRecordDataset(self.write("a", b"x"), 0)
        with self.assertRaisesRegex(sk.InvalidArgument, "expected a multiple of 3"):
            next(iter(sk.data.FixedLengthRecordDataset(self.write("a", b"abcd"), 3)))


class Csv(Folder):
    def test_rows_are_tensorflows(self):
        with open(os.path.join(FIXTURES, "csv.json"), encoding="ascii") as file:
            cases = json.load(file)
        for case in cases:
            path = self.write("x.csv", case["text"].encode("latin-1"))
            defaults = [t if d is None else np.array([d], object if t == "string" else t) for t, d in case["types"]]
            rows = drawn(sk.data.experimental.CsvDataset(path, defaults, **case["options"]))
            printed = [None if isinstance(row, sk.Error) else [self.printed(value) for value in row] for row in rows]
            self.assertEqual(printed, case["rows"], case)

    @staticmethod
    def printed(value):
        return base64.b64encode(value).decode() if isinstance(value, bytes) else repr(value.item())

    def test_an_error_names_file_line_and_byte(self):
        path = self.write("a.csv", "a,1\nb,x\nc,3\n")
        rows = drawn(sk.data.experimental.CsvDataset(path, [sk.string, sk.int32]))
        self.assertEqual([rows[0], rows[2]], [(b"a", 1), (b"c", 3)])
        self.assertIsInstance(rows[1], sk.InvalidArgument)
        self.assertIn("a.csv, line 2: column 1 is 'x', expected int32", str(rows[1]))
        self.assertEqual((rows[1].path, rows[1].offset), (path, 4))

    def test_an_error_names_the_column_and_suggests_the_header(self):
        path = self.write("a.csv", "name,age\nb,x\nc,3\n")
        rows = drawn(sk.data.experimental.CsvDataset(path, [sk.string, sk.int32], header=True))
        self.assertIn("a.csv, line 2: column 'age' is 'x', expected int32", str(rows[0]))
        rows = drawn(sk.data.experimental.CsvDataset(path, [sk.string, sk.int32]))
        self.assertIn("line 1: column 1 is 'age', expected int32; set `header` if", str(rows[0]))
        self.assertNotIn("header", str(rows[1]))

    def test_an_error_in_a_pipe_numbers_the_column(self):
        path = self.write("a.csv", "")
        os.unlink(path)
        os.mkfifo(path)
        writer = threading.Thread(target=lambda: pathlib.Path(path).write_text("name,age\nb,x\nc,3\n"))
        writer.start()
        rows = drawn(sk.data.experimental.CsvDataset(path, [sk.string, sk.int32], header=True))
        writer.join()
        self.assertIn("line 2: column 1 is 'x', expected int32", str(rows[0]))
        self.assertEqual(rows[1:], [(b"c", 3)])

    def test_wrong_arguments(self):
        for arguments in ({"field_delim": "ab"}, {"select_cols": [1, 0]}, {"select_cols": ["name"]}, {"buffer_size": 0},
                          {"select_cols": [0, 1], "exclude_cols": [2]}):
            with self.assertRaises(sk.InvalidArgument):
                sk.data.experimental.CsvDataset("a", [sk.int32, sk.int32], **arguments)

    def test_make_csv_dataset_infers_names_and_types(self):
        text = "\ufeffname,n,big,x,y,none\nann,1,5000000000,1.5,1e300,\nbo,2,1,2,3,\ncy,,1,,4,\n".encode()
        for written, kind in ((self.write("a.csv", text), None), (self.write("a.gz", gzip.compress(text)), "GZIP"),
                              (self.write("a.z", zlib.compress(text)), "ZLIB")):
            ds = sk.data.experimental.make_csv_dataset(written, 2, shuffle=False, num_epochs=1, compression_type=kind)
            first, second = list(ds)
            self.assertEqual(list(first), ["name", "n", "big", "x", "y", "none"])
            self.assertEqual([str(first[key].dtype) for key in first],
                             ["object", "int32", "int64", "float32", "float64", "object"])
            self.assertEqual(first["name"].tolist(), [b"ann", b"bo"])
            self.assertEqual(second["n"].tolist(), [0])
            self.assertEqual(second["name"].tolist(), [b"cy"])

    def test_make_csv_dataset_returns_labels_and_repeats(self):
        self.write("a1.csv", "x,y\n1,2\n3,4\n")
        self.write("a2.csv", "x,y\n5,6\n")
        ds = sk.data.experimental.make_csv_dataset(self.path("a?.csv"), 2, label_name="y", shuffle_seed=3)
        rows = iter(ds)
        seen = [next(rows) for _ in range(6)]
        self.assertEqual({len(label) for _, label in seen}, {2})
        pairs = {(x, y) for features, label in seen for x, y in zip(features["x"].tolist(), label.tolist())}
        self.assertEqual(pairs, {(1, 2), (3, 4), (5, 6)})
        self.assertEqual(list(seen[0][0]), ["x"])

    def test_make_csv_dataset_reads_a_file_of_one_column(self):
        self.write("one.csv", b"x\n1\n2\n")
        ds = sk.data.experimental.make_csv_dataset(self.path("one.csv"), 2, shuffle=False, num_epochs=1)
        self.assertEqual([{name: column.tolist() for name, column in row.items()} for row in ds], [{"x": [1, 2]}])

    def test_make_csv_dataset_selects_and_ignores_errors(self):
        path = self.write("a.csv", "x,y,z\n1,2,3\n4,5\n7,8,9\n")
        ds = sk.data.experimental.make_csv_dataset(path, 8, select_columns=["z", 0], column_defaults=[sk.int32, sk.int32],
                                                   num_epochs=1, shuffle=False, ignore_errors=True)
        (features,) = list(ds)
        self.assertEqual({key: value.tolist() for key, value in features.items()}, {"x": [1, 7], "z": [3, 9]})

    # Law: every batch fits element_spec, also the last one, which may have fewer rows.
    def test_the_spec_of_make_csv_dataset_fits_every_batch(self):
        path = self.write("a.csv", "x,y\n1,2.5\n3,4\n5,6\n")
        for epochs, rows in ((1, None), (2, None), (0, None), (None, 2)):
            for label in (None, "y"):
                with self.subTest(epochs=epochs, label=label):
                    ds = sk.data.experimental.make_csv_dataset(path, 2, label_name=label, num_epochs=epochs)
                    x, y = sk.TensorSpec((rows,), sk.int32), sk.TensorSpec((rows,), sk.float32)
                    self.assertEqual(ds.element_spec, {"x": x, "y": y} if label is None else ({"x": x}, y))
                    for batch in ds.take(4):
                        self.assertIn((batch if label is None else batch[0])["x"].shape, [(rows,)] if rows else [(1,), (2,)])

    def test_make_csv_dataset_names_a_file_that_is_not_text(self):
        make, text = sk.data.experimental.make_csv_dataset, b"x,y\n1,2\n"
        cases = (("a.csv.gz", gzip.compress(text), {}, "compressed; set compression_type to 'GZIP' or 'AUTO'"),
                 ("b.csv.gz", gzip.compress(text), {"encoding": "latin-1"}, "compression_type"),
                 ("c.csv", zlib.compress(text), {}, "line 1 is not utf-8 text; set encoding .*, or compression_type"),
                 ("d.csv", b"x,y\n1,caf\xe9\n", {}, "line 2 is not utf-8 text; set encoding"),
                 ("e.csv", b"x,y\n1,2\n3," + b"y" * 200_000, {}, "line 3: field larger"))
        for name, data, arguments, words in cases:
            with self.subTest(name), self.assertRaisesRegex(sk.InvalidArgument, f"{name}: .*{words}") as refused:
                make(self.write(name, data), 1, **arguments)
            self.assertEqual(refused.exception.path, self.path(name))
        with self.assertRaisesRegex(sk.InvalidArgument, "encoding: Python has no encoding 'utf-9'"):
            make(self.write("f.csv", text), 1, encoding="utf-9")
        ds = make(self.path("d.csv"), 1, num_epochs=1, encoding="latin-1")
        self.assertEqual(ds.get_single_element()["y"].tolist(), [b"caf\xe9"])

    def test_a_compressed_csv_file_without_a_compression_type_is_an_error_and_not_empty(self):
        path = self.write("a.csv.gz", gzip.compress(b"x\n1\n"))
        with self.assertRaisesRegex(sk.InvalidArgument, 'a.csv.gz is GZIP data, .*set compression_type to "GZIP"'):
            list(sk.data.experimental.CsvDataset(path, [sk.int32], header=True))

    def test_make_csv_dataset_rejects_wrong_arguments(self):
        a, b = self.write("a.csv", "x,y\n1,2\n"), self.write("b.csv", "x,z\n1,2\n")
        make = sk.data.experimental.make_csv_dataset
        for files, arguments, words in (([a, b], {}, "b.csv"), (a, {"label_name": "q"}, "'q'"),
                                        (a, {"select_columns": ["q"]}, "'q'"), (a, {"select_columns": [5]}, "5"),
                                        (a, {"column_names": ["x", "x"]}, "more than once"),
                                        (a, {"header": False}, "column_names"), (self.write("e.csv", ""), {}, "empty"),
                                        (a, {"num_rows_for_inference": -1}, "num_rows_for_inference: .* got -1"),
                                        (a, {"num_rows_for_inference": "x"}, "num_rows_for_inference: .* got 'x'"),
                                        (a, {"num_parallel_reads": "x"}, "num_parallel_reads: .* got 'x'"),
                                        ([], {}, "file_pattern: expected at least one file")):
            with self.assertRaisesRegex(sk.InvalidArgument, words):
                make(files, 1, **arguments)


class JsonLines(Folder):
    def test_features_of_lines(self):
        path = self.write("a.jsonl", '{"t": "one", "ids": [1, 2]}\n{"t": 5}\n{"t": "two", "ids": [], "w": 2}\n')
        rows = drawn(sk.data.JsonLinesDataset(path, {
            "t": sk.TensorSpec([], sk.string), "ids": sk.TensorSpec([None], sk.int32),
            "w": sk.io.FixedLenFeature([], sk.float32, default_value=1.0)}))
        self.assertEqual((rows[0]["t"], rows[0]["ids"].tolist(), rows[0]["w"]), (b"one", [1, 2], 1.0))
        self.assertIn("line 2: 't': expected string, got an integer", str(rows[1]))
        self.assertEqual((rows[2]["ids"].tolist(), rows[2]["w"]), ([], 2.0))
        with self.assertRaisesRegex(sk.InvalidArgument, "at least one"):
            sk.data.JsonLinesDataset(path, {})

    def test_a_line_that_is_not_json_is_located_once(self):
        path = self.write("a.jsonl", '{"t": 1}\n{t: 2}\n')
        rows = drawn(sk.data.JsonLinesDataset(path, {"t": sk.TensorSpec([], sk.int64)}))
        self.assertRegex(str(rows[1]), r"a.jsonl, line 2: not valid JSON at column 3: ")
        self.assertNotIn("line 1", str(rows[1]))


class Tar(Folder):
    def shard(self, name, members, mode="w", form=tarfile.PAX_FORMAT):
        with tarfile.open(self.path(name), mode, format=form) as tar:
            for member, data in members:
                info = tarfile.TarInfo(member)
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
        return self.path(name)

    def test_samples_of_shards_are_a_list(self):
        paths = [self.shard("a.tar", [("d/1.jpg", b"one"), ("d/1.cls", b"1"), ("d/2.jpg", b"two"), ("d/2.cls", b"2")]),
                 self.shard("b.tar", [("d/3.JPG", b"three"), ("d/3.cls", b"3")], form=tarfile.GNU_FORMAT)]
        ds = sk.data.WebDataset(paths)
        self.assertEqual([(s["__key__"], s["cls"], s["jpg"]) for s in ds],
                         [(b"d/1", b"1", b"one"), (b"d/2", b"2", b"two"), (b"d/3", b"3", b"three")])
        self.assertEqual(len(ds), 3)
        self.assertEqual(ds.at(2)["__url__"], os.fsencode(paths[1]))
        rows = iter(ds.shuffle(seed=4))
        first = next(rows)["__key__"]
        saved = rows.save()
        rest = [s["__key__"] for s in rows]
        rows.restore(saved)
        self.assertEqual([s["__key__"] for s in rows], rest)
        self.assertEqual(sorted([first] + rest), [b"d/1", b"d/2", b"d/3"])

    def test_components_and_compressed_shards(self):
        members = [("1.a", b"x"), ("1.b", b"y"), ("2.a", b"z")]
        path = self.shard("a.tar.gz", members, "w:gz")
        ds = sk.data.WebDataset(path, components=["a"], compression_type="GZIP")
        self.assertEqual([s["a"] for s in ds], [b"x", b"z"])
        rows = drawn(sk.data.WebDataset(self.shard("a.tar", members), components=["a", "b"]))
        self.assertIn("the sample 2 has no b", str(rows[1]))


class Arrays(Folder):
    def test_rows_of_npy_and_npz(self):
        a = np.arange(12, dtype=np.float32).reshape(3, 2, 2)
        for order in "CF":
            np.save(self.path("a.npy"), np.asarray(a, order=order))
            ds = sk.data.NpyDataset(self.path("a.npy"))
            np.testing.assert_array_equal(np.stack(list(ds)), a)
            self.assertEqual(len(ds), 3)
        for save in (np.savez, np.savez_compressed):
            save(self.path("a.npz"), image=a, label=np.array([7, 8, 9]))
            rows = list(sk.data.NpyDataset(self.path("a.npz")))
            self.assertEqual([int(row["label"]) for row in rows], [7, 8, 9])
            np.testing.assert_array_equal(rows[1]["image"], a[1])


class ImageFolders(Folder):
    def test_paths_and_labels(self):
        for name in ("cat/1.jpg", "dog/2.png", "cat/.DS_Store", "__MACOSX/x.jpg"):
            self.write(name, b"x")
        os.mkdir(self.path("bird"))
        images = sk.data.ImageFolder(self.folder.name)
        found = [(os.path.relpath(os.fsdecode(path), self.folder.name), label) for path, label in images]
        self.assertEqual(found, [("cat/1.jpg", 1), ("dog/2.png", 2)])
        self.assertEqual(sk.data.image_classes(self.folder.name), ["bird", "cat", "dog"])

    def test_a_missing_folder_is_one_kind_of_error_everywhere(self):
        gone = self.path("gone")
        for call in (sk.data.ImageFolder, sk.data.image_classes, lambda path: sk.pack(path, self.path("packed")), sk.verify,
                     sk.inspect, sk.index):
            with self.assertRaisesRegex(sk.NotFound, "gone: No such file or directory"):
                call(gone)


if __name__ == "__main__":
    unittest.main()
