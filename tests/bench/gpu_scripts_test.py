#!/usr/bin/env python3
"""The table of bench/gpu from results as the programs write them, the times of peer.py, and the arguments of gpu.sh."""
import json
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/gpu"))
sys.dont_write_bytecode = True
import chapter
import peer
import table

STEPS = [{"part": "device", "case": "NVIDIA H200, sm_90", "blocks": 132},
         {"part": "steps", "case": "W1 b1", "mode": "resident", "us": 5.0, "least": 4.9, "n": 320},
         {"part": "steps", "case": "W1 b1", "mode": "one run a launch", "us": 12.0, "least": 11.0, "n": 320},
         {"part": "steps", "case": "W1 b1", "mode": "hooks not due", "us": 5.1, "least": 5.0, "n": 320},
         {"part": "steps", "case": "W1 b32", "mode": "resident", "us": 16.0, "least": 15.0, "n": 320},
         {"part": "steps", "case": "W2 b32", "mode": "resident", "us": 50.0, "least": 50.0, "n": 32},
         {"part": "steps", "case": "W4 b8", "error": "no memory"}]
PEERS = [{"part": "peers", "case": "W1 b1", "mode": "torch eager", "us": 90.0},
         {"part": "peers", "case": "W1 b1", "mode": "jax scan", "us": 14.0},
         {"part": "peers", "case": "W2 b32", "mode": "torch graph", "us": 60.0},
         {"part": "peers", "case": "W5", "mode": "jax step", "error": "ValueError: x"}]
KERNELS = [{"part": "peaks", "case": "fp32, nominal", "tflops": 60.0},
           {"part": "peaks", "case": "copy by a kernel", "gb_per_s": 4000.0},
           {"part": "peaks", "case": "copy by the driver", "gb_per_s": 3000.0},
           {"part": "kernels", "case": "x + 1", "kind": "elementwise", "us": 10.0, "tflops": 0, "gb_per_s": 3600.0},
           {"part": "kernels", "case": "gelu", "kind": "elementwise", "us": 10.0, "tflops": 0, "gb_per_s": 2000.0},
           {"part": "kernels", "case": "product 8", "kind": "large product, fp32", "us": 9.0, "tflops": 45.0},
           {"part": "kernels", "case": "product 9", "kind": "large product, bf16", "us": 9.0, "tflops": 300.0},
           {"part": "kernels", "case": "sum of all", "kind": "memory", "us": 10.0, "tflops": 0, "gb_per_s": 1000.0}]
CTEST = """
  1/3 Test #11: executor.on_gpu.conv_test.Conv.Forward ...   Passed    0.90 sec
  2/3 Test #12: cuda.on_gpu.device_runs_test.DeviceRuns.Sizes .....***Failed    1.20 sec
  3/3 Test #13: executor.on_gpu.top_k_test.TopK.Rows ............***Timeout  60.01 sec
"""


def part_line(part, state, seconds=1):
    return json.dumps({"part": "parts", "case": part, "state": state, "seconds": seconds})


def results_of(*lines):
    return table.Results([line for group in lines for line in group])


def row(rows, name):
    return next(r for r in rows if r["name"].startswith(name))


class Targets(unittest.TestCase):
    def setUp(self):
        self.results = results_of(STEPS, PEERS, KERNELS)
        self.rows = table.targets_of(self.results)

    def test_the_best_mode_of_a_step_counts(self):
        of = row(self.rows, "W1 b1, a training step")
        self.assertEqual((of["measured"], of["note"], of["met"]), (5.0, "resident", True))
        self.assertAlmostEqual(of["ratio"], 5 / 6)

    def test_a_missed_and_an_unmeasured_step_are_marked(self):
        self.assertIs(row(self.rows, "W1 b32, a training step")["met"], False)
        self.assertIsNone(row(self.rows, "W5, a training step")["met"])
        text = table.targets_table(self.rows)
        self.assertIn("| W1 b32, a training step | 8 us | 16 us | 2 | **MISSED** | resident |", text)
        self.assertIn("| W5, a training step | 6 us | - | - | not measured | - |", text)

    def test_small_steps_are_compared_with_three_times_the_best_peer(self):
        of = row(self.rows, "W1 b1, times faster")
        self.assertAlmostEqual(of["measured"], 2.8)
        self.assertEqual((of["target"], of["met"], of["note"]), (3.0, False, "jax scan: 14 us"))
        self.assertEqual(row(self.rows, "W2 b32, times faster")["met"], True)

    def test_hooks_that_are_not_due(self):
        self.assertEqual(row(self.rows, "W1 b1, hooks")["met"], True)
        self.assertAlmostEqual(row(self.rows, "W1 b1, hooks")["measured"], 1.02)

    def test_shares_are_of_the_larger_copy_and_of_the_nominal_peak(self):
        self.assertAlmostEqual(row(self.rows, "x + 1")["measured"], 0.9)
        self.assertEqual([row(self.rows, n)["met"] for n in ("x + 1", "gelu", "product 8")], [True, False, True])
        self.assertIsNone(row(self.rows, "product 9")["met"], "this GPU's peak is not known")
        self.assertFalse([r for r in self.rows if r["name"].startswith("sum")], "it has no target")


