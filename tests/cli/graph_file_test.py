"""Graph files that are invalid, hostile or large: each gives a clear error, and none a hang or a crash."""

import json
import os
import unittest

from command import BAD_DATA, FINE, ROOT, STOKER, WRONG_USE, TestCase
from command import batch, filtered, function, graph, mapped, numbers, op, stoker

PLUS_ONE = mapped(op("add", "x", 1))


def inside(stages, levels, wrap):
    for _ in range(levels):
        stages = wrap(stages)
    return stages


class Wrong(TestCase):
    def refused(self, text, *words, status=WRONG_USE):
        self.assert_refused(stoker("run", "-", stdin=text), "standard input: ", *words, status=status)

    def test_the_error_for_an_unknown_stage_suggests_the_nearest(self):
        self.refused(graph({"stage": "rnge", "stop": 3}), "stage 0", "no stage named 'rnge'", "did you mean 'range'?")
        self.refused(graph(numbers(3), {"stage": "quux"}), "stage 1 (counted from 0): no stage named 'quux'", "stoker stages")

    def test_the_error_for_an_unknown_parameter_suggests_the_nearest(self):
        self.refused(
            graph(numbers(3), {"stage": "batch", "bach_size": 2}),
            "stage 1, batch: no parameter named 'bach_size'; did you mean 'batch_size'?",
        )
        self.refused(
            graph(numbers(3), {"stage": "batch", "size": 2}),
            "stage 1, batch: no parameter named 'size'; its parameters are batch_size, drop_remainder, ",
        )
        self.refused(graph(numbers(3), {"stage": "unbatch", "size": 2}), "no parameter named 'size'; it has no parameters")

    def test_errors_name_the_stage_and_the_operation(self):
        self.refused(graph(numbers(3), batch(0)), "stage 1, batch: batch_size must be at least 1")
        self.refused(
            graph(numbers(3), {"stage": "concatenate", "dataset": [numbers(2), batch(0)]}),
            "stage 1, concatenate: 'dataset': stage 1, batch: batch_size",
        )
        self.refused(
            graph(numbers(3), {"stage": "map", "map_func": function({"op": "decode_jpeg", "in": ["x"]})}),
            "stage 1, map, decode_jpeg: ",
        )

    def test_a_parameter_of_the_wrong_type_is_rejected(self):
        self.refused(graph({"stage": "range", "stop": "x"}), "range: 'stop': expected an integer, got a string")
        self.refused(graph(numbers(3), batch(2.5)), "'batch_size': expected an integer, got 2.5")
        self.refused(graph(numbers(3), batch([2])), "'batch_size': expected an integer, got a list")
        self.refused(graph(numbers(3), batch(10**30)), "'batch_size': expected an integer")
        self.refused(graph({"stage": "text_lines", "filenames": [1]}), "item 0", "expected a string")

    def test_a_missing_parameter_is_rejected(self):
        self.refused(graph({"stage": "range"}), "range: parameter 'stop' is missing")
        self.refused(graph(numbers(3), {"stage": "batch"}), "batch: parameter 'batch_size' is missing")
        self.refused(graph(numbers(3), {"stage": "shard", "num_shards": 2}), "shard: parameter 'index' is missing")
        self.refused(graph(numbers(3), {"batch_size": 2}), "stage 1", "stage")

    def test_a_parameter_given_twice_is_rejected(self):
        self.refused('{"stoker": 1, "stages": [{"stage": "range", "stop": 3, "stop": 4}]}', "'stop' is present twice")

    def test_sizes_below_the_minimum_are_rejected(self):
        for stage in (
            batch(0),
            batch(-2),
            {"stage": "shuffle", "buffer_size": -5},
            {"stage": "shuffle", "buffer_size": 0},
            {"stage": "shard", "num_shards": -1, "index": 0},
            {"stage": "shard", "num_shards": 3, "index": 3},
            {"stage": "shard", "num_shards": 3, "index": -1},
            {"stage": "shard", "num_shards": 0, "index": 0},
            {"stage": "assert_cardinality", "expected_cardinality": -9},
            {"stage": "map", "map_func": function("x"), "num_parallel_calls": 0},
            {"stage": "map", "map_func": function("x"), "num_parallel_calls": -7},
            {"stage": "prefetch", "buffer_size": -9},
            {"stage": "interleave", "map_func": [numbers(2)], "cycle_length": -5},
            {"stage": "interleave", "map_func": [numbers(2)], "cycle_length": 0},
            {"stage": "interleave", "map_func": [numbers(2)], "block_length": 0},
            {"stage": "interleave", "map_func": [numbers(2)], "block_length": -1},
            {"stage": "on_error", "policy": "skip", "at_most": -1},
        ):
            self.refused(graph(numbers(3), stage), stage["stage"] + ": ")
        self.refused(graph({"stage": "range", "stop": 3, "step": 0}), "range: ", "step")

    def test_sizes_larger_than_memory_are_accepted(self):
        for stage in (batch(10**18), {"stage": "shuffle", "buffer_size": 10**18}, {"stage": "take", "count": 2**62}):
            result = self.run_graph(numbers(3), stage)
            self.assertEqual((result.status, result.errors), (FINE, ""))

    def test_a_source_in_the_middle_or_a_transform_at_the_start_is_rejected(self):
        self.refused(graph(numbers(3), numbers(3)), "range is a source")
        self.refused(graph(batch(3)), "batch is not a source and must come after another stage")

    def test_a_reference_to_itself_or_to_an_unknown_id_is_rejected(self):
        self.refused(graph({"stage": "zip", "id": 1, "datasets": [[{"ref": 1}]]}), "ref", "cannot contain itself")
        self.refused(graph({"ref": "nowhere"}), '"nowhere"', "is not the id of an earlier stage")
        inner = [{"stage": "zip", "datasets": [[{"ref": 1}, batch(2)]]}]
        outer = {"stage": "zip", "id": 1, "datasets": [[numbers(2)], inner]}
        self.refused(graph(outer, batch(2)), "ref", "cannot contain itself")
        other = {"stage": "concatenate", "id": "a", "dataset": [{"ref": "a"}]}
        self.refused(graph(numbers(2), other), "ref", "cannot contain itself")

    def test_a_reference_from_a_function_to_an_outer_id_is_rejected(self):
        opened = {"stage": "flat_map", "id": 1, "map_func": [{"ref": 1}]}
        result = self.run_graph(numbers(2), opened)
        self.assertIn(result.status, (BAD_DATA, WRONG_USE))
        self.assertIn("is not the id of an earlier stage", result.errors)

    def test_an_id_used_twice_is_rejected(self):
        self.refused(graph({**numbers(2), "id": 1}, {**batch(2), "id": 1}), "id")

    def test_invalid_functions_are_rejected(self):
        for value, word in (
            (op("ad", "x", 1), "did you mean 'add'?"),
            ("y", "y"),
            (op("cast", "x", dtype="flaot32"), "did you mean 'float32'?"),
            (op("add", "x"), "add"),
            ({"get": "x"}, "key"),
            ({"op": 3}, "operation"),
            ([1, 2], ""),
        ):
            self.refused(graph(numbers(3), mapped(value)), "map: ", word)
        self.refused(graph(numbers(3), {"stage": "map", "map_func": 5}), "map: ")
        self.refused(graph(numbers(3), filtered(op("add", "x", 1))), "filter: ")

    def test_json_that_is_not_a_graph_is_rejected(self):
        self.refused("null", "got null")
        self.refused("[]", "got a list")
        self.refused("{}", "got an object without \"stoker\"")
        self.refused('{"stoker": 1}', "stages")
        self.refused('{"stoker": 1, "stages": []}', "expected at least one stage")
        self.refused('{"stoker": 1, "stages": [3]}', "stage 0")
        self.refused('{"stoker": 2, "stages": []}', "version 2")
        self.refused('{"stoker": 1, "stages": [], "more": 1}', '"more"')

    def test_text_that_is_not_json_is_rejected(self):
        self.refused("", "not JSON at line 1")
        self.refused('{"stoker": 1,\n "stages": [}', "line 2")
        self.refused(b'{"stoker": 1, "stages": [{"stage": "r\xff"}]}', "UTF-8")
        self.refused("\0" * 100, "not JSON")
        self.refused("1e999", "not JSON")


