"""`stoker run`: what it prints, when it stops, and its exit codes."""

import gzip
import os
import pathlib
import re
import signal
import subprocess
import time
import unittest

from command import BAD_DATA, DIVIDE_BY_MOD_7, FINE, ODD, STOKER, WRONG_USE, TestCase
from command import batch, filtered, graph, mapped, numbers, op, stoker


class Printing(TestCase):
    def test_each_element_is_a_line_with_a_value_a_list_or_an_object(self):
        self.assertEqual(self.run_graph(numbers(3)).text, "0\n1\n2\n")
        self.assertEqual(self.run_graph(numbers(5), batch(2)).text, "[0,1]\n[2,3]\n[4]\n")
        self.assertEqual(self.run_graph(numbers(1), mapped({"tuple": ["x", True]})).text, "[0,true]\n")
        pair = mapped({"dict": {"b": "x", "a": {"dict": {"c": op("add", "x", 1)}}}})
        self.assertEqual(self.run_graph(numbers(1), pair).text, '{"b":0,"a":{"c":1}}\n')

    def test_floats_have_as_many_digits_as_identify_them(self):
        tenth = op("divide", op("cast", "x", dtype="float32"), 10)
        self.assertEqual(self.run_graph(numbers(2), mapped(tenth)).text, "0.0\n0.1\n")
        third = op("divide", "x", 3)
        self.assertEqual(self.run_graph(numbers(2), mapped(third)).text, "0.0\n0.3333333333333333\n")
        half = op("cast", op("divide", "x", 10), dtype="float16")
        self.assertEqual(self.run_graph(numbers(3), mapped(half)).elements[0], 0.0)

    def test_non_finite_numbers_are_strings(self):
        value = op("divide", op("subtract", op("cast", "x", dtype="float64"), 1), 0)
        self.assertEqual(self.elements_of(numbers(3), mapped(value)), ["-inf", "nan", "inf"])

    def test_large_integers_keep_every_digit(self):
        top = {"const": ["18446744073709551615"], "dtype": "uint64"}
        self.assertEqual(self.run_graph(numbers(1), mapped(top)).text, "[18446744073709551615]\n")
        self.assertEqual(self.elements_of({"stage": "range", "start": 2**63 - 2, "stop": 2**63 - 1}), [2**63 - 2])

    def test_utf_8_is_text_and_other_bytes_are_base64(self):
        self.write("lines", 'caf\u00e9 "quoted" \\ tab\there\x01\n'.encode() + b"\xff\x00\n")
        text, other = self.elements_of({"stage": "text_lines", "filenames": "lines"})
        self.assertEqual(text, 'caf\u00e9 "quoted" \\ tab\there\x01')
        self.assertEqual(other, {"base64": "/wA="})

    def test_print_none_prints_nothing(self):
        result = self.run_graph(numbers(1000), arguments=["--print", "none"])
        self.assertEqual((result.status, result.text, result.errors), (FINE, "", ""))

    def test_the_output_is_the_same_for_any_number_of_workers_and_any_memory(self):
        stages = [numbers(500), ODD, {"stage": "shuffle", "buffer_size": 20, "seed": 5}, batch(7)]
        reference = self.elements_of(*stages, arguments=["--workers", "0"])
        for arguments in (["--workers", "1"], ["--workers", "4"], ["--memory", "64K"], ["--memory=1.5GiB"]):
            self.assertEqual(self.elements_of(*stages, arguments=arguments), reference, arguments)


