"""Every public name has a docstring with an example, and all examples have the results that they show."""

import doctest
import importlib
import inspect
import pkgutil
import tempfile
import unittest
import unittest.mock

import numpy as np
import stoker as sk

MODULES = (sk, sk.data, sk.image, sk.io, sk.random)
NAMES = {"sk": sk, "np": np}  # imported in all examples


def public(owner):
    return [(name, value) for name, value in inspect.getmembers(owner) if not name.startswith("_")]


def documented():
    """Return (name, object) of the functions, classes, methods and properties that users call."""
    found = []
    for module in MODULES:
        for name, value in public(module):
            if not str(getattr(value, "__module__", "")).startswith("stoker"):
                continue
            if inspect.isfunction(value):
                found.append((f"{module.__name__}.{name}", value))
            elif inspect.isclass(value) and not issubclass(value, Exception):
                found.append((f"{module.__name__}.{name}", value))
                found += [(f"{module.__name__}.{name}.{part}", one) for part, one in vars(value).items()
                          if not part.startswith("_") and (inspect.isroutine(one) or isinstance(one, property))]
    return found


class Docstrings(unittest.TestCase):
    def test_every_public_name_has_one_with_an_example(self):
        self.assertEqual([name for name, value in documented() if ">>>" not in (inspect.getdoc(value) or "")], [])

    def test_every_error_has_one(self):
        for name, value in public(sk.errors):
            self.assertTrue(vars(value).get("__doc__"), name)

    def test_stages_without_a_method_describe_their_parameters(self):
        self.assertIn("filenames: ", sk.Dataset.idx.__doc__)

    def use_a_folder_for_files(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        patch = unittest.mock.patch("tempfile.tempdir", folder.name)
        patch.start()
        self.addCleanup(patch.stop)

    def test_examples_have_the_results_that_they_show(self):
        names = [module.name for module in pkgutil.iter_modules(sk.__path__) if module.name not in ("_core", "_torch")]
        self.use_a_folder_for_files()
        for module in (sk, *(importlib.import_module(f"stoker.{name}") for name in names)):
            with self.subTest(module.__name__):
                self.assertEqual(doctest.testmod(module, extraglobs=NAMES).failed, 0)


if __name__ == "__main__":
    unittest.main()
