#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""crochet-debugd: TensorFlow's GrpcDebugHook sends, and TensorFlow's DebugDumpDir opens the dumps."""
import json
import os
import queue
import signal
import subprocess
import threading

import frame

try:
    import numpy as np
    import tensorflow as tf
    from tensorflow.python.debug.lib import debug_data
    from tensorflow.python.debug.wrappers import framework, hooks
except ImportError as error:
    frame.skip(f"there is no TensorFlow ({error})")

v1 = tf.compat.v1
v1.disable_eager_execution()
PATIENCE = 120  # seconds


class Server:
    """A crochet-debugd on a separate port, with its output as a queue of JSON lines."""

    def __init__(self, test, *options):
        self.test = test
        self.process = subprocess.Popen(
            [frame.InteropTest.program, "--listen", "127.0.0.1:0", "--json", *options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        test.addCleanup(self.kill)
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()
        self.address = self.next("listening")["address"]

    def read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))

    def next(self, event):
        """Waits for the next event of this kind."""
        while True:
            line = self.lines.get(timeout=PATIENCE)
            if line["event"] == event:
                return line

    def say(self, command, answer):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.next(answer)

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        return self.process.wait(PATIENCE)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


def model():
    """net/top = (x * w) / |x| + 1, which is NaN where x is 0; also a large tensor and a text."""
    x = v1.placeholder(tf.float32, [3], "x")
    w = v1.get_variable("net/w", initializer=np.float32([1, 2, 3]))
    product = tf.multiply(x, w, name="net/mul")
    ratio = tf.divide(product, tf.abs(x, name="net/abs"), name="net/ratio")
    tf.add(ratio, 1.0, name="net/top")
    numbers = tf.reshape(tf.range(1.5e6), [1500, 1000])
    tf.multiply(numbers, x[0], name="net/large")  # depends on a feed, which prevents constant folding
    tf.constant(["", "text", "\x00\xff"], name="net/text")
    return "net/top:0", ["net/large:0", "net/text:0"]


def watch(*ops, nodes="net/"):
    return lambda fetches, feeds: framework.WatchOptions(
        debug_ops=list(ops), node_name_regex_allowlist=nodes, tolerate_debug_op_creation_failures=True)


class Training:
    """A session of the model under a hook of TensorFlow. It is closed after the test."""

    def __init__(self, test, hook):
        graph = tf.Graph()
        scope = graph.as_default()
        scope.__enter__()
        test.addCleanup(lambda: scope.__exit__(None, None, None))
        self.top, self.others = model()
        self.session = v1.train.MonitoredSession(hooks=[hook])
        test.addCleanup(self.session.close)

    def step(self, *x):
        return self.session.run([self.top, *self.others], feed_dict={"x:0": np.float32(x)})


def is_ratio(key):
    return key is not None and key.startswith("net/ratio")


