"""What tools/make_reference.py writes, and that --check sees what differs."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import make_reference  # noqa: E402

TABLE = {
    "stages": [
        {
            "name": "range",
            "doc": "Numbers.",
            "kind": "source",
            "form": "list",
            "parameters": [
                {"name": "stop", "type": "int64", "required": True, "doc": "the end | the last"},
                {"name": "step", "type": "int64", "required": False, "default": 1, "doc": "the step"},
            ],
        },
        {"name": "unbatch", "doc": "Rows.", "kind": "transform", "form": "sequence", "parameters": []},
    ],
    "operations": [{"name": "add", "doc": "Sum.", "inputs": 2, "random": False, "parameters": []}],
}


class Pages(unittest.TestCase):
    def test_have_every_parameter_in_a_table(self):
        page = make_reference.pages(TABLE)["docs/reference/stages.md"]
        self.assertIn("| `stop` | int64 | *required* | the end \\| the last |", page)
        self.assertIn("| `step` | int64 | `1` | the step |", page)
        self.assertLess(page.index("## Sources"), page.index("### range"))
        self.assertLess(page.index("## Transforms"), page.index("### unbatch"))
        self.assertIn("*Takes 2 inputs.*", make_reference.pages(TABLE)["docs/reference/ops.md"])


class Check(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        table_of = make_reference.table_of
        self.addCleanup(setattr, make_reference, "table_of", table_of)
        make_reference.table_of = lambda command: TABLE

    def main(self, *arguments):
        with contextlib.redirect_stderr(io.StringIO()) as err:
            return make_reference.main(list(arguments), self.root), err.getvalue()

    def test_passes_on_what_was_written(self):
        self.assertEqual(self.main()[0], 0)
        self.assertEqual(self.main("--check"), (0, ""))

    def test_names_the_page_that_differs_or_is_missing(self):
        self.main()
        (self.root / "docs/reference/ops.md").write_text("by hand")
        (self.root / "docs/reference/stages.md").unlink()
        status, text = self.main("--check")
        self.assertEqual(status, 1)
        self.assertIn("docs/reference/ops.md", text)
        self.assertIn("docs/reference/stages.md", text)
        self.assertFalse((self.root / "docs/reference/stages.md").exists())

    def test_refuses_other_arguments(self):
        self.assertEqual(self.main("--chek")[0], 2)


if __name__ == "__main__":
    unittest.main()