class Stopping(TestCase):
    def test_run_stops_after_the_limit(self):
        self.assertEqual(self.elements_of(numbers(10), arguments=["--limit", "3"]), [0, 1, 2])
        self.assertEqual(self.elements_of(numbers(2), arguments=["--limit", "3"]), [0, 1])
        self.assertEqual(self.elements_of(numbers(10), arguments=["--limit", "0"]), [])
        self.assertEqual(self.elements_of({"stage": "counter"}, arguments=["--limit", "2"]), [0, 1])

    def test_run_stops_quietly_when_the_reader_exits(self):
        path = self.write("g.json", graph({"stage": "counter"}))
        shell = f'"{STOKER}" run "{path}" | head -n 2; echo ${{PIPESTATUS[0]}}'
        done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.stdout, done.stderr), ("0\n1\n0\n", ""))

    def test_output_that_cannot_be_written_is_an_error(self):
        path = self.write("g.json", graph(numbers(5)))
        with open("/dev/full", "wb") as full:
            done = subprocess.run([STOKER, "run", path], stdout=full, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(done.returncode, BAD_DATA)
        self.assertIn(b"cannot write the output", done.stderr)

    def wait_until_under_way(self, process, ticks):
        """Wait until the command handles SIGINT and has used this many ticks of CPU time."""
        listens = worked = False
        while not (listens and worked):
            self.assertIsNone(process.poll(), "the command ended too early")
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            listens = int(re.search(r"SigCgt:\s*(\w+)", status)[1], 16) >> (signal.SIGINT - 1) & 1
            times = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
            worked = int(times[11]) + int(times[12]) >= ticks
            os.sched_yield()

    def interrupt(self, *arguments, ticks=0):
        process = subprocess.Popen(
            [STOKER, *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=self.folder,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        self.addCleanup(process.stderr.close)
        self.wait_until_under_way(process, ticks)
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.wait(10)
        return process.returncode, time.monotonic() - begun

    def test_ctrl_c_stops_the_run_and_saves_the_state(self):
        path = self.write("g.json", graph({"stage": "counter"}))
        status, seconds = self.interrupt("run", str(path), "--print", "none", "--save", "state", ticks=20)
        self.assertEqual(status, 130)
        self.assertLess(seconds, 5)
        rest = stoker("run", path, "--restore", self.folder / "state", "--limit", "2")
        self.assertGreater(rest.elements[0], 0)

    def test_ctrl_c_stops_a_run_that_waits_for_a_file(self):
        os.mkfifo(self.folder / "pipe")
        path = self.write("g.json", graph({"stage": "text_lines", "filenames": "pipe"}))
        keep_open = os.open(self.folder / "pipe", os.O_RDWR)
        self.addCleanup(os.close, keep_open)
        status, seconds = self.interrupt("run", str(path))
        self.assertEqual(status, 130)
        self.assertLess(seconds, 5)


class Failures(TestCase):
    def test_raise_stops_at_the_first_failed_element_and_names_it(self):
        result = self.run_graph(numbers(20), filtered(op("greater", "x", 3)), DIVIDE_BY_MOD_7)
        self.assertEqual(result.elements, [25, 20, 16])
        self.assertEqual(result.status, BAD_DATA)
        self.assertIn("map, floor_divide: integer division by zero [InvalidArgument]", result.errors)
        self.assertIn("range:7", result.errors)
        self.assertIn("--on-error skip", result.errors)

    def test_skip_continues_and_lists_the_skipped_elements(self):
        result = self.run_graph(numbers(20), DIVIDE_BY_MOD_7, batch(5), arguments=["--on-error", "skip"])
        self.assertEqual(result.status, FINE)
        self.assertEqual(result.elements, [[100, 50, 33, 25, 20], [16, 100, 50, 33, 25], [20, 16, 100, 50, 33], [25, 20]])
        self.assertIn("3 elements were skipped:", result.errors)
        for origin in ("range:0", "range:7", "range:14"):
            self.assertIn(origin, result.errors)

    def test_the_same_elements_are_skipped_for_any_number_of_workers(self):
        arguments = ["--on-error", "skip", "--workers"]
        stages = [numbers(60), DIVIDE_BY_MOD_7, batch(4)]
        reference = self.run_graph(*stages, arguments=[*arguments, "0"])
        for workers in ("1", "2", "3") * 5:
            result = self.run_graph(*stages, arguments=[*arguments, workers])
            self.assertEqual((result.text, result.errors), (reference.text, reference.errors))

    def test_on_error_overrides_the_policy_of_the_graph(self):
        stages = [numbers(8), DIVIDE_BY_MOD_7, {"stage": "on_error", "policy": "skip"}]
        self.assertEqual(self.run_graph(*stages).status, FINE)
        self.assertEqual(self.run_graph(*stages, arguments=["--on-error", "raise"]).status, BAD_DATA)

    def test_more_failures_than_the_allowed_share_are_an_error(self):
        stages = [numbers(700), DIVIDE_BY_MOD_7, {"stage": "on_error", "policy": "skip", "at_most": 0.01}]
        result = self.run_graph(*stages)
        self.assertEqual(result.status, BAD_DATA)
        self.assertIn("share of 0.01", result.errors)

    def test_only_some_of_many_skipped_elements_are_listed(self):
        result = self.run_graph(numbers(700), DIVIDE_BY_MOD_7, arguments=["--on-error", "skip", "--print", "none"])
        self.assertIn("100 elements were skipped:", result.errors)
        self.assertIn("and 80 more", result.errors)

    def test_a_missing_file_is_bad_data(self):
        result = self.run_graph({"stage": "text_lines", "filenames": "nowhere"})
        self.assert_refused(result, "nowhere", "NotFound", status=BAD_DATA)

    def test_a_cut_file_is_bad_data_after_its_complete_lines(self):
        whole = gzip.compress(b"".join(b"line %d\n" % (i * i % 7919) for i in range(100_000)))
        self.write("cut.gz", whole[: len(whole) // 2])
        result = self.run_graph({"stage": "text_lines", "filenames": "cut.gz", "compression_type": "GZIP"})
        self.assertEqual(result.status, BAD_DATA)
        self.assertGreater(len(result.lines), 1000)
        self.assertIn("ends too early", result.errors)
        self.assertIn("DataLoss", result.errors)

    def test_a_path_through_a_file_is_bad_data(self):
        self.write("file", "x\n")
        result = self.run_graph({"stage": "text_lines", "filenames": "file/below"})
        self.assert_refused(result, "file/below", "Not a directory", status=BAD_DATA)

    def test_a_pattern_without_matches_is_an_invalid_graph(self):
        result = self.run_graph({"stage": "list_files", "file_pattern": "nothing*"})
        self.assert_refused(result, "no file matches 'nothing*'", status=WRONG_USE)

    def test_control_characters_do_not_reach_the_terminal(self):
        result = self.run_graph({"stage": "text_lines", "filenames": "evil\u001b[31m"})
        self.assertEqual(result.status, BAD_DATA)
        self.assertNotIn("\x1b", result.errors)


if __name__ == "__main__":
    unittest.main()
