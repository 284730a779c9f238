#!/usr/bin/env python3
"""Report phrases that this project's texts do not use, each with its replacement.

  tools/check_prose.py                    lines added since the merge base with origin/main
  tools/check_prose.py --base HEAD~3      lines added since another revision
  tools/check_prose.py --all              every line of the tree
  tools/check_prose.py --all docs/design  every line below a path, also of code that is being rewritten

Uncommitted changes and new files that git does not ignore are included. Without origin/main, the whole tree is checked,
as with --all. Each finding is printed as `file:line: 'phrase': write replacement`. The exit code is 0 without findings,
1 with findings, and 2 if the arguments are wrong or git fails.

What is checked:
  *.md                        the text, without code blocks, `code spans`, "quoted text" and link targets
  *.h, *.cc, *.py             comments, docstrings, and string literals of more than one word
  *.sh, scripts without       all lines
  a suffix

Identifiers (picture_folder, begin(), --no-pictures), paths and URLs are never findings.

How to fix a finding: use the replacement, or rewrite the sentence. If the phrase is the name of something, or text that
a program prints, write it as a code span or in quotes.
"""

import argparse
import bisect
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]

# Text that is generated from files that are checked themselves, and the files that list the phrases.
SKIPPED = ("bench/results/", "docs/reference/", "tools/check_prose.py", "tests/tools/check_prose_test.py")

# Code that is being rewritten: --all does not check it, but added lines are checked. Remove a path here when its text is
# finished; add none.
UNFINISHED = ()

# (shown in --help, regular expression, replacement). A space matches any white space, a line break and the markers of
# a comment included. Matches are whole words, in any case.
PHRASES = [
    ("data set", r"data sets?", "dataset"),
    ("picture", r"pictures?", "image"),
    ("colour", r"colou(?:r|rs|red|ring|rful)", "color"),
    ("normalise", r"(?:de)?normalis(?:e|es|ed|er|ing|ation)", "normalize"),
    ("behind", r"behind", "after, or downstream of"),
    ("is wanted", r"wanted", 'required; in an error, "expected …, got …"'),
    ("unless told", r"unless told(?: otherwise)?", "by default"),
    ("tells, is told", r"tells|(?:is|are|was|were|be|been|being) told", "reports, logs, warns, or raises"),
    ("says", r"says|said", "reports, logs, warns, or raises"),
    ("words", r"words", "message, or text"),
    ("begin (noun)", r"(?:the|its|their|each|every|a|this|that) begin", "start, or prefix"),
    ("way (of data)", r"(?:on|along) (?:the|its|their|that|this) way|\w+'s way|way (?:from|through|into|down|up|back)",
     "path"),
    ("room", r"rooms?", "module, or space"),
    ("makes … ahead", r"(?:make|makes|made|making)(?: (?:\w+ ){0,2}\w+)?? ahead", "prefetches"),
    ("leaves out", r"(?:leave|leaves|left|leaving)(?: (?:it|them|this|that))? out", "skips, or omits"),
    ("lets go", r"(?:let|lets|letting)(?: (?:it|them|this|that))? go", "releases"),
    ("takes back", r"(?:take|takes|took|taken|taking)(?: (?:it|them|this|that))? back", "cancels"),
    ("mend", r"mend(?:s|ed|ing)?", "fix"),
    ("who", r"who|whoever|whom", "the caller, the worker, another thread"),
    ("somebody", r"somebody|anybody|everybody", "the caller, the worker, another thread"),
    ("nobody", r"nobody", "no thread, no caller"),
    ("he", r"he|him|his|himself", "the caller, the worker, it"),
    ("beside, besides", r"besides?", "next to, or in addition"),
    ("as well as", r"as well as", "and"),
    ("the standard", r"the standard(?=[.,;:)]| is | here )", "the default"),
    ("not there yet", r"not there yet", "not implemented"),
    ("for ever", r"for ever", "indefinitely"),
    ("once in a while", r"once in a while", "rarely"),
]

# Uses that are right.
ALLOWED = [
    r"(?:fall|falls|lag|lags|leave|leaves|left) (?:nothing )?behind",
    r"in other words|\d+-bit words|machine words|whole words",
    r"(?:people|users|anyone|everyone|those|developers|readers|teams|contributors) who",
    r"He (?:initiali[sz]ation|et al)",
    r"(?:works|performs|does) as well as",
]


