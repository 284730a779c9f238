"""What sk.watch says of loops and loaders, each once where it is wrong and once where all is well."""

import inspect
import json
import logging
import types
import unittest

import numpy as np

import stoker as sk
from stoker import _core


class Scene:
    """A clock that the test sets, and what the watch said."""

    def __init__(self):
        self.clock = _core.Clock()
        self.seconds = 0.0
        self.said = []

    def advance(self, seconds):
        self.seconds += seconds
        self.clock.set(self.seconds)

    def watch(self, loader, **options):
        return sk.Watch(loader, window=(1.0, 20), tell=self.said.append, clock=self.clock, **options)


def codes(watch):
    return [verdict["code"] for verdict in watch.verdicts]


class Foreign:
    """Batches from somewhere: an iterable that shows nothing of how it makes them."""

    def __init__(self, scene, seconds, n=100):
        self.scene, self.seconds, self.n = scene, seconds, n

    def __iter__(self):
        for i in range(self.n):
            self.scene.advance(self.seconds)
            yield np.full(3, i)

    def __len__(self):
        return self.n


class Sequence:
    """Keras' kind: no __iter__, and no IndexError at the end."""

    def __init__(self, scene, seconds, n=100):
        self.scene, self.seconds, self.n = scene, seconds, n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        self.scene.advance(self.seconds)
        return np.full(3, i)


class PassesOn(unittest.TestCase):
    def test_items_are_the_same_objects(self):
        items = [np.zeros(2), {"a": 1}, "text", None]
        for given, item in zip(sk.watch(items), items):
            self.assertIs(given, item)

    def test_length_and_attributes_are_the_loaders(self):
        watch = sk.watch(Foreign(Scene(), 0))
        self.assertEqual(len(watch), 100)
        self.assertEqual(watch.n, 100)

    def test_truth_is_that_of_the_loader_and_never_raises(self):
        class Unknown:
            def __iter__(self):
                return iter(())

            def __len__(self):
                raise NotImplementedError

        scene = Scene()
        for loader in ([], [1], (), {}, {"a": 1}, Foreign(scene, 1, n=0), Foreign(scene, 1), Sequence(scene, 1, n=0),
                       Sequence(scene, 1), iter([]), Unknown(), (i for i in range(3)), np.arange(3),
                       sk.Dataset.range(3), sk.Dataset.range(0), sk.Dataset.range(3).repeat(),
                       iter(sk.Dataset.range(3))):
            with self.subTest(loader=loader):
                try:
                    expected = bool(loader)
                except (NotImplementedError, ValueError):
                    expected = True
                self.assertIs(bool(scene.watch(loader)), expected)

    def test_each_iter_is_an_epoch(self):
        watch = sk.watch(sk.Dataset.range(5))
        for _ in range(3):
            self.assertEqual([int(x) for x in watch], [0, 1, 2, 3, 4])

    def test_a_sequence_without_iter_ends(self):
        self.assertEqual([int(x[0]) for x in sk.watch(Sequence(Scene(), 0, 4))], [0, 1, 2, 3])

    def test_an_iterator_of_ours_goes_on_where_it_is(self):
        it = iter(sk.Dataset.range(4))
        next(it)
        self.assertEqual([int(x) for x in sk.watch(it)], [1, 2, 3])

    def test_arguments_are_checked(self):
        with self.assertRaises(TypeError):
            sk.watch([1], window="soon")

    def test_what_cannot_be_iterated_is_refused_at_the_call(self):
        with self.assertRaisesRegex(TypeError, "watch wants something to iterate over, found int"):
            sk.watch(3)


