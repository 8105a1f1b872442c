#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Debug streams: GrpcDebugHook and TensorBoardDebugHook send, TensorFlow's EventListenerBaseServicer receives and
enables gated tensors. With CROCHET_JUDGES, a folder with judges that are not part of this project, its listener and its
check run, too."""
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys

import frame

try:
    import numpy as np
    from tensorflow.python.debug.lib import debug_data, grpc_debug_server
    from tensorflow.core.debug import debug_service_pb2
except ImportError as error:
    frame.skip(f"there is no TensorFlow ({error})")

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
JUDGES = os.environ.get("CROCHET_JUDGES")
LIMIT = 4096000  # bytes per chunk
EXACT = ["connect=60", "reply=60", "lockstep=60"]  # each run waits for the server's replies, as in the original


@contextlib.contextmanager
def port_of_nobody():
    """A port without a listener, reserved for the duration of the context."""
    with socket.socket() as here:
        here.bind(("127.0.0.1", 0))
        yield here.getsockname()[1]


def free_port():
    with socket.socket() as here:
        here.bind(("", 0))
        return here.getsockname()[1]


def big(run, size):
    return ((run + np.arange(size)) % 251).astype(np.uint8)


def statistics(text):
    """The streams' statistics in the output of the program. Other lines are reports."""
    return json.loads(next(line for line in text.splitlines() if line.startswith("{")))


class Server(grpc_debug_server.EventListenerBaseServicer):
    """The original's server. It keeps a list of streams, each with graphs, metadata, and tensors by watch key."""

    def __init__(self, breakpoints=()):
        self.streams, self.tracebacks, self.sources, self.on_metadata = [], [], [], lambda count: None
        server, answered = self, set(breakpoints)

        class Handler(grpc_debug_server.EventListenerBaseStreamHandler):
            def __init__(self):
                self.stream = {"graphs": [], "metadata": [], "tensors": {}, "order": []}
                server.streams.append(self.stream)

            def on_core_metadata_event(self, event):
                self.stream["metadata"].append(json.loads(event.log_message.message))
                self.stream["order"].append("metadata")
                server.on_metadata(len(server.streams))

            def on_graph_def(self, graph_def, device_name, wall_time):
                self.stream["graphs"].append((graph_def, device_name.decode(), wall_time))
                self.stream["order"].append("graph")

            def on_value_event(self, event):
                key = event.summary.value[0].node_name
                self.stream["tensors"].setdefault(key, []).append(debug_data.load_tensor_from_event(event))
                self.stream["order"].append("tensor")
                return debug_service_pb2.EventReply() if key in answered else None

        self.port = free_port()
        super().__init__(self.port, Handler)

    def SendTracebacks(self, request, context):
        self.tracebacks.append(request)
        return super().SendTracebacks(request, context)

    def SendSourceFiles(self, request, context):
        self.sources.append(request)
        return super().SendSourceFiles(request, context)

    def __enter__(self):
        self.run_server(blocking=False)
        return self

    def __exit__(self, *_):
        self.stop_server(grace=0.5).wait()


