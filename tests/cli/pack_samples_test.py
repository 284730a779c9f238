"""`stoker pack` of tar files in WebDataset's layout, and of TFRecord files."""

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

    def test_pictures_with_their_cls(self):
        members = {}
        for i in range(5):
            members |= {f"train/{i}.png": number_png(i), f"train/{i}.cls": b"%d\n" % (i % 2)}
        self.put("a.tar", tar(**members))
        summary = self.packed()
        self.assertEqual((summary["records"], summary["classes"]), (5, []))
        found = {e["path"]: (e["label"], e["image"]) for e in self.examples()}
        self.assertEqual(found, {b"train/%d.png" % i: (i % 2, number_png(i)) for i in range(5)})

    def test_compressed_ones(self):
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

    def test_bad_samples_are_named(self):
        self.put("a.tar", tar(**{"1.png": number_png(1), "1.cls": b"1", "2.png": number_png(2), "2.cls": b"cat"}))
        self.refused(f"stoker: {self.source}/a.tar sample 2: its label is 'cat'")
        result = self.pack("--on-error", "skip", "--json")
        self.assertEqual([one["path"] for one in json.loads(result.text)["skipped"]], [f"{self.source}/a.tar sample 2"])
        self.put("a.tar", tar(**{"1.txt": b"text", "1.cls": b"1"}))
        self.refused(f"the first sample of {self.source} has no picture (jpg, png, ...); it has cls, txt")

    def test_what_is_damaged_is_named_once_also_in_one_that_is_compressed(self):
        members = {"1.png": number_png(1), "1.cls": b"1", "2.png": number_png(2)}
        self.put("a.tar", tar(**members))
        self.refused(f"stoker: {self.source}/a.tar: the sample 2 has no cls; mend")
        os.unlink(self.source / "a.tar")
        self.put("a.tar.gz", gzip.compress(tar(**members)))
        self.refused(f"stoker: {self.source}/a.tar.gz: the sample 2 has no cls; mend")
        result = self.pack("--on-error", "skip", "--json")
        self.assertEqual([one["path"] for one in json.loads(result.text)["skipped"]], [f"{self.source}/a.tar.gz sample 2"])

    def test_without_samples_are_named(self):
        for data in (b"", bytes(10240)):
            self.put("a.tar", data)
            self.refused(f"{self.source} holds no samples")

    def test_that_are_compressed_are_split_alike_every_time(self):
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

    def test_can_be_split_and_made_smaller(self):
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

    def test_are_packed_again_with_image_label_and_path(self):
        self.put_records("a.tfrecord", *(to_example(image=number_png(i), label=i, path=b"p%d" % i, z=1.5) for i in range(5)))
        self.put("labels.txt", b"a\nb\nc\nd\ne\n")
        self.assertEqual(self.packed()["classes"], list("abcde"))
        found = {e["path"]: e for e in self.examples()}
        self.assertEqual(found[b"p3"], {"image": number_png(3), "label": 3, "path": b"p3"})
        self.assertNotEqual(list(found), sorted(found))

    def test_features_are_found_by_what_they_hold_or_named(self):
        self.put_records("a.tfrecord", to_example(**{"image/encoded": number_png(1), "image/class/label": 7, "other": 8}))
        self.packed()
        self.assertEqual([(e["label"], e["path"]) for e in self.examples()], [(7, b"0")])
        self.packed("--overwrite", "--label-feature", "other")
        self.assertEqual(self.examples()[0]["label"], 8)
        self.put_records("a.tfrecord", to_example(x=b"text", y=1))
        self.refused("no feature of the first record holds a picture", "x, y", "--image-feature", status=WRONG_USE)
        self.put_records("a.tfrecord", to_example(x=number_png(1), y=1))
        self.refused("--label-feature", status=WRONG_USE)

    def test_a_split_does_not_move_when_files_come_before(self):
        def split():
            self.packed("--overwrite", "--split", "a=0.5,b=0.5")
            return {e["path"] for e in self.examples("a")}

        self.put_records("m.tfrecord", *(to_example(image=number_png(i), label=0, path=b"m%d" % i) for i in range(40)))
        before = split()
        self.put_records("c.tfrecord", *(to_example(image=number_png(i), label=0, path=b"c%d" % i) for i in range(40)))
        self.assertEqual({path for path in split() if path.startswith(b"m")}, before)

    def test_damage_is_told_or_skipped(self):
        good = [frame(to_example(image=number_png(i), label=i)) for i in range(3)]
        self.put("a.tfrecord", good[0] + good[1][:-1] + b"?" + good[2])
        self.refused(f"stoker: {self.source}/a.tfrecord record 1: the record at byte", "the checksum")
        result = self.pack("--on-error", "skip", "--json")
        self.assertEqual(json.loads(result.text)["records"], 2)
        self.source = self.source / "a.tfrecord"
        self.refused(f"stoker: {self.source} record 1: the record at byte")

    def test_what_the_first_records_lack_is_learned_from_the_next(self):
        self.put("a.tfrecord", b"?" * 50 + frame(b"no example") + frame(to_example(image=number_png(1), label=7)))
        self.refused(f"{self.source}/a.tfrecord record ")
        summary = json.loads(self.pack("--on-error", "skip", "--json").text)
        self.assertEqual((summary["records"], len(summary["skipped"])), (1, 2))
        self.put("a.tfrecord", frame(b"no example"))
        self.refused(f"{self.source}/a.tfrecord record 0: the bytes are no tf.train.Example")

    def test_a_label_that_is_none_says_what_it_is(self):
        self.put_records("a.tfrecord", *(to_example(image=number_png(1), label=label) for label in (1, [2, 3])))
        self.refused("its feature 'label' has 2 values, a label is one")

    def test_files_that_may_not_be_read_are_told_or_skipped(self):
        self.put_records("a.tfrecord", to_example(image=number_png(1), label=1))
        os.symlink("nowhere", self.source / "b.tfrecord")
        self.refused(f"{self.source}/b.tfrecord")
        self.assertEqual(json.loads(self.pack("--on-error", "skip", "--json").text)["records"], 1)

    def test_compressed_ones_are_known_by_what_is_in_them(self):
        records = frame(to_example(image=number_png(1), label=7))
        for name, data in (("a.gz", gzip.compress(records)), ("b", zlib.compress(records)), ("c.tfrecord", zlib.compress(records))):
            self.put(name, data)
        self.assertEqual(self.packed()["records"], 3)
        self.source = self.source / "b"
        self.assertEqual(self.packed()["records"], 1)

    def test_compressed_ones_are_packed_as_plain_ones_are(self):
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

    def test_what_a_killed_process_unpacked_is_removed(self):
        gone = self.target / f".unpacked-{2**31 - 1}" / "0"
        mine = self.target / f".unpacked-{os.getpid()}"
        gone.mkdir(parents=True)
        mine.mkdir()
        self.put("a.tfrecord.gz", gzip.compress(frame(to_example(image=number_png(1), label=1))))
        self.packed()
        self.assertFalse(gone.parent.exists())
        self.assertTrue(mine.exists())

    def test_a_compressed_one_that_is_cut_is_bad_and_leaves_nothing_behind(self):
        self.put("a.tfrecord.gz", gzip.compress(frame(to_example(image=number_png(1), label=1)))[:-9])
        self.refused(f"{self.source}/a.tfrecord.gz", "--on-error skip", status=BAD_DATA)

    def test_of_a_compressed_one_that_is_cut_the_records_before_that_are_packed_when_told(self):
        records = b"".join(frame(to_example(image=number_png(i), label=i)) for i in range(9))
        self.put("a.tfrecord.gz", gzip.compress(records)[:-5])
        summary = json.loads(self.pack("--on-error", "skip", "--json").text)
        self.assertEqual(summary["records"], 9)
        self.assertIn("ends too early", summary["skipped"][0]["error"])

    def test_labels_are_theirs(self):
        self.put_records("a.tfrecord", to_example(image=number_png(1), label=1))
        self.refused("leave --labels out", arguments=["--labels", "x.csv"], status=WRONG_USE)

    def test_a_record_without_its_picture_is_bad(self):
        self.put_records("a.tfrecord", to_example(image=number_png(1), label=1), to_example(label=1))
        self.refused("record 1", "has no bytes in its feature 'image'", status=BAD_DATA)


if __name__ == "__main__":
    unittest.main()
