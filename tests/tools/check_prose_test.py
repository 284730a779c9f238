"""What tools/check_prose.py reports, and what it accepts."""

import contextlib
import io
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import check_prose  # noqa: E402


def phrases(text, path="page.md", lines=None):
    return [phrase for _, phrase, _ in check_prose.findings(path, text, lines)]


class Phrases(unittest.TestCase):
    def test_finds_every_phrase_of_the_style_guide(self):
        for text in ("a data set", "two data sets", "a picture", "the colours", "normalised values",
                     "the stage behind it", "one file is wanted", "unless told otherwise", "it tells which", "is told",
                     "it says so", "in words", "the begin of a file", "on its way", "a record's way", "no room", "makes elements ahead",
                     "what was made ahead", "leaves out", "leaves it out", "lets go", "takes back", "mend", "mended",
                     "who reads", "somebody", "nobody", "he waits", "beside it", "besides", "a as well as b",
                     "this is the standard.", "is not there yet", "for ever", "once in a while"):
            with self.subTest(text):
                self.assertEqual(len(phrases(text)), 1)

    def test_ignores_case(self):
        self.assertEqual(phrases("Nobody knows. BESIDES that, Pictures"), ["Nobody", "BESIDES", "Pictures"])

    def test_finds_whole_words_only(self):
        self.assertEqual(phrases("mushroom, the, whole, passwords, recommended, bedside, pictured, away"), [])

    def test_finds_a_phrase_across_a_line_break_and_names_its_first_line(self):
        self.assertEqual([line for line, _, _ in check_prose.findings("a.md", "1\nthis data\nset\n")], [2])
        self.assertEqual(phrases("// of a data\n// set\n", "a.h"), ["data set"])
        self.assertEqual(phrases("# of a data\n# set\n", "a.sh"), ["data set"])

    def test_reports_the_replacement(self):
        self.assertEqual(list(check_prose.findings("a.md", "a picture")), [(1, "picture", "image")])

    def test_accepts_right_uses_of_the_same_words(self):
        self.assertEqual(phrases("people who train; in other words; 64-bit words; it falls behind; leaves nothing behind; "
                                 "He initialization; a way to do it; in the same way; begin with it; "
                                 "the standard library; the standard deviation; works as well as the other"), [])


class Markdown(unittest.TestCase):
    def test_skips_code_and_quotes_and_link_targets(self):
        self.assertEqual(phrases('`a picture` ``who` `` "a data set" [x](docs/pictures.md) https://a.org/picture'), [])
        self.assertEqual(phrases("text\n```cpp\n// a picture\n```\n~~~\nnobody\n~~~\n"), [])
        self.assertEqual(phrases("`a span\nof a picture` and one picture"), ["picture"])

    def test_finds_what_follows_a_code_block(self):
        self.assertEqual(phrases("```\ncode\n```\na picture\n"), ["picture"])

    def test_a_single_backtick_hides_nothing_beyond_its_paragraph(self):
        self.assertEqual(phrases("a ` here\n\na picture\n\nanother ` there"), ["picture"])


class Sources(unittest.TestCase):
    def test_finds_comments_and_messages_and_skips_code(self):
        text = ('int words = who(picture);  // nobody reads\n'
                'return Error::invalid("no room for ", n);\n/* a data\n * set */\n')
        self.assertEqual(phrases(text, "a.cc"), ["nobody", "room", "data set"])

    def test_skips_identifiers_paths_and_options(self):
        text = ("// picture_folder, begin(), a.words, Value::picture, src/picture/a.h, pictures.md, --pictures\n"
                "// 'who', $words\n")
        self.assertEqual(phrases(text, "a.h"), [])

    def test_skips_literals_of_one_word(self):
        self.assertEqual(phrases('f("picture"); f("room");', "a.cc"), [])
        self.assertEqual(phrases("f('picture', \"who\")", "a.py"), [])

    def test_skips_quotes_and_code_in_comments(self):
        self.assertEqual(phrases('// prints "a picture" for `the picture`\n', "a.cc"), [])

    def test_is_not_confused_by_digit_separators_and_escapes(self):
        self.assertEqual(phrases("int n = 1'000;  // it's a picture\n", "a.cc"), ["picture"])
        self.assertEqual(phrases('f("\\"");  // nobody\n', "a.cc"), ["nobody"])

    def test_reads_docstrings_and_comments_of_python(self):
        text = '"""The picture."""\nwords = 1  # nobody\nprint(f"a {picture} is wanted")\n'
        self.assertEqual(phrases(text, "a.py"), ["picture", "nobody", "wanted"])

    def test_reads_scripts_by_their_first_line(self):
        self.assertEqual(phrases("#!/usr/bin/env bash\n# nobody\necho 'a picture'\n", "run"), ["nobody", "picture"])
        self.assertEqual(phrases("#!/usr/bin/env python3\nwords = 1  # nobody\n", "run"), ["nobody"])
        self.assertEqual(phrases("a picture\n", "LICENSE"), [])