class Debugd(frame.InteropTest):
    def opened(self, line):
        dump = debug_data.DebugDumpDir(line["directory"], validate=True)
        self.assertTrue(dump.loaded_partition_graphs(), "without a graph nothing would have been validated")
        return dump

    def value(self, dump, node, op="DebugIdentity"):
        data = dump.watch_key_to_data(f"{node}:0:{op}")
        self.assertEqual(len(data), 1, node)
        return data[0].get_tensor()

    def test_runs_become_dumps_that_the_original_opens(self):
        server = Server(self, "--dump", self.path("dumps"), "--runs", "3")
        training = Training(self, hooks.GrpcDebugHook([server.address],
                                                      watch_fn=watch("DebugIdentity", "DebugNumericSummary")))
        for step, x in enumerate([[1, 2, 3], [4, 5, 6], [1, 0, 3]]):
            top, large, text = training.step(*x)
            line = server.next("run")
            self.assertIsNone(line["error"], line)
            self.assertEqual((line["incomplete"], line["not_written"]), (0, 0), line)
            self.assertEqual(line["graphs"], 1 if step == 0 else 0, "the executor is the same: its graph comes once")
            dump = self.opened(line)
            np.testing.assert_array_equal(self.value(dump, "net/top"), top)
            np.testing.assert_array_equal(self.value(dump, "net/large"), large)  # sent in two chunks
            self.assertEqual(self.value(dump, "net/text").tolist(), text.tolist())
            np.testing.assert_array_equal(self.value(dump, "net/mul"), np.float32(x) * np.float32([1, 2, 3]))
            self.assertEqual(self.value(dump, "net/top", "DebugNumericSummary")[1], 3)
            self.assertEqual(line["tensors"], dump.size)
            self.assertEqual(line["run"], dump.core_metadata.session_run_index)
            self.assertEqual(sorted(dump.core_metadata.output_names), ["net/large:0", "net/text:0", "net/top:0"])
            self.assertIn("net/top:0", dump.run_fetches_info)
            self.assertIn("x:0", dump.run_feed_keys_info)
            found = [d.node_name for d in dump.find(debug_data.has_inf_or_nan) if d.debug_op == "DebugIdentity"]
            self.assertEqual(found, ["net/ratio", "net/top"] if step == 2 else [])
            if step == 2:
                self.assertTrue(is_ratio(line["first_nan"]), line)
            else:
                self.assertIsNone(line["first_nan"])
        self.assertEqual(server.process.wait(PATIENCE), 0, "three runs were asked for")

    def test_gates_open_and_close_between_steps(self):
        server = Server(self, "--dump", self.path("dumps"), "--watch", "net/mul")
        training = Training(self, hooks.GrpcDebugHook([server.address], watch_fn=watch("DebugIdentity(gated_grpc=True)")))

        def keys():
            training.step(1, 2, 3)
            dump = self.opened(server.next("run"))
            return sorted(d.watch_key for d in dump.dumped_tensor_data)

        self.assertEqual(keys(), ["net/mul:0:DebugIdentity"], "what the command line asked for")
        gated = {k["key"]: k["state"] for k in server.say("list", "list")["keys"]}
        self.assertEqual(gated["net/mul:0:DebugIdentity"], "on")
        self.assertEqual(gated["net/top:0:DebugIdentity"], "gated")
        server.say("watch net/top:0", "watching")
        self.assertEqual(keys(), ["net/mul:0:DebugIdentity", "net/top:0:DebugIdentity"])
        server.say("unwatch net/mul:0:DebugIdentity", "not watching")
        self.assertEqual(keys(), ["net/top:0:DebugIdentity"])
        server.say("unwatch net/top", "not watching")
        self.assertEqual(keys(), [])
        self.assertEqual(server.end(signal.SIGINT), 0)

    def test_a_breakpoint_holds_the_run_until_it_may_go_on(self):
        server = Server(self, "--breakpoint", "net/mul")
        training = Training(self, hooks.GrpcDebugHook([server.address], watch_fn=watch("DebugIdentity")))
        done = threading.Event()

        def step():
            training.step(1, 2, 3)
            done.set()

        for _ in range(2):
            done.clear()
            thread = threading.Thread(target=step)
            thread.start()
            self.assertEqual(server.next("held")["key"], "net/mul:0:DebugIdentity")
            self.assertFalse(done.is_set())
            server.say("continue", "continue")
            thread.join(PATIENCE)
            self.assertTrue(done.is_set())
            server.next("run")
        server.say("watch net/mul", "watching")  # no breakpoint from here on
        training.step(1, 2, 3)
        self.assertIsNone(server.next("run")["error"])

    def test_tracebacks_and_sources_of_the_tensorboard_hook(self):
        server = Server(self, "--dump", self.path("dumps"), "--keep-sources")
        training = Training(self, hooks.TensorBoardDebugHook([server.address]))
        training.step(1, 2, 3)
        server.next("run")
        kept = os.listdir(self.path("dumps", "sources"))
        self.assertTrue([name for name in kept if name.startswith("traceback_")], kept)
        sources = [name for name in kept if name.endswith("_debugd.py")]
        self.assertEqual(len(sources), 1, kept)
        with open(self.path("dumps", "sources", sources[0]), encoding="utf-8") as file:
            self.assertIn("net/ratio", file.read())


if __name__ == "__main__":
    frame.main()
