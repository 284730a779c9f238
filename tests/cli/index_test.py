"""`stoker index`: what it stores, where, and which files it rejects."""

import gzip
import json
import os
import struct
import subprocess
import unittest

from command import BAD_DATA, FINE, STOKER, WRONG_USE, TestCase
from command import stoker
from data_files import frame, number_png, to_example


class IndexCase(TestCase):
    def put(self, name, *payloads):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(map(frame, payloads)))
        return path

    def index(self, *arguments):
        """Run `stoker index --json`, assert that it succeeds, and return the entries of the files."""
        result = stoker("index", *arguments, "--json")
        self.assertEqual((result.status, result.errors), (FINE, ""))
        return json.loads(result.text)["files"]

    def kept(self, path):
        """Return the record offsets and labels of an index, parsed as docs/formats/record_index.md describes."""
        data = (path.parent / ".stoker" / f"{path.name}.index").read_bytes()
        self.assertEqual(data[:8], b"stkridx1")
        records, labels = struct.unpack_from("<2Q", data, 32)
        numbers = struct.unpack_from(f"<{records + labels}q", data, 48)
        return list(numbers[:records]), list(numbers[records:])


class Indexes(IndexCase):
    def test_an_index_is_next_to_the_data_and_lists_the_record_offsets(self):
        path = self.put("a.tfrecord", b"", b"12345", b"x")
        (found,) = self.index(path)
        self.assertEqual((found["records"], found["made"]), (3, True))
        self.assertEqual(found["index"], str(self.folder / ".stoker/a.tfrecord.index"))
        self.assertEqual(self.kept(path), ([0, 16, 37], []))

    def test_a_file_is_indexed_once_and_again_after_a_change(self):
        path = self.put("a.tfrecord", b"1", b"2")
        self.index(path)
        self.assertFalse(self.index(path)[0]["made"])
        self.put("a.tfrecord", b"1", b"2", b"3")
        (found,) = self.index(path)
        self.assertEqual((found["records"], found["made"]), (3, True))

    def test_folders_are_searched_recursively_and_patterns_are_expanded(self):
        self.put("data/b/x.tfrecord", b"1")
        self.put("data/a.tfrecord-00000-of-00001", b"1", b"2")
        self.put("data/.hidden.tfrecord", b"1")
        (self.folder / "data/notes.txt").write_text("notes")
        (self.folder / "data/b/up").symlink_to("..")
        found = self.index(self.folder / "data")
        self.assertEqual([file["records"] for file in found], [2, 1])
        self.assertEqual(len(self.index(f"{self.folder}/data/a*")), 1)

    def test_label_stores_the_labels_in_the_index(self):
        path = self.put("a.tfrecord", *(to_example(x=b"?", label=label) for label in (7, -1, 7)))
        self.assertNotIn("labels", self.index(path)[0])
        self.assertEqual(self.index(path, "--label", "label")[0]["labels"], {"-1": 1, "7": 2})
        self.assertEqual(self.kept(path)[1], [7, -1, 7])

    def test_labels_are_counted_from_the_index_without_reading_records(self):
        path = self.put("a.tfrecord", *(to_example(x=b"?" * 4096, label=label) for label in (7, -1, 7)))
        self.index(path, "--label", "label")
        data, times = bytearray(path.read_bytes()), path.stat()
        data[len(data) // 2] ^= 1  # damages the second record, which reading it would report
        path.write_bytes(data)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        self.assertEqual(stoker("index", path).lines[1:], ["2 labels:", "  -1  1", "  7  2"])
        self.assertEqual(stoker("index", path, "--label", "label").status, BAD_DATA)

    def test_text_has_the_counts(self):
        self.put("a.tfrecord", b"1", b"2")
        result = stoker("index", self.folder)
        self.assertEqual((result.status, result.errors), (FINE, ""))
        self.assertIn("2 records in 1 file, 1 indexed now and 0 earlier", result.text)
        self.assertEqual(stoker("index", self.folder, "--quiet").text, "")

    def test_the_index_is_in_the_cache_folder_if_the_data_folder_is_read_only(self):
        data = self.folder / "data"
        path = self.put("data/a.tfrecord", b"1", b"2")
        (self.folder / "cache").mkdir()
        (self.folder / "cache").chmod(0o777)
        self.folder.chmod(0o777)
        data.chmod(0o555)
        self.addCleanup(data.chmod, 0o777)
        user = {"user": 65534} if os.geteuid() == 0 else {}
        environment = {**os.environ, "STOKER_CACHE": str(self.folder / "cache")}
        try:
            done = subprocess.run(
                [STOKER, "index", path], capture_output=True, text=True, timeout=60, env=environment, **user
            )
        except PermissionError as error:
            self.skipTest(f"another user may not run the command: {error}")
        self.assertEqual((done.returncode, done.stderr), (FINE, ""))
        self.assertIn("1 index is in the cache folder, because the data folder cannot be written", done.stdout)
        self.assertEqual(len(list((self.folder / "cache/index").glob("*.index"))), 1)
        self.assertFalse((data / ".stoker").exists())


class Refusals(IndexCase):
    def failed(self, words, *arguments):
        result = stoker("index", *arguments)
        self.assertEqual(result.status, BAD_DATA)
        self.assertIn(words, result.errors)
        return result

    def test_other_files_are_indexed_although_one_is_bad(self):
        self.put("a.tfrecord", b"1")
        (self.folder / "b.tfrecord.gz").write_bytes(gzip.compress(frame(b"1")))
        result = self.failed("the file is compressed", self.folder)
        self.assertIn(f"{self.folder}/b.tfrecord.gz: ", result.errors)
        self.assertIn("1 record in 1 file", result.text)

    def test_files_other_than_tfrecord_are_errors(self):
        self.failed("the file is an image", self.write("a.png", number_png(1)))
        self.failed("no complete record", self.write("b.tfrecord", "text without a record"))

    def test_a_damaged_range_counts_as_one_record(self):
        path = self.put("a.tfrecord", *[to_example(x=1)] * 3)
        data = bytearray(path.read_bytes())
        second = len(data) // 3
        data[second] ^= 1
        path.write_bytes(data)
        self.assertEqual(self.index(path)[0]["records"], 3)
        self.failed(f"record at byte {second} is damaged", path, "--label", "x")

    def test_the_error_for_a_missing_label_names_the_record(self):
        path = self.put("a.tfrecord", to_example(label=1), to_example(other=1))
        place = len(frame(to_example(label=1)))
        self.failed(f"{path}: record 1 at byte {place}: the record has no feature 'label'", path, "--label", "label")
        path = self.put("b.tfrecord", to_example(label=[1, 2]))
        self.failed("has 2 values", path, "--label", "label")
        path = self.put("c.tfrecord", to_example(label=b"cat"))
        self.failed("is not int64", path, "--label", "label")
        self.assertFalse((self.folder / ".stoker").exists())

    def test_wrong_use(self):
        self.assert_refused(stoker("index", self.folder / "gone"), "gone", "No such file")
        self.assert_refused(stoker("index", self.folder), "no TFRecord files and no images found in")
        self.assert_refused(stoker("index", f"{self.folder}/*.x"), "*.x")
        self.assertEqual(stoker("index").status, WRONG_USE)


if __name__ == "__main__":
    unittest.main()
