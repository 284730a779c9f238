"""`stoker run --save` and `--restore`: a restored run continues exactly where the first one stopped."""

import gzip
import json
import os
import unittest

from command import BAD_DATA, DIVIDE_BY_MOD_7, FINE, ODD, WRONG_USE, TestCase
from command import batch, graph, mapped, numbers, op, stoker

TRIPLED = mapped(op("add", op("multiply", "x", 3), 1))


def shuffle(**parameters):
    return {"stage": "shuffle", **parameters}


def nested(*stages):
    return [{"stage": "range", "stop": {"element": ""}}, *stages]


GRAPHS = {
    "positions": [numbers(40), TRIPLED, batch(7)],
    "a shuffle of everything": [numbers(40), shuffle(), batch(7)],
    "a windowed shuffle": [numbers(40), TRIPLED, shuffle(buffer_size=7), batch(3)],
    "a filter": [numbers(60), ODD, batch(4)],
    "a windowed shuffle after a filter": [numbers(60), ODD, shuffle(buffer_size=7), batch(4)],
    "passes of a shuffle": [numbers(10), shuffle(buffer_size=4), {"stage": "repeat", "count": 3}, batch(4)],
    "passes of a filter": [numbers(10), ODD, shuffle(), {"stage": "repeat"}, {"stage": "take", "count": 17}],
    "nested datasets": [numbers(8), {"stage": "flat_map", "map_func": nested(shuffle())}, batch(3)],
    "interleaved nested datasets": [
        numbers(9),
        {"stage": "interleave", "cycle_length": 3, "block_length": 2, "map_func": nested(shuffle(buffer_size=3))},
        shuffle(buffer_size=5),
        batch(3),
    ],
    "zipped datasets": [{"stage": "zip", "datasets": [[numbers(20), ODD], [numbers(20), shuffle()]]}],
    "concatenated datasets": [numbers(5), {"stage": "concatenate", "dataset": [numbers(20), ODD]}, batch(2)],
    "numbered elements": [numbers(30), ODD, {"stage": "enumerate", "start": 5}],
    "a cache": [numbers(12), ODD, {"stage": "cache"}, shuffle(), {"stage": "repeat", "count": 3}, batch(2)],
    "rows of batches": [numbers(30), batch(4), {"stage": "unbatch"}, {"stage": "shard", "num_shards": 3, "index": 1}],
    "lines": [{"stage": "text_lines", "filenames": ["lines", "lines"]}, shuffle(buffer_size=9), batch(3)],
    "compressed lines": [{"stage": "text_lines", "filenames": "lines.gz", "compression_type": "GZIP"}, batch(3)],
    "failures": [numbers(30), DIVIDE_BY_MOD_7, batch(4)],
    "failures in a shuffle": [numbers(30), DIVIDE_BY_MOD_7, shuffle(buffer_size=5), batch(2)],
}


