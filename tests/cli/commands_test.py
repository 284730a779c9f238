"""The command line, the help, and the commands without a test file of their own."""

import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from command import BAD_DATA, DIVIDE_BY_MOD_7, FINE, STOKER, WRONG_USE, TestCase
from command import batch, filtered, graph, mapped, numbers, op, stoker

COMMANDS = ["run", "explain", "bench", "replay", "stages", "pack", "index", "verify", "inspect", "demo", "completion", "help"]


class CommandLine(TestCase):
    def test_version_prints_the_version(self):
        result = stoker("--version")
        self.assertEqual(result.status, FINE)
        self.assertRegex(result.text, r"^stoker \d+\.\d+\.\d+\n$")

    def test_help_lists_commands_exit_codes_and_environment_variables(self):
        result = stoker("--help")
        self.assertEqual((result.status, result.errors), (FINE, ""))
        for command in COMMANDS:
            self.assertRegex(result.text, rf"\n  {command} ")
        for word in ("Exit codes", "stoker run g.json", "'-'", "--workers", "--memory", "NO_COLOR"):
            self.assertIn(word, result.text)
        self.assertEqual(stoker("help").text, result.text)

    def test_help_of_every_command_has_examples(self):
        for command in COMMANDS:
            result = stoker(command, "--help")
            self.assertEqual(result.status, FINE)
            self.assertIn(f"Usage: stoker {command}", result.text)
            self.assertRegex(result.text, rf"Examples?:\n(.|\n)*stoker (--workers 0 )?{command}")
            self.assertNotIn("{false}", result.text)
            self.assertEqual(stoker("help", command).text, result.text)

    def test_without_a_command_the_help_is_printed_as_an_error(self):
        result = stoker()
        self.assertEqual((result.status, result.text), (WRONG_USE, ""))
        self.assertIn("Usage: stoker", result.errors)

    def test_errors_for_mistyped_commands_and_options_suggest_the_nearest(self):
        self.assert_refused(stoker("rnu", "g.json"), "no command named 'rnu'; did you mean 'run'?")
        self.assert_refused(stoker("help", "bnch"), "no command named 'bnch'; did you mean 'bench'?")
        self.assert_refused(stoker("run", "g.json", "--limt", "3"), "no option '--limt'; did you mean '--limit'?")
        self.assert_refused(stoker("run", "g.json", "--worker=3"), "did you mean '--workers'?")
        self.assert_refused(stoker("quux"), "no command named 'quux'", "stoker help")

    def test_errors_name_missing_and_invalid_arguments(self):
        self.assert_refused(stoker("run"), "GRAPH is required")
        self.assert_refused(stoker("replay", "g.json"), "--at is required")
        self.assert_refused(stoker("run", "a", "b"), "'b'")
        self.assert_refused(stoker("run", "-", "--limit", "-1"), "--limit")
        self.assert_refused(stoker("run", "-", "--limit", "many"), "--limit")
        self.assert_refused(stoker("run", "-", "--limit", "9" * 20), "--limit", "does not fit int64")
        self.assert_refused(stoker("pack", "a", "b", "--seed", "9" * 20), "--seed", "does not fit int64")
        self.assert_refused(stoker("pack", "a", "b", "--seed", "-" + "9" * 20), "--seed", "does not fit int64")
        self.assert_refused(stoker("run", "-", "--print", "xml"), "--print", "json")
        self.assert_refused(stoker("run", "-", "--on-error", "ignore"), "--on-error", "raise")
        self.assert_refused(stoker("bench", "-", "--seconds", "0"), "--seconds")
        self.assert_refused(stoker("bench", "-", "--seconds", "nan"), "--seconds", "expected a number")
        self.assert_refused(stoker("demo", "--seconds", "nan"), "--seconds", "expected a number")
        self.assert_refused(stoker("run", "-", "--workers", "-2"), "--workers")

    def test_environment_variables_accept_the_values_of_the_options(self):
        def run(**variables):
            return stoker("explain", "-", "--json", stdin=graph(numbers(2)), env=variables)

        for text, found in (("64M", 64 << 20), ("100000", 100000), ("1.5GiB", 3 << 29), ("", None)):
            result = run(STOKER_MEMORY=text)
            self.assertEqual(result.status, FINE, result.errors)
            if found:
                self.assertEqual(json.loads(result.text)["memory_bytes"], found)
        for text in ("0", "3", "-1", ""):
            self.assertEqual(run(STOKER_WORKERS=text).status, FINE)

    def test_errors_name_an_invalid_environment_variable_and_its_value(self):
        for name, values in {
            "STOKER_MEMORY": ("64Q", "x", "-1", "0", "64M "),
            "STOKER_WORKERS": ("4x", "-2", "x", "5000", "1.5"),
            "STOKER_MAP": ("off", "2"),
        }.items():
            for value in values:
                result = stoker("run", "-", stdin=graph(numbers(2)), env={name: value})
                self.assert_refused(result, name, f"'{value}'", "expected")

    def test_minus_one_worker_is_accepted(self):
        for workers in ("-1", "0", "2"):
            self.assertEqual(stoker(f"--workers={workers}", "run", "-", stdin=graph(numbers(2))).lines, ["0", "1"])

    def test_memory_accepts_suffixes(self):
        for memory in ("100000", "64K", "64M", "2g", "1.5GB", "1TiB"):
            self.assertEqual(stoker("--memory", memory, "run", "-", stdin=graph(numbers(2))).status, FINE, memory)
        for memory in ("", "x", "12Q", "-5", "0", "5MM", "1e30", "nan"):
            if memory:
                self.assert_refused(stoker(f"--memory={memory}", "run", "-", stdin=graph(numbers(2))), "--memory")


