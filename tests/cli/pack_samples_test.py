"""`stoker pack` with tar files in WebDataset's layout, and with TFRecord files."""

import gzip
import io
import json
import os
import shutil
import tarfile
import unittest
import zlib

from command import BAD_DATA, WRONG_USE
from data_files import flat_jpeg, frame, number_png, to_example
from pack_test import PackCase


def tar(**members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as file:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            file.addfile(info, io.BytesIO(data))
    return out.getvalue()


class Tars(PackCase):
    def setUp(self):
        super().setUp()
        self.source.mkdir()

    def test_images_with_labels_in_cls(self):
        members = {}
        for i in range(5):
            members |= {f"train/{i}.png": number_png(i), f"train/{i}.cls": b"%d\n" % (i % 2)}
        self.put("a.tar", tar(**members))
        summary = self.packed()
        self.assertEqual((summary["records"], summary["classes"]), (5, []))
        found = {e["path"]: (e["label"], e["image"]) for e in self.examples()}
        self.assertEqual(found, {b"train/%d.png" % i: (i % 2, number_png(i)) for i in range(5)})

    def test_compressed_tar_files(self):
        for name in ("a.tar.gz", "b.tgz"):
            self.put(name, gzip.compress(tar(**{f"{name[0]}.png": number_png(1), f"{name[0]}.cls": b"3"})))
        self.packed()
        self.assertEqual({e["path"]: e["label"] for e in self.examples()}, {b"a.png": 3, b"b.png": 3})
        self.source = self.source / "b.tgz"
        self.assertEqual(self.packed("--overwrite")["shards"], [f"{self.target}/b-00000-of-00001.tfrecord"])

    def test_one_file_or_a_pattern_with_labels_in_json(self):
        for shard in "ab":
            self.put(f"x-{shard}.tar", tar(**{f"{shard}.png": number_png(1), f"{shard}.json": b'{"label": 3, "z": []}'}))
        self.source = self.source / "x-a.tar"
        self.packed()
        self.assertEqual([(e["label"], e["path"]) for e in self.examples("x-a")], [(3, b"a.png")])
        self.source = self.source.parent / "x-*.tar"
        self.packed()
        self.assertEqual(sorted(e["path"] for e in self.examples("x-00000-of")), [b"a.png", b"b.png"])

    def test_errors_name_the_bad_sample(self):
        self.put("a.tar", tar(**{"1.png": number_png(1), "1.cls": b"1", "2.png": number_png(2), "2.cls": b"cat"}))
        self.refused(f"stoker: {self.source}/a.tar sample 2: the label is 'cat', expected an integer")
        result = self.pack("--on-error", "skip", "--json")
        self.assertEqual([one["path"] for one in json.loads(result.text)["skipped"]], [f"{self.source}/a.tar sample 2"])
        self.put("a.tar", tar(**{"1.txt": b"text", "1.cls": b"1"}))
        self.refused(f"the first sample of {self.source} has no image (jpg, png, ...); it has cls, txt")

    def test_errors_name_the_file_once_also_if_it_is_compressed(self):
        members = {"1.png": number_png(1), "1.cls": b"1", "2.png": number_png(2)}
        self.put("a.tar", tar(**members))
        self.refused(f"stoker: {self.source}/a.tar: the sample 2 has no cls; repair")
        os.unlink(self.source / "a.tar")
        self.put("a.tar.gz", gzip.compress(tar(**members)))
        self.refused(f"stoker: {self.source}/a.tar.gz: the sample 2 has no cls; repair")
        result = self.pack("--on-error", "skip", "--json")
        self.assertEqual([one["path"] for one in json.loads(result.text)["skipped"]], [f"{self.source}/a.tar.gz sample 2"])

    def test_the_error_for_a_tar_file_without_samples_names_it(self):
        for data in (b"", bytes(10240)):
            self.put("a.tar", data)
            self.refused(f"{self.source} contains no samples")

    def test_compressed_files_are_split_in_the_same_way_every_time(self):
        members = {}
        for i in range(40):
            members |= {f"{i}.png": number_png(i), f"{i}.cls": b"0"}
        self.put("a.tar.gz", gzip.compress(tar(**members)))
        splits = []
        for _ in range(2):
            self.packed("--overwrite", "--split", "a=0.5,b=0.5")
            splits.append({e["path"] for e in self.examples("a")})
        os.unlink(self.source / "a.tar.gz")
        self.put("a.tar", tar(**members))
        self.packed("--overwrite", "--split", "a=0.5,b=0.5")
        self.assertEqual(splits, [{e["path"] for e in self.examples("a")}] * 2)

    def test_samples_can_be_split_and_resized(self):
        members = {}
        for i in range(40):
            members |= {f"{i}.jpg": flat_jpeg(32, 32), f"{i}.cls": b"0"}
        self.put("a.tar", tar(**members))
        summary = self.packed("--split", "train=0.5,test=0.5", "--resize", "16")
        self.assertEqual((summary["resized"], len(summary["shards"])), (40, 2))
        self.assertEqual(len(self.examples("train")) + len(self.examples("test")), 40)


class Records(PackCase):
    def put_records(self, name, *examples):
        return self.put(name, b"".join(map(frame, examples)))

    def test_records_are_packed_again_with_image_label_and_path(self):
        self.put_records("a.tfrecord", *(to_example(image=number_png(i), label=i, path=b"p%d" % i, z=1.5) for i in range(5)))
        self.put("labels.txt", b"a\nb\nc\nd\ne\n")
        self.assertEqual(self.packed()["classes"], list("abcde"))
        found = {e["path"]: e for e in self.examples()}
        self.assertEqual(found[b"p3"], {"image": number_png(3), "label": 3, "path": b"p3"})
        self.assertNotEqual(list(found), sorted(found))

    def test_features_are_detected_by_content_or_given_by_name(self):
        self.put_records("a.tfrecord", to_example(**{"image/encoded": number_png(1), "image/class/label": 7, "other": 8}))
        self.packed()
        self.assertEqual([(e["label"], e["path"]) for e in self.examples()], [(7, b"0")])
        self.packed("--overwrite", "--label-feature", "other")
        self.assertEqual(self.examples()[0]["label"], 8)
        self.put_records("a.tfrecord", to_example(x=b"text", y=1))
        self.refused("no feature of the first record contains an image", "x, y", "--image-feature", status=WRONG_USE)
        self.put_records("a.tfrecord", to_example(x=number_png(1), y=1))
        self.refused("--label-feature", status=WRONG_USE)

    def test_records_keep_their_split_when_files_are_added(self):
        def split():
            self.packed("--overwrite", "--split", "a=0.5,b=0.5")
            return {e["path"] for e in self.examples("a")}

        self.put_records("m.tfrecord", *(to_example(image=number_png(i), label=0, path=b"m%d" % i) for i in range(40)))
        before = split()
        self.put_records("c.tfrecord", *(to_example(image=number_png(i), label=0, path=b"c%d" % i) for i in range(40)))
        self.assertEqual({path for path in split() if path.startswith(b"m")}, before)

    def test_damaged_records_are_errors_or_skipped(self):
        good = [frame(to_example(image=number_png(i), label=i)) for i in range(3)]
        self.put("a.tfrecord", good[0] + good[1][:-1] + b"?" + good[2])
        self.refused(f"stoker: {self.source}/a.tfrecord record 1: the record at byte", "the checksum")
        result = self.pack("--on-error", "skip", "--json")
        self.assertEqual(json.loads(result.text)["records"], 2)
        self.source = self.source / "a.tfrecord"
        self.refused(f"stoker: {self.source} record 1: the record at byte")

    def test_features_are_detected_from_the_first_readable_record(self):
        self.put("a.tfrecord", b"?" * 50 + frame(b"no example") + frame(to_example(image=number_png(1), label=7)))
        self.refused(f"{self.source}/a.tfrecord record ")
        summary = json.loads(self.pack("--on-error", "skip", "--json").text)
        self.assertEqual((summary["records"], len(summary["skipped"])), (1, 2))
        self.put("a.tfrecord", frame(b"no example"))
        self.refused(f"{self.source}/a.tfrecord record 0: the data is not a tf.train.Example")

    def test_a_label_with_two_values_is_an_error(self):
        self.put_records("a.tfrecord", *(to_example(image=number_png(1), label=label) for label in (1, [2, 3])))
        self.refused("the feature 'label' has 2 values, expected one label")

    def test_unreadable_files_are_errors_or_skipped(self):
        self.put_records("a.tfrecord", to_example(image=number_png(1), label=1))
        os.symlink("nowhere", self.source / "b.tfrecord")
        self.refused(f"{self.source}/b.tfrecord")
        self.assertEqual(json.loads(self.pack("--on-error", "skip", "--json").text)["records"], 1)

    def test_compressed_files_are_recognized_by_content(self):
        records = frame(to_example(image=number_png(1), label=7))
        for name, data in (("a.gz", gzip.compress(records)), ("b", zlib.compress(records)), ("c.tfrecord", zlib.compress(records))):
            self.put(name, data)
        self.assertEqual(self.packed()["records"], 3)
        self.source = self.source / "b"
        self.assertEqual(self.packed()["records"], 1)

    def test_compressed_files_give_the_same_shards_as_plain_ones(self):
        records = b"".join(frame(to_example(image=number_png(i), label=i)) for i in range(9))
        self.put("a.tfrecord", records)
        self.packed("--name", "data")
        plain = self.contents()
        shutil.rmtree(self.target)
        os.unlink(self.source / "a.tfrecord")
        for name, compress in (("a.tfrecord.gz", gzip.compress), ("a.tfrecord.zlib", zlib.compress)):
            self.put(name, compress(records))
            self.packed("--name", "data")
            self.assertEqual(self.contents(), plain)
            shutil.rmtree(self.target)
            os.unlink(self.source / name)

    def test_files_left_by_a_killed_process_are_removed(self):
        gone = self.target / f".unpacked-{2**31 - 1}" / "0"
        mine = self.target / f".unpacked-{os.getpid()}"
        gone.mkdir(parents=True)
        mine.mkdir()
        self.put("a.tfrecord.gz", gzip.compress(frame(to_example(image=number_png(1), label=1))))
        self.packed()
        self.assertFalse(gone.parent.exists())
        self.assertTrue(mine.exists())

    def test_a_cut_compressed_file_is_an_error_and_leaves_no_files(self):
        self.put("a.tfrecord.gz", gzip.compress(frame(to_example(image=number_png(1), label=1)))[:-9])
        self.refused(f"{self.source}/a.tfrecord.gz", "--on-error skip", status=BAD_DATA)

    def test_with_skip_the_records_before_the_cut_of_a_compressed_file_are_packed(self):
        records = b"".join(frame(to_example(image=number_png(i), label=i)) for i in range(9))
        self.put("a.tfrecord.gz", gzip.compress(records)[:-5])
        summary = json.loads(self.pack("--on-error", "skip", "--json").text)
        self.assertEqual(summary["records"], 9)
        self.assertIn("ends too early", summary["skipped"][0]["error"])

    def test_a_label_file_for_records_is_rejected(self):
        self.put_records("a.tfrecord", to_example(image=number_png(1), label=1))
        self.refused("remove --labels", arguments=["--labels", "x.csv"], status=WRONG_USE)

    def test_a_record_without_an_image_is_an_error(self):
        self.put_records("a.tfrecord", to_example(image=number_png(1), label=1), to_example(label=1))
        self.refused("record 1", "the feature 'image' has no bytes, expected an image", status=BAD_DATA)


if __name__ == "__main__":
    unittest.main()
