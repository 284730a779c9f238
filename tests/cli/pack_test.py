"""`stoker pack`: what it writes, which input it rejects, and which files a stopped run leaves."""

import gzip
import json
import os
import pty
import resource
import shutil
import signal
import struct
import subprocess
import unittest

from command import BAD_DATA, FINE, STOKER, WRONG_USE, TestCase
from command import mapped, op, stoker
from data_files import BMP, GIF, JPEG, WEBP, example, flat_jpeg, idx, number_png, orientation, png, records, records_in


class PackCase(TestCase):
    def setUp(self):
        super().setUp()
        self.source, self.target = self.folder / "animals", self.folder / "packed"

    def put(self, name, data):
        path = self.source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def put_numbers(self, count, folder="all"):
        for number in range(count):
            self.put(f"{folder}/{number:03}.png", number_png(number))

    def pack(self, *arguments, before=(), **more):
        return stoker(*before, "pack", self.source, self.target, *arguments, **more)

    def packed(self, *arguments, before=()):
        """Pack with --json, assert success and no errors, and return the summary."""
        result = self.pack("--json", *arguments, before=before)
        self.assertEqual((result.status, result.errors), (FINE, ""))
        return json.loads(result.text)

    def examples(self, name="animals"):
        return [example(payload) for path in sorted(self.target.glob(f"{name}-*")) for payload in records(path)]

    def labels(self):
        return {e["path"].decode(): e["label"] for e in self.examples()}

    def names(self):
        return sorted(path.name for path in self.target.iterdir()) if self.target.exists() else []

    def contents(self):
        return {path.name: path.read_bytes() for path in self.target.iterdir()}

    def refused(self, *words, arguments=(), status=BAD_DATA):
        """Assert an error message that contains all of `words`, and that no file was written."""
        before = self.names()
        self.assert_refused(self.pack(*arguments), *map(str, words), status=status)
        self.assertEqual(self.names(), before)


class Folders(PackCase):
    def test_folders_are_the_classes_in_byte_order(self):
        self.put("dog/1.jpg", JPEG)
        self.put("cat/deep/er/2.png", number_png(2))
        self.put("Zebra/3.png", number_png(3))
        summary = self.packed()
        self.assertEqual(self.names(), ["animals-00000-of-00001.tfrecord", "labels.txt"])
        self.assertEqual((self.target / "labels.txt").read_text(), "Zebra\ncat\ndog\n")
        found = {e["path"]: (e["label"], e["image"]) for e in self.examples()}
        self.assertEqual(
            found,
            {
                b"Zebra/3.png": (0, number_png(3)),
                b"cat/deep/er/2.png": (1, number_png(2)),
                b"dog/1.jpg": (2, JPEG),
            },
        )
        shard = self.target / self.names()[0]
        self.assertEqual(
            summary,
            {
                "records": 3,
                "bytes": shard.stat().st_size,
                "shards": [str(shard)],
                "classes": ["Zebra", "cat", "dog"],
                "skipped": [],
                "left_out": 0,
                "resized": 0,
                "turned": 0,
                "continued": 0,
            },
        )

    def test_a_folder_without_images_keeps_its_label(self):
        self.put("b/1.png", number_png(1))
        (self.source / "a").mkdir()
        self.packed()
        self.assertEqual(self.labels(), {"b/1.png": 1})

    def test_the_summary_is_text_or_nothing_with_quiet(self):
        self.put_numbers(3)
        result = self.pack()
        self.assertEqual((result.status, result.errors), (FINE, ""))
        for words in ("3 records in 1 shard", "animals-00000-of-00001.tfrecord", "labels.txt: 1 class"):
            self.assertIn(words, result.text)
        result = self.pack("--overwrite", "--quiet")
        self.assertEqual((result.status, result.text, result.errors), (FINE, "", ""))

    def test_images_are_recognized_by_their_first_bytes(self):
        for name, data in {"a.jpg": number_png(1), "b": JPEG, "c.gif": GIF, "d.bmp": BMP, "e.dat": WEBP}.items():
            self.put(f"x/{name}", data)
        self.assertEqual(self.packed()["records"], 5)
        self.assertEqual({e["path"]: e["image"] for e in self.examples()}[b"x/e.dat"], WEBP)

    def test_other_files_are_skipped_and_counted(self):
        self.put("x/1.png", number_png(1))
        for name in ("x/.hidden.png", "x/.git/2.png", "x/notes.TXT", "x/Thumbs.db", "x/meta.json", "y.csv", "LICENSE"):
            self.put(name, b"anything")
        os.mkfifo(self.source / "x/pipe.png")
        summary = self.packed()
        self.assertEqual((summary["records"], summary["left_out"], summary["classes"]), (1, 8, ["x"]))

    def test_names_that_are_not_utf_8_are_packed(self):
        folder = os.fsencode(self.source) + b"/caf\xe9"
        os.makedirs(folder)
        for name in (b"/\xff.png", b"/empty\xfe.png"):
            with open(folder + name, "wb") as file:
                file.write(number_png(1) if name == b"/\xff.png" else b"")
        result = self.pack("--json", "--on-error", "skip")
        self.assertEqual(result.status, FINE)
        summary = json.loads(result.text)
        self.assertEqual(summary["classes"], [{"base64": "Y2Fm6Q=="}])
        self.assertEqual(summary["skipped"][0]["path"], {"base64": "Y2Fm6S9lbXB0ef4ucG5n"})
        self.assertEqual([e["path"] for e in self.examples()], [b"caf\xe9/\xff.png"])
        self.assertEqual((self.target / "labels.txt").read_bytes(), b"caf\xe9\n")

    def test_links_are_followed_except_in_a_loop(self):
        self.put("x/1.png", number_png(1))
        self.put("y/2.png", number_png(2))
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "3.png").write_bytes(number_png(3))
        (self.source / "x/linked").symlink_to(elsewhere)
        (self.source / "x/up").symlink_to("..")
        (self.source / "x/self").symlink_to(".")
        self.assertEqual(self.packed()["left_out"], 2)
        self.assertEqual(self.labels(), {"x/1.png": 0, "x/linked/3.png": 0, "y/2.png": 1})

    def test_the_default_name_is_the_folders_name_for_any_form_of_its_path(self):
        self.put_numbers(1)
        for source in (f"{self.source}/", ".", "../animals/all/.."):
            result = stoker("pack", source, self.target, "--overwrite", cwd=self.source)
            self.assertEqual((result.status, result.errors), (FINE, ""))
        self.assertEqual(len(self.names()), 2)
        self.packed("--name", "other")
        self.assertIn("other-00000-of-00001.tfrecord", self.names())