class Speed(unittest.TestCase):
    def test_a_generator_is_made_in_the_training_thread(self):
        scene = Scene()
        watch = scene.watch(iter(Foreign(scene, 0.06)))
        for _ in watch:
            scene.advance(0.04)
        self.assertEqual(codes(watch), ["INPUT_STAGE"])
        self.assertIn("60 ms of a step of 100 ms", watch.verdicts[0]["because"][0])
        self.assertEqual(len(scene.said), 1)
        self.assertIn("INPUT_STAGE (severe): input-bound: 60 % of each step waits", scene.said[0])
        self.assertIn("60 ms wait for data", watch.report())

    def test_so_is_a_sequence(self):
        scene = Scene()
        watch = scene.watch(Sequence(scene, 0.06))
        for _ in watch:
            scene.advance(0.04)
        self.assertEqual(codes(watch), ["INPUT_STAGE"])

    def test_of_another_iterable_only_the_wait_is_known(self):
        scene = Scene()
        watch = scene.watch(Foreign(scene, 0.06))
        for _ in watch:
            scene.advance(0.04)
        self.assertEqual(codes(watch), ["INPUT_SLOW"])
        self.assertEqual(watch.verdicts[0]["confidence"], "probable")
        self.assertIn("shows no stages", watch.verdicts[0]["because"][0])

    def test_silent_where_the_input_is_fast(self):
        for loader in (Foreign, Sequence):
            scene = Scene()
            watch = scene.watch(loader(scene, 0.001))
            for _ in watch:
                scene.advance(0.1)
            self.assertEqual((codes(watch), scene.said), ([], []))

    def test_our_own_stages_are_named(self):
        def slow(x):
            return np.int64(sum(range(20_000)) * 0 + int(x))

        watch = sk.Watch(sk.Dataset.range(200).map(slow, name="tokenize"), window=(0.0, 20), tell=lambda text: None)
        for _ in watch:
            pass  # trains on nothing: all is waiting
        self.assertIn(watch.verdicts[0]["code"], ("INPUT_STAGE", "GIL"))
        self.assertEqual(watch.verdicts[0]["about"], "tokenize")


class Interpreter(unittest.TestCase):
    """The facts of a Python stage, as the loader would show them."""

    def stats(self, busy, on_cpu):
        return json.dumps({"workers": 2, "stages": [{
            "stage": "augment", "at_once": 1, "user": True, "busy_seconds": busy, "measured_seconds": busy,
            "on_cpu_seconds": on_cpu * busy}]})

    def run_windows(self, on_cpu, probe, windows=3):
        scene = Scene()
        recorder = _core.Recorder(dataset=None, source="", batches=None, workers=None, window=(1.0, 20), steps=None,
                                  stall=None, tell=scene.said.append, clock=scene.clock)
        probes = 0
        for i in range(3 + 20 * windows):
            asked = recorder.ask()
            scene.advance(0.05)
            if recorder.give(asked, None):
                recorder.look(self.stats(0.97 * scene.seconds, on_cpu))
            if recorder.wants_probe():
                probes += 1
                recorder.note_probe(probe)
            scene.advance(0.05)
        return recorder, scene.said, probes

    def test_a_stage_that_holds_the_lock_is_named(self):
        recorder, said, probes = self.run_windows(on_cpu=0.98, probe=0.005)
        verdict = json.loads(recorder.to_json(self.stats(0.97 * 6.3, 0.98)))["verdicts"][0]
        self.assertEqual((verdict["code"], verdict["confidence"], verdict["about"]), ("GIL", "probable", "augment"))
        self.assertIn("on the CPU 98 % of its time, and a probe waits 5.0 ms", " ".join(verdict["because"]))
        self.assertIn("worker processes", verdict["fix"]["text"])
        self.assertEqual([text.split(" ")[0] for text in said], ["GIL"])
        self.assertEqual(probes, 1)

    def test_not_where_the_lock_is_free_or_the_stage_sleeps(self):
        for on_cpu, probe in ((0.98, 0.0002), (0.3, 0.005)):
            _, said, _ = self.run_windows(on_cpu, probe)
            self.assertEqual([text.split(" ")[0] for text in said], ["INPUT_STAGE"])

    def test_the_lock_is_probed_every_ten_windows_at_most(self):
        self.assertEqual(self.run_windows(0.98, 0.005, windows=21)[2], 3)

    def test_the_probe_gives_a_time(self):
        from stoker import _watch

        class Recorder:
            def note_probe(self, seconds):
                self.seconds = seconds

        recorder = Recorder()
        _watch._probe(recorder)
        self.assertGreater(recorder.seconds, -0.005)