class OriginalServicer(frame.InteropTest):
    def train(self, *words):
        return statistics(self.ours(*words))

    def test_every_tensor_arrives_intact(self):
        sizes = 3 * LIMIT + 17
        with Server() as server:
            told = self.train("runs=2", f"size={sizes}", *EXACT, f"localhost:{server.port}")
        self.assertEqual(told["servers"], [{"runs": 2, "skipped": 0, "dropped": 0, "failures": 0}])
        self.assertEqual(len(server.streams), 2)
        for run, stream in enumerate(server.streams):
            field = (10 * run + np.arange(6)).astype(np.float32).reshape(2, 3)
            if run == 1:
                field[1, 2] = np.nan
            wanted = {"net/field": field, "count": np.int32(run), "good": np.bool_(run % 2 == 0),
                      "ids": np.array([run, 2**40 + run], np.int64), "big": big(run, sizes)}
            for name, value in wanted.items():
                (got,) = stream["tensors"][name + ":0:DebugIdentity"]
                self.assertEqual(got.dtype, value.dtype, name)
                np.testing.assert_array_equal(got, value)
            self.assertEqual(len(stream["metadata"]), 1)
            self.assertEqual(stream["metadata"][0]["executor_step_index"], run)
            self.assertEqual(stream["metadata"][0]["output_names"], sorted(name + ":0" for name in wanted))
        first, second = server.streams
        self.assertEqual(first["order"][:2], ["graph", "metadata"])
        self.assertEqual(second["graphs"], [])
        self.assertEqual(first["graphs"][0][1], CPU)
        self.assertLessEqual(set(wanted), {node.name for node in first["graphs"][0][0].node})

    def test_chunks_at_the_limit(self):
        for size in (0, LIMIT, LIMIT + 1, 2 * LIMIT):
            with Server() as server:
                self.train("runs=1", f"size={size}", *EXACT, f"localhost:{server.port}")
            np.testing.assert_array_equal(server.streams[0]["tensors"]["big:0:DebugIdentity"][0], big(0, size))

    def test_gates_open_and_close_between_runs(self):
        for path in ("", "/with/a/path"):
            with Server() as server:
                server.request_watch("ids", 0, "DebugIdentity")
                changes = {2: server.request_unwatch, 4: server.request_watch}
                server.on_metadata = lambda n: changes[n]("ids", 0, "DebugIdentity") if n in changes else None
                self.train("runs=5", "gated", *EXACT, f"grpc://localhost:{server.port}{path}")
                gated = {f"{w.node_name}:{w.output_slot}:{w.debug_op}" for w in server.gated_grpc_debug_watches()}
            counts = [len(s["tensors"].get("ids:0:DebugIdentity", [])) for s in server.streams]
            self.assertEqual(counts, [1, 0, 0, 1, 1], path)
            for stream in server.streams:
                self.assertEqual(stream["metadata"][0]["grpc_path"], path)
                self.assertNotIn("count:0:DebugIdentity", stream["tensors"])  # not requested
                self.assertIn("count:0:DebugNumericSummary", stream["tensors"])  # not gated
            self.assertIn("ids:0:DebugIdentity", gated)
            self.assertNotIn("ids:0:DebugNumericSummary", gated)

    def test_a_breakpoint_is_answered(self):
        key = "count:0:DebugIdentity"
        with Server(breakpoints=[key]) as server:
            server.request_watch("count", 0, "DebugIdentity", breakpoint=True)
            told = self.train("runs=3", "gated", *EXACT, f"localhost:{server.port}")
        self.assertEqual([s["tensors"][key] for s in server.streams], [[0], [1], [2]])
        self.assertEqual(told["servers"][0]["failures"], 0)

    def test_a_dead_server_beside_a_live_one(self):
        with Server() as server, port_of_nobody() as dead:
            told = self.train("runs=3", "connect=3", "reply=60", f"localhost:{dead}", f"localhost:{server.port}")
        self.assertEqual(told["steps"], 3)
        self.assertEqual([s["runs"] for s in told["servers"]], [0, 3])
        self.assertEqual(len(server.streams), 3)

    def test_tensorboards_hook_tells_where_it_runs(self):
        with Server() as server:
            server.request_watch("count", 0, "DebugIdentity")
            self.train("runs=2", "tensorboard", *EXACT, f"localhost:{server.port}")
        self.assertEqual([list(s["tensors"]) for s in server.streams], 2 * [["count:0:DebugIdentity"]])
        (told,) = server.tracebacks
        self.assertEqual(told.call_type, debug_service_pb2.CallTraceback.GRAPH_EXECUTION)
        self.assertEqual(json.loads(told.call_key)[0], ["None"])
        files = {told.origin_id_to_string[trace.file_id] for trace in told.origin_stack.traces}
        self.assertTrue(any(name.endswith("grpc_debug.cpp") for name in files), files)
        (sent,) = server.sources
        self.assertTrue(sent.source_files[0].file_path.endswith("grpc_debug.cpp"))
        self.assertIn("int main(int argc, char** argv) try {", sent.source_files[0].lines)

    def test_a_server_that_refuses_a_stream(self):
        class Refusing(Server):
            def SendEvents(self, request_iterator, context):
                next(request_iterator)
                raise ValueError("no")

        with Refusing() as server:
            told = self.train("runs=3", "connect=60", "reply=60", f"localhost:{server.port}")
        self.assertEqual(told["steps"], 3)
        self.assertEqual(told["servers"][0]["runs"], 0)