class Order(PackCase):
    def test_the_order_is_the_same_for_any_number_of_workers_and_any_memory(self):
        self.put_numbers(300)
        self.packed("--shards", "3", before=["--workers", "0"])
        reference = self.contents()
        self.assertEqual(len(reference), 4)
        for before in (["--workers", "1"], ["--workers", "4"], ["--memory", "64K"]):
            self.packed("--shards", "3", "--overwrite", before=before)
            self.assertEqual(self.contents(), reference, before)

    def test_only_the_seed_determines_the_order(self):
        self.put_numbers(50)

        def order(*arguments):
            self.packed("--overwrite", *arguments)
            return [e["path"] for e in self.examples()]

        first = order()
        self.assertNotEqual(first, sorted(first))
        self.assertEqual(order("--seed", "0"), first)
        self.assertNotEqual(order("--seed", "1"), first)
        self.assertEqual(sorted(order("--seed", "-1")), sorted(first))

    def test_every_record_is_in_one_shard_and_shards_have_equal_counts(self):
        self.put_numbers(10)
        self.packed("--shards", "3")
        shards = sorted(self.target.glob("*.tfrecord"))
        self.assertEqual([path.name for path in shards], [f"animals-{i:05}-of-00003.tfrecord" for i in range(3)])
        self.assertEqual([len(list(records(path))) for path in shards], [3, 3, 4])
        self.assertEqual(sorted(e["image"] for e in self.examples()), sorted(map(number_png, range(10))))

    def test_skipped_files_do_not_change_the_order_of_the_others(self):
        self.put_numbers(40)
        self.put("all/000.png", b"")
        self.pack("--shards", "4", "--on-error", "skip", before=["--workers", "4"])
        reference = self.contents()
        self.pack("--shards", "4", "--on-error", "skip", "--overwrite", before=["--workers", "0"])
        self.assertEqual(self.contents(), reference)
        self.assertEqual(len(self.examples()), 39)


BAD = {
    "empty.jpg": (b"", "the file is empty"),
    "other.jpg": (b"\1\2\3\4\5", "got 5 bytes: 01 02 03 04 05"),
    "page.jpg": (b"<html>", "an HTML page"),
    "cut.jpg": (JPEG[:9], "JPEG"),
    "cut.png": (number_png(1)[:20], "PNG data ends early: it has 20 bytes"),
    "damaged.png": (number_png(1).replace(b"IHDR", b"IHDX"), "PNG data is damaged"),
    "half.png": (number_png(1)[:-12], "PNG data ends early: it has 56 bytes and no end chunk"),
    "cut.gif": (GIF[:8], "GIF data ends inside its header: it has 8 bytes"),
    "half.gif": (GIF[:-1], "GIF data ends early"),
    "cut.webp": (WEBP[:12], "WebP data ends early"),
    "half.webp": (WEBP[:-2], "WebP data ends early"),
    "half.bmp": (BMP[:-3], "BMP data ends early"),
    "size.bmp": (BMP[:18] + b"\xff" * 4 + BMP[22:], "has no pixels"),
}


