"""What sk.watch reports about loops and loaders, each with a problem and without it."""

import inspect
import logging
import os
import tempfile
import types
import unittest

import numpy as np

import stoker as sk
from stoker import _core


class Scene:
    """A clock that the test sets, and the messages of the watch."""

    def __init__(self):
        self.clock = _core.Clock()
        self.seconds = 0.0
        self.messages = []

    def advance(self, seconds):
        self.seconds += seconds
        self.clock.set(self.seconds)

    def watch(self, loader, **options):
        return sk.Watch(loader, window=(1.0, 20), on_message=self.messages.append, clock=self.clock, **options)


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

    def test_an_iterator_of_stoker_continues_at_its_position(self):
        it = iter(sk.Dataset.range(4))
        next(it)
        self.assertEqual([int(x) for x in sk.watch(it)], [1, 2, 3])

    def test_arguments_are_checked(self):
        with self.assertRaises(TypeError):
            sk.watch([1], window="soon")

    def test_an_object_that_cannot_be_iterated_over_is_rejected_at_the_call(self):
        with self.assertRaisesRegex(TypeError, "watch: expected something to iterate over, got int"):
            sk.watch(3)


class Speed(unittest.TestCase):
    def test_a_generator_runs_in_the_training_thread(self):
        scene = Scene()
        watch = scene.watch(iter(Foreign(scene, 0.06)))
        for _ in watch:
            scene.advance(0.04)
        self.assertEqual(codes(watch), ["INPUT_STAGE"])
        self.assertIn("60 ms of a step of 100 ms", watch.verdicts[0]["because"][0])
        self.assertEqual(len(scene.messages), 1)
        self.assertIn("INPUT_STAGE (severe): input-bound: 60 % of each step is spent waiting", scene.messages[0])
        self.assertIn("60 ms waiting for data", watch.report())

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
        self.assertIn("reports no stages", watch.verdicts[0]["because"][0])

    def test_no_report_if_the_input_is_fast(self):
        for loader in (Foreign, Sequence):
            scene = Scene()
            watch = scene.watch(loader(scene, 0.001))
            for _ in watch:
                scene.advance(0.1)
            self.assertEqual((codes(watch), scene.messages), ([], []))

    def test_stages_of_stoker_are_named(self):
        def slow(x):
            return np.int64(sum(range(20_000)) * 0 + int(x))

        ds = sk.Dataset.range(200).map(slow, name="tokenize")
        watch = sk.Watch(ds, window=(0.0, 20), on_message=lambda text: None)
        for _ in watch:
            pass  # trains on nothing: all is waiting
        self.assertIn(watch.verdicts[0]["code"], ("INPUT_STAGE", "GIL"))
        self.assertEqual(watch.verdicts[0]["about"], "tokenize")


class Probe(unittest.TestCase):
    def test_measures_a_time(self):
        from stoker import _watch

        class Recorder:
            def note_probe(self, seconds):
                self.seconds = seconds

        recorder = Recorder()
        _watch._probe(recorder)
        self.assertGreater(recorder.seconds, -0.005)


class Iterators(unittest.TestCase):
    def test_an_iterator_created_in_every_step_is_reported_with_its_line(self):
        for loader in (sk.Dataset.range(100), Foreign(Scene(), 0)):
            scene = Scene()
            watch = scene.watch(loader)
            for _ in range(8):
                line = inspect.currentframe().f_lineno + 1
                next(iter(watch))
            self.assertEqual(codes(watch), ["ITER_RECREATED"])
            self.assertIn(f"watch_test.py:{line}", watch.verdicts[0]["headline"])
            self.assertEqual(len(scene.messages), 1)

    def test_epochs_are_no_matter(self):
        for loader in (sk.Dataset.range(3), [1], Foreign(Scene(), 0, 2)):
            scene = Scene()
            watch = scene.watch(loader)
            for _ in range(30):
                list(watch)
            self.assertEqual((codes(watch), scene.messages), ([], []))

    def test_without_a_watch_the_logger_reports_it_after_twenty(self):
        ds = sk.Dataset.range(100)
        with self.assertLogs("stoker", logging.WARNING) as logs:
            for _ in range(30):
                line = inspect.currentframe().f_lineno + 1
                next(iter(ds))
        self.assertEqual(len(logs.output), 1)
        self.assertIn(f"watch_test.py:{line}", logs.output[0])
        self.assertIn("make the iterator once", logs.output[0])

    def test_the_logger_reports_it_also_after_a_watched_pass(self):
        ds = sk.Dataset.range(100)
        for _ in Scene().watch(ds):
            break
        with self.assertLogs("stoker", logging.WARNING) as logs:
            for _ in range(30):
                next(iter(ds))
        self.assertEqual(len(logs.output), 1)

    def test_a_pass_that_is_not_watched_does_not_change_the_report(self):
        def slow(x):
            return np.int64(sum(range(2_000)) * 0 + int(x))

        scene = Scene()
        ds = sk.Dataset.range(1000).map(slow, name="tokenize")
        watch = scene.watch(ds)
        for i, _ in enumerate(watch):
            scene.advance(0.01)
            if i == 30:
                break
        watched = watch.to_json()["stages"]
        self.assertIn("tokenize", [stage["name"] for stage in watched], "the statistics outlive the iterator")
        unwatched = iter(ds)
        for _ in range(500):
            next(unwatched)
        self.assertEqual(watch.to_json()["stages"], watched)

    def test_building_on_a_dataset_does_not_count(self):
        ds = sk.Dataset.from_generator(lambda: iter(range(100)))
        scene = Scene()
        for _ in range(30):
            ds.map(lambda x: x + 1)  # looks at one element for its structure
        watch = scene.watch(ds)
        next(iter(watch))
        self.assertEqual((codes(watch), scene.messages), ([], []))

    def test_no_report_if_epochs_are_complete(self):
        ds = sk.Dataset.range(1)
        with self.assertNoLogs("stoker", logging.WARNING) if hasattr(self, "assertNoLogs") else self.subTest():
            for _ in range(30):
                list(ds)