class Main(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.git("init", "-q", "-b", "main")
        self.write("old.md", "a picture\n")
        self.commit()

    def git(self, *arguments):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false", *arguments],
                       cwd=self.root, check=True, capture_output=True)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "x")

    def run_with(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = check_prose.main(list(arguments), self.root)
        return status, out.getvalue(), err.getvalue()

    def test_checks_only_lines_added_since_the_base(self):
        self.write("old.md", "a picture\nplain\nnobody\n")
        self.write("new.md", "besides\n")
        self.assertEqual(self.run_with("--base", "HEAD"),
                         (1, "new.md:1: 'besides': write next to, or in addition\n"
                             "old.md:3: 'nobody': write no thread, no caller\n", "2 files, 2 phrases to replace\n"))

    def test_reads_changes_that_look_like_parts_of_a_diff(self):
        self.write("old.md", "++ b/other.md\n@@ -1 +7 @@\nnobody")
        self.write("größe.md", "plain\n")
        self.commit()
        self.write("größe.md", "plain\nbesides\n")
        self.assertEqual(self.run_with("--base", "HEAD~1")[1],
                         "größe.md:2: 'besides': write next to, or in addition\n"
                         "old.md:3: 'nobody': write no thread, no caller\n")

    def test_passes_without_findings(self):
        self.write("old.md", "a picture\nplain\n")
        self.assertEqual(self.run_with("--base", "HEAD"), (0, "1 files, 0 phrases to replace\n", ""))

    def test_starts_from_the_merge_base_with_upstream_main(self):
        self.git("update-ref", "refs/remotes/origin/main", "HEAD")
        self.write("old.md", "a picture\nnobody\n")
        self.commit()
        self.assertEqual(self.run_with()[:2], (1, "old.md:2: 'nobody': write no thread, no caller\n"))

    def test_checks_the_whole_tree_on_request_and_without_an_upstream(self):
        self.assertEqual(self.run_with("--all")[1], "old.md:1: 'picture': write image\n")
        status, out, err = self.run_with()
        self.assertEqual((status, out), (1, "old.md:1: 'picture': write image\n"))
        self.assertIn("no merge base", err)

    def test_checks_only_the_paths_that_are_named(self):
        self.write("docs/a.md", "nobody\n")
        self.write("docs2/a.md", "nobody\n")
        self.assertEqual(self.run_with("--all", "docs/")[1], "docs/a.md:1: 'nobody': write no thread, no caller\n")

    def test_skips_generated_pages_and_files_without_prose(self):
        self.write("old.md", "plain\n")
        self.write("docs/reference/ops.md", "a picture\n")
        self.write("bench/results/a.md", "a picture\n")
        self.write("data.json", '"a picture"')
        (self.root / "bytes.md").write_bytes(b"\xff picture")
        self.assertEqual(self.run_with("--all")[:2], (0, "1 files, 0 phrases to replace\n"))

    def test_ignores_deleted_files(self):
        (self.root / "old.md").unlink()
        self.assertEqual(self.run_with("--base", "HEAD")[0], 0)
        self.assertEqual(self.run_with("--all")[0], 0)

    def test_reports_a_revision_that_does_not_exist(self):
        status, _, err = self.run_with("--base", "nowhere")
        self.assertEqual(status, 2)
        self.assertIn("nowhere", err)

    def test_help_lists_the_phrases_and_exit_codes(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), self.assertRaises(SystemExit) as end:
            check_prose.main(["--help"])
        self.assertEqual(end.exception.code, 0)
        for text in ("data set", "dataset", "exit code", "How to fix a finding"):
            self.assertIn(text, out.getvalue())


if __name__ == "__main__":
    unittest.main()