class BadFiles(PackCase):
    def test_the_first_bad_file_stops_the_run_with_its_name_and_a_hint(self):
        for name, (data, words) in BAD.items():
            self.put("x/ok.png", number_png(1))
            path = self.put(f"x/{name}", data)
            self.refused(f"{path}: ", words, "--on-error skip")
            path.unlink()

    def test_skipped_files_are_listed_at_the_end(self):
        self.put("x/ok.png", number_png(1))
        for name, (data, _) in BAD.items():
            self.put(f"x/{name}", data)
        result = self.pack("--on-error", "skip")
        self.assertEqual(result.status, FINE)
        self.assertIn("1 record in 1 shard", result.text)
        self.assertIn(f"{len(BAD)} files were skipped:", result.errors)
        result = self.pack("--on-error", "skip", "--json", "--overwrite")
        skipped = {one["path"]: one["error"] for one in json.loads(result.text)["skipped"]}
        self.assertEqual(set(skipped), {f"x/{name}" for name in BAD})
        for name, (_, words) in BAD.items():
            self.assertIn(f"x/{name}", result.errors)
            self.assertIn(words, skipped[f"x/{name}"])

    def test_the_text_lists_only_some_of_many_skipped_files(self):
        self.put_numbers(1)
        for i in range(25):
            self.put(f"all/bad{i}.jpg", b"bad")
        result = self.pack("--on-error", "skip", "--json")
        self.assertEqual(len(json.loads(result.text)["skipped"]), 25)
        self.assertIn("and 5 more", result.errors)

    def test_skipping_every_file_is_an_error(self):
        self.put("x/a.jpg", b"bad")
        self.refused("no file could be packed: 1 file was skipped", "x/a.jpg", arguments=["--on-error", "skip"])

    def test_broken_links_are_bad_files(self):
        self.put("x/ok.png", number_png(1))
        (self.source / "x/gone.png").symlink_to("nowhere")
        (self.source / "x/round.png").symlink_to("round.png")
        self.refused("x/gone.png", "No such file")
        result = self.pack("--on-error", "skip")
        self.assertEqual(result.status, FINE)
        self.assertIn("x/round.png", result.errors)

    def test_files_too_large_for_a_record_are_bad_files(self):
        self.put("x/ok.png", number_png(1))
        os.truncate(self.put("x/giant.png", number_png(2)), 2**30 + 1)
        self.refused("x/giant.png: the file has 1073741825 bytes", "at most 1073741824")
        result = self.pack("--on-error", "skip")
        self.assertEqual((result.status, len(self.examples())), (FINE, 1))

    def as_nobody(self, *arguments):
        """Run the command as a user without privileges, so that file modes apply if the tests run as root."""
        self.folder.chmod(0o777)
        user = {"user": 65534} if os.geteuid() == 0 else {}
        command = [STOKER, "pack", self.source, self.target, *arguments]
        try:
            return subprocess.run(command, capture_output=True, text=True, timeout=60, **user)
        except PermissionError as error:
            self.skipTest(f"another user may not run the command: {error}")

    def test_files_and_folders_without_read_permission_are_bad(self):
        self.put("x/ok.png", number_png(1))
        self.put("x/closed.png", number_png(1)).chmod(0)
        self.put("y/closed/1.png", number_png(1)).parent.chmod(0)
        self.addCleanup((self.source / "y/closed").chmod, 0o777)
        done = self.as_nobody()
        self.assertEqual(done.returncode, BAD_DATA)
        self.assertIn("Permission denied", done.stderr)
        done = self.as_nobody("--on-error", "skip", "--json")
        self.assertEqual(done.returncode, FINE, done.stderr)
        skipped = {one["path"]: one["error"] for one in json.loads(done.stdout)["skipped"]}
        self.assertEqual(set(skipped), {"x/closed.png", "y/closed"})
        self.assertIn("cannot list the folder", skipped["y/closed"])


    def test_a_target_without_write_permission_is_an_error(self):
        self.put_numbers(1)
        self.target.mkdir()
        self.target.chmod(0o555)
        self.addCleanup(self.target.chmod, 0o777)
        done = self.as_nobody()
        self.assertEqual((done.returncode, done.stdout), (BAD_DATA, ""))
        self.assertIn(f"{self.target}/.animals.packing: Permission denied", done.stderr)