class Document(unittest.TestCase):
    def test_every_part_is_in_it_also_if_the_others_are_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            self.assertEqual(self.made_of(folder), 0)
            self.assertIn("# crochet on no GPU", (folder / "gpu.md").read_text())
            (folder / "steps.jsonl").write_text("\n".join(map(json.dumps, STEPS)) + '\n{"part": "ste')
            (folder / "kernels.jsonl").write_text("\n".join(map(json.dumps, KERNELS)))
            (folder / "part.peers.jsonl").write_text(part_line("peers", "stopped after 115 s", 115))
            self.assertEqual(self.made_of(folder), 1, "a step threw")
            text = (folder / "gpu.md").read_text()
            self.assertIn("# crochet on NVIDIA H200, sm_90", text)
            self.assertIn("| peers | stopped after 115 s | 115 |", text)
            self.assertIn("- steps, W4 b8: no memory", text)
            self.assertNotIn("## Tests", text)
            record = json.loads((folder / "gpu.json").read_text())
            self.assertEqual(len(record["results"]), len(STEPS) + len(KERNELS) + 1)

    def test_a_failed_test_and_an_error_of_a_sanitizer_are_named_and_change_the_status(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "tests.log").write_text(CTEST)
            self.assertEqual(self.made_of(folder), 1)
            text = (folder / "gpu.md").read_text()
            self.assertIn("1 passed, 1 failed, 1 timeout.", text)
            self.assertIn("- Failed: cuda.on_gpu.device_runs_test.DeviceRuns.Sizes", text)
            (folder / "tests.log").unlink()
            log = folder / "sanitizer.racecheck.kernels_test.log"
            log.write_text("========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)\n")
            self.assertEqual(self.made_of(folder), 1)
            log.write_text("========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n")
            self.assertEqual(self.made_of(folder), 0)

    def test_a_tool_that_was_stopped_with_its_part_is_no_error_if_another_was_not(self):
        begun = "========= COMPUTE-SANITIZER\n"
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "sanitizer.racecheck.kernels_test.log").write_text(begun)
            self.assertEqual(self.made_of(folder), 1, "it ended without a summary")
            (folder / "part.sanitizer.jsonl").write_text(part_line("sanitizer", "stopped after 50 s"))
            self.assertEqual(self.made_of(folder), 1, "none has a summary")
            log = folder / "sanitizer.memcheck.kernels_test.log"
            log.write_text("========= ERROR SUMMARY: 0 errors\n")
            self.assertEqual(self.made_of(folder), 0)
            self.assertIn("| racecheck, kernels_test | stopped |", (folder / "gpu.md").read_text())
            log.with_name("sanitizer.initcheck.kernels_test.log").write_text(
                begun + "========= Uninitialized __global__ memory read of size 4 bytes\n=========     at f in f.cu\n")
            self.assertEqual(self.made_of(folder), 1, "it had an error when it was stopped")

    def test_a_part_that_failed_or_did_not_run_what_it_should_changes_the_status(self):
        for part, state, status in (
                ("build", "failed, exit status 1", 1), ("kernels", "failed: gpu_kernels does not compile", 1),
                ("peers", "failed, exit status 1", 1), ("sanitizer", "left out: there is no compute-sanitizer here", 0),
                ("costs", "left out: they need a driver", 0), ("build", "stopped after 170 s", 1),
                ("tests", "stopped after 120 s", 1), ("tests", "complete", 1), ("steps", "complete", 1),
                ("kernels", "stopped after 50 s", 1), ("peers", "stopped after 115 s", 0),
                ("sanitizer", "complete", 1), ("kernels", "not started, the time is over", 1),
                ("build", "complete", 0)):
            with self.subTest(part=part, state=state), tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                (folder / "part.x.jsonl").write_text(part_line(part, state))
                self.assertEqual(self.made_of(folder), status)

    def test_parts_that_have_what_they_should_have_do_not(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for part, state in (("tests", "complete"), ("steps", "complete"), ("kernels", "stopped after 50 s")):
                (folder / f"part.{part}.jsonl").write_text(part_line(part, state))
            (folder / "tests.log").write_text(CTEST.splitlines()[1])
            (folder / "steps.jsonl").write_text("\n".join(map(json.dumps, STEPS[:-1])))
            (folder / "kernels.jsonl").write_text("\n".join(map(json.dumps, KERNELS)))
            self.assertEqual(self.made_of(folder), 0)
            (folder / "tests.log").write_text("No tests were found!!!\n")
            self.assertEqual(self.made_of(folder), 1)

    def test_a_step_and_a_kernel_that_throw_change_the_status_and_a_peer_does_not(self):
        for part, status in (("steps", 1), ("kernels", 1), ("costs", 1), ("peaks", 1), ("peers", 0)):
            with self.subTest(part=part), tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                line = {"part": part, "case": "W1 b1", "error": "an illegal memory access was encountered"}
                (folder / f"{part}.jsonl").write_text(json.dumps(line))
                self.assertEqual(self.made_of(folder), status)
                self.assertIn(f"- {part}, W1 b1: an illegal", (folder / "gpu.md").read_text())

    def test_a_step_that_does_not_train_is_named_and_changes_the_status(self):
        of = {"part": "steps", "case": "W1 b1", "mode": "resident", "us": 1.0, "n": 32, "first": 2.5}
        good = [of | {"last": 0.1}, of | {"case": "W5", "last": 2.5}, of | {"n": 1, "last": 2.5},
                of | {"mode": "rows of DeviceData", "last": 2.6}]
        for last, status in ((0.1, 0), (2.5, 1), (None, 1)):
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                lines = good + [of | {"case": "W1 b32", "last": last}]
                (folder / "steps.jsonl").write_text("\n".join(map(json.dumps, lines)))
                self.assertEqual(self.made_of(folder), status)
                text = f"- steps, W1 b32, resident: the loss went from 2.5 to {last}"
                self.assertEqual(text in (folder / "gpu.md").read_text(), status == 1)

    def made_of(self, folder):
        return subprocess.run([sys.executable, ROOT / "bench/gpu/table.py", folder], check=False).returncode


class Chapter(unittest.TestCase):
    def test_without_a_record_the_figures_are_marked_as_predictions(self):
        text = "\n".join(chapter.chapter(pathlib.Path("/no such file")))
        self.assertIn("Nothing of this has run on a GPU yet", text)
        self.assertIn("| W1 b1 | 6 | 0.2 | 14 | 12 | 10 | 40 to 150 |", text)

    def test_a_record_replaces_them(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "steps.jsonl").write_text("\n".join(map(json.dumps, STEPS + PEERS)))
            subprocess.run([sys.executable, ROOT / "bench/gpu/table.py", folder], check=False)
            text = "\n".join(chapter.chapter(folder / "gpu.json"))
        self.assertNotIn("predict", text)
        self.assertIn("Measured on NVIDIA H200, sm_90", text)
        self.assertIn("| W1 b1 | 5 | 12 | 5.1 |", text)

    def test_the_page_has_the_chapter(self):
        page = (ROOT / "docs/benchmarks.md").read_text()
        for part in chapter.chapter():
            self.assertIn(part, page)


class Peer(unittest.TestCase):
    def test_a_step_is_a_part_of_a_call(self):
        calls = []
        median, least, n = peer.measured(calls.append, 0, 100)
        self.assertEqual((calls, n), ([1, 1], 100), "one warm call and one that is measured")
        self.assertLessEqual(least, median)

    def test_a_mode_that_fails_is_a_line_and_the_others_go_on(self):
        lines, peer.report = [], lambda **values: lines.append(values)

        def broken(workload, batch):
            raise ValueError(f"{workload} of {batch}")
        chosen = types.SimpleNamespace(modes=None, filter="W1 b32", seconds=0)
        peer.race({"a": broken, "b": lambda w, b: (lambda n: None, 1), "c": lambda w, b: None}, chosen)
        self.assertEqual([line["mode"] for line in lines], ["a", "b"])
        self.assertEqual(lines[0]["error"], "ValueError: W1 of 32")
        self.assertIn("us", lines[1])


class Script(unittest.TestCase):
    def test_it_is_right_for_the_shell_and_refuses_unknown_parts(self):
        script = ROOT / "bench/gpu.sh"
        self.assertEqual(subprocess.run(["sh", "-n", script], check=False).returncode, 0)
        with tempfile.TemporaryDirectory() as folder:
            run = subprocess.run(["sh", script, "everything"], capture_output=True, text=True, check=False,
                                 env={"PATH": "/usr/bin:/bin", "CROCHET_GPU_BUILD": folder})
        self.assertEqual(run.returncode, 2)
        self.assertTrue(run.stderr.startswith("usage: sh bench/gpu.sh [--dry-run] [build|tests|"), run.stderr)

    def test_the_status_is_1_without_a_compiler_and_if_nothing_compiles(self):
        for compiler in ("no-such-compiler", "/bin/false"):
            with self.subTest(compiler=compiler), tempfile.TemporaryDirectory() as folder:
                variables = {"PATH": "/usr/local/bin:/usr/bin:/bin", "CXX": compiler, "CROCHET_GPU_BUILD": folder}
                run = subprocess.run(["sh", ROOT / "bench/gpu.sh"], capture_output=True, text=True, check=False,
                                     env=variables)
                self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
                self.assertIn("| build | failed: ", run.stdout)


if __name__ == "__main__":
    unittest.main()