@frame.unittest.skipUnless(JUDGES, "no judges")
class Judges(frame.InteropTest):
    """grpc_debug_listener.py records, grpc_debug_check.py checks. Each test has another failure of the server."""

    watch = "big:0:DebugIdentity"

    def record(self, flags, *words, runs=2, size=3):
        """Trains against a listener. Returns the statistics of the stream."""
        listener = subprocess.Popen(
            [sys.executable, "grpc_debug_listener.py", "--out", self.path("record"), *flags],
            cwd=JUDGES, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            port = re.match(r"(LISTENING|LATE) (\d+)", listener.stdout.readline()).group(2)
            text = self.ours(f"runs={runs}", f"size={size}", "gated", *words, f"localhost:{port}")
        finally:
            listener.send_signal(signal.SIGTERM)
            listener.communicate(timeout=120)
        told = statistics(text)
        self.assertEqual(told["steps"], runs)
        return told["servers"][0]

    def check(self, *flags, **expected):
        with open(self.path("expected.json"), "w") as f:
            json.dump(expected, f)
        done = subprocess.run(
            [sys.executable, "grpc_debug_check.py", self.path("record"), "--expect-json", self.path("expected.json"), *flags],
            cwd=JUDGES, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def firings(self, runs, size=3):
        return {self.watch: {"firings": [big(run, size).tolist() for run in range(runs)]}}

    def test_a_gate(self):
        self.record(["--gate", self.watch], *EXACT)
        self.check(streams=2, graphs=1, tensors=self.firings(2), absent=["ids:0:DebugIdentity"], grpc_path="",
                   chunks={self.watch: [1, 1]})

    def test_a_breakpoint(self):
        self.record(["--breakpoint", self.watch], *EXACT)
        self.check(streams=2, tensors=self.firings(2))

    def test_a_gate_that_toggles(self):
        self.record(["--toggle", self.watch], *EXACT, runs=4)
        self.check(per_stream=[{self.watch: n} for n in (1, 0, 1, 0)])

    def test_a_gate_that_closes(self):
        self.record(["--gate", self.watch, "--ungate-after", "3:" + self.watch], *EXACT, runs=4)
        self.check(per_stream=[{self.watch: n} for n in (1, 1, 0, 0)])

    def test_chunks(self):
        for size, chunks in ((LIMIT, 1), (LIMIT + 1, 2), (3 * LIMIT, 3)):
            self.record(["--gate", self.watch], *EXACT, runs=1, size=size)
            self.check(chunks={self.watch: [chunks]}, tensors={self.watch: {"bytes": size}})

    def test_a_late_server(self):
        self.record(["--gate", self.watch, "--fail-mode", "late=2"], *EXACT)
        self.check(streams=2, tensors=self.firings(2))

    def test_a_slow_server(self):
        self.record(["--gate", self.watch, "--fail-mode", "slow=0.05"], *EXACT)
        self.check(streams=2, tensors=self.firings(2))

    def test_a_server_that_is_killed(self):
        told = self.record(["--gate", self.watch, "--fail-mode", "kill-after=3"], "connect=5", "reply=60", runs=5)
        self.assertGreaterEqual(told["failures"], 1)
        self.check("--allow-broken")

    def test_a_server_that_closes_streams(self):
        told = self.record(["--gate", self.watch, "--fail-mode", "close-stream-after=2"], "connect=60", "reply=60", runs=5, size=5 * LIMIT)
        self.check("--allow-broken")
        self.assertLessEqual(told["runs"], 5)

    def test_a_server_that_never_answers(self):
        # Long enough to open the stream on a busy machine, and no second attempt.
        told = self.record(["--fail-mode", "mute"], "connect=60", "reply=5", "pause=600", runs=5)
        self.assertEqual(told["runs"], 0)
        self.assertEqual(told["failures"], 1)  # no further attempt after the failure
        # Not with grpc_debug_check.py: gRPC's Python sometimes reports a cancelled stream as closed, and the check then
        # expects the events after the reply.
        with open(self.path("record", "record.json"), encoding="utf-8") as f:
            (stream,) = json.load(f)["streams"]
        self.assertEqual([event["kind"] for event in stream["events"]], ["graph"])  # awaits its reply


if __name__ == "__main__":
    frame.main()