class Refusals(PackCase):
    def test_folders_without_classes_or_images_are_errors(self):
        self.source.mkdir()
        self.refused(self.source, "contains no folders", "/cat/1.jpg", "--labels")
        (self.source / "x").mkdir()
        self.refused(f"the folders of {self.source} contain no images", "/cat/1.jpg")
        self.put("x/1.png", number_png(1))
        self.put("loose", number_png(1))
        self.refused(self.source / "loose", "is not in a class folder", "/cat/1.jpg")

    def test_wrong_use(self):
        def wrong(*words, arguments=()):
            self.refused(*words, arguments=arguments, status=WRONG_USE)

        wrong(self.source, "No such file", "expected a folder of images")
        self.put_numbers(3)
        wrong("--shards is 4", "has 3 records", "at most 3", arguments=["--shards", "4"])
        wrong("--shards", arguments=["--shards", "0"])
        wrong("--name 'a/b'", arguments=["--name", "a/b"])
        wrong("--on-error", arguments=["--on-error", "fix"])
        self.target = self.source / "all" / "packed"
        wrong("is inside", "choose a folder outside")
        self.target = self.source
        wrong("is inside", "choose a folder outside")

    def test_a_target_that_cannot_be_created_is_an_error(self):
        self.put_numbers(1)
        self.target = self.write("file", "x") / "below"
        self.assert_refused(self.pack(), str(self.target), "Not a directory", status=BAD_DATA)

    def test_a_full_disk_leaves_no_files(self):
        self.put_numbers(200)

        def limit_file_size():
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # as in a shell
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

        command = [STOKER, "pack", self.source, self.target]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, preexec_fn=limit_file_size)
        self.assertEqual((done.returncode, done.stdout), (BAD_DATA, ""))
        self.assertRegex(done.stderr, "cannot write .*: File too large")
        self.assertEqual(self.names(), [])

    def test_existing_shards_are_replaced_only_with_overwrite(self):
        self.put_numbers(6)
        self.packed("--shards", "2")
        before = self.contents()
        self.refused("animals-00000-of-00002.tfrecord exists", "--overwrite", status=WRONG_USE)
        self.assertEqual(self.contents(), before)
        self.packed("--shards", "3", "--overwrite")
        self.assertEqual(self.names(), [*(f"animals-{i:05}-of-00003.tfrecord" for i in range(3)), "labels.txt"])

    def test_a_failed_run_leaves_existing_files_unchanged(self):
        self.put_numbers(6)
        self.packed("--shards", "2")
        before = self.contents()
        self.put("all/bad.png", b"bad")
        self.refused("all/bad.png", arguments=["--overwrite"])
        self.assertEqual(self.contents(), before)

    def test_other_classes_than_in_labels_txt_are_rejected(self):
        self.put("cat/1.png", number_png(1))
        self.packed()
        self.packed("--name", "again")
        self.put("bird/2.png", number_png(2))
        self.refused("labels.txt", "other classes", "--overwrite", arguments=["--name", "more"], status=WRONG_USE)
        self.packed("--name", "more", "--overwrite")
        self.assertEqual((self.target / "labels.txt").read_text(), "bird\ncat\n")

    def test_a_class_name_with_a_line_break_is_an_error(self):
        self.put("a\nb/1.png", number_png(1))
        self.refused("line break")


class Splits(PackCase):
    def split_of(self, *arguments):
        self.packed("--overwrite", "--split", "train=0.75,validation=0.25", *arguments)
        paths = {name: {e["path"] for e in self.examples(name)} for name in ("train", "validation")}
        self.assertFalse(paths["train"] & paths["validation"])
        return paths

    def test_split_assigns_records_by_share_and_names_the_shards(self):
        self.put_numbers(400)
        paths = self.split_of()
        self.assertEqual(sum(map(len, paths.values())), 400)
        self.assertAlmostEqual(len(paths["train"]), 300, delta=40)
        names = ["labels.txt", "train-00000-of-00001.tfrecord", "validation-00000-of-00001.tfrecord"]
        self.assertEqual(self.names(), names)
        self.assertNotEqual(self.split_of("--seed", "1"), paths)
        self.packed("--split", "a=0.5,b=0.5", "--name", "x", "--overwrite")
        self.assertIn("x-a-00000-of-00001.tfrecord", self.names())

    def test_records_keep_their_split_when_files_are_added(self):
        self.put_numbers(60)
        before = self.split_of()
        self.put_numbers(60, folder="more")
        after = self.split_of()
        for name in before:
            self.assertLess(before[name], after[name])

    def test_invalid_splits_are_rejected(self):
        self.put_numbers(3)
        for text in ("train", "train=0.5", "train=0.5,train=0.5", "=1", "a=x,b=1", "a=0.5,b=0.5,", "a/b=1", "a=2,b=-1"):
            self.refused("--split", "train=0.9,validation=0.1", arguments=["--split", text], status=WRONG_USE)
        self.refused("assigns none of 3 records to 'b'", arguments=["--split", "a=0.999999999,b=1e-9"], status=WRONG_USE)


def jpeg_size(data):
    at = 2
    while data[at + 1] != 0xC0:
        at += 2 + struct.unpack_from(">H", data, at + 2)[0]
    return struct.unpack_from(">HH", data, at + 5)


