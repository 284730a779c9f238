#!/usr/bin/env python3
"""Write docs/reference from the output of `stoker stages --json`.

  tools/make_reference.py           writes stages.md and ops.md
  tools/make_reference.py --check   writes nothing; the exit code is 1 if a page is out of date

The command is build/release/bin/stoker, or $STOKER.
"""

import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]

HEAD = "<!-- Written by tools/make_reference.py from `stoker stages --json`: change the struct, not this page. -->\n"

STAGES = """# Stages

A stage is written as `{"stage": NAME, parameters…}` in a [graph file](../formats/graph.md) and as
`.NAME({.parameter = …})` in C++. Types are those of the graph file: a *graph* is a list of stages, a *function* is
`{"args": […], "value": E}`, and an *element* is the value of a source. Parameters with a default may be omitted.

"""

OPS = """# Operations

An operation is used inside the function of a `map` or `filter`. It is written as
`{"op": NAME, "in": [E…], parameters…}` in a [graph file](../formats/graph.md), and as a function or an operator on
`Value` in C++. Shapes broadcast and types promote as in NumPy 2.

"""


def parameter_table(parameters):
    if not parameters:
        return "No parameters.\n"
    rows = ["| parameter | type | default | |", "| --- | --- | --- | --- |"]
    for parameter in parameters:
        default = "*required*" if parameter["required"] else f"`{json.dumps(parameter['default'])}`"
        doc = parameter["doc"].replace("|", "\\|")
        rows.append(f"| `{parameter['name']}` | {parameter['type']} | {default} | {doc} |")
    return "\n".join(rows) + "\n"


def section(entry, remark=""):
    return f"### {entry['name']}\n\n{entry['doc']}{remark}\n\n{parameter_table(entry['parameters'])}\n"


def stages_page(table):
    text = HEAD + STAGES
    for kind, title in (("source", "Sources"), ("transform", "Transforms")):
        entries = [stage for stage in table["stages"] if stage["kind"] == kind]
        text += f"## {title}\n\n" + "".join(section(stage, f" *Form: {stage['form']}.*") for stage in entries)
    return text.rstrip("\n") + "\n"


def inputs_words(inputs):
    return "any number of inputs" if inputs is None else "1 input" if inputs == 1 else f"{inputs} inputs"


def ops_page(table):
    text = HEAD + OPS
    for operation in table["operations"]:
        random = ", draws random numbers" if operation["random"] else ""
        text += section(operation, f" *Takes {inputs_words(operation['inputs'])}{random}.*")
    return text.rstrip("\n") + "\n"


def pages(table):
    return {"docs/reference/stages.md": stages_page(table), "docs/reference/ops.md": ops_page(table)}


def table_of(command):
    done = subprocess.run([command, "stages", "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main(arguments, root=ROOT):
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    command = os.environ.get("STOKER", str(ROOT / "build/release/bin/stoker"))
    try:
        table = table_of(command)
    except (OSError, subprocess.CalledProcessError) as problem:
        print(f"make_reference: cannot run {command}: {problem}", file=sys.stderr)
        return 2
    stale = []
    for name, text in pages(table).items():
        path = root / name
        if arguments == ["--check"]:
            if not path.is_file() or path.read_text() != text:
                stale.append(name)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name in stale:
        print(f"{name} is out of date; run tools/make_reference.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
