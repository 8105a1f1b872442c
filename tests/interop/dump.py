#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Dumps of runs: DumpingDebugHook writes, TensorFlow's DebugDumpDir reads and validates."""
import json
import os
import re

import frame

try:
    import numpy as np
    import tensorflow as tf
    from tensorflow.core.util import event_pb2
    from tensorflow.python.debug.lib import debug_data
    from tensorflow.python.ops import gen_debug_ops
except ImportError as error:
    frame.skip(f"there is no TensorFlow ({error})")

v1 = tf.compat.v1
v1.disable_eager_execution()
CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


def runs_of(root):
    return [os.path.join(root, name) for name in sorted(os.listdir(root), key=lambda n: int(n.split("_")[2]))]


def opened(run):
    """Opens the run with its graphs, without which the reader does not validate."""
    dump = debug_data.DebugDumpDir(run, validate=True)
    assert dump.loaded_partition_graphs()
    return dump


def values_of(dump, op="DebugIdentity"):
    return {d.node_name: d.get_tensor() for d in dump.dumped_tensor_data if d.debug_op == op}


class StepFunction(frame.InteropTest):
    def setUp(self):
        super().setUp()
        self.ours("step", self.folder, self.path("expected.json"))
        with open(self.path("expected.json")) as file:
            self.expected = json.load(file)["runs"]
        self.dumps = [opened(run) for run in runs_of(self.path("identity"))]

    def test_every_tensor_has_its_value_type_and_shape(self):
        self.assertEqual(len(self.dumps), 3)
        for dump, expected in zip(self.dumps, self.expected):
            want = {key.split(":")[0]: spec for key, spec in expected["tensors"].items()}
            have = values_of(dump)
            self.assertEqual(set(have), set(want))
            for name, spec in want.items():
                self.assertEqual(have[name].dtype.name, spec["dtype"], name)
                self.assertEqual(list(have[name].shape), spec["shape"], name)
                if "value" not in spec:
                    np.testing.assert_array_equal(have[name], np.arange(spec["shape"][0]) % 1000)
                    continue
                value = np.array(spec["value"])
                value = value.astype(np.float64) if value.dtype.kind == "U" else value
                np.testing.assert_array_equal(have[name], value.astype(spec["dtype"]).reshape(spec["shape"]))

    def test_what_was_asked_for(self):
        for i, (dump, expected) in enumerate(zip(self.dumps, self.expected)):
            self.assertEqual(dump.run_fetches_info, expected["fetches"])
            self.assertEqual(dump.run_feed_keys_info, expected["feeds"])
            self.assertEqual(dump.core_metadata.global_step, i)
            self.assertEqual(dump.core_metadata.output_names, sorted(dump.core_metadata.output_names))
            self.assertEqual(dump.devices(), [CPU])
        indices = [dump.core_metadata.session_run_index for dump in self.dumps]
        self.assertEqual(indices, list(range(indices[0], indices[0] + 3)))

    def test_the_graph_answers_questions(self):
        dump = self.dumps[0]
        self.assertIn("net/field", dump.nodes())
        self.assertEqual(dump.node_op_type("net/field"), "Output")
        self.assertEqual(len(dump.node_inputs("net/field")), 1)
        self.assertEqual(dump.node_device("net/field"), CPU)
        self.assertEqual(dump.debug_watch_keys("net/field"), ["net/field:0:DebugIdentity"])

    def test_a_tensor_above_the_highest_rank_of_models_has_an_unknown_rank_in_the_graph(self):
        graph = self.dumps[0].partition_graphs()[0]
        shapes = {n.name: n.attr["_output_shapes"].list.shape[0] for n in graph.node if "_output_shapes" in n.attr}
        self.assertTrue(shapes["deep"].unknown_rank)
        self.assertEqual(len(shapes["net/field"].dim), 2)

    def test_the_planted_nan_is_found(self):
        found = [[d.node_name for d in dump.find(debug_data.has_inf_or_nan)] for dump in self.dumps]
        self.assertEqual(found, [[], ["net/field"], []])

    def test_operations_publish_what_the_originals_do(self):
        """Applies the original's kernels to the dumped values."""
        compared = 0
        for run in runs_of(self.path("operations")):
            dump = opened(run)
            inputs, counts, summaries = (
                values_of(dump, op) for op in ("DebugIdentity", "DebugNanCount", "DebugNumericSummary"))
            self.assertEqual(set(inputs), set(counts))
            self.assertEqual(set(inputs), set(summaries))
            for name, value in inputs.items():
                with tf.Graph().as_default(), v1.Session() as session:
                    x = v1.placeholder(value.dtype, value.shape)
                    count = gen_debug_ops.debug_nan_count(x, tensor_name="x:0")
                    summary = gen_debug_ops.debug_numeric_summary(x, tensor_name="x:0", lower_bound=-1.0, upper_bound=2.5)
                    count, summary = session.run([count, summary], {x: value})
                np.testing.assert_array_equal(counts[name], count, name)
                self.assertEqual(counts[name].dtype, count.dtype)
                np.testing.assert_array_equal(summaries[name].view(np.int64)[:10], summary.view(np.int64)[:10], name)
                np.testing.assert_array_equal(summaries[name], summary, name)
                compared += 1
        self.assertEqual(compared, 20)

    def test_nothing_else_lies_about(self):
        for run in runs_of(self.path("identity")):
            for name in os.listdir(run):
                self.assertRegex(name, "^_tfdbg_")
        self.assertEqual(sorted(os.listdir(self.folder)), ["expected.json", "identity", "operations"])