class Resizing(PackCase):
    def packed_images(self, *arguments):
        summary = self.packed("--resize", "16", *arguments)
        return summary, {e["path"].decode(): e["image"] for e in self.examples()}

    def test_images_become_upright_jpeg_with_the_given_short_side(self):
        self.put("x/wide.jpg", flat_jpeg(32, 50))
        self.put("x/lying.jpg", flat_jpeg(32, 50, exif=orientation(6)))
        self.put("x/high.png", png(*[[7] * 20] * 80))
        summary, images = self.packed_images()
        self.assertEqual({name: jpeg_size(image) for name, image in images.items()},
                         {"x/wide.jpg": (16, 25), "x/lying.jpg": (25, 16), "x/high.png": (64, 16)})
        self.assertEqual((summary["resized"], summary["turned"]), (3, 1))
        self.assertNotIn(b"Exif", images["x/lying.jpg"])
        text = self.pack("--resize", "16", "--overwrite").text
        self.assertIn("3 images were shrunk", text)
        self.assertIn("1 image was rotated by the EXIF orientation", text)

    def test_small_upright_images_are_unchanged_and_rotated_ones_are_turned(self):
        self.put("x/small.png", number_png(1))
        self.put("x/lying.jpg", flat_jpeg(8, 16, exif=orientation(8)))
        summary, images = self.packed_images()
        self.assertEqual(images["x/small.png"], number_png(1))
        self.assertEqual(jpeg_size(images["x/lying.jpg"]), (16, 8))
        self.assertEqual((summary["resized"], summary["turned"]), (0, 1))

    def test_quality_changes_the_bytes(self):
        self.put("x/noise.png", png(*[[(x * y * 37) % 251 for x in range(64)] for y in range(64)]))
        sizes = [len(self.packed_images("--overwrite", "--quality", q)[1]["x/noise.png"]) for q in ("20", "90")]
        self.assertLess(sizes[0], sizes[1])

    def test_an_image_that_cannot_be_decoded_is_bad(self):
        self.put("x/ok.png", number_png(1))
        self.put("x/cut.jpg", flat_jpeg(80, 80)[:-6])
        self.refused("x/cut.jpg", "JPEG data", arguments=["--resize", "16"])

    def test_a_jpeg_without_an_end_marker_is_bad_with_and_without_keep_bytes(self):
        self.put("x/cut.jpg", flat_jpeg(80, 80)[:-6])
        self.put("x/tail.jpg", flat_jpeg(80, 80) + b"and more")
        for more in ([], ["--keep-bytes"]):
            self.refused("x/cut.jpg", "JPEG data ends early", "no end marker", arguments=more)

    def test_wrong_use(self):
        self.put_numbers(1)
        self.refused("--keep-bytes", arguments=["--resize", "16", "--keep-bytes"], status=WRONG_USE)
        self.refused("--quality", arguments=["--quality", "90"], status=WRONG_USE)


class Continuing(PackCase):
    def setUp(self):
        super().setUp()
        self.put_numbers(40)
        self.packed("--shards", "8")
        self.whole = self.contents()
        shutil.rmtree(self.target)

    def stop_before_the_last_shard(self):
        """Run with a damaged file in the last shard, which leaves seven complete shards, then repair the file."""
        last = example(list(records_in(self.whole["animals-00007-of-00008.tfrecord"]))[-1])["path"].decode()
        good, times = (self.source / last).read_bytes(), os.stat(self.source / last)
        (self.source / last).write_bytes(bytes(len(good)))
        os.utime(self.source / last, ns=(times.st_atime_ns, times.st_mtime_ns))
        result = self.pack("--shards", "8")
        self.assertEqual(result.status, BAD_DATA)
        self.assertIn(f"7 complete shards are kept in {self.target}/.animals.packing", result.errors)
        self.assertEqual(self.names(), [".animals.packing"])
        (self.source / last).write_bytes(good)
        os.utime(self.source / last, ns=(times.st_atime_ns, times.st_mtime_ns))

    def test_the_same_command_continues_and_writes_the_same_bytes(self):
        self.stop_before_the_last_shard()
        summary = self.packed("--shards", "8")
        self.assertEqual((summary["continued"], summary["records"]), (7, 40))
        self.assertEqual(self.contents(), self.whole)

    def test_another_input_or_other_options_start_again(self):
        for change in (
            lambda: self.packed("--shards", "8", "--seed", "1"),
            lambda: self.packed("--shards", "4"),
            lambda: self.put("all/000.png", number_png(999)) and self.packed("--shards", "8"),
        ):
            self.stop_before_the_last_shard()
            self.assertEqual(change()["continued"], 0)
            self.assertNotIn(".animals.packing", self.names())
            shutil.rmtree(self.target)

    def test_an_incomplete_shard_is_written_again(self):
        self.stop_before_the_last_shard()
        shard = self.target / ".animals.packing/animals-00002-of-00008.tfrecord"
        shard.write_bytes(shard.read_bytes()[:-1])
        self.assertEqual(self.packed("--shards", "8")["continued"], 2)
        self.assertEqual(self.contents(), self.whole)