def pattern_of(phrase):
    """Compile a phrase: whole words, not part of an identifier, a path or an option."""
    before, after = r"(?<![\w./:$={\[<@#\\-])", r"(?![\w(=\[]|/\w|::|\.\w)"
    return re.compile(f"{before}(?:{phrase.replace(' ', chr(92) + 's+')}){after}", re.IGNORECASE)


PATTERNS = [(pattern_of(phrase), replacement) for _, phrase, replacement in PHRASES]
ALLOWED_PATTERN = pattern_of("|".join(ALLOWED))
URL = re.compile(r"\b(?:https?|file)://\S+")
CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(?:(?!\n\s*\n).)+?(?<!`)\1(?!`)", re.DOTALL)
QUOTED = re.compile(r'"[^"\n]*"|“[^”\n]*”')
QUOTED_NAME = re.compile(r"(?<!\w)(['\"])[\w.-]+\1")
FENCED = re.compile(r"^[ >]*(```+|~~~+).*?(?:^[ >]*\1|\Z)", re.DOTALL | re.MULTILINE)
LINK_TARGET = re.compile(r"(?<=\])\([^)\s]*\)")
CPP = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)"""
    r"""|R"(?P<mark>\w*)\((?P<raw>.*?)\)(?P=mark)\""""
    r"""|"(?P<text>(?:\\.|[^"\\\n])*)\""""
    r"""|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])*'""",
    re.DOTALL)
PYTHON = re.compile(
    r"""(?P<comment>\#[^\n]*)"""
    r'''|(?P<quotes>"""|\'\'\')(?P<raw>.*?)(?P=quotes)'''
    r"""|"(?P<text>(?:\\.|[^"\\\n])*)"|'(?P<other>(?:\\.|[^'\\\n])*)'""",
    re.DOTALL)


def blank(text):
    """Return spaces in place of the text, with its line breaks."""
    return re.sub(r"[^\n]", " ", text)


def without(text, *patterns):
    """Return the text with what matches the patterns replaced by a character that joins no phrase."""
    for pattern in patterns:
        text = pattern.sub(lambda match: re.sub(r"[^\n]", "\0", match[0]), text)
    return text


def comment_text(text):
    """Return a comment or docstring with spaces in place of its markers, and without its code and quotes."""
    text = re.sub(r"(?m)^\s*(?://+|/?\*+|#+)", lambda match: " " * len(match[0]), text)
    text = re.sub(r"(?m)^\s*(?:>>>|\.\.\.)[^\n]*", lambda match: blank(match[0]), text)
    return without(text, CODE_SPAN, QUOTED)


def literal_text(text):
    """Return the text of a string literal; a literal of one word is a name and returns blanks."""
    return without(text, CODE_SPAN, re.compile(r"\{[^{}]*\}|\\.")) if re.search(r"\S\s+\S", text) else blank(text)


READERS = {"comment": comment_text, "raw": comment_text, "text": literal_text, "other": literal_text}


def source_prose(text, tokens):
    """Return comments and literals of a source at their places, and spaces for the rest."""
    pieces, end = [], 0
    for match in tokens.finditer(text):
        groups = match.groupdict()
        kept = blank(match[0])
        for name, read in READERS.items():
            if groups.get(name):
                begin, stop = match.start(name) - match.start(), match.end(name) - match.start()
                kept = blank(match[0][:begin]) + read(groups[name]) + blank(match[0][stop:])
        # Code between two tokens separates them, so that no phrase spans it; white space does not.
        between = text[end:match.start()]
        pieces += [re.sub(r"\S", "\0", between), kept]
        end = match.end()
    return "".join([*pieces, re.sub(r"\S", "\0", text[end:])])


def prose_of(path, text):
    """Return the prose of a file, every character at its place; None if the file has none to check."""
    suffix = pathlib.PurePath(path).suffix
    if suffix == ".md":
        prose = without(text, FENCED, CODE_SPAN, LINK_TARGET, QUOTED)
    elif suffix in (".h", ".cc"):
        prose = source_prose(text, CPP)
    elif suffix == ".py" or suffix == "" and re.match(r"#!.*python", text):
        prose = source_prose(text, PYTHON)
    elif suffix == ".sh" or suffix == "" and re.match(r"#!.*\b(?:ba)?sh\b", text):
        prose = re.sub(r"(?m)^\s*#+", lambda match: " " * len(match[0]), text)
    else:
        return None
    return without(prose, URL, QUOTED_NAME, ALLOWED_PATTERN)


