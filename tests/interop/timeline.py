#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Timelines: this library and TensorFlow's timeline.Timeline make equal JSON from the same step statistics."""
import json
import os
import random

import frame

try:
    from tensorflow.core.framework import step_stats_pb2
    from tensorflow.core.protobuf import config_pb2
    from tensorflow.python.client import timeline
except ImportError as error:
    frame.skip(f"there is no TensorFlow ({error})")

DEVICES = ["/job:localhost/replica:0/task:0/device:CPU:0", "/device:GPU:0/stream:all", "/gpu:0/memcpy", "d", "d", ""]
LABELS = ["{n} = Op({i})", "[cpu 1.0MB] {n} = Op({i})", "{n} = A = B({i})", "{n} = Op({i}", "{n} = Op(({i}) x)", "x@@{n}:K#1",
          "", "{n} = Op({i})\n = Q(z)", "{n} = Ünï\t\"{i}\"\\({i})", "{n} = Op({i}, GFLOP/s=3.25, thread=0)"]


def random_stats(seed):
    draw = random.Random(seed)
    stats = step_stats_pb2.StepStats()
    names = ["n%d" % i for i in range(draw.randint(1, 20))] + ["RecvTensor", "a/_3", "x:y", "é"]
    for _ in range(draw.randint(0, 4)):
        device = stats.dev_stats.add(device=draw.choice(DEVICES))
        now = draw.choice([0, 5, 1795217992469232])
        for _ in range(draw.randint(0, 40)):
            now += draw.randint(0, 4)
            name = draw.choice(names)
            inputs = ", ".join(draw.choice(["", "^"]) + draw.choice(names) + draw.choice(["", "", ":1", "/_7", "/_"])
                               for _ in range(draw.randint(0, 4)))
            node = device.node_stats.add(node_name=name, all_start_micros=now, all_end_rel_micros=draw.randint(0, 9),
                                         timeline_label=draw.choice(LABELS).format(n=name, i=inputs))
            for slot in range(draw.randint(0, 3)):
                tensor = node.output.add(slot=slot).tensor_description
                tensor.dtype = draw.choice([1, 3, 20, 101])
                for size in range(draw.randint(0, 3)):
                    tensor.shape.dim.add(size=size)
                tensor.allocation_description.requested_bytes = draw.choice([0, 8, 8, 1 << 40])
                tensor.allocation_description.allocator_name = draw.choice(["cpu", "gpu", "", 'q"ü'])
    return stats


class Timelines(frame.InteropTest):
    def compare(self, stats, what):
        with open(self.path("stats.pb"), "wb") as file:
            file.write(stats.SerializeToString())
        # One run of the program writes all four timelines.
        self.ours("stats", self.path("stats.pb"), self.path("timeline"))
        for flow in (False, True):
            for memory in (False, True):
                theirs = timeline.Timeline(stats).generate_chrome_trace_format(show_dataflow=flow, show_memory=memory)
                with open(self.path("timeline-%d%d.json" % (flow, memory)), encoding="utf-8") as file:
                    ours = file.read()
                self.assertEqual(json.loads(ours), json.loads(theirs), f"{what}, dataflow {flow}, memory {memory}")
                # The events and the keys have the same order, too.
                pairs = lambda text: json.loads(text, object_pairs_hook=lambda p: p)
                self.assertEqual(pairs(ours), pairs(theirs))

    def test_random_statistics(self):
        for seed in range(60):
            self.compare(random_stats(seed), f"seed {seed}")

    def test_a_real_session(self):
        """The statistics of a session of the original, run in this test."""
        import tensorflow as tf
        v1 = tf.compat.v1
        with tf.Graph().as_default(), v1.Session() as session:
            x = v1.random_normal([64, 64], name="x")
            y = tf.nn.relu(tf.matmul(x, x, name="product"), name="rectified")
            metadata = config_pb2.RunMetadata()
            session.run([y, tf.reduce_sum(y)], options=config_pb2.RunOptions(trace_level=3), run_metadata=metadata)
        self.assertGreater(sum(len(d.node_stats) for d in metadata.step_stats.dev_stats), 3)
        self.compare(metadata.step_stats, "session")


if __name__ == "__main__":
    frame.main()
