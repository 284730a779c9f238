"""The twelve snippets of the documents that Stoker answers, each in a process of its own: TensorFlow can abort.

Those whose libraries are not installed are skipped; `./test --all` has them all.
"""

import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "snippets")
# What each snippet needs in addition to NumPy, and its arguments.
SNIPPETS = {
    "sequence_one_by_one": ("tensorflow PIL", []),
    "sequence_round_a_dataset_plain": ("tensorflow PIL", ["plain"]),
    "sequence_round_a_dataset_augmented": ("tensorflow PIL", ["augmented"]),
    "generator_without_files": ("PIL", []),
    "images_by_path": ("tensorflow PIL", []),
    "records": ("tensorflow PIL", []),
    "images_alone": ("PIL", []),
    "own_training_step": ("tensorflow PIL", []),
    "stable_numbers": ("tensorflow", []),
    "steps_beyond_the_data": ("tensorflow", []),
    "slow_source": ("", []),
    "parallel_calls": ("", []),
}


class Snippets(unittest.TestCase):
    def run_snippet(self, name, needs, arguments):
        missing = [module for module in needs.split() if importlib.util.find_spec(module) is None]
        if missing:
            self.skipTest(f"{', '.join(missing)} not installed")
        script = os.path.join(HERE, name.removesuffix("".join("_" + word for word in arguments)) + ".py")
        environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", PYTHONPATH=HERE)
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-B", script, *arguments], cwd=folder,
                                  env=environment, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-4000:])


def test_of(name):
    return lambda self: self.run_snippet(name, *SNIPPETS[name])


for name in SNIPPETS:
    setattr(Snippets, "test_" + name, test_of(name))

if __name__ == "__main__":
    unittest.main()