class Deep(TestCase):
    def test_deeply_nested_json_is_rejected(self):
        for text in ("[" * 100_000, '{"a":' * 100_000, '{"stoker": 1, "stages": ' + "[" * 100_000):
            self.assert_refused(stoker("run", "-", stdin=text), "deeper than")

    def test_a_hundred_megabytes_of_brackets_are_rejected_quickly(self):
        path = self.write("brackets.json", b"[" * 100_000_000)
        for command in (["run"], ["explain"], ["bench", "--seconds", "0.1"]):
            self.assert_refused(stoker(*command, path, timeout=20), "brackets.json", "deeper than")
        self.assert_refused(stoker("run", self.write("cut.json", graph(numbers(3))[:-1])), "cut.json: not JSON")

    def test_graphs_nest_up_to_64_levels_as_inputs(self):
        def zipped(stages):
            return [{"stage": "zip", "datasets": [stages]}]

        self.assertEqual(self.run_graph(*inside([numbers(2)], 60, zipped)).status, FINE)
        self.assert_refused(self.run_graph(*inside([numbers(2)], 65, zipped)), "nested deeper than 64")

    def test_graphs_nest_up_to_64_levels_in_functions(self):
        def opened(stages):
            return [numbers(1), {"stage": "flat_map", "map_func": stages}]

        self.assertEqual(self.run_graph(*inside([numbers(2)], 60, opened)).status, FINE)
        self.assert_refused(self.run_graph(*inside([numbers(2)], 65, opened)), "nested deeper than 64")

    def test_deeply_nested_functions_run_or_are_rejected(self):
        for depth in (50, 200):
            result = self.run_graph(numbers(1), mapped(inside("x", depth, lambda e: op("add", e, 1))))
            self.assertIn(result.status, (FINE, WRONG_USE))


