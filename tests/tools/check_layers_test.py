"""What tools/check_layers.py accepts and what it names."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import check_layers  # noqa: E402

TABLE = """
# A page

| other | table |
| --- | --- |
| core | no row of ours |

| module | what belongs | may include |
| --- | --- | --- |
| `core/` | values | the standard library |
| `io/` | bytes | core |
| `api/` | all | every module but diagnose |
| `diagnose/` | findings | core |

| after | it | ends |
"""


def reasons(path, text):
    return list(check_layers.check_file(path, text, check_layers.read_table(TABLE)))


class ReadTable(unittest.TestCase):
    def test_allows_each_module_itself_and_its_row(self):
        self.assertEqual(
            check_layers.read_table(TABLE),
            {
                "core": {"core"},
                "io": {"io", "core"},
                "api": {"core", "io", "api"},
                "diagnose": {"diagnose", "core"},
            },
        )

    def test_rejects_a_page_without_the_table(self):
        with self.assertRaisesRegex(check_layers.LayoutError, "no table"):
            check_layers.read_table("# nothing")

    def test_names_an_unknown_module(self):
        with self.assertRaisesRegex(check_layers.LayoutError, "'io' may include 'cellar'"):
            check_layers.read_table(TABLE.replace("| bytes | core |", "| bytes | core, cellar |"))

    def test_reads_the_page_of_this_tree(self):
        table = check_layers.read_table((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))
        self.assertEqual(table["core"], {"core"})
        self.assertNotIn("transforms", table["runtime"])
        self.assertNotIn("diagnose", table["api"])
        self.assertEqual(len(table), 13)


class CheckFile(unittest.TestCase):
    def test_accepts_the_own_module_and_what_the_row_allows(self):
        self.assertEqual(reasons("io/file.h", '#include <vector>\n#include "stoker/core/error.h"\n#include "stoker/io/a.h"\n'), [])

    def test_names_the_line_of_an_include_that_goes_up(self):
        [(line, reason)] = reasons("core/error.cc", '// text\n#include "stoker/io/file.h"\n')
        self.assertEqual(line, 2)
        self.assertIn("'core' may not include 'io'", reason)

    def test_keeps_diagnose_out_of_api(self):
        self.assertEqual(len(reasons("api/loader.cc", '#include "stoker/diagnose/trace.h"')), 1)

    def test_keeps_third_parties_out_of_headers(self):
        self.assertEqual(len(reasons("io/file.h", "#include <zlib.h>")), 1)
        self.assertEqual(len(reasons("io/file.h", "#include <fmt/format.h>")), 1)

    def test_lets_sources_include_third_parties(self):
        self.assertEqual(reasons("io/file.cc", "#include <zlib.h>"), [])

    def test_lets_headers_include_the_system(self):
        self.assertEqual(reasons("io/file.h", "#include <sys/mman.h>\n#  include <unistd.h>"), [])

    def test_requires_our_paths_relative_to_src_and_in_quotes(self):
        self.assertIn("relative to src/", reasons("io/file.cc", '#include "file.h"')[0][1])
        self.assertIn("in quotes", reasons("io/file.cc", "#include <stoker/io/file.h>")[0][1])

    def test_names_a_module_without_a_row(self):
        self.assertIn("no module 'cellar'", reasons("cellar/a.h", "")[0][1])
        self.assertIn("in no module", reasons("io/a.h", '#include "stoker/cellar/a.h"')[0][1])

    def test_allows_the_headers_above_the_modules_every_include(self):
        self.assertEqual(reasons("stoker.h", '#include "stoker/api/loader.h"'), [])
        self.assertEqual(reasons("torch.h", "#include <torch/torch.h>"), [])
        self.assertEqual(len(reasons("stoker.h", "#include <torch/torch.h>")), 1)
        self.assertEqual(len(reasons("api/loader.h", '#include "stoker/stoker.h"')), 1)
        self.assertEqual(len(reasons("other.h", "")), 1)


class Main(unittest.TestCase):
    def run_on(self, source):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            (root / "src/stoker/core").mkdir(parents=True)
            (root / "ARCHITECTURE.md").write_text(TABLE, encoding="utf-8")
            (root / "src/stoker/core/a.h").write_text(source, encoding="utf-8")
            out = io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
                return check_layers.main([name]), out.getvalue()

    def test_passes_a_clean_tree(self):
        self.assertEqual(self.run_on("#include <vector>\n"), (0, "1 files, 0 wrong includes\n"))

    def test_fails_with_file_and_line(self):
        status, text = self.run_on('\n#include "stoker/io/file.h"\n')
        self.assertEqual(status, 1)
        self.assertIn("src/stoker/core/a.h:2: 'core' may not include 'io'", text)

    def test_reports_a_tree_without_the_table(self):
        with tempfile.TemporaryDirectory() as name, contextlib.redirect_stderr(io.StringIO()) as err:
            self.assertEqual(check_layers.main([name]), 2)
        self.assertIn("ARCHITECTURE.md", err.getvalue())


if __name__ == "__main__":
    unittest.main()
