#!/usr/bin/env python3
"""Check the includes of src/stoker against the table of modules in ARCHITECTURE.md.

A module may include itself and the modules in its row. The path in every
#include "..." is relative to src/. A header includes only the standard library,
system headers and Stoker's headers, never third-party headers. Prints file:line
and the reason for each wrong include; the exit code is 1 if there are any.
"""

import pathlib
import re
import sys

# Headers above the modules may include any module, and the third-party headers that start with the prefixes listed.
ABOVE = {"stoker.h": (), "torch.h": ("torch/", "ATen/", "c10/")}

STANDARD = set(
    """
    algorithm any array atomic barrier bit bitset cassert ccomplex cctype cerrno cfenv cfloat charconv chrono cinttypes
    climits clocale cmath codecvt compare complex concepts condition_variable coroutine csetjmp csignal cstdarg cstddef
    cstdint cstdio cstdlib cstring ctime cuchar cwchar cwctype deque exception execution filesystem format forward_list
    fstream functional future initializer_list iomanip ios iosfwd iostream istream iterator latch limits list locale map
    memory memory_resource mutex new numbers numeric optional ostream queue random ranges ratio regex scoped_allocator
    semaphore set shared_mutex source_location span sstream stack stdexcept stop_token streambuf string string_view
    strstream syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility
    valarray variant vector version
    """.split()
)
SYSTEM = re.compile(
    r"^(sys|linux|asm|bits|net|netinet|arpa)/|"
    r"^(assert|cpuid|cxxabi|dirent|dlfcn|endian|errno|execinfo|fcntl|fnmatch|glob|grp|immintrin|inttypes|limits|"
    r"malloc|math|netdb|poll|pthread|pwd|regex|sched|semaphore|signal|stddef|stdint|stdio|stdlib|string|strings|"
    r"syslog|termios|time|ucontext|unistd|utime|wchar|x86intrin)\.h$"
)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


class LayoutError(Exception):
    pass


def read_table(text):
    """Return {module: modules it may include} from the table `| module | what belongs | may include |`."""
    rows, inside = {}, False
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if cells == ["module", "what belongs", "may include"]:
            inside = True
        elif not inside or set(line) <= set("| -:"):
            inside = inside and line.startswith("|")
        elif line.startswith("|") and len(cells) == 3:
            rows[cells[0].strip("`/ ")] = cells[2].replace("`", "")
        else:
            inside = False
    if not rows:
        raise LayoutError("no table 'module | what belongs | may include'")

    allowed = {}
    for room, words in rows.items():
        if words == "the standard library":
            allowed[room] = set()
        elif match := re.fullmatch(r"every module(?: but (.+))?", words):
            allowed[room] = set(rows) - set(re.split(r",\s*", match[1] or ""))
        else:
            allowed[room] = set(re.split(r",\s*", words))
        if unknown := allowed[room] - set(rows):
            raise LayoutError(f"module '{room}' may include '{min(unknown)}', which is not a module")
        allowed[room].add(room)
    return allowed


def check_file(path, text, allowed):
    """Yield (line, reason) for each wrong include of one file. `path` is relative to src/stoker."""
    parts = path.split("/")
    room = parts[0] if len(parts) > 1 else None
    if room is None and path not in ABOVE:
        yield 1, f"only {' and '.join(ABOVE)} are outside the modules; move this file into a module"
        return
    if room is not None and room not in allowed:
        yield 1, f"ARCHITECTURE.md has no module '{room}'; add a row to its table"
        return
    header = path.endswith(".h")
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quoted, name = match[1] == '"', match[2]
        if name.startswith("stoker/"):
            if not quoted:
                yield number, f'write "{name}" in quotes: it is a Stoker header'
            target = name.split("/")[1]
            if room is None:
                continue
            if target in ABOVE:
                yield number, f"'{room}' may not include {name}, which is above the modules"
            elif target not in allowed:
                yield number, f"{name} is in no module"
            elif target not in allowed[room]:
                others = ", ".join(sorted(allowed[room] - {room})) or "only the standard library"
                yield number, f"'{room}' may not include '{target}' ({name}); it may include {others}"
        elif quoted:
            yield number, f'write the path relative to src/: "stoker/…/{name.split("/")[-1]}"'
        elif header and not (name in STANDARD or SYSTEM.match(name)):
            if room is not None or not name.startswith(ABOVE[path] or ("\0",)):
                yield number, f"a header may not include <{name}>: only standard, system and Stoker headers"


def check_tree(root):
    """Return the wrong includes below root/src/stoker as lines to print, and the number of files read."""
    allowed = read_table((root / "ARCHITECTURE.md").read_text(encoding="utf-8"))
    base, found, count = root / "src" / "stoker", [], 0
    for path in sorted(base.rglob("*")):
        if path.suffix not in (".h", ".cc", ".def"):
            continue
        count += 1
        text = path.read_text(encoding="utf-8")
        for line, reason in check_file(path.relative_to(base).as_posix(), text, allowed):
            found.append(f"{path.relative_to(root).as_posix()}:{line}: {reason}")
    return found, count


def main(arguments):
    if len(arguments) > 1:
        print("usage: check_layers.py [ROOT]", file=sys.stderr)
        return 2
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
    try:
        found, count = check_tree(root)
    except (LayoutError, OSError, UnicodeDecodeError) as error:
        print(f"check_layers: {error}", file=sys.stderr)
        return 2
    for line in found:
        print(line)
    print(f"{count} files, {len(found)} wrong includes", file=sys.stderr if found else sys.stdout)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