class Stages(TestCase):
    def test_json_lists_all_stages_with_parameters(self):
        table = json.loads(stoker("stages", "--json").text)
        by_name = {stage["name"]: stage for stage in table["stages"]}
        self.assertEqual(by_name["range"]["kind"], "source")
        self.assertEqual(by_name["batch"]["kind"], "transform")
        for entry in table["stages"] + table["operations"]:
            self.assertTrue(entry["doc"], entry["name"])
            for parameter in entry["parameters"]:
                self.assertTrue(parameter["type"])
                self.assertTrue(parameter["doc"], (entry["name"], parameter["name"]))
                self.assertEqual("default" in parameter, not parameter["required"])
        size, remainder = by_name["batch"]["parameters"][:2]
        self.assertEqual((size["name"], size["type"], size["required"]), ("batch_size", "int64", True))
        self.assertEqual((remainder["name"], remainder["default"]), ("drop_remainder", False))
        self.assertIn("add", [operation["name"] for operation in table["operations"]])

    def test_text_lists_all_stages(self):
        text = stoker("stages").text
        table = json.loads(stoker("stages", "--json").text)
        for entry in table["stages"] + table["operations"]:
            self.assertRegex(text, rf"\n  {entry['name']}  ")
            self.assertIn(entry["doc"], text)
        self.assertNotIn("\x1b", text)

    def test_a_name_prints_one_stage(self):
        text = stoker("stages", "shuffle").text
        self.assertIn("buffer_size", text)
        self.assertNotIn("batch_size", text)
        self.assertEqual([o["name"] for o in json.loads(stoker("stages", "--json", "add").text)["operations"]], ["add"])

    def test_the_error_for_an_unknown_stage_suggests_the_nearest(self):
        self.assert_refused(stoker("stages", "shufle"), "'shufle'", "did you mean 'shuffle'?")

    def test_colors_only_on_a_terminal_without_no_color(self):
        self.assertIn(b"\x1b[1m", self.on_terminal("stages", "batch"))
        self.assertNotIn(b"\x1b", self.on_terminal("stages", "batch", env={"NO_COLOR": "1"}))
        self.assertNotIn(b"\x1b", self.on_terminal("stages", "batch", env={"TERM": "dumb"}))

    def on_terminal(self, *arguments, env=None):
        try:
            ours, theirs = pty.openpty()
        except OSError as error:
            self.skipTest(f"no pseudoterminal available: {error}")
        environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
        environment.update({"TERM": "xterm", **(env or {})})
        process = subprocess.Popen([STOKER, *arguments], stdout=theirs, stdin=theirs, env=environment)
        os.close(theirs)
        text = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # Linux returns EIO after the other side has closed
                break
            if not piece:
                break
            text += piece
        os.close(ours)
        process.wait(60)
        return text