class Cut(TestCase):
    def setUp(self):
        super().setUp()
        lines = "".join(f"line {i}\n" for i in range(20))
        self.write("lines", lines)
        self.write("lines.gz", gzip.compress(lines.encode(), mtime=0))

    def go(self, path, *arguments):
        result = stoker("run", path, "--on-error", "skip", *arguments, cwd=self.folder)
        self.assertEqual(result.status, FINE, result.errors)
        return result.lines

    def test_a_run_restored_at_any_element_prints_the_same_remaining_elements(self):
        for title, stages in GRAPHS.items():
            with self.subTest(title):
                path = self.write("g.json", graph(*stages))
                # Save the state at the start, because it stores the drawn seeds.
                self.assertEqual(self.go(path, "--limit", 0, "--save", "start"), [])
                whole = self.go(path, "--restore", "start")
                self.assertGreater(len(whole), 5)
                for at in sorted({0, 1, 2, 3, len(whole) // 2, len(whole) - 1, len(whole)}):
                    head = self.go(path, "--restore", "start", "--limit", at, "--save", "state", "--workers", at % 3)
                    self.assertEqual(head, whole[:at])
                    tail = self.go(path, "--restore", "state", "--workers", (at + 1) % 3)
                    self.assertEqual(tail, whole[at:], f"after {at}")

    def test_a_run_in_many_pieces_prints_every_element_once(self):
        path = self.write("g.json", graph(*GRAPHS["a windowed shuffle after a filter"]))
        self.go(path, "--limit", 0, "--save", "start")
        whole = self.go(path, "--restore", "start")
        pieces, state = [], "start"
        while True:
            piece = self.go(path, "--restore", state, "--limit", 3, "--save", "next")
            pieces += piece
            if len(piece) < 3:
                break
            state = "next"
        self.assertEqual(pieces, whole)


class State(TestCase):
    def save(self, *stages, limit=3):
        path = self.write("g.json", graph(*stages))
        result = stoker("run", path, "--limit", limit, "--save", self.folder / "state")
        self.assertEqual(result.status, FINE, result.errors)
        return path

    def test_the_state_is_small_and_no_other_file_is_left(self):
        self.save(numbers(10**9), shuffle(), batch(16))
        self.assertLess((self.folder / "state").stat().st_size, 4096)
        self.assertEqual(sorted(os.listdir(self.folder)), ["g.json", "state"])

    def test_a_new_state_replaces_the_old_one(self):
        path = self.save(numbers(10))
        stoker("run", path, "--restore", self.folder / "state", "--limit", 2, "--save", self.folder / "state")
        self.assertEqual(stoker("run", path, "--restore", self.folder / "state").elements, [5, 6, 7, 8, 9])

    def test_a_state_saved_after_a_failure_continues_after_the_failed_element(self):
        path = self.write("g.json", graph(numbers(10), DIVIDE_BY_MOD_7))
        state = self.folder / "state"
        self.assertEqual(stoker("run", path, "--save", state).status, BAD_DATA)
        first = stoker("run", path, "--restore", state, "--save", state)
        self.assertEqual((first.status, first.elements), (BAD_DATA, [100, 50, 33, 25, 20, 16]))
        second = stoker("run", path, "--restore", state)
        self.assertEqual((second.status, second.elements), (FINE, [100, 50]))

    def test_a_state_of_another_graph_is_rejected_with_the_difference(self):
        self.save(numbers(10), batch(2))
        other = self.write("other.json", graph(numbers(10), batch(3)))
        result = stoker("run", other, "--restore", self.folder / "state")
        self.assert_refused(result, "batch", "2", "3")

    def test_a_state_with_other_files_is_rejected(self):
        self.write("lines", "a\nb\nc\nd\ne\n")
        path = self.write("g.json", graph({"stage": "text_lines", "filenames": str(self.folder / "lines")}))
        stoker("run", path, "--limit", 2, "--save", self.folder / "state")
        self.write("lines", "a\nb\nc\nd\nx\nf\n")
        self.assert_refused(stoker("run", path, "--restore", self.folder / "state"), "files")

    def test_a_file_that_is_not_a_state_is_rejected(self):
        path = self.save(numbers(10))
        state = (self.folder / "state").read_text()
        for text in ("", "{}", "[]", "null", state[: len(state) // 2], "\xff", '{"stoker_checkpoint": 99}', "[" * 100_000):
            broken = self.write("broken", text.encode("latin-1"))
            self.assert_refused(stoker("run", path, "--restore", broken), "broken")
        self.assert_refused(stoker("run", path, "--restore", self.folder / "nowhere"), "nowhere")
        self.assert_refused(stoker("run", path, "--restore", self.folder))

    def test_a_state_with_missing_keys_is_rejected(self):
        path = self.save(numbers(10), ODD, batch(2), limit=1)
        state = json.loads((self.folder / "state").read_text())
        for key in state:
            if key == "delivered":
                continue  # only counts
            broken = self.write("broken", json.dumps({k: v for k, v in state.items() if k != key}))
            self.assert_refused(stoker("run", path, "--restore", broken), "broken")

    def test_a_state_that_cannot_be_written_is_an_error_before_the_run(self):
        path = self.write("g.json", graph({"stage": "counter"}))
        for place in (self.folder, self.folder / "no" / "folder"):
            self.assert_refused(stoker("run", path, "--save", place, "--limit", 5), "cannot write")

    def test_a_device_is_not_replaced_by_the_state(self):
        path = self.write("g.json", graph(numbers(3)))
        self.assertEqual(stoker("run", path, "--save", "/dev/null").status, FINE)
        self.assertFalse(os.path.isfile("/dev/null"))


if __name__ == "__main__":
    unittest.main()