# Exits the process at the k-th call that changes files, or makes the call fail.
BREAK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int breaks(void) {
  static int calls, at;
  if (!at) at = atoi(getenv("BREAK_AT"));
  if (__sync_add_and_fetch(&calls, 1) != at) return 0;
  if (getenv("BREAK_BY_EXIT")) _exit(77);
  errno = EIO;
  return 1;
}
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
int rename(const char* from, const char* to) { return breaks() ? -1 : REAL(rename)(from, to); }
int unlink(const char* path) { return breaks() ? -1 : REAL(unlink)(path); }
int unlinkat(int folder, const char* path, int flags) { return breaks() ? -1 : REAL(unlinkat)(folder, path, flags); }
int rmdir(const char* path) { return breaks() ? -1 : REAL(rmdir)(path); }
int remove(const char* path) { return breaks() ? -1 : REAL(remove)(path); }
int mkdir(const char* path, mode_t mode) { return breaks() ? -1 : REAL(mkdir)(path, mode); }
int fsync(int file) { return breaks() ? -1 : REAL(fsync)(file); }
ssize_t write(int file, const void* bytes, size_t n) { return file > 2 && breaks() ? -1 : REAL(write)(file, bytes, n); }
ssize_t writev(int file, const struct iovec* parts, int n) { return breaks() ? -1 : REAL(writev)(file, parts, n); }
"""
COMPILER = shutil.which("cc")


@unittest.skipUnless(COMPILER, "no C compiler")
class Stopped(PackCase):
    """A run is stopped at any call that changes files. The same command then gives the result of an undisturbed run."""

    def setUp(self):
        super().setUp()
        self.put_numbers(12)
        self.library = self.folder / "break.so"
        (self.folder / "break.c").write_text(BREAK)
        subprocess.run([COMPILER, "-shared", "-fPIC", "-o", self.library, self.folder / "break.c", "-ldl"], check=True)

    def pack_until(self, call, *arguments, **settings):
        return self.pack(*arguments, env={"LD_PRELOAD": str(self.library), "BREAK_AT": str(call), **settings})

    def check_every_call(self, prepare, *arguments):
        prepare()
        self.packed(*arguments)
        whole = self.everything()
        calls = 0
        while self.check_call(calls + 1, prepare, whole, *arguments, BREAK_BY_EXIT="1") != FINE:
            calls += 1
        self.assertGreater(calls, 10)
        for call in range(1, calls + 1):
            self.check_call(call, prepare, whole, *arguments)

    def check_call(self, call, prepare, whole, *arguments, **settings):
        """Stop a run at this call, run it again if it failed, compare the files, and return the first status."""
        with self.subTest(call=call, **settings):
            shutil.rmtree(self.target)
            prepare()
            broken = self.pack_until(call, *arguments, **settings)
            if broken.status != FINE:
                self.packed(*arguments)
            self.assertEqual(self.everything(), whole)
        return broken.status

    def everything(self):
        return {path.name: path.read_bytes() if path.is_file() else "a folder" for path in self.target.iterdir()}

    def test_stopped_in_a_new_folder(self):
        self.check_every_call(lambda: None, "--shards", "3")

    def test_stopped_while_replacing_another_number_of_shards(self):
        def prepare():
            self.packed("--shards", "2", "--seed", "5")

        self.check_every_call(prepare, "--shards", "3", "--overwrite")

    def test_stopped_while_writing_splits(self):
        self.check_every_call(lambda: None, "--split", "train=0.7,test=0.3")


class LabelFile(PackCase):
    def setUp(self):
        super().setUp()
        self.put_numbers(4, folder="deep/er")
        self.put("loose, with comma.png", number_png(9))

    def with_labels(self, text, *arguments):
        path = self.write("labels.csv", text)
        return [*arguments, "--labels", str(path)]

    def test_numbers_are_labels_and_only_listed_files_are_packed(self):
        text = 'path,label\r\ndeep/er/001.png,7\r\n\r\n"loose, with comma.png",-3\r\n./deep/er/../er/000.png, 12 '
        summary = self.packed(*self.with_labels(text))
        self.assertEqual(self.labels(), {"deep/er/001.png": 7, "loose, with comma.png": -3, "deep/er/000.png": 12})
        self.assertEqual((summary["classes"], self.names()), ([], ["animals-00000-of-00001.tfrecord"]))

    def test_names_are_classes_in_byte_order(self):
        text = '\ufeffFile,Class\ndeep/er/000.png,dog\ndeep/er/001.png,"cat ""big"""\ndeep/er/002.png,dog\n'
        self.assertEqual(self.packed(*self.with_labels(text))["classes"], ['cat "big"', "dog"])
        self.assertEqual(self.labels(), {"deep/er/000.png": 1, "deep/er/001.png": 0, "deep/er/002.png": 1})

    def test_a_first_line_with_the_path_of_an_image_is_not_a_header(self):
        self.packed(*self.with_labels("deep/er/000.png,label\n"))
        self.assertEqual((self.target / "labels.txt").read_text(), "label\n")

    def test_errors_name_the_line_and_what_to_do(self):
        good = "path,label\ndeep/er/000.png,1\n"
        for text, line, *words in (
            (good + "gone.png,1\n", 3, "no file 'gone.png'", "relative"),
            (good + "deep/er,1\n", 3, "is not a regular file"),
            (good + "deep/er/001.png,cat\n", 3, "'cat' is not a number", "'1' in line 2", "all as names"),
            ("deep/er/000.png,cat\ndeep/er/001.png,1\n", 2, "'1' is a number", "'cat' in line 1"),
            (good + "\ndeep/er/../er/000.png,2\n", 4, "already has a label in line 2", "remove"),
            (good + "../animals/deep/er/001.png,2\n", 3, "is outside of"),
            (good + f"{self.source}/deep/er/001.png,2\n", 3, "is outside of"),
            (good + "deep/er/001.png\n", 3, "got 1 field,", "path,label"),
            (good + "loose, with comma.png,2\n", 3, "got 3 fields", "quote"),
            (good + "deep/er/001.png,\n", 3, "label of 'deep/er/001.png' is empty"),
            (good + ",2\n", 3, "the path is empty"),
            (good + '"deep/er/001.png,2\n', 3, "has no closing quote"),
            (good + '"deep/er/001.png"x,2\n', 3, "after a closing quote"),
            (good + '"two\nlines",1\n"three\n\n",1\n', 3, "no file '"),
            (good + "zero\0byte,2\n", 3, "no file '"),
        ):
            self.refused(f"labels.csv:{line}: ", *words, arguments=self.with_labels(text))
        for text in ("", "\n\n", "path,label\n"):
            self.refused("labels.csv has no labels", "path,label", arguments=self.with_labels(text))

    def test_a_listed_file_that_does_not_exist_stops_the_command_as_the_help_describes(self):
        labels = self.with_labels("deep/er/000.png,1\ngone.png,1\n")
        for more in ([], ["--on-error", "skip"]):
            self.refused("labels.csv:2: no file 'gone.png'", arguments=[*labels, *more])
        self.assertRegex(stoker("help", "pack").text, r"listed file that does not exist stops the command")

    def test_a_missing_label_file_is_an_error(self):
        self.refused("gone.csv", "No such file", arguments=["--labels", self.folder / "gone.csv"])

    def test_a_listed_file_that_is_not_an_image_is_an_error(self):
        self.put("notes.txt", b"text")
        self.refused("notes.txt: expected an image, got text", arguments=self.with_labels("notes.txt,1\n"))


