"""Random pipelines against tf.data itself: elements, order, types, cardinality, errors; skipped without TensorFlow.

STOKER_CASES: how many pipelines, instead of a few. SEED: that one alone, with its text.
"""

import importlib.util
import os
import random
import tempfile
import unittest

import numpy as np

import stoker as sk
from pipeline_parts import is_dense, names, write_files
from pipeline_writer import Writer

HAS_TENSORFLOW = importlib.util.find_spec("tensorflow") is not None
CASES = int(os.environ.get("STOKER_CASES", "300"))
ONE = os.environ.get("SEED")
MOST = 40  # elements of a pass that are looked at


def plain(value):
    """Return the elements of both libraries in one form."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, tuple):
        return tuple(plain(part) for part in value)
    array = np.asarray(value, object if isinstance(value, bytes) else None)
    return ("string" if array.dtype.kind in "OSU" else array.dtype.name, array.shape, repr(array.tolist()))


def spec_pairs(ours, theirs):
    if isinstance(theirs, dict):
        for key in theirs:
            yield from spec_pairs(ours[key], theirs[key])
    elif isinstance(theirs, tuple):
        for one, other in zip(ours, theirs, strict=True):
            yield from spec_pairs(one, other)
    else:
        yield ours, theirs


def kind(error):
    """The canonical code of an error; Python's own for wrong arguments are one."""
    name = type(error).__name__.removesuffix("Error")
    return "InvalidArgument" if name in ("Value", "Type") else name


def rest(iterator, stop=False, most=MOST):
    """Return the elements and errors of an iterator; with `stop`, up to the first error."""
    found = []
    while len(found) < most:
        try:
            found.append(plain(next(iterator)))
        except StopIteration:
            return [*found, "end"]
        except Exception as error:  # any: the two are compared
            found.append(f"error: {kind(error)}")
            if stop:
                break
    return found


@unittest.skipUnless(HAS_TENSORFLOW, "TensorFlow is not installed")
class Tensorflow(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
        import tensorflow

        cls.tf = tensorflow
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.files = write_files(folder.name)

    def over_pipelines(self, kind, count, check):
        for seed in range(count) if ONE is None else [int(ONE)]:
            pipeline = Writer(f"{kind} {seed}", self.tf, self.files).pipeline()
            if ONE is not None:
                print(pipeline.text)
            with self.subTest(seed=seed):
                check(pipeline, f"\nSEED={seed}\n{pipeline.text}")

    def ours(self, text):
        return eval(text, names(sk, self.files))

    def test_pipelines_give_the_same(self):
        self.over_pipelines("same", CASES, self.compare)

    def compare(self, pipeline, words):
        if isinstance(pipeline.made, Exception):
            return self.compare_refusals(pipeline, words)
        theirs = pipeline.made
        found = rest(theirs.as_numpy_iterator(), pipeline.last)
        ours = self.ours(pipeline.text)
        self.assertEqual(rest(ours.as_numpy_iterator(), pipeline.last), found, words)
        self.compare_specs(ours, theirs.element_spec, found, words)
        self.compare_cardinality(ours.cardinality(), int(theirs.cardinality()), found, words)
        # Where a repeat is not fused with its shuffle, TensorFlow draws a seed more than it has passes; it keeps nothing
        # of a cache that was not read to its end.
        differs = "shuffle" in pipeline.text and ("repeat" in pipeline.text or "cache" in pipeline.text)
        if found[-1] == "end" and not differs:
            self.assertEqual(rest(ours.as_numpy_iterator()), rest(theirs.as_numpy_iterator()), words + "\nsecond pass")

    def compare_specs(self, ours, theirs, found, words):
        """Check that types are equal and known shapes do not contradict each other."""
        if not is_dense(theirs) or isinstance(found[0], str):  # without elements, some stages have no types to show
            return
        for one, other in spec_pairs(ours.element_spec, theirs):
            self.assertEqual(one.dtype.name, other.dtype.name, words)
            self.assertTrue(other.shape.is_compatible_with(one.shape), f"{words}\n{one} {other}")

    def compare_cardinality(self, ours, theirs, found, words):
        """Files are counted where TensorFlow does not know them, or guesses; what fails has its place, too."""
        if ours == sk.data.UNKNOWN_CARDINALITY and "numpy(" in words and "unbatch" in words:
            return  # only TensorFlow has the shape of the result of numpy_function
        counted = len(found) - 1 if found[-1] == "end" else ours
        self.assertIn(ours, (theirs, counted) if theirs < 0 or "files" in words else (theirs,), words)

    def compare_refusals(self, pipeline, words):
        try:
            self.ours(pipeline.text)
        except (sk.Error, TypeError) as error:
            self.assertEqual(kind(error), kind(pipeline.made), words + f"\ntheirs {pipeline.made}\nours {error}")
            return
        # Downstream of these, types are known from elements alone, and the error belongs to the element.
        if not any(stage in pipeline.text for stage in ("flat_map", "interleave", "num_parallel_reads", "numpy(")):
            self.fail(words + f"\nis not refused: {pipeline.made}")

    def test_a_shuffle_of_everything_has_another_order_in_each_pass(self):
        for text in ("D.range(50)", "D.range(70).filter(lambda x: x % 3 > 0)", "D.range(60).batch(7).unbatch()"):
            theirs = eval(text + ".shuffle(L.data.UNKNOWN_CARDINALITY)", names(self.tf, self.files))
            wanted = sorted(theirs.as_numpy_iterator())
            ours = self.ours(text + ".shuffle(L.data.UNKNOWN_CARDINALITY)")
            one, other = list(ours), list(ours)
            self.assertEqual((sorted(one), sorted(other)), (wanted, wanted), text)
            self.assertNotEqual(one, other, text)

    def test_restored_pipelines_give_the_rest(self):
        self.over_pipelines("restored", CASES // 2, self.restore)

    def restore(self, pipeline, words):
        if isinstance(pipeline.made, Exception):
            return
        iterator = iter(self.ours(pipeline.text))
        before = random.Random(pipeline.text).randrange(10)
        rest(iterator, most=before)
        saved = iterator.save()
        other = iter(self.ours(pipeline.text))
        other.restore(saved)
        self.assertEqual(rest(other), rest(iterator), words + f"\nafter {before}")


if __name__ == "__main__":
    unittest.main()
