"""The command `stoker`, which the package installs next to the interpreter."""

import json
import os
import subprocess
import sysconfig
import unittest

import stoker as sk

COMMAND = os.path.join(sysconfig.get_path("scripts"), "stoker")


def stoker(*arguments):
    return subprocess.run([COMMAND, *arguments], check=True, capture_output=True, text=True).stdout


@unittest.skipUnless(os.path.realpath(sk.__file__).startswith(os.path.realpath(sysconfig.get_path("platlib"))),
                     "the package was not installed by pip")
class Command(unittest.TestCase):
    def test_it_is_installed_and_has_the_version_of_the_package(self):
        self.assertIn(sk.__version__, stoker("--version"))

    def test_it_has_the_stages_of_the_package(self):
        names = {stage["name"] for stage in json.loads(stoker("stages", "--json"))["stages"]}
        self.assertEqual(names, set(sk._core.stages()))


if __name__ == "__main__":
    unittest.main()