class Idx(PackCase):
    PIXELS = bytes(range(24))

    def put_mnist(self, ending="", wrap=lambda data: data):
        self.put("train-images-idx3-ubyte" + ending, wrap(idx(self.PIXELS, 4, 2, 3)))
        self.put("train-labels-idx1-ubyte" + ending, wrap(idx([3, 0, 1, 1], 4)))
        self.put("t10k-images-idx3-ubyte" + ending, wrap(idx(self.PIXELS[:6], 1, 2, 3)))
        self.put("t10k-labels-idx1-ubyte" + ending, wrap(idx([5], 1)))

    def pixels_of(self, image):
        self.write("one.png", image)
        listed = {"stage": "list_files", "file_pattern": "one.png"}
        (image,) = self.elements_of(listed, mapped(op("decode_png", op("read_file", "x"))))
        return image

    def check_mnist(self):
        self.assertEqual(
            self.names(), ["labels.txt", "test-00000-of-00001.tfrecord", "train-00000-of-00001.tfrecord"]
        )
        self.assertEqual((self.target / "labels.txt").read_text(), "0\n1\n2\n3\n4\n5\n")
        train = {e["path"].decode(): e for e in self.examples("train")}
        self.assertEqual(sorted(train), [f"train-images-idx3-ubyte/{i:05}" for i in range(4)])
        self.assertEqual([train[path]["label"] for path in sorted(train)], [3, 0, 1, 1])
        last = train["train-images-idx3-ubyte/00003"]["image"]
        self.assertEqual(self.pixels_of(last), [[[18], [19], [20]], [[21], [22], [23]]])
        (test,) = self.examples("test")
        self.assertEqual((test["path"], test["label"]), (b"t10k-images-idx3-ubyte/00000", 5))

    def test_mnist_files_become_train_and_test(self):
        self.put_mnist()
        self.assertEqual(self.packed()["records"], 5)
        self.check_mnist()

    def test_mnist_in_gzip_gives_the_same_bytes_with_any_number_of_workers(self):
        self.put_mnist(ending=".gz", wrap=gzip.compress)
        self.packed(before=["--workers", "0"])
        self.check_mnist()
        reference = self.contents()
        self.packed("--overwrite", before=["--workers", "4"])
        self.assertEqual(self.contents(), reference)

    def test_one_pair_of_idx_files(self):
        images = self.put("letters.gz", gzip.compress(idx(self.PIXELS, 4, 2, 3)))
        labels = self.put("their-labels", idx([0, 1, 2, 1], 4))
        result = stoker("pack", images, self.target, "--labels", labels)
        self.assertEqual((result.status, result.errors), (FINE, ""))
        self.assertEqual({e["path"].decode(): e["label"] for e in self.examples("letters")}["letters/00002"], 2)
        result = stoker("pack", images, self.target, "--labels", labels, "--name", "all", "--shards", "2")
        self.assertEqual(len(self.examples("all")), 4)

    def test_name_is_a_prefix_of_train_and_test(self):
        self.put_mnist()
        self.packed("--name", "fashion")
        self.assertIn("fashion-train-00000-of-00001.tfrecord", self.names())

    def test_invalid_idx_files_are_errors(self):
        images, labels = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
        whole = idx(self.PIXELS, 4, 2, 3)
        for files, *words in (
            ({images: whole}, images, f"no {labels}", ".gz"),
            ({labels: idx([1], 1)}, labels, f"no {images}"),
            ({images: whole[:-1], labels: idx([0] * 4, 4)}, images, "has 23 bytes of values, expected 24"),
            ({images: whole[:7], labels: idx([0] * 4, 4)}, images, "ends inside its header"),
            ({images + ".gz": gzip.compress(whole)[:-5], labels: idx([0] * 4, 4)}, images, "ends too early"),
            ({images: b"", labels: idx([0] * 4, 4)}, images, "not an idx file"),
            ({images: whole, labels: idx([0] * 3, 3)}, "has 4 images", "3 labels"),
            ({images: whole, labels: whole}, labels, "uint8 of shape [4, 2, 3]", "expected labels"),
            ({images: idx([0] * 4, 4), labels: whole}, images, "expected grayscale images"),
            ({images: idx([], 0, 2, 3), labels: idx([], 0)}, images, "contains no images"),
            ({images: idx([], 2, 0, 3), labels: idx([0, 0], 2)}, f"{images}/0000", "has no pixels"),
        ):
            for name, data in files.items():
                self.put(name, data)
            self.refused(*words)
            for name in files:
                (self.source / name).unlink()

    def test_wrong_use(self):
        self.put_mnist()
        self.refused("remove --labels", arguments=["--labels", "x"], status=WRONG_USE)
        self.refused("--shards is 3, and 'test' has 1 record;", arguments=["--shards", "3"], status=WRONG_USE)
        self.source = self.source / "train-images-idx3-ubyte"
        self.refused("is a file", "--labels", status=WRONG_USE)