class Iterators(unittest.TestCase):
    def test_one_made_at_every_step_is_seen_with_its_line(self):
        for loader in (sk.Dataset.range(100), Foreign(Scene(), 0)):
            scene = Scene()
            watch = scene.watch(loader)
            for _ in range(8):
                line = inspect.currentframe().f_lineno + 1
                next(iter(watch))
            self.assertEqual(codes(watch), ["ITER_RECREATED"])
            self.assertIn(f"watch_test.py:{line}", watch.verdicts[0]["headline"])
            self.assertEqual(len(scene.said), 1)

    def test_epochs_are_no_matter(self):
        for loader in (sk.Dataset.range(3), [1], Foreign(Scene(), 0, 2)):
            scene = Scene()
            watch = scene.watch(loader)
            for _ in range(30):
                list(watch)
            self.assertEqual((codes(watch), scene.said), ([], []))

    def test_without_a_watch_the_logger_says_so_after_twenty(self):
        ds = sk.Dataset.range(100)
        with self.assertLogs("stoker", logging.WARNING) as logs:
            for _ in range(30):
                line = inspect.currentframe().f_lineno + 1
                next(iter(ds))
        self.assertEqual(len(logs.output), 1)
        self.assertIn(f"watch_test.py:{line}", logs.output[0])
        self.assertIn("make the iterator once", logs.output[0])

    def test_nor_does_building_on_a_data_set_count(self):
        ds = sk.Dataset.from_generator(lambda: iter(range(100)))
        scene = Scene()
        for _ in range(30):
            ds.map(lambda x: x + 1)  # looks at one element for its structure
        watch = scene.watch(ds)
        next(iter(watch))
        self.assertEqual((codes(watch), scene.said), ([], []))

    def test_and_nothing_where_epochs_are_whole(self):
        ds = sk.Dataset.range(1)
        with self.assertNoLogs("stoker", logging.WARNING) if hasattr(self, "assertNoLogs") else self.subTest():
            for _ in range(30):
                list(ds)


class End(unittest.TestCase):
    def test_known_before_the_run(self):
        for loader in (sk.Dataset.range(100).batch(10), [0] * 10):
            scene = Scene()
            watch = scene.watch(loader, steps=15)
            self.assertEqual(len(scene.said), 1)
            self.assertIn("the data will run out: 15 steps are asked, there are 10 batches", scene.said[0])
            list(watch)
            self.assertEqual(watch.verdicts[0]["headline"],
                             "the data ran out: 15 steps were asked, there are 10 batches")

    def test_told_at_the_end_where_nobody_knew(self):
        scene = Scene()
        watch = scene.watch((i for i in range(10)), steps=15)
        self.assertEqual(scene.said, [])
        list(watch)
        self.assertEqual(codes(watch), ["DATA_EXHAUSTED"])

    def test_silent_where_there_is_enough(self):
        scene = Scene()
        watch = scene.watch(sk.Dataset.range(100).batch(10), steps=10)
        list(watch)
        list(watch)
        self.assertEqual((codes(watch), scene.said), ([], []))

    def test_an_empty_source_is_named(self):
        scene = Scene()
        watch = scene.watch(sk.Dataset.range(10).filter(lambda x: x > 20))
        self.assertEqual(list(watch), [])
        self.assertEqual(codes(watch), ["SOURCE_EMPTY"])
        self.assertIn("it is range", watch.verdicts[0]["because"][0])

    def test_a_generator_that_goes_round_and_gives_nothing_is_told_with_its_line(self):
        scene = Scene()
        seen = []

        def all_files_missing():
            for _ in range(3):
                scene.advance(11)
                seen.append(inspect.currentframe().f_lineno + 1)
                iterator._silence.look()
            yield 1

        watch = scene.watch(all_files_missing())
        iterator = iter(watch)
        self.assertEqual(next(iterator), 1)
        self.assertEqual(len(scene.said), 1)
        self.assertIn("the source has given no batch for 33 s [limit 30 s]", scene.said[0])
        self.assertIn(f"it is at line {seen[0]} of all_files_missing", scene.said[0])
        self.assertEqual(codes(watch), [], "it has given something since")