class Strings(frame.InteropTest):
    def tensor(self, root):
        """The TensorProto in the file of the node `words`, below a folder."""
        for folder, _, files in os.walk(root):
            for name in files:
                if name.startswith("words_0_"):
                    with open(os.path.join(folder, name), "rb") as file:
                        return event_pb2.Event.FromString(file.read()).summary.value[0].tensor
        self.fail(f"no words in {root}")

    def test_strings_are_what_the_original_writes(self):
        self.ours("strings", self.folder)
        words = [[b"ab", b""], [b"\0\xff", "\u00e4".encode()]]
        dump = debug_data.DebugDumpDir(runs_of(self.folder)[0], validate=False)
        have = values_of(dump)
        self.assertEqual(have["words"].tolist(), words)
        self.assertEqual(have["none"].shape, (0,))
        theirs = self.path("theirs")
        with tf.Graph().as_default(), v1.Session() as session:
            x = tf.constant(words)
            session.run(gen_debug_ops.debug_identity(x, tensor_name="words:0", debug_urls=["file://" + theirs]))
        self.assertEqual(self.tensor(self.folder + "/run_1700000000000000_0"), self.tensor(theirs))


# numpy's functions for operations without attributes, to recompute a node from its inputs.
NUMPY = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Log": np.log, "Neg": np.negative,
         "Relu": lambda x: np.maximum(x, 0), "Assign": lambda old, new: new}


class OnTheCpu(frame.InteropTest):
    def setUp(self):
        super().setUp()
        self.ours("cpu", self.folder)
        self.dumps = [opened(run) for run in runs_of(self.path("all"))]
        with open(self.path("plain.json")) as file:
            self.plain = json.load(file)

    def test_values_are_those_of_steps_without_the_hook(self):
        self.assertEqual(len(self.dumps), 3)
        for dump, plain in zip(self.dumps, self.plain):
            have = values_of(dump)
            for name in ("logits", "loss"):
                want = np.array(plain[name], dtype=float)
                np.testing.assert_allclose(have[name].reshape(want.shape), want, rtol=1e-5, atol=1e-6)
            self.assertEqual(have["logits"].shape, (6, 3))
            self.assertEqual(have["loss"].shape, ())
            self.assertEqual(have["global_step"].dtype, np.int64)

    def test_each_value_is_what_its_inputs_make(self):
        compared = 0
        for dump in self.dumps:
            values = values_of(dump)
            for name, value in values.items():
                inputs = [values.get(i) for i in dump.node_inputs(name)]
                function = NUMPY.get(dump.node_op_type(name))
                if function is None or any(i is None for i in inputs):
                    continue
                with np.errstate(invalid="ignore"):
                    want = function(*inputs)
                np.testing.assert_allclose(value, np.broadcast_to(want, value.shape), rtol=1e-5, atol=1e-6, err_msg=name)
                compared += 1
            np.testing.assert_allclose(values["hidden/matmul"], values["x"] @ values["hidden/kernel"], rtol=1e-5, atol=1e-6)
        self.assertGreater(compared, 45)

    def test_variables_are_shown_before_the_step_and_after_it(self):
        first, second = (values_of(dump) for dump in self.dumps[:2])
        np.testing.assert_array_equal(first["train/hidden/kernel/assign"], second["hidden/kernel"])
        self.assertGreater(np.abs(first["hidden/kernel"] - second["hidden/kernel"]).max(), 0)
        self.assertEqual([int(values_of(dump)["global_step"]) for dump in self.dumps], [0, 1, 2])
        self.assertEqual([dump.core_metadata.global_step for dump in self.dumps], [0, 1, 2])

    def test_the_nan_is_found_where_it_began(self):
        for dump in self.dumps[:2]:
            self.assertEqual(dump.find(debug_data.has_inf_or_nan), [])
        found = [d.node_name for d in self.dumps[2].find(debug_data.has_inf_or_nan)]
        self.assertEqual(found[0], "logarithm")
        self.assertIn("loss", found)
        self.assertNotIn("logits", found)
        self.assertEqual(self.dumps[2].node_inputs("logarithm"), ["scale"])

    def test_producers_are_earlier_than_consumers(self):
        """The reader has validated this already; here it is checked independently."""
        for dump in self.dumps:
            times = {d.node_name: d.timestamp for d in dump.dumped_tensor_data}
            edges = [(i, name) for name in times for i in dump.node_inputs(name) if i in times]
            self.assertGreater(len(edges), 40)
            for producer, consumer in edges:
                self.assertLess(times[producer], times[consumer], (producer, consumer))

    def test_what_was_asked_for(self):
        dump = self.dumps[0]
        self.assertEqual(dump.run_fetches_info, "['logits:0', 'loss:0', 'train']")
        self.assertEqual(dump.run_feed_keys_info, "dict_keys(['x:0', 'labels:0', 'scale:0'])")
        self.assertEqual(dump.core_metadata.input_names, ["labels:0", "scale:0", "x:0"])
        self.assertEqual(dump.core_metadata.target_nodes, ["train"])

    def test_watches_of_the_compiler_leave_the_rest_fused(self):
        for run, everything in zip(runs_of(self.path("some")), self.dumps):
            have, want = values_of(opened(run)), values_of(everything)
            self.assertEqual(set(have), {"hidden/kernel", "logits", "loss"})
            for name, value in have.items():
                np.testing.assert_allclose(value, want[name], rtol=1e-5, atol=1e-6, err_msg=name)


