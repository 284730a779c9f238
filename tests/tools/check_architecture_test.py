"""What tools/check_architecture.py accepts and what it reports."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import check_architecture  # noqa: E402

TABLE = """
| module | what belongs | may include |
| --- | --- | --- |
| `core/` | values: `Array` | the standard library |
| `runtime/` | threads | core |
"""


class CheckTree(unittest.TestCase):
    def found(self, page="", files=None):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            tree = {
                "ARCHITECTURE.md": TABLE + page,
                "src/stoker/core/array.h": "class Array { void clone(); };\n",
                "src/stoker/runtime/pool.cc": "std::thread worker(run_step);\n",
                "docs/design/engine.md": "",
                **(files or {}),
            }
            for path, text in tree.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text, encoding="utf-8")
            return check_architecture.check_tree(root)

    def test_accepts_what_exists(self):
        page = ("`core/array.h`, `src/stoker/core/`, `docs/design/*.md`, [engine](docs/design/engine.md), `Array::clone`, "
                "`run_step(x)`, `map`, `a + b`, [elsewhere](https://example.org/x)\n")
        self.assertEqual(self.found(page), [])

    def test_names_a_path_that_does_not_exist(self):
        self.assertEqual(self.found("\n`core/buffer.h`\n"), ["ARCHITECTURE.md:7: the path core/buffer.h does not exist"])
        self.assertIn("leads nowhere", self.found("[x](docs/none.md)\n")[0])

    def test_names_a_symbol_that_does_not_exist(self):
        for span in ("Slab", "Array::copy_of", "stack_rows", "unknown()", "kMost"):
            self.assertIn("occurs nowhere", self.found(f"`{span}`\n")[0], span)

    def test_does_not_check_code_blocks(self):
        self.assertEqual(self.found("```\n`Slab` `core/none.h`\n```\n"), [])

    def test_compares_the_table_with_the_folders(self):
        self.assertIn("src/stoker/io has no row", self.found(files={"src/stoker/io/a.h": ""})[0])
        more = TABLE + "| `io/` | bytes | core |\n"
        self.assertIn("src/stoker/io, which does not exist", "\n".join(self.found(files={"ARCHITECTURE.md": more})))
        other = TABLE.replace("`Array`", "`Array`, `run_step`")
        self.assertIn("the row of core/ names run_step", self.found(files={"ARCHITECTURE.md": other})[0])

    def test_finds_threads_outside_the_runtime(self):
        for code in ("std::thread t(f);", "std::vector<std::jthread> all;", "auto x = std::async(f);", "pthread_create(a);"):
            self.assertIn("only runtime/ creates threads", self.found(files={"src/stoker/core/a.cc": code})[0], code)
        for code in ("// std::thread", "std::thread::id x;", "std::this_thread::yield();"):
            self.assertEqual(self.found(files={"src/stoker/core/a.cc": code}), [], code)


class Main(unittest.TestCase):
    def test_this_tree_has_no_findings(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            self.assertEqual(check_architecture.main([]), 0, out.getvalue())


if __name__ == "__main__":
    unittest.main()
