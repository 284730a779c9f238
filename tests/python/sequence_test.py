"""Sequences of Keras, with and without a hook at the end of a pass."""

import threading
import unittest

import numpy as np

import stoker as sk


class Squares:
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return np.full((2,), i * i), i


class Ordered(Squares):
    """A sequence whose hook changes the order for each pass, as in the examples of Keras."""

    def __init__(self, n):
        super().__init__(n)
        self.order = list(range(n))
        self.passes = 0

    def __getitem__(self, i):
        return self.order[i]

    def on_epoch_end(self):
        self.passes += 1
        self.order = self.order[1:] + self.order[:1]


class FromSequence(unittest.TestCase):
    def test_items_come_in_order(self):
        ds = sk.from_sequence(Squares(20))
        self.assertEqual(len(ds), 20)
        for _ in range(3):
            self.assertEqual([int(i) for _, i in ds], list(range(20)))
        self.assertEqual(next(iter(ds))[0].tolist(), [0, 0])

    def test_the_hook_runs_between_passes(self):
        sequence = Ordered(5)
        ds = sk.from_sequence(sequence)
        seen = [[int(x) for x in ds] for _ in range(4)]
        self.assertEqual(seen, [[0, 1, 2, 3, 4], [1, 2, 3, 4, 0], [2, 3, 4, 0, 1], [3, 4, 0, 1, 2]])
        self.assertEqual(sequence.passes, 4)

    def test_the_hook_runs_once_also_with_further_stages(self):
        sequence = Ordered(4)
        ds = sk.from_sequence(sequence).batch(2)
        it = iter(ds)
        self.assertEqual([b.tolist() for b in it], [[0, 1], [2, 3]])
        self.assertEqual(list(it), [])
        self.assertEqual(sequence.passes, 1)
        self.assertEqual([b.tolist() for b in ds], [[1, 2], [3, 0]])

    def test_the_hook_runs_again_when_an_iterator_that_had_ended_is_restored_and_ends_again(self):
        sequence = Ordered(3)
        it = iter(sk.from_sequence(sequence))
        next(it)
        saved = it.save()
        self.assertEqual((len(list(it)), sequence.passes), (2, 1))
        it.restore(saved)
        self.assertEqual(sequence.passes, 1)
        self.assertEqual((len(list(it)), sequence.passes), (2, 2))
        self.assertEqual((list(it), sequence.passes), ([], 2))

    def test_the_hook_does_not_run_if_another_thread_closes_the_iterator_during_a_restore(self):
        class ClosedAfterRestore:
            """The loader of `it`, which another thread closes when restore() is about to return."""

            def __getattr__(self, name):
                return getattr(loader, name)

            def restore(self, checkpoint):
                loader.restore(checkpoint)
                closing = threading.Thread(target=it.close)
                closing.start()
                closing.join()

        sequence = Ordered(3)
        it = iter(sk.from_sequence(sequence))
        loader, it._loader = it._loader, ClosedAfterRestore()
        it.restore(it.save())
        self.assertEqual((list(it), sequence.passes), ([], 0))

    def test_items_are_computed_in_parallel(self):
        meeting = threading.Barrier(4)

        class Meets(Squares):
            def __getitem__(self, i):
                meeting.wait()
                return i

        self.assertEqual([int(x) for x in sk.from_sequence(Meets(8), workers=4)], list(range(8)))

    def test_an_item_that_fails_is_named_and_the_rest_follows(self):
        class Fails(Squares):
            def __getitem__(self, i):
                if i == 2:
                    raise OSError("gone")
                return i

        it = iter(sk.from_sequence(Fails(4)))
        self.assertEqual([int(next(it)), int(next(it))], [0, 1])
        with self.assertRaises(sk.Unknown) as caught:
            next(it)
        self.assertEqual(caught.exception.position, 2)
        self.assertEqual(int(next(it)), 3)

    def test_an_object_that_is_not_a_sequence_is_rejected(self):
        with self.assertRaisesRegex(TypeError, "__getitem__"):
            sk.from_sequence(iter([1, 2]))


if __name__ == "__main__":
    unittest.main()