class Long(TestCase):
    def test_a_chain_of_ten_thousand_stages_runs(self):
        for stage, wanted in (
            ({"stage": "take", "count": 5}, [0, 1, 2]),
            ({"stage": "prefetch"}, [0, 1, 2]),
            ({"stage": "repeat", "count": 1}, [0, 1, 2]),
            (PLUS_ONE, [10_000, 10_001, 10_002]),
            (filtered(True), [0, 1, 2]),
        ):
            with self.subTest(stage["stage"]):
                self.assertEqual(self.elements_of(numbers(3), *[stage] * 10_000), wanted)

    def test_a_chain_of_sequences_runs(self):
        self.assertEqual(self.elements_of(numbers(3), *[{"stage": "ignore_errors"}] * 1000), [0, 1, 2])

    # Overflows the stack: a line pulls from its input by recursion, about 1.6 KB per stage.
    @unittest.expectedFailure
    def test_a_chain_of_ten_thousand_sequences_runs(self):
        for stages in (
            [{"stage": "ignore_errors"}] * 10_000,
            [{"stage": "shuffle", "seed": 1, "buffer_size": 2}] * 10_000,
            [batch(2), {"stage": "unbatch"}] * 5_000,
        ):
            self.assertEqual(sorted(self.elements_of(numbers(3), *stages)), [0, 1, 2])

    def test_a_large_constant_runs(self):
        value = op("reduce_sum", {"const": list(range(100_000)), "dtype": "int64"})
        self.assertEqual(self.elements_of(numbers(1), mapped(value)), [4_999_950_000])


class Files(TestCase):
    def test_missing_files_folders_and_files_that_are_not_json_are_rejected(self):
        self.assert_refused(stoker("run", self.folder / "nowhere.json"), "cannot open the graph", "nowhere.json")
        self.assert_refused(stoker("run", self.folder), "is a folder")
        self.assert_refused(stoker("run", self.write("empty.json", "")), "empty.json: not JSON")
        self.assert_refused(stoker("run", self.write("bad.json", b"\xff\xfe")), "bad.json: not JSON")

    def test_devices_are_rejected(self):
        self.assert_refused(stoker("run", "/dev/zero"), "/dev/zero")
        self.assert_refused(stoker("run", "/dev/null"), "/dev/null")

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_a_file_without_read_permission_is_rejected(self):
        path = self.write("secret.json", graph(numbers(3)))
        path.chmod(0)
        self.assert_refused(stoker("run", path), "Permission denied")

    def test_every_command_with_a_graph_rejects_an_invalid_one(self):
        path = self.write("bad.json", graph({"stage": "rnge"}))
        for command in (["run"], ["explain"], ["bench", "--seconds", "0.1"], ["replay", "--at", "range:1"]):
            self.assert_refused(stoker(*command, path), "no stage named 'rnge'")
            self.assert_refused(stoker(*command, self.folder / "nowhere"), "nowhere")

    def test_a_graph_can_be_read_from_a_pipe(self):
        os.mkfifo(self.folder / "pipe")
        writer = os.fork()
        if writer == 0:
            (self.folder / "pipe").write_text(graph(numbers(2)))
            os._exit(0)
        result = stoker("run", self.folder / "pipe")
        os.waitpid(writer, 0)
        self.assertEqual(result.elements, [0, 1])


class Examples(TestCase):
    """Every graph in examples/graphs runs, can be explained, and is described in the README."""

    def test_every_example_runs(self):
        graphs = sorted((ROOT / "examples/graphs").glob("*.json"))
        self.assertGreater(len(graphs), 4)
        described = (ROOT / "examples/graphs/README.md").read_text()
        for path in graphs:
            with self.subTest(path.name):
                result = stoker("run", path, cwd=ROOT)
                self.assertEqual(result.status, FINE, result.errors)
                self.assertGreater(len(result.elements), 3)
                self.assertEqual(stoker("explain", path, cwd=ROOT).status, FINE)
                self.assertIn(f"`{path.name}`", described)

    def test_examples_print_what_the_readme_shows(self):
        def elements(name):
            return stoker("run", ROOT / "examples/graphs" / name, cwd=ROOT).elements

        self.assertEqual(sorted(sum(elements("hello.json"), [])), list(range(10)))
        self.assertEqual(elements("nested.json")[:4], [[1, 0], [2, 0], [2, 1], [3, 0]])
        self.assertEqual(elements("shared.json"), [{"now": i, "next": i + 1} for i in range(5)])
        self.assertEqual(elements("lines_of_files.json")[1], [0, "Coal comes by rail,"])
        self.assertEqual(sum(map(len, elements("bad_elements.json"))), 49)


if __name__ == "__main__":
    unittest.main()