class Elements(unittest.TestCase):
    def test_the_exception_passes_and_its_file_is_named(self):
        def broken():
            yield 1
            raise FileNotFoundError(2, "No such file", "a/b.jpg")

        scene = Scene()
        watch = scene.watch(broken())
        with self.assertRaises(FileNotFoundError):
            list(watch)
        self.assertEqual(codes(watch), ["ELEMENT_FAILED"])
        self.assertTrue(watch.verdicts[0]["because"][0].startswith("a/b.jpg: FileNotFoundError"))

    def test_an_element_of_ours_is_named_by_its_place(self):
        def fails(x):
            if int(x) == 3:
                raise OSError("gone")
            return x

        scene = Scene()
        watch = scene.watch(sk.Dataset.range(5).map(fails))
        with self.assertRaises(sk.Unknown):
            list(watch)
        self.assertIn("range:3", watch.verdicts[0]["because"][0])

    def test_what_was_skipped_is_a_note(self):
        def fails(x):
            if int(x) == 3:
                raise OSError("gone")
            return x

        scene = Scene()
        watch = scene.watch(sk.Dataset.range(5).map(fails).on_error("skip"))
        self.assertEqual([int(x) for x in watch], [0, 1, 2, 4])
        self.assertEqual([(v["code"], v["severity"]) for v in watch.verdicts], [("ELEMENT_FAILED", "note")])
        self.assertEqual(watch.verdicts[0]["headline"], "1 element failed and was skipped")

    def test_values_that_are_not_finite_are_named(self):
        good = np.ones((4, 3), np.float32)
        for dtype in (np.float16, np.float32, np.float64):
            bad = good.astype(dtype)
            bad[2, 1] = np.inf
            scene = Scene()
            watch = scene.watch([{"image": good, "label": np.arange(4)}, {"image": bad, "label": np.arange(4)}])
            list(watch)
            self.assertEqual(watch.verdicts[0]["headline"], "`image` holds a value that is NaN or infinite")
            self.assertIn("batch 1 of the epoch, row 2", watch.verdicts[0]["because"][0])

    def test_in_any_order_of_memory_and_of_ours_too(self):
        bad = np.ones((4, 6))
        bad[3, 5] = np.nan
        for batch in (bad.T, bad[:, ::-1], (1, [bad]), np.float64("nan") * np.ones(1)):
            watch = Scene().watch([batch])
            list(watch)
            self.assertEqual(codes(watch), ["NON_FINITE"])
        watch = Scene().watch(sk.Dataset.from_tensor_slices(bad).batch(2))
        list(watch)
        self.assertEqual(codes(watch), ["NON_FINITE"])

    def test_what_lies_on_a_device_is_left_there(self):
        class Tensor:
            def __init__(self, device):
                self.device = types.SimpleNamespace(type=device)
                self.taken = 0

            def __dlpack__(self, **options):
                self.taken += 1
                return np.array([1.0, np.nan]).__dlpack__(**options)

            def __dlpack_device__(self):
                return 1, 0

        host, device = Tensor("cpu"), Tensor("cuda")
        watch = Scene().watch([{"host": host, "device": device}])
        list(watch)
        self.assertEqual([verdict["about"] for verdict in watch.verdicts], ["host"])
        self.assertEqual(device.taken, 0)

    def test_torch_tensors_are_looked_at(self):
        try:
            import torch
        except ImportError:
            self.skipTest("without PyTorch")
        for dtype in (torch.float16, torch.bfloat16, torch.float32):
            watch = Scene().watch([(torch.tensor([1.0, float("nan")], dtype=dtype), torch.tensor([1, 2]))])
            list(watch)
            self.assertEqual(codes(watch), ["NON_FINITE"])
        watch = Scene().watch([torch.ones(3)])
        list(watch)
        self.assertEqual(codes(watch), [])

    def test_odd_batches_are_passed_over(self):
        deep = []
        deep.append(deep)
        batches = [deep, list(range(1000)), np.array(["nan"]), np.array([object()]), {1: float("nan")}, b"x", set()]
        watch = Scene().watch(batches)
        self.assertEqual(len(list(watch)), len(batches))
        self.assertEqual(codes(watch), [])


if __name__ == "__main__":
    unittest.main()