class LongRuns(PackCase):
    """Runs that would take seconds, and are stopped as soon as the test has seen enough."""

    def setUp(self):
        super().setUp()
        count, side = 100_000, 28
        for name, header in (
            ("train-images-idx3-ubyte", idx([], count, side, side)),
            ("train-labels-idx1-ubyte", idx([], count)),
        ):
            path = self.put(name, header)
            os.truncate(path, len(header) + count * (side * side if "images" in name else 1))

    def start(self, **streams):
        return subprocess.Popen(
            [STOKER, "--workers", "0", "pack", self.source, self.target],
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            **streams,
        )

    def test_ctrl_c_leaves_no_files(self):
        with self.start(stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            while not list(self.target.glob(".train.packing/*.partial")):
                self.assertIsNone(process.poll(), "the command ended too early")
                os.sched_yield()
            self.assertEqual(self.names(), [".train.packing"])
            process.send_signal(signal.SIGINT)
            self.assertEqual((process.wait(60), process.stderr.read()), (130, b""))
        self.assertEqual(self.names(), [])

    def test_a_second_run_into_the_same_folder_is_rejected(self):
        with self.start(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as first:
            while not list(self.target.glob(".train.packing/*.partial")):
                self.assertIsNone(first.poll(), "the command ended too early")
                os.sched_yield()
            second = self.pack("--overwrite")
            self.assertEqual(second.status, WRONG_USE)
            self.assertIn(f"another stoker pack, process {first.pid}, is writing into {self.target}", second.errors)
            self.assertIsNone(first.poll())
            self.assertEqual(self.names(), [".train.packing"])
            first.send_signal(signal.SIGINT)
            first.wait(60)
        self.assertEqual(self.names(), [])

    def test_ctrl_c_between_shards_keeps_complete_shards(self):
        with subprocess.Popen(
            [STOKER, "--workers", "0", "pack", self.source, self.target, "--shards", "1000"],
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        ) as process:
            while not list(self.target.glob(".train.packing/*.whole")):
                self.assertIsNone(process.poll(), "the command ended too early")
                os.sched_yield()
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(60), 130)
            errors = process.stderr.read().decode()
            self.assertRegex(errors, "complete shards? (is|are) kept in .*; the same command continues")
        self.assertEqual(self.names(), [".train.packing"])
        self.assertEqual(list(self.target.glob(".train.packing/*.partial")), [])

    def test_a_terminal_shows_a_progress_bar(self):
        try:
            ours, theirs = pty.openpty()
        except OSError as error:
            self.skipTest(f"no pseudoterminal available: {error}")
        self.addCleanup(os.close, ours)
        with self.start(stdout=subprocess.DEVNULL, stderr=theirs) as process:
            os.close(theirs)
            text = b""
            while b"left" not in text:
                text += os.read(ours, 4096)
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(60), 130)
        self.assertRegex(text.decode(), r"[█░]{20} [\d,]+ of 100,000  [\d,.]+ images/s  [\d.]+ \w+/s  \d+:\d\d left")


if __name__ == "__main__":
    unittest.main()
