"""Shared by the tests of the command: run it, and build graphs."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
STOKER = os.environ.get("STOKER", str(ROOT / "build/release/bin/stoker"))

FINE, BAD_DATA, WRONG_USE = 0, 1, 2


class Result:
    def __init__(self, done):
        self.status = done.returncode
        self.text = done.stdout.decode()
        self.errors = done.stderr.decode(errors="replace")

    @property
    def lines(self):
        return self.text.splitlines()

    @property
    def elements(self):
        return [json.loads(line) for line in self.lines]


def stoker(*arguments, stdin=b"", cwd=None, env=None, timeout=300):
    """Run the command and return its Result. The test fails if the command hangs or a signal ends it."""
    done = subprocess.run(
        [STOKER, *map(str, arguments)],
        input=stdin if isinstance(stdin, bytes) else stdin.encode(),
        capture_output=True,
        cwd=cwd,
        env={**os.environ, **(env or {})},
        timeout=timeout,
    )
    result = Result(done)
    if done.returncode < 0:
        raise AssertionError(f"stoker {arguments} was ended by signal {-done.returncode}: {result.errors}")
    return result


def graph(*stages):
    return json.dumps({"stoker": 1, "stages": list(stages)})


def numbers(n, **more):
    return {"stage": "range", "stop": n, **more}


def function(value, *args):
    return {"args": list(args or ["x"]), "value": value}


def op(name, *inputs, **parameters):
    return {"op": name, "in": list(inputs), **parameters}


def mapped(value, *args):
    return {"stage": "map", "map_func": function(value, *args)}


def filtered(value, *args):
    return {"stage": "filter", "predicate": function(value, *args)}


def batch(n, **more):
    return {"stage": "batch", "batch_size": n, **more}


# Fails for 0, 7, 14, …
DIVIDE_BY_MOD_7 = mapped(op("floor_divide", 100, op("mod", "x", 7)))
ODD = filtered(op("equal", op("mod", "x", 2), 1))


class TestCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def run_graph(self, *stages, arguments=()):
        return stoker("run", "-", *arguments, stdin=graph(*stages), cwd=self.folder)

    def elements_of(self, *stages, arguments=()):
        result = self.run_graph(*stages, arguments=arguments)
        self.assertEqual((result.status, result.errors), (FINE, ""))
        return result.elements

    def assert_refused(self, result, *words, status=WRONG_USE):
        """Assert the exit code, an empty standard output, and an error message that contains all of `words`."""
        self.assertEqual(result.status, status, result.errors)
        self.assertEqual(result.text, "")
        self.assertTrue(result.errors.startswith("stoker: "), result.errors)
        for word in words:
            self.assertIn(word, result.errors)
