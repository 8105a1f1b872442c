#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Event files: this library writes, TensorFlow's summary_iterator and TensorBoard's accumulators read."""
import json
import os

import frame

try:
    import numpy as np
    import tensorflow as tf
    from tensorboard.backend.event_processing import event_accumulator, plugin_event_accumulator
except ImportError as error:
    frame.skip(f"there is no TensorFlow and TensorBoard ({error})")

v1 = tf.compat.v1
ALL = {kind: 0 for kind in event_accumulator.DEFAULT_SIZE_GUIDANCE}


def events_of(folder):
    for name in sorted(os.listdir(folder)):
        yield from v1.train.summary_iterator(os.path.join(folder, name))


def values_of(folder, tag):
    return [(e.step, v) for e in events_of(folder) for v in e.summary.value if v.tag == tag]


def accumulated(folder):
    accumulator = event_accumulator.EventAccumulator(folder, size_guidance=ALL)
    accumulator.Reload()
    return accumulator


class EventFiles(frame.InteropTest):
    def setUp(self):
        super().setUp()
        self.ours("write", self.path("logs"), self.folder)
        self.run_folder, self.kinds = self.path("logs", "run"), self.path("logs", "kinds")

    def expected(self, name):
        with open(self.path(name + ".json")) as file:
            return json.load(file)

    def test_a_resumed_run_is_one_curve(self):
        """The first process wrote steps 1, 3, 5 and 7; the second starts at 5. Both readers of TensorBoard drop the
        steps that the START of the second supersedes, and the losses are those of an uninterrupted run."""
        want = [(step, np.float32(value)) for step, value in self.expected("run")["scalars"]["loss"]]
        have = [(s.step, np.float32(s.value)) for s in accumulated(self.run_folder).Scalars("loss")]
        self.assertEqual(have, want)
        newer = plugin_event_accumulator.EventAccumulator(self.run_folder, size_guidance={"tensors": 0})
        newer.Reload()
        have = [(s.step, np.float32(tf.make_ndarray(s.tensor_proto))) for s in newer.Tensors("loss")]
        self.assertEqual(have, want)
        self.assertEqual([step for step, _ in values_of(self.run_folder, "loss")], [1, 3, 5, 7, 5, 7, 9], "in the files")

    def test_each_file_begins_with_its_version(self):
        names = sorted(os.listdir(self.run_folder))
        self.assertEqual(len(names), 2)
        for name in names:
            first = next(iter(v1.train.summary_iterator(os.path.join(self.run_folder, name))))
            self.assertEqual(first.file_version, "brain.Event:2")
            self.assertEqual(first.wall_time, int(name.split(".")[3]))

    def test_session_log(self):
        log = v1.SessionLog
        have = [(e.step, e.session_log.status) for e in events_of(self.run_folder) if e.HasField("session_log")]
        self.assertEqual(have, [(1, log.START), (7, log.STOP), (5, log.START), (9, log.STOP)])
        logs = [e.session_log for e in events_of(self.kinds) if e.HasField("session_log")]
        self.assertEqual([e.status for e in logs], [log.START, log.CHECKPOINT, log.STOP])
        self.assertEqual(logs[1].checkpoint_path, "some/folder/model.ckpt")
        self.assertEqual(logs[2].msg, "done")

    def test_histograms_are_tensorflows_byte_for_byte(self):
        values = np.array([(i * 37 % 101 - 50) for i in range(1000)], np.float32) / np.float32(7)
        values = np.append(values, np.array([0, -0.0, 1e-13, -1e-13, 1e-12, 3e38, -3e38, 1e20], np.float32))
        for tag, data in (("values", values), ("empty", np.zeros([0]))):
            with tf.Graph().as_default(), v1.Session() as session:
                theirs = v1.Summary.FromString(session.run(v1.summary.histogram(tag, data))).value[0].histo
            [(_, ours)] = values_of(self.kinds, tag)
            self.assertEqual(list(ours.histo.bucket_limit), list(theirs.bucket_limit), tag)
            self.assertEqual(list(ours.histo.bucket), list(theirs.bucket), tag)
            self.assertEqual(ours.histo, theirs, tag)
            self.assertEqual(len(accumulated(self.kinds).Histograms(tag)), 1)

    def test_scalars_that_are_no_numbers(self):
        have = [(step, v.simple_value) for step, v in values_of(self.kinds, "odd_name_")]
        self.assertEqual(str(have), str([(1, float("inf")), (2, float("nan")), (3, float(np.float32(0.1)))]))

    def test_an_image_is_a_png(self):
        [(_, value)] = values_of(self.kinds, "picture")
        pixels = tf.io.decode_png(value.image.encoded_image_string).numpy()
        self.assertEqual(pixels.tolist(), (5 * np.arange(45)).reshape(3, 5, 3).tolist())
        self.assertEqual((value.image.height, value.image.width, value.image.colorspace), (3, 5, 3))
        self.assertEqual(accumulated(self.kinds).Images("picture")[0].width, 5)

    def test_text_is_the_text_plugins(self):
        accumulator = plugin_event_accumulator.EventAccumulator(self.kinds)
        accumulator.Reload()
        self.assertEqual(list(accumulator.PluginTagToContent("text")), ["note"])
        self.assertEqual(tf.make_ndarray(accumulator.Tensors("note")[0].tensor_proto).item(), b"*hello*")

    def test_the_graph(self):
        accumulator = accumulated(self.run_folder)
        graph = accumulator.Graph()
        nodes = {node.name: node for node in graph.node}
        self.assertEqual(len(nodes), len(graph.node))
        self.assertEqual(list(nodes["line/matmul"].input), ["x", "line/kernel"])
        self.assertEqual([d.size for d in nodes["x"].attr["shape"].shape.dim], [-1, 3])
        self.assertEqual(nodes["line/kernel"].attr["dtype"].type, tf.float32.as_datatype_enum)
        self.assertEqual(nodes["loss"].device, "/job:localhost/replica:0/task:0/device:CPU:0")
        self.assertEqual(accumulator.MetaGraph().graph_def, graph)
        for node in graph.node:
            for name in node.input:
                self.assertIn(name.lstrip("^"), nodes)

    def test_run_metadata(self):
        self.assertEqual(accumulated(self.kinds).Tags()["run_metadata"], ["step_3"])

    def read(self, path):
        """The records that our reader finds: step, wall time, tag, plug-in, kind, values."""
        return [json.loads(line) for line in self.ours("read", path).splitlines()]

    def test_what_tensorflow_1_wrote_is_read(self):
        with tf.Graph().as_default() as graph, v1.Session() as session:
            sentence = v1.placeholder(tf.string, [], name="sentence")
            words = v1.summary.text("words", sentence)
            with v1.summary.FileWriter(self.path("theirs"), graph) as writer:
                for step in range(3):
                    value = v1.Summary.Value(tag=f"tag{step}", simple_value=0.1 * step)
                    writer.add_summary(v1.Summary(value=[value]), step)
                    writer.add_summary(session.run(words, {sentence: f"step {step}"}), step)
                values = np.arange(5, dtype=np.float32)
                writer.add_summary(session.run(v1.summary.histogram("w", values)), 3)
                writer.add_summary(session.run(v1.summary.image("i", np.zeros([1, 4, 5, 3], np.float32))), 4)
                writer.add_session_log(v1.SessionLog(status=v1.SessionLog.START), 5)
        have = self.read(self.path("theirs"))
        kinds = [row[4] for row in have]
        self.assertEqual(kinds[0], "file version")
        self.assertEqual(kinds.count("graph"), 1)
        self.assertEqual(kinds.count("session log"), 1)
        scalars = [(row[0], row[2], np.float32(row[5])) for row in have if row[4] == "scalar"]
        self.assertEqual(scalars, [(step, f"tag{step}", np.float32(0.1 * step)) for step in range(3)])
        texts = [(row[0], row[2], row[3], row[5]) for row in have if row[4] == "text"]
        self.assertEqual(texts, [(step, "words", "text", [f"step {step}"]) for step in range(3)])
        [histogram] = [row[5] for row in have if row[4] == "histogram"]
        self.assertEqual(histogram[0], 5)
        [image] = [row[5] for row in have if row[4] == "image"]
        self.assertEqual(image, [4, 5, 1])

    def test_what_tensorflow_2_wrote_is_read(self):
        with tf.summary.create_file_writer(self.path("theirs")).as_default():
            for step in range(3):
                tf.summary.scalar("loss", 0.1 * step, step)
            tf.summary.text("words", "hello", 3)
            tf.summary.histogram("w", tf.range(10.0), 4)
            tf.summary.image("i", tf.zeros([2, 4, 5, 3]), 5)
        have = self.read(self.path("theirs"))
        scalars = [(row[0], row[2], row[3], np.float32(row[5])) for row in have if row[4] == "scalar"]
        self.assertEqual(scalars, [(step, "loss", "scalars", np.float32(0.1 * step)) for step in range(3)])
        self.assertEqual([row[5] for row in have if row[4] == "text"], [["hello"]])
        [histogram] = [row[5] for row in have if row[4] == "histogram"]
        self.assertEqual((histogram[0], sum(histogram[2])), (10, 10))
        [image] = [row[5] for row in have if row[4] == "image"]
        self.assertEqual(image, [4, 5, 2])

    def test_what_this_library_wrote_is_read(self):
        rows = self.read(self.kinds)
        kinds = {"scalar": "summary", "histogram": "summary", "image": "summary", "text": "summary"}
        have = []
        for row in rows:
            kind = kinds.get(row[4], row[4].replace(" ", "_"))
            have.append("tagged_run_metadata" if kind == "run_metadata" else kind)
        self.assertEqual(have, self.expected("kinds")["kinds"])
        for tag, points in self.expected("kinds")["scalars"].items():
            want = [(step, float(value)) for step, value in points]
            # JSON has no NaN and no infinity: their values are null.
            mine = [(row[0], row[5]) for row in rows if row[2] == tag]
            self.assertEqual([step for step, _ in mine], [step for step, _ in want])
            for (_, value), (_, wanted) in zip(mine, want):
                self.assertTrue(value is None if not np.isfinite(wanted) else np.float32(value) == np.float32(wanted))


if __name__ == "__main__":
    frame.main()