class Explain(TestCase):
    def test_text(self):
        result = stoker("explain", "-", stdin=graph(numbers(100), mapped(op("add", "x", 1)), {"stage": "shuffle"}, batch(8)))
        self.assertEqual(result.status, FINE)
        for word in ("segment 1", "native", "x + 1", "seeds", "drawn", "length    13 elements", "int64"):
            self.assertIn(word, result.text)

    def test_json(self):
        def length(*stages):
            return json.loads(stoker("explain", "-", "--json", stdin=graph(*stages)).text)["length"]

        self.assertEqual(length(numbers(100), batch(8)), 13)
        self.assertEqual(length({"stage": "counter"}), "infinite")
        self.assertEqual(length(numbers(3), {"stage": "filter", "predicate": {"args": ["x"], "value": True}}), "unknown")

    def test_explain_does_not_run_the_graph(self):
        result = stoker("explain", "-", stdin=graph(numbers(3), mapped(op("floor_divide", "x", 0))))
        self.assertEqual((result.status, result.errors), (FINE, ""))


class Bench(TestCase):
    def test_json_has_rates_times_and_shares(self):
        stages = graph(numbers(1000), mapped(op("add", "x", 1)), batch(10))
        figures = json.loads(stoker("bench", "-", "--seconds", "0.3", "--json", stdin=stages).text)
        for key in ("elements_per_second", "bytes_per_second", "cpu_seconds_per_element", "peak_memory_bytes", "budget_bytes"):
            self.assertGreater(figures[key], 0, key)
        self.assertGreaterEqual(figures["seconds"], 0.3)
        self.assertGreater(figures["epochs"], 1)
        self.assertGreaterEqual(figures["elements"], 100 * figures["epochs"])
        self.assertTrue(0 <= figures["wait_share"] <= 1, figures["wait_share"])
        self.assertIn("map", [stage["stage"] for stage in figures["stages"]])
        self.assertAlmostEqual(sum(stage["share"] for stage in figures["stages"]), 1, places=6)

    def test_text(self):
        result = stoker("bench", "-", "--seconds", "0.1", "--workers", "1", stdin=graph(numbers(1000), batch(10)))
        self.assertEqual((result.status, result.errors), (FINE, ""))
        for word in ("elements", "bytes", "CPU", "waiting", "memory", "workers   1", "share"):
            self.assertIn(word, result.text)

    def test_an_infinite_graph_is_measured_for_the_given_time(self):
        self.assertEqual(stoker("bench", "-", "--seconds", "0.1", stdin=graph({"stage": "counter"})).status, FINE)

    def test_ctrl_c_prints_the_stages_of_the_last_epoch(self):
        path = self.write("g.json", graph(numbers(1), batch(1)))  # many of the interrupts arrive between two epochs
        for _ in range(10):
            process = subprocess.Popen([STOKER, "bench", path, "--json"], stdout=subprocess.PIPE,
                                       preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
            self.assertTrue(self.wait_until_it_runs(process))
            process.send_signal(signal.SIGINT)
            figures = json.loads(process.communicate(timeout=60)[0])
            self.assertEqual(process.returncode, 130)
            self.assertGreater(figures["workers"], 0)
            self.assertEqual([stage["stage"] for stage in figures["stages"]], ["range", "batch"])

    def wait_until_it_runs(self, process):
        """Wait until the process has used CPU time of 0.2 s; return false if it has ended."""
        used = 0
        while process.poll() is None and used < os.sysconf("SC_CLK_TCK") / 5:
            times = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
            used = int(times[11]) + int(times[12])
            os.sched_yield()
        return process.poll() is None

    def test_failures_are_counted_and_the_first_is_printed(self):
        result = stoker("bench", "-", "--seconds", "0.1", "--json", stdin=graph(numbers(100), DIVIDE_BY_MOD_7))
        self.assertEqual(result.status, BAD_DATA)
        figures = json.loads(result.text)
        self.assertGreaterEqual(figures["failures"], 1)
        self.assertEqual(figures["first_failure"]["origin"], "range:0")

    def test_an_empty_graph_is_an_error(self):
        self.assert_refused(stoker("bench", "-", stdin=graph(numbers(0))), "no element", status=BAD_DATA)


class Replay(TestCase):
    STAGES = graph(numbers(50, name="train"), {"stage": "shuffle"}, DIVIDE_BY_MOD_7, batch(10))

    def replay(self, at, *arguments):
        return stoker("replay", "-", "--at", at, *arguments, stdin=self.STAGES)

    def test_replay_prints_the_same_element(self):
        self.assertEqual(self.replay("train:3").text, "33\n")
        self.assertEqual(json.loads(self.replay("train:3", "--json").text)["element"], 33)

    def test_replay_of_a_failed_element_prints_its_error(self):
        result = self.replay("train:21")
        self.assert_refused(result, "division by zero", "train:21", status=BAD_DATA)
        told = self.replay("train:21", "--json")
        self.assertEqual(told.status, BAD_DATA)
        self.assertEqual(json.loads(told.text)["error"]["origin"], "train:21")

    def test_invalid_origins_are_rejected(self):
        self.assert_refused(self.replay("3"), "source:position")
        self.assert_refused(self.replay("train:x"), "source:position")
        self.assert_refused(self.replay("train:-1"), "source:position")
        self.assert_refused(self.replay("test:3"), "no source named 'test'", "train")
        self.assert_refused(self.replay("train:50"), "50")

    def test_replay_draws_the_same_random_numbers_without_a_seed(self):
        noisy = mapped(op("random_brightness", op("cast", "x", dtype="float32"), max_delta=0.4))
        stages = graph(numbers(50, name="train"), {"stage": "shuffle"}, noisy, filtered(op("greater", "x", 40.5)), noisy)
        lines = stoker("run", "-", stdin=stages).lines
        again = [stoker("replay", "-", "--at", f"train:{i}", stdin=stages).text.strip() for i in range(41, 50)]
        self.assertEqual(sorted(again), sorted(lines))

    def test_replay_finds_files_of_a_shuffled_list_by_position(self):
        with tempfile.TemporaryDirectory() as folder:
            for i in range(9):
                open(os.path.join(folder, f"f{i}"), "w").close()
            for seed in (None, 5):
                stages = graph({"stage": "list_files", "file_pattern": [folder + "/f*"], "seed": seed})
                again = [stoker("replay", "-", "--at", f"list_files:{i}", stdin=stages).text for i in range(9)]
                self.assertEqual([json.loads(one) for one in again], [f"{folder}/f{i}" for i in range(9)])

    def test_the_origin_that_run_prints_can_be_replayed(self):
        errors = stoker("run", "-", stdin=self.STAGES).errors
        origin = re.search(r"element +(\S+)", errors)[1]
        self.assert_refused(self.replay(origin), "division by zero", status=BAD_DATA)


class Demo(TestCase):
    def test_demo_prints_the_speed_a_failure_and_a_checkpoint(self):
        result = stoker("demo", "--seconds", "0.3", cwd=self.folder)
        self.assertEqual((result.status, result.errors), (FINE, ""))
        for word in ("images in", "share", "segment 1", "range:421", "more batches, identical to", "What to try next"):
            self.assertIn(word, result.text)
        self.assertNotIn("\r", result.text)
        self.assertNotIn("demo.cc", result.text)
        self.assertEqual(os.listdir(self.folder), [])

    def test_demo_prints_one_second_in_the_singular(self):
        self.assertIn("It runs for 1 second, ", stoker("demo", "--seconds", "1").text)


class Completion(TestCase):
    def test_each_shell_parses_its_script(self):
        for shell in ("bash", "zsh", "fish"):
            script = stoker("completion", shell)
            self.assertEqual(script.status, FINE)
            for word in COMMANDS + ["shuffle", "reduce_sum"]:
                self.assertIn(word, script.text)
            if shutil.which(shell):
                done = subprocess.run([shell, "-n", self.write("script", script.text)], capture_output=True, timeout=60)
                self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_bash_completes_commands_options_and_values(self):
        script = self.write("script", stoker("completion", "bash").text)

        def complete(*words):
            line = " ".join(f'"{word}"' for word in words)
            shell = f'source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _stoker; echo "${{COMPREPLY[@]}}"'
            return subprocess.run(["bash", "-c", shell], capture_output=True, text=True, timeout=60).stdout.split()

        self.assertEqual(complete("stoker", "be"), ["bench"])
        self.assertEqual(complete("stoker", "run", "g.json", "--li"), ["--limit"])
        self.assertEqual(complete("stoker", "run", "g.json", "--on-error", ""), ["raise", "skip"])
        self.assertEqual(complete("stoker", "stages", "shu"), ["shuffle"])
        self.assertEqual(complete("stoker", "--workers", "2", "completion", "z"), ["zsh"])

    def test_other_shells_are_rejected(self):
        self.assert_refused(stoker("completion", "tcsh"), "tcsh", "bash")


if __name__ == "__main__":
    unittest.main()
