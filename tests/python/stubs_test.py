"""The stubs have the names and parameters of the package, and the code of the pages passes a type checker."""

import ast
import functools
import importlib
import importlib.util
import inspect
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest

import stoker as sk
from stoker import _core

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = pathlib.Path(sk.__file__).parent
MODULES = ("stoker", "stoker.data", "stoker.errors", "stoker.image", "stoker.io", "stoker.random")


def stub_of(module):
    """Return the syntax tree of a module's stub."""
    name = "__init__" if module == "stoker" else module.removeprefix("stoker.")
    return ast.parse((PACKAGE / f"{name}.pyi").read_text())


@functools.lru_cache(maxsize=None)
def shown(module):
    """Return {name: node} of a stub. Names that it imports from another stub have the nodes of that stub."""
    names = {}
    for node in stub_of(module).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names[node.name] = node
        elif isinstance(node, ast.AnnAssign):
            names[node.target.id] = node
        elif isinstance(node, ast.Assign):
            names[node.targets[0].id] = node
        elif isinstance(node, ast.ImportFrom) and node.level:
            for alias in node.names:
                if alias.asname and not alias.name.startswith("_"):
                    names[alias.asname] = shown(f"stoker.{node.module}")[alias.name] if node.module else node
    return {name: node for name, node in names.items() if not name.startswith("_")}


def there(module):
    """Return the public names of the package, or those that a module defines."""
    names = vars(importlib.import_module(module))
    public = {name: value for name, value in names.items() if not name.startswith("_") and not inspect.ismodule(value)}
    if module == "stoker":
        return public
    return {name: value for name, value in public.items() if getattr(value, "__module__", None) == module}


def parameters(function):
    """Return [(name, kind, whether it has a default)…] of a stub's function."""
    spec = function.args
    made = [(a.arg, "by name" if a in spec.kwonlyargs else "by place", d is not None) for a, d in [
        *zip(spec.args, [None] * (len(spec.args) - len(spec.defaults)) + spec.defaults),
        *zip(spec.kwonlyargs, spec.kw_defaults)]]
    if spec.vararg:
        made.append((spec.vararg.arg, "all", False))
    return sorted(p for p in made if p[0] not in ("self", "cls"))


def real_parameters(function):
    kinds = {inspect.Parameter.KEYWORD_ONLY: "by name", inspect.Parameter.VAR_POSITIONAL: "all"}
    return sorted((p.name, kinds.get(p.kind, "by place"), p.default is not p.empty)
                  for p in inspect.signature(function).parameters.values() if p.name not in ("self", "cls"))


class SameNames(unittest.TestCase):
    def test_in_every_module(self):
        for module in MODULES:
            real = vars(importlib.import_module(module))
            with self.subTest(module):
                self.assertEqual([name for name in shown(module) if name not in real], [])
                self.assertEqual([name for name in there(module) if name not in shown(module)], [])

    def test_in_dir_without_what_a_module_imports_for_itself(self):
        for module in MODULES:
            listed = [name for name in dir(importlib.import_module(module)) if not name.startswith("_")]
            with self.subTest(module):
                self.assertEqual(listed, sorted(shown(module)))

    def test_in_pickles_without_the_modules_that_define_them(self):
        for module in (sk.image, sk.io):
            for name in module.__all__:
                with self.subTest(f"{module.__name__}.{name}"):
                    value = getattr(module, name)
                    self.assertIn(value.__module__, MODULES)
                    self.assertIs(pickle.loads(pickle.dumps(value)), value)

    def test_in_the_package_and_its_marker(self):
        self.assertTrue((PACKAGE / "py.typed").is_file())

    def test_in_datasets(self):
        stub = {part.name for part in shown("stoker")["Dataset"].body if not part.name.startswith("_")}
        real = {name for name in [*dir(sk.Dataset), *dir(sk.Dataset.range(1))] if not name.startswith("_")}
        self.assertEqual(stub, real)

    def test_of_operations(self):
        written = [node for node in stub_of("stoker._values").body if isinstance(node, ast.FunctionDef) and node.name == "op"]
        stub = {node.args.args[0].annotation.slice.value if node.args.args else
                node.args.posonlyargs[0].annotation.slice.value: {a.arg for a in node.args.kwonlyargs} for node in written}
        real = {name: {param["name"] for param in op["params"]} for name, op in _core.ops().items()}
        self.assertEqual(stub, real)


class SameParameters(unittest.TestCase):
    def check(self, words, node, real):
        with self.subTest(words):
            self.assertEqual(parameters(node), real_parameters(real))

    def test_of_functions(self):
        for module in MODULES:
            real = importlib.import_module(module)
            for name, node in shown(module).items():
                if isinstance(node, ast.FunctionDef) and name != "op":
                    self.check(f"{module}.{name}", node, getattr(real, name))

    def test_of_methods(self):
        numbers = sk.Dataset.range(1)
        for module in MODULES:
            for name, node in shown(module).items():
                if not isinstance(node, ast.ClassDef):
                    continue
                owner = getattr(importlib.import_module(module), name)
                for part in node.body:
                    if isinstance(part, ast.FunctionDef) and not part.name.startswith("_") and not is_property(part):
                        real = getattr(owner, part.name, None) or getattr(numbers, part.name)
                        self.check(f"{module}.{name}.{part.name}", part, real)


def is_property(function):
    return any(getattr(decorator, "id", "") == "property" for decorator in function.decorator_list)


def python_in(page):
    return [textwrap.dedent(block) for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)]


@unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is not installed")
class Checked(unittest.TestCase):
    """Names that a page does not define (`files`, `train`), and frameworks without types, are not reported."""

    def complaints(self, **sources):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in sources.items():
                pathlib.Path(folder, f"{name}.py").write_text(text)
            left_to_the_reader = [f"--disable-error-code={code}" for code in (
                "name-defined", "has-type", "used-before-def", "import-untyped", "import-not-found")]
            done = subprocess.run([sys.executable, "-m", "mypy", "--check-untyped-defs", "--no-error-summary",
                                   *left_to_the_reader, "--cache-dir", f"{folder}/cache", "."], cwd=folder,
                                  capture_output=True, text=True)
        return [line for line in (done.stdout + done.stderr).splitlines() if ": note: " not in line]

    def test_the_code_of_the_pages_passes(self):
        pages = [ROOT / "README.md", *sorted((ROOT / "docs/guide").glob("*.md"))]
        sources = {f"{page.stem}_{i}": "import stoker as sk\n" + text for page in pages for i, text in enumerate(python_in(page))}
        self.assertGreater(len(sources), 10)
        self.assertEqual(self.complaints(**sources), [])

    def test_mistakes_are_found(self):
        mistakes = ["sk.image.resiz(x, (2, 2))", "ds.bach(3)", "ds.batch(size=3)", "ds.batch('3')", "sk.op('cats', x)",
                    "sk.op('cast', x, dtpye='int32')", "sk.Dataset.text_lines(files=['a'])", "ds.shuffle(seed='7')",
                    "sk.data.TFRecordDataset(3)", "ds.map(3)", "for x in ds.cardinality(): pass"]
        body = "import stoker as sk\nimport numpy as np\nds = sk.Dataset.range(3)\nx = np.zeros((4, 4, 3))\n"
        found = {int(line.split(":")[1]) for line in self.complaints(wrong=body + "\n".join(mistakes) + "\n")}
        self.assertEqual(found, set(range(5, 5 + len(mistakes))))


if __name__ == "__main__":
    unittest.main()
