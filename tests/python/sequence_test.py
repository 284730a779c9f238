"""Keras' Sequences, with and without a hook at the end of a pass."""

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
    """Another order in each pass, made by the hook, as Keras' own examples do."""

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

    def test_the_hook_runs_once_and_behind_stages_too(self):
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

    def test_items_are_made_side_by_side(self):
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

    def test_what_is_no_sequence_is_refused(self):
        with self.assertRaisesRegex(TypeError, "__getitem__"):
            sk.from_sequence(iter([1, 2]))


if __name__ == "__main__":
    unittest.main()
