#!/usr/bin/env python3
"""Check that ARCHITECTURE.md and docs/design describe the tree as it is.

  * Every path in a code span or a link exists: from the root, from the folder of the
    page, from src/, or from src/stoker/ (`graph/op.h`).
  * Every symbol in a code span occurs in the sources: CamelCase names, kConstants,
    names with an underscore, and names before a parenthesis.
  * The table of modules has one row per folder of src/stoker, and the symbols in the
    second column of a row occur in that folder.
  * Only src/stoker/runtime creates threads.

Code blocks are not checked. Prints file:line and the reason for each finding; the exit
code is 1 if there are any.
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import check_layers  # noqa: E402

THREADS = re.compile(r"\bstd::(?:thread\b(?!::)|jthread\b(?!::)|async\b)|\bpthread_create\b")
MAY_CREATE_THREADS = "runtime"
SOURCES = ("src", "cli", "python", "tests", "bench", "tools", "cmake", "examples")
SUFFIXES = {".h", ".cc", ".def", ".in", ".py", ".pyi", ".cmake", ".sh", ""}

SPAN = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)]*)?\)")
FENCE = re.compile(r"^[ >]*```")
PATH = re.compile(r"^[\w.*-]*[A-Za-z][\w.*-]*(?:/[\w.*-]+)*/?$")
FILE_SUFFIX = re.compile(r"\.(?:h|cc|py|md|def|sh|cmake|txt|in)$")
NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?=(\(|::)?)")
CAMEL = re.compile(r"^(?:k[A-Z]\w*|[A-Z]+[a-z0-9]\w*[A-Z]\w*|[A-Z][a-z]+\w*)$")
COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)

# Names of other projects and of the language.
FOREIGN = set("ImageNet NumPy PyTorch TensorFlow Pillow DLPack TFRecord DataLoss InvalidArgument FailedPrecondition "
              "Unimplemented NotFound OutOfRange Cancelled".split())


def spans(text):
    """Yield (line, text, is_link) for each code span and link outside code blocks."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            for match in SPAN.finditer(line):
                yield number, match[1], False
            for match in LINK.finditer(SPAN.sub("", line)):
                yield number, match[1], True


def exists(root, page, path):
    """Whether a path or pattern exists relative to one of the folders that the pages use."""
    bases = [root, page.parent, root / "src", root / "src/stoker"]
    if "/" not in path.rstrip("/"):
        bases += [root / "src/stoker/api", root / "cmake"]  # stages.def, ops.def, templates
    for base in bases:
        if "*" in path:
            if any(base.glob(path)):
                return True
        elif (base / path).exists() and (not path.endswith("/") or (base / path).is_dir()):
            return True
    return False


def is_path(span):
    if not PATH.match(span) or span.startswith("."):
        return False
    return bool(FILE_SUFFIX.search(span)) or span.endswith("/") or "/" in span


def symbols(span):
    """Yield the names of a code span that have to exist in the sources."""
    for match in NAME.finditer(span):
        name, mark = match[0], match[1]
        if name in FOREIGN:
            continue
        if CAMEL.match(name) or "_" in name.strip("_") or mark == "(":
            yield name


def words_below(root, folders):
    """Return every identifier in the sources below the folders."""
    words = set()
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file() and "__pycache__" not in path.parts:
                try:
                    words.update(re.findall(r"[A-Za-z_]\w*", path.read_text(encoding="utf-8")))
                except UnicodeDecodeError:
                    continue
    return words


def check_page(root, page, words):
    """Yield (line, reason) for the paths and symbols of one page that do not exist."""
    for line, span, is_link in spans(page.read_text(encoding="utf-8")):
        if is_link:
            if "://" not in span and not exists(root, page, span):
                yield line, f"the link {span} leads nowhere"
            continue
        first = span.split()[0]
        if is_path(first):
            if not exists(root, page, first):
                yield line, f"the path {first} does not exist"
            continue
        for name in symbols(span):
            if name not in words:
                yield line, f"the symbol {name} of `{span}` occurs nowhere in the sources"


def check_modules(root, text):
    """Yield (line, reason) for rows of the table that do not match the folders of src/stoker."""
    rows = check_layers.read_table(text)
    folders = {path.name for path in (root / "src/stoker").iterdir() if path.is_dir()}
    for module in sorted(folders - set(rows)):
        yield 1, f"src/stoker/{module} has no row in the table of modules"
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r"\| `(\w+)/` \|([^|]*)\|", line)
        if not match or match[1] not in rows:
            continue
        if match[1] not in folders:
            yield number, f"the table has a row for src/stoker/{match[1]}, which does not exist"
            continue
        words = words_below(root, [f"src/stoker/{match[1]}"])
        for span in SPAN.findall(match[2]):
            for name in re.findall(r"[A-Za-z_]\w*", span):
                if name not in words and name != "map":
                    yield number, f"the row of {match[1]}/ names {name}, which does not occur there"


def check_threads(root):
    """Yield (path, line, reason) for each place outside the runtime that creates a thread."""
    base = root / "src/stoker"
    for path in sorted(base.rglob("*")):
        if path.suffix not in (".h", ".cc") or path.relative_to(base).parts[0] == MAY_CREATE_THREADS:
            continue
        code = COMMENTS.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), path.read_text(encoding="utf-8"))
        for number, line in enumerate(code.splitlines(), 1):
            if match := THREADS.search(line):
                yield path, number, f"{match[0]}: only {MAY_CREATE_THREADS}/ creates threads; use run_on_threads()"


def check_tree(root):
    """Return the findings as lines to print."""
    found = []
    architecture = root / "ARCHITECTURE.md"
    words = words_below(root, [folder for folder in SOURCES if (root / folder).is_dir()])
    for page in [architecture, *sorted((root / "docs/design").glob("*.md"))]:
        for line, reason in check_page(root, page, words):
            found.append(f"{page.relative_to(root).as_posix()}:{line}: {reason}")
    for line, reason in check_modules(root, architecture.read_text(encoding="utf-8")):
        found.append(f"ARCHITECTURE.md:{line}: {reason}")
    for path, line, reason in check_threads(root):
        found.append(f"{path.relative_to(root).as_posix()}:{line}: {reason}")
    return found


def main(arguments):
    if len(arguments) > 1:
        print("usage: check_architecture.py [ROOT]", file=sys.stderr)
        return 2
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
    try:
        found = check_tree(root)
    except (check_layers.LayoutError, OSError, UnicodeDecodeError) as error:
        print(f"check_architecture: {error}", file=sys.stderr)
        return 2
    for line in found:
        print(line)
    print(f"{len(found)} statements that are not true", file=sys.stderr if found else sys.stdout)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
