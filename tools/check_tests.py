#!/usr/bin/env python3
"""Check the C++ tests: every test can fail by an assertion, and every header has a test.

  * The body of every TEST, TEST_F and TEST_P in tests/ contains an assertion (EXPECT_*,
    ASSERT_*, ADD_FAILURE, FAIL), or calls a function that does. The functions of the
    same file and of tests/support are known.
  * Every header src/stoker/<module>/<name>.h has tests/<module>/<name>_test.cc, or a row
    in tests/COVERED_BY.md that names the test that covers it. That test includes the
    header, directly or through what it includes.
  * Every row of tests/COVERED_BY.md names a header without a test of its own, and
    every test of a module has a header of the same name.

Prints file:line and the reason for each finding; the exit code is 1 if there are any.
"""

import pathlib
import re
import sys

ASSERTION = re.compile(r"\b(?:(?:EXPECT|ASSERT)_\w+|ADD_FAILURE(?:_AT)?|FAIL|GTEST_FAIL)\s*\(")
TEST = re.compile(r"^(?:TEST|TEST_F|TEST_P)\s*\(\s*(\w+)\s*,\s*(\w+)\s*\)\s*\{", re.MULTILINE)
FUNCTION = re.compile(r"\b([a-z]\w*)\s*\((?:[^;{}]|\{[^;{}]*\})*\)\s*(?:const\s*)?(?:noexcept\s*)?(?:->\s*[^;{}]+)?\{")
LAMBDA = re.compile(r"\b([a-z]\w*)\s*=\s*\[[^\]]*\]\s*(?:\((?:[^;{}]|\{[^;{}]*\})*\))?\s*(?:->\s*[^;{}]+)?\{")
LITERALS = re.compile(r"//[^\n]*|/\*.*?\*/|R\"(\w*)\(.*?\)\1\"|\"(?:\\.|[^\"\\\n])*\"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])*'",
                      re.DOTALL)
NOT_FUNCTIONS = {"if", "for", "while", "switch", "catch", "return", "sizeof", "decltype", "requires"}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
ROW = re.compile(r"^\| `([\w/]+\.h)` \| `([\w/]+_test\.(?:cc|py))`", re.MULTILINE)
TABLE = "tests/COVERED_BY.md"


def code_of(text):
    """Return the text with spaces in place of comments and literals."""
    return LITERALS.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def body_at(code, start):
    """Return the text of the block whose opening brace is at start - 1."""
    depth, end = 1, start
    while end < len(code) and depth > 0:
        depth += {"{": 1, "}": -1}.get(code[end], 0)
        end += 1
    return code[start:end]


def functions(code):
    """Yield (name, body) for the functions and named lambdas of a file."""
    for pattern in (FUNCTION, LAMBDA):
        for match in pattern.finditer(code):
            if match[1] not in NOT_FUNCTIONS:
                yield match[1], body_at(code, match.end())


def asserting(bodies):
    """Return the names of the functions that assert, directly or by a call, from [(name, body)]."""
    names = {name for name, body in bodies if ASSERTION.search(body)}
    while True:
        more = {name for name, body in bodies if name not in names and calls(body, names)}
        if not more:
            return names
        names |= more


def calls(body, names):
    return any(match[1] in names for match in re.finditer(r"\b([a-z]\w*)\s*(?:<[^<>;]*>)?\(", body))


def tests_without_assertion(text, support):
    """Yield (line, test) for the tests of a file that cannot fail by an assertion."""
    code = code_of(text)
    names = asserting([*support, *functions(code)])
    for match in TEST.finditer(code):
        body = body_at(code, match.end())
        if not ASSERTION.search(body) and not calls(body, names):
            yield code.count("\n", 0, match.start()) + 1, f"{match[1]}.{match[2]}"


def sources_of(root):
    """Return {header: its sources}: the source of the same name, and sources without a header that include it."""
    sources = {}
    for path in (root / "src/stoker").glob("*/*.cc"):
        headers = [path.with_suffix(".h")]
        if not headers[0].is_file():
            headers = [root / "src" / name for name in INCLUDE.findall(path.read_text(encoding="utf-8"))]
        for header in headers:
            sources.setdefault(header, []).append(path)
    return sources


def included_by(root, test, sources):
    """Return the Stoker headers that a test reaches: what it includes, and what the sources of these headers include."""
    seen, left = set(), [test]
    while left:
        path = left.pop()
        if path in seen or not path.is_file():
            continue
        seen.add(path)
        left += sources.get(path, [])
        for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
            left += [root / "src" / name, root / "tests" / name]
    base = root / "src/stoker"
    return {path.relative_to(base).as_posix() for path in seen if path.is_relative_to(base)}


def check_headers(root):
    """Yield (path, line, reason) for headers without a test, and rows and tests without a header."""
    text = (root / TABLE).read_text(encoding="utf-8")
    rows = {match[1]: (text.count("\n", 0, match.start()) + 1, match[2]) for match in ROW.finditer(text)}
    sources, reached = sources_of(root), {}
    headers = {path.relative_to(root / "src/stoker").as_posix() for path in (root / "src/stoker").glob("*/*.h")}
    for header in sorted(headers):
        own = f"tests/{header[:-2]}_test.cc"
        has_own = (root / own).is_file()
        if has_own and header in rows:
            yield TABLE, rows[header][0], f"{header} has a test of its own; remove the row"
        if not has_own and header not in rows:
            yield f"src/stoker/{header}", 1, f"add {own}, or a row to {TABLE} that names the test that covers it"
    for header, (line, test) in sorted(rows.items()):
        if header not in headers:
            yield TABLE, line, f"src/stoker/{header} does not exist"
        elif not (root / "tests" / test).is_file():
            yield TABLE, line, f"tests/{test} does not exist"
        elif test.endswith(".cc"):
            if test not in reached:
                reached[test] = included_by(root, root / "tests" / test, sources)
            if header in reached[test]:
                continue
            yield TABLE, line, f"tests/{test} does not include {header}, directly or through what it includes"
    for module in sorted({header.split("/")[0] for header in headers}):
        for test in sorted((root / "tests" / module).glob("*_test.cc")):
            if f"{module}/{test.name[:-len('_test.cc')]}.h" not in headers:
                yield f"tests/{module}/{test.name}", 1, f"src/stoker/{module} has no header of this name"


def check_tree(root):
    """Return the findings as lines to print, and the number of tests read."""
    found, count = [], 0
    support = []
    for path in sorted((root / "tests/support").glob("*")):
        if path.suffix in (".h", ".cc"):
            support += functions(code_of(path.read_text(encoding="utf-8")))
    for path in sorted((root / "tests").rglob("*_test.cc")):
        text = path.read_text(encoding="utf-8")
        count += len(TEST.findall(text))
        for line, test in tests_without_assertion(text, support):
            found.append(f"{path.relative_to(root).as_posix()}:{line}: {test} has no assertion: it can only fail by crashing")
    for path, line, reason in check_headers(root):
        found.append(f"{path}:{line}: {reason}")
    return found, count


def main(arguments):
    if len(arguments) > 1:
        print("usage: check_tests.py [ROOT]", file=sys.stderr)
        return 2
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
    try:
        found, count = check_tree(root)
    except (OSError, UnicodeDecodeError) as error:
        print(f"check_tests: {error}", file=sys.stderr)
        return 2
    for line in found:
        print(line)
    print(f"{count} tests, {len(found)} findings", file=sys.stderr if found else sys.stdout)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
