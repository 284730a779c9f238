"""Datasets in fit, evaluate and predict of Keras; skipped if Keras is not installed."""

import importlib.util
import itertools
import unittest
import warnings

import numpy as np

import stoker as sk

HAS_KERAS = importlib.util.find_spec("keras") is not None


class WithoutKeras(unittest.TestCase):
    def test_a_dataset_is_a_dataset_and_has_no_other_attributes(self):
        ds = sk.Dataset.range(3)
        self.assertIsInstance(ds, sk.Dataset)
        with self.assertRaisesRegex(AttributeError, "no attribute 'bach'"):
            ds.bach

    def test_the_adapter_knows_the_number_of_batches(self):
        self.assertEqual(sk.Dataset.range(10).batch(4).keras().num_batches, 3)
        self.assertIsNone(sk.Dataset.range(10).repeat().keras().num_batches)

    def test_batches_come_as_numpy_arrays_anew_for_each_epoch(self):
        adapter = sk.Dataset.range(4).batch(2).keras()
        for _ in range(2):
            self.assertEqual([b.tolist() for b in adapter.get_numpy_iterator()], [[0, 1], [2, 3]])


    def test_the_adapter_of_a_watch_delivers_watched_batches(self):
        watched = sk.watch(sk.Dataset.range(40).batch(2))
        self.assertEqual([b.tolist() for b in watched.keras().get_numpy_iterator()][:2], [[0, 1], [2, 3]])
        self.assertRegex(watched.report(), r"^1\d steps")  # of 20; the first ones are not counted
        with self.assertRaisesRegex(TypeError, "expected a watch of a Stoker dataset, got one of a list"):
            sk.watch([1, 2]).keras()


@unittest.skipUnless(HAS_KERAS, "Keras is not installed")
class Keras(unittest.TestCase):
    def setUp(self):
        import keras

        keras.utils.set_random_seed(1)
        self.model = keras.Sequential([keras.layers.Dense(1)])
        self.model.compile(optimizer="sgd", loss="mse")

    def data(self, seen=None):
        def note(x, y):
            seen.append(float(y[0]))
            return x, y

        x = np.arange(20, dtype=np.float32).reshape(10, 2) / 20
        ds = sk.Dataset.from_tensor_slices((x, x.sum(1, keepdims=True)))
        return ds if seen is None else ds.map(note)

    def test_fit_accepts_a_dataset_and_draws_every_batch_once_per_epoch(self):
        seen = []
        history = self.model.fit(self.data(seen).batch(4), epochs=3, verbose=0)
        self.assertEqual(len(history.history["loss"]), 3)
        self.assertLess(history.history["loss"][-1], history.history["loss"][0])
        drawn = [len(list(group)) for _, group in itertools.groupby(sorted(seen))]
        self.assertEqual(len(drawn), 10)
        self.assertTrue(all(count in (3, 4) for count in drawn), drawn)  # one call of the function finds its types

    def test_a_native_pipeline_needs_no_batch_to_know_its_types(self):
        self.model.fit(self.data().batch(4), epochs=1, verbose=0, validation_data=self.data().batch(5))

    # Law: no argument of fit or evaluate is ignored silently.
    def test_targets_and_weights_next_to_a_dataset_are_rejected(self):
        ds, y = self.data().batch(4), np.zeros((10, 1))
        for data in (ds, ds.keras(), sk.watch(ds).keras()):
            for call, arguments, name in ((self.model.fit, {"y": y}, "y"), (self.model.evaluate, {"y": y}, "y"),
                                          (self.model.fit, {"sample_weight": y}, "sample_weight"),
                                          (self.model.fit, {"class_weight": {0: 1.0}}, "class_weight"),
                                          (self.model.fit, {"validation_data": (data, y)}, "y")):
                with self.assertRaisesRegex(ValueError, f"^`{name}` cannot be combined with a Stoker dataset"):
                    call(data, verbose=0, **arguments)
        self.model.fit(ds, verbose=0, validation_data=ds)

    # Law: an epoch ends, and batches have a batch axis.
    def test_an_infinite_dataset_requires_a_number_of_steps(self):
        ds, endless = self.data().batch(4), self.data().repeat().batch(4)
        for data in (endless, endless.keras(), sk.watch(endless).keras()):
            for call in (self.model.fit, self.model.evaluate,
                         lambda data, **more: self.model.fit(ds, validation_data=data, **more)):
                with self.assertRaisesRegex(ValueError, "the dataset is infinite; pass steps_per_epoch"):
                    call(data, verbose=0)
        self.model.fit(endless, steps_per_epoch=2, validation_data=endless, validation_steps=1, verbose=0)
        self.model.evaluate(endless, steps=2, verbose=0)

    def test_elements_without_a_batch_axis_are_rejected(self):
        rows, labels = np.zeros((6, 3), np.float32), np.zeros(6, np.float32)
        single = sk.Dataset.from_tensor_slices((rows, labels))
        for data in (single, sk.Dataset.from_tensor_slices((labels, labels)), single.keras()):
            with self.assertRaisesRegex(ValueError, r"the elements have no batch axis; add .batch\(32\)"):
                self.model.fit(data, verbose=0)
        for data in (single.batch(2), single.batch(2, drop_remainder=True), single.batch(2).filter(lambda x, y: y[0] < 1)):
            self.model.fit(data, verbose=0)

    def test_a_watch_counts_the_steps_of_fit(self):
        watched = sk.watch(self.data().repeat(8).batch(4))
        self.model.fit(watched.keras(), epochs=1, verbose=0)
        self.assertRegex(watched.report(), r"^1\d steps")  # of 20; the first ones are not counted

    def test_steps_beyond_the_data_are_warned_about_and_repeat_helps(self):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            self.model.fit(self.data().batch(4), epochs=1, steps_per_epoch=5, verbose=0)
        self.assertTrue(any("ran out of data" in str(w.message) for w in told), told)
        history = self.model.fit(self.data().repeat().batch(4), epochs=2, steps_per_epoch=5, verbose=0)
        self.assertEqual(len(history.history["loss"]), 2)

    def test_evaluate_and_predict(self):
        self.model.evaluate(self.data().batch(4), verbose=0)
        predicted = self.model.predict(self.data().map(lambda x, y: x).batch(4), verbose=0)
        self.assertEqual(predicted.shape, (10, 1))

    def test_an_error_reaches_the_caller_with_its_message(self):
        def fail(x, y):
            if y[0] > 0.5:
                raise ValueError("not this one")
            return x, y

        with self.assertRaisesRegex(Exception, "not this one"):
            self.model.fit(self.data().map(fail).batch(2), epochs=1, verbose=0)


if __name__ == "__main__":
    unittest.main()
