"""What tools/check_tests.py accepts and what it reports."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import check_tests  # noqa: E402


def without_assertion(text, support=""):
    functions = list(check_tests.functions(check_tests.code_of(support)))
    return list(check_tests.tests_without_assertion(text, functions))


class Assertions(unittest.TestCase):
    def test_accepts_an_assertion_in_the_body(self):
        self.assertEqual(without_assertion("TEST(A, B) {\n  if (x) {\n    EXPECT_EQ(f({1}), 2);\n  }\n}\n"), [])
        self.assertEqual(without_assertion("TEST_P(A, B) { ASSERT_TRUE(x); }\n"), [])
        self.assertEqual(without_assertion('TEST_F(A, B) { ADD_FAILURE() << "no"; }\n'), [])

    def test_names_a_test_without_one(self):
        self.assertEqual(without_assertion("\nTEST(A, B) { (void)f(); }\nTEST(C, D) { EXPECT_TRUE(x); }\n"), [(2, "A.B")])

    def test_ignores_comments_and_literals(self):
        self.assertEqual(without_assertion('TEST(A, B) {\n  // EXPECT_TRUE(x);\n  f("EXPECT_TRUE(x)");\n}\n'), [(1, "A.B")])

    def test_knows_the_functions_that_assert(self):
        helper = "void check(int x = {}) {\n  EXPECT_EQ(x, 1);\n}\nvoid twice() { check(1); check(2); }\n"
        self.assertEqual(without_assertion(helper + "TEST(A, B) { twice(); }\n"), [])
        self.assertEqual(without_assertion("TEST(A, B) { twice(); }\n", support=helper), [])
        self.assertEqual(without_assertion("TEST(A, B) { other(); }\n", support=helper), [(1, "A.B")])


class Headers(unittest.TestCase):
    def found(self, files):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            for path, text in {"tests/COVERED_BY.md": "", "src/stoker/core/a.h": "", **files}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text, encoding="utf-8")
            return [reason for _, _, reason in check_tests.check_headers(root)]

    def test_accepts_a_test_of_the_same_name(self):
        self.assertEqual(self.found({"tests/core/a_test.cc": ""}), [])

    def test_requires_a_test_or_a_row(self):
        [reason] = self.found({})
        self.assertIn("add tests/core/a_test.cc, or a row", reason)

    def test_accepts_a_row_whose_test_reaches_the_header(self):
        row = "| `core/a.h` | `laws/b_test.cc` |\n"
        files = {"tests/COVERED_BY.md": row, "src/stoker/core/b.h": "", "tests/core/b_test.cc": "",
                 "src/stoker/core/b.cc": '#include "stoker/core/a.h"\n'}
        self.assertEqual(self.found({**files, "tests/laws/b_test.cc": '#include "stoker/core/b.h"\n'}), [])
        self.assertIn("does not include core/a.h", self.found({**files, "tests/laws/b_test.cc": ""})[0])

    def test_rejects_rows_and_tests_that_name_nothing(self):
        row = "| `core/a.h` | `laws/b_test.cc` |\n"
        self.assertIn("laws/b_test.cc does not exist", self.found({"tests/COVERED_BY.md": row})[0])
        self.assertIn("remove the row", self.found({"tests/COVERED_BY.md": row, "tests/core/a_test.cc": ""})[0])
        stale = "| `core/none.h` | `core/a_test.cc` |\n"
        self.assertIn("core/none.h does not exist", self.found({"tests/COVERED_BY.md": stale, "tests/core/a_test.cc": ""})[0])
        self.assertIn("no header of this name", self.found({"tests/core/a_test.cc": "", "tests/core/c_test.cc": ""})[0])


class Main(unittest.TestCase):
    def test_this_tree_has_no_findings(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            self.assertEqual(check_tests.main([]), 0, out.getvalue())


if __name__ == "__main__":
    unittest.main()