class End(unittest.TestCase):
    def test_known_before_the_run(self):
        for loader in (sk.Dataset.range(100).batch(10), [0] * 10):
            scene = Scene()
            watch = scene.watch(loader, steps=15)
            self.assertEqual(len(scene.messages), 1)
            self.assertIn("the data will run out: 15 steps are requested, and an epoch has 10 batches",
                          scene.messages[0])
            list(watch)
            self.assertEqual(watch.verdicts[0]["headline"],
                             "the data ran out: 15 steps were requested, and an epoch has 10 batches")

    def test_reported_at_the_end_if_it_was_unknown_before(self):
        scene = Scene()
        watch = scene.watch((i for i in range(10)), steps=15)
        self.assertEqual(scene.messages, [])
        list(watch)
        self.assertEqual(codes(watch), ["DATA_EXHAUSTED"])

    def test_no_report_if_there_are_enough_batches(self):
        scene = Scene()
        watch = scene.watch(sk.Dataset.range(100).batch(10), steps=10)
        list(watch)
        list(watch)
        self.assertEqual((codes(watch), scene.messages), ([], []))

    def test_an_empty_source_is_named(self):
        scene = Scene()
        watch = scene.watch(sk.Dataset.range(10).filter(lambda x: x > 20))
        self.assertEqual(list(watch), [])
        self.assertEqual(codes(watch), ["SOURCE_EMPTY"])
        self.assertIn("the source is range", watch.verdicts[0]["because"][0])

    def test_a_generator_that_loops_without_a_value_is_reported_with_its_line(self):
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
        self.assertEqual(len(scene.messages), 1)
        self.assertIn("the source has produced no batch for 33 s [limit 30 s]", scene.messages[0])
        self.assertIn(f"it is executing line {seen[0]} of all_files_missing", scene.messages[0])
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
        self.assertTrue(watch.verdicts[0]["because"][0].startswith("range:3: "), "it has no file")

    def test_the_file_that_was_skipped_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            good, missing = os.path.join(folder, "good.txt"), os.path.join(folder, "missing.txt")
            with open(good, "w") as file:
                file.write("a")
            watch = Scene().watch(sk.Dataset.from_tensor_slices([good, missing]).map(sk.io.read_file).on_error("skip"))
            self.assertEqual(len(list(watch)), 1)
        self.assertEqual(watch.verdicts[0]["about"], missing)
        self.assertTrue(watch.verdicts[0]["because"][0].startswith(f"{missing}: "))

    def test_all_skipped_elements_are_counted_although_only_some_are_listed(self):
        def fails(x):
            if int(x) % 2:
                raise OSError("gone")
            return x

        watch = Scene().watch(sk.Dataset.range(3000).map(fails).on_error("skip"))
        self.assertEqual(len(list(watch)), 1500)
        self.assertEqual(watch.verdicts[0]["headline"], "1500 elements failed and were skipped")

    def test_an_interruption_is_no_failure(self):
        for interruption in (sk.errors.Cancelled("interrupted"), KeyboardInterrupt(), GeneratorExit()):
            with self.subTest(interruption=interruption):
                def interrupted():
                    yield 1
                    raise interruption

                scene = Scene()
                watch = scene.watch(interrupted())
                with self.assertRaises(type(interruption)):
                    list(watch)
                self.assertEqual((codes(watch), scene.messages), ([], []))

    def test_values_that_are_not_finite_are_named(self):
        good = np.ones((4, 3), np.float32)
        for dtype in (np.float16, np.float32, np.float64):
            bad = good.astype(dtype)
            bad[2, 1] = np.inf
            scene = Scene()
            watch = scene.watch([{"image": good, "label": np.arange(4)}, {"image": bad, "label": np.arange(4)}])
            list(watch)
            self.assertEqual(watch.verdicts[0]["headline"], "`image` contains a value that is NaN or infinite")
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

    def test_values_on_a_device_are_not_examined(self):
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
