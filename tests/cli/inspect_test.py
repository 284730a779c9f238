"""`stoker inspect`: the statistics and the contact sheet."""

import base64
import json
import re
import struct
import unittest

from command import BAD_DATA, FINE, TestCase
from command import stoker
from data_files import flat_jpeg, frame, number_png, orientation, to_example


class InspectCase(TestCase):
    def put(self, name, data):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def inspect(self, *arguments):
        result = stoker("inspect", self.folder, *arguments, "--json")
        self.assertEqual((result.status, result.errors), (FINE, ""))
        return json.loads(result.text)


class Records(InspectCase):
    def put_images(self):
        self.put("labels.txt", b"cat\ndog\n")
        images = [flat_jpeg(16, 24), flat_jpeg(32, 8), number_png(1)]
        examples = [to_example(image=p, label=int(i > 0), path=f"x/{i}.jpg".encode()) for i, p in enumerate(images)]
        return self.put("a.tfrecord", b"".join(map(frame, examples)))

    def test_json_has_features_with_kinds_lengths_and_images(self):
        self.put_images()
        found = self.inspect()
        self.assertEqual((found["records"], found["examples"], found["damaged"]), (3, 3, 0))
        image = found["features"]["image"]
        self.assertEqual(image["images"]["formats"], {"JPEG": 2, "PNG": 1})
        self.assertEqual(image["images"]["height"], {"min": 1, "mean": 49 / 3, "max": 32})
        self.assertEqual(image["images"]["channels"], {"1": 3})
        self.assertEqual(found["features"]["label"]["kinds"], {"int64": 3})
        counts = [{"label": 0, "class": "cat", "records": 1}, {"label": 1, "class": "dog", "records": 2}]
        self.assertEqual(found["labels"], {"feature": "label", "counts": counts})

    def test_lists_and_features_missing_from_some_records(self):
        examples = to_example(x=[1.5, 2.5], n=[1, -3, 5]), to_example(x=[1.5]), b"\xff no example"
        self.put("a.tfrecord", b"".join(map(frame, examples)))
        found = self.inspect()
        self.assertEqual((found["records"], found["examples"], found["labels"]), (3, 2, None))
        self.assertEqual(found["features"]["x"]["values"], {"min": 1, "mean": 1.5, "max": 2})
        self.assertEqual(found["features"]["n"]["numbers"], {"min": -3, "mean": 1.0, "max": 5})
        text = stoker("inspect", self.folder).text
        self.assertIn("n: int64, values per record: 3, in 1 of 2 records", text)

    def test_text_has_records_images_and_classes(self):
        self.put_images()
        text = stoker("inspect", self.folder).text
        for words in ("3 records in 1 TFRecord file", "2 JPEG, 1 PNG; height 1 to 32", "2 classes of 'label'", "dog  2"):
            self.assertIn(words, text)

    def test_the_first_damage_is_reported(self):
        data = frame(b"12345") + frame(b"678")[:-1] + b"?"
        self.put("a.tfrecord", data)
        found = self.inspect()
        self.assertEqual((found["records"], found["damaged"]), (1, 1))
        self.assertEqual((found["first_damage"]["record"], found["first_damage"]["offset"]), (1, 21))
        self.assertIn("record 1 at byte 21", stoker("inspect", self.folder).text)


class Images(InspectCase):
    def test_image_files_by_folder_with_formats_and_sizes(self):
        self.put("cat/1.jpg", flat_jpeg(16, 24))
        self.put("cat/2.jpg", b"bad")
        self.put("dog/1.png", number_png(1))
        found = self.inspect()
        self.assertEqual([(one["folder"], one["images"]) for one in found["folders"]], [("cat", 2), ("dog", 1)])
        self.assertEqual(found["images"]["unreadable"], 1)
        self.assertEqual(found["images"]["width"]["max"], 24)


class Sheets(InspectCase):
    def sheet(self, name, *arguments):
        self.inspect("--sheet", self.folder / name, *arguments)
        return (self.folder / name).read_bytes()

    def test_a_png_sheet_has_a_cell_for_every_image(self):
        for i in range(6):
            self.put(f"cat/{i}.jpg", flat_jpeg(16, 24))
        data = self.sheet("sheet.png")
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(struct.unpack_from(">II", data, 16), (3 * 164 + 4, 2 * 164 + 4))
        self.assertEqual(struct.unpack_from(">II", self.sheet("other.png", "--limit", "1"), 16), (2 * 164 + 4, 168))

    def test_an_html_sheet_is_one_file_with_labels_and_upright_images(self):
        self.put("labels.txt", b"<b>cat\n")
        lying = flat_jpeg(16, 24, exif=orientation(6))
        examples = [to_example(image=image, label=0, path=b"x/1.jpg") for image in (lying, lying[:-8])]
        self.put("a.tfrecord", b"".join(map(frame, examples)))
        page = self.sheet("sheet.html").decode()
        self.assertIn('width="16" height="24"', page)
        self.assertIn("&lt;b&gt;cat: x/1.jpg", page)
        self.assertIn("JPEG data ends early", page)
        self.assertNotIn("http", page)
        (image,) = re.findall("base64,([^\"]*)", page)
        self.assertEqual(base64.b64decode(image)[:3], b"\xff\xd8\xff")

    def test_a_sheet_samples_records_evenly_from_all_files(self):
        for file in range(4):
            examples = [to_example(image=number_png(i), path=f"{file}/{i}".encode()) for i in range(10)]
            self.put(f"{file}.tfrecord", b"".join(map(frame, examples)))
        page = self.sheet("sheet.html", "--limit", "8").decode()
        self.assertEqual(re.findall("<figcaption>(.*?)</", page), [f"{file}/{i}" for file in range(4) for i in (0, 5)])

    def test_other_extensions_and_data_without_images_are_errors(self):
        self.put("a.tfrecord", frame(b"text"))
        self.assert_refused(stoker("inspect", self.folder, "--sheet", "sheet.gif"), "ends with .png or .html")
        where = self.folder / "sheet.png"
        self.assert_refused(stoker("inspect", self.folder, "--sheet", where), "no images", status=BAD_DATA)
        self.assertFalse(where.exists())


if __name__ == "__main__":
    unittest.main()
