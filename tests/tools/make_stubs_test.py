"""What tools/make_stubs.py writes of a package and a table, and what it refuses."""

import contextlib
import io
import pathlib
import shutil
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import make_stubs  # noqa: E402

STOP = {"name": "stop", "type": "int64", "required": True, "doc": "the end"}
PARTS = {"name": "parts", "type": "list of float64 or null", "required": False, "default": None, "doc": "parts"}
TABLE = {
    "stages": [
        {"name": "upwards", "doc": "Numbers.", "kind": "source", "form": "list", "parameters": [STOP]},
        {"name": "stride", "doc": "Some.", "kind": "transform", "form": "selection", "parameters": [PARTS]},
        {"name": "batch", "doc": "Rows.", "kind": "transform", "form": "sequence", "parameters": []},
    ],
    "operations": [
        {"name": "invert", "doc": "The negative.", "inputs": 1, "random": False, "parameters": [STOP]},
        {"name": "joined", "doc": "All.", "inputs": None, "random": False, "parameters": []},
    ],
}


class OfATree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.package = self.root / make_stubs.PACKAGE
        shutil.copytree(ROOT / make_stubs.PACKAGE, self.package, ignore=shutil.ignore_patterns("*.pyi", "py.typed"))
        self.table = TABLE
        self.addCleanup(setattr, make_stubs, "table_of", make_stubs.table_of)
        make_stubs.table_of = lambda command: self.table

    def main(self, *arguments):
        with contextlib.redirect_stderr(io.StringIO()) as err:
            return make_stubs.main(list(arguments), self.root), err.getvalue()

    def add(self, module, text):
        with open(self.package / module, "a") as file:
            file.write(text)


class Stubs(OfATree):
    def test_have_the_stages_of_the_table_that_have_no_method(self):
        self.assertEqual(self.main(), (0, ""))
        text = (self.package / "_dataset.pyi").read_text()
        self.assertIn("    @staticmethod\n    def upwards(*, stop: t.Int, name: str | None = ...) -> Dataset: ...", text)
        self.assertIn("    def stride(self, *, parts: Sequence[float] | None = ..., name: str | None = ...) -> Dataset", text)
        self.assertEqual(text.count(" def batch("), 1)

    def test_have_the_operations_of_the_table(self):
        self.main()
        text = (self.package / "_values.pyi").read_text()
        self.assertIn("def op(name: Literal['invert'], x0: t.TensorLike, /, *, stop: t.Int) -> t.Tensor: ...", text)
        self.assertIn("def op(name: Literal['joined'], *inputs: t.TensorLike) -> t.Tensor: ...", text)

    def test_follow_the_source(self):
        self.add("image.py", "\ndef sharpen(image, delta=1.0, *, strength: int = 2, seed=None):\n    pass\n")
        self.assertEqual(self.main(), (0, ""))
        self.assertIn("def sharpen(image: t.TensorLike, delta: float = 1.0, *, strength: int = 2, "
                      "seed: t.Int | None = None) -> t.Tensor: ...", (self.package / "image.pyi").read_text())

    def test_export_the_imports_that_a_module_lists(self):
        self.add("_image_color.py", "\ndef sharpen(image):\n    pass\n\ndef blur(image):\n    pass\n")
        self.add("image.py", "\nfrom ._image_color import blur, sharpen\n")
        source = self.package / "image.py"
        source.write_text(source.read_text().replace("__all__ = [", '__all__ = ["sharpen", '))
        self.assertEqual(self.main(), (0, ""))
        self.assertIn("from ._image_color import sharpen as sharpen\n", (self.package / "image.pyi").read_text())
        self.assertIn("def sharpen(image: t.TensorLike) -> t.Tensor: ...", (self.package / "_image_color.pyi").read_text())
        self.assertNotIn("blur", "".join(stub.read_text() for stub in self.package.glob("*.pyi")))

    def test_are_refused_where_a_type_is_not_known(self):
        self.add("image.py", "\ndef sharpen(image, strength):\n    pass\n")
        status, text = self.main()
        self.assertEqual(status, 1)
        self.assertIn("image.py: parameter 'strength' of sharpen has no type", text)
        self.table = {"stages": [], "operations": [{**TABLE["operations"][0], "parameters": [{**STOP, "type": "colour"}]}]}
        self.assertIn("'colour'", self.main()[1])


class Check(OfATree):
    def test_passes_on_what_was_written(self):
        self.main()
        self.assertEqual(self.main("--check"), (0, ""))

    def test_names_the_stub_that_differs_or_is_missing(self):
        self.main()
        (self.package / "io.pyi").write_text("by hand")
        (self.package / "py.typed").unlink()
        status, text = self.main("--check")
        self.assertEqual(status, 1)
        self.assertIn("python/stoker/io.pyi", text)
        self.assertIn("python/stoker/py.typed", text)
        self.assertFalse((self.package / "py.typed").exists())

    def test_refuses_other_arguments(self):
        self.assertEqual(self.main("--chek")[0], 2)


if __name__ == "__main__":
    unittest.main()