class Conditions(frame.InteropTest):
    def test_only_the_run_with_the_nan_is_there(self):
        self.ours("nan", self.path("nan"))
        runs = runs_of(self.path("nan"))
        self.assertEqual(len(runs), 1)
        dump = opened(runs[0])
        self.assertEqual([d.node_name for d in dump.find(debug_data.has_inf_or_nan)], ["net/field"])
        self.assertEqual(dump.core_metadata.global_step, 1)
        self.assertIn("net/wide", values_of(dump))


class OnTwoRanks(frame.InteropTest):
    """Each rank has a session root and a device of its own. Their rows make up the batch, and their variables are equal."""

    def setUp(self):
        super().setUp()
        self.ours("cpu", self.folder)
        self.ours("ranks", self.folder)
        self.whole = [opened(run) for run in runs_of(self.path("all"))]
        self.ranks = [[opened(run) for run in runs_of(self.path(f"ranks/rank_{r}"))] for r in (0, 1)]

    def test_devices_name_the_rank(self):
        self.assertEqual(sorted(os.listdir(self.path("ranks"))), ["rank_0", "rank_1"])
        for rank, dumps in enumerate(self.ranks):
            self.assertEqual(len(dumps), 3)
            for dump in dumps:
                self.assertEqual(dump.devices(), [f"/job:worker/replica:0/task:{rank}/device:CPU:0"])
                self.assertEqual(dump.node_device("logits/matmul"), dump.devices()[0])

    def test_rows_are_those_of_one_machine(self):
        for whole, first, second in zip(self.whole[:2], *self.ranks):
            want, rows = values_of(whole), [values_of(first), values_of(second)]
            for name in ("x", "hidden/matmul", "logits"):
                np.testing.assert_allclose(np.concatenate([r[name] for r in rows]), want[name], rtol=1e-4, atol=1e-5)

    def test_variables_are_equal(self):
        for first, second in zip(*self.ranks):
            mine, others = values_of(first), values_of(second)
            for name in ("hidden/kernel", "hidden/bias", "logits/kernel", "global_step"):
                np.testing.assert_array_equal(mine[name], others[name])


class Patterns(frame.InteropTest):
    def test_they_match_as_pythons_do(self):
        texts = ["", "a", "b", "ab", "ba", "aab", "abab", "dense", "dense_1/kernel", "hidden/dense", "MatMul", "Mat", "a-b",
                 "a.b", "a+b", "]a", "x{2}", "xx", "xxx", "conv_12", "A B", "\n", "a\n", "_", "9", "loss/grad_0"]
        patterns = ["", "a", "ab", "a|b", "a|", "|a", "(a|b)*", "(a|b)+$", "a*b", "a+b?", "a??b", "a{2}b", "(ab){2}", "(ab){1,2}$",
                    "a{0}b", "a{,2}b", "a{1,}b", "x{2}", "x{2,3}$", "x{a}", "dense", "dense.*", ".*dense", ".*dense$", "dense_\\d+/",
                    "[a-c]+$", "[^a-c]+", "[]a]+", "[a\\]]+$", "[\\w.-]+$", "\\w+$", "\\W", "\\s", "\\S+$", "\\D", "\\d",
                    "^a", "a$", "$", "^$", "a\\Z", "\\Aa", ".", "..", "a.b", "a\\.b", "a\\+b", "Mat", "Mat$", "Mul", "(?:M|m)at",
                    "(?P<x>a)b", "((a)|(b))+$", "(a*)*$", "(a*)+b", "(|a)+b", "[+*?]", "a[+.-]b", "(conv|dense)_\\d{1,2}", "}", "]",
                    "[a-]", "[-a]", "\\/", "a(?:b|)$", "(a|ab)(c|bcd)?$", "[.]"]
        for pattern in patterns:
            want = "".join("1" if re.match(pattern, text) else "0" for text in texts)
            self.assertEqual(self.ours("match", pattern, *texts), want, pattern)


if __name__ == "__main__":
    frame.main()