def findings(path, text, lines=None):
    """Yield (line, phrase, replacement) for each phrase in a file, or only for those that touch one of `lines`."""
    prose = prose_of(path, text)
    if prose is None:
        return
    starts = [0] + [match.end() for match in re.finditer("\n", text)]
    found = {}
    for pattern, replacement in PATTERNS:
        for match in pattern.finditer(prose):
            first, last = bisect.bisect(starts, match.start()), bisect.bisect(starts, match.end() - 1)
            if lines is None or any(line in lines for line in range(first, last + 1)):
                found.setdefault((first, match.start()), (" ".join(match[0].split()), replacement))
    for (line, _), (phrase, replacement) in sorted(found.items()):
        yield line, phrase, replacement


class GitError(Exception):
    pass


def git(root, *arguments):
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        raise GitError(done.stderr.strip() or f"git {arguments[0]} failed")
    return done.stdout


def added_lines(root, base):
    """Return {path: set of line numbers} of the lines that are in the working tree and not in `base`."""
    added, path, changed = {}, None, 0
    diff = git(root, "-c", "core.quotePath=off", "diff", "--unified=0", "--no-color", "--no-ext-diff", "--no-prefix",
               "--relative", "--diff-filter=d", base, "--")
    for line in diff.split("\n"):
        if changed > 0:  # the text of a hunk, which may look like a header
            changed -= not line.startswith("\\")  # "\ No newline at end of file" is not counted
        elif line.startswith("+++ "):
            path = line[4:].split("\t")[0]
        elif match := re.match(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", line):
            removed, first, count = int(match[1] or 1), int(match[2]), int(match[3] or 1)
            changed = removed + count
            added.setdefault(path, set()).update(range(first, first + count))
    for name in git(root, "ls-files", "--others", "--exclude-standard", "-z").split("\0"):
        if name:
            added[name] = None
    return added


def all_files(root):
    names = git(root, "ls-files", "--cached", "--others", "--exclude-standard", "-z").split("\0")
    return {name: None for name in names if name}


def merge_base(root):
    try:
        return git(root, "merge-base", "HEAD", "origin/main").strip()
    except GitError:
        return None


def check(root, files, below):
    """Return the findings in {path: lines or None} as text, and how many files were read."""
    found, count = [], 0
    for name in sorted(files):
        if name.startswith(SKIPPED) or files[name] is None and not below and name.startswith(UNFINISHED):
            continue
        if below and not any(name == path or name.startswith(path + "/") for path in below):
            continue
        try:
            text = (root / name).read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError):
            continue  # deleted, a link to a folder, or not text
        if prose_of(name, text) is None:
            continue
        count += 1
        for line, phrase, replacement in findings(name, text, files[name]):
            found.append(f"{name}:{line}: '{phrase}': write {replacement}")
    return found, count


def parse(arguments):
    shown = dict.fromkeys((phrase, replacement) for phrase, _, replacement in PHRASES)
    table = "\n".join(f"  {phrase:18} {replacement}" for phrase, replacement in shown)
    parser = argparse.ArgumentParser(
        prog="check_prose.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f"phrases and their replacements:\n{table}")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--base", metavar="REV", help="check the lines added since this revision")
    which.add_argument("--all", action="store_true", help="check every line of the tree")
    parser.add_argument("paths", nargs="*", metavar="PATH", help="check only these files and folders")
    return parser.parse_args(arguments)


def main(arguments, root=ROOT):
    given = parse(arguments)
    try:
        base = None if given.all else given.base or merge_base(root)
        if base is None and not given.all:
            print("check_prose: no merge base with origin/main; checking the whole tree", file=sys.stderr)
        files = all_files(root) if base is None else added_lines(root, base)
    except (GitError, OSError) as error:
        print(f"check_prose: {error}", file=sys.stderr)
        return 2
    found, count = check(root, files, [path.rstrip("/") for path in given.paths])
    for line in found:
        print(line)
    print(f"{count} files, {len(found)} phrases to replace", file=sys.stderr if found else sys.stdout)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
