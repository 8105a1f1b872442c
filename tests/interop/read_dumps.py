#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""crochet-dump reads dumps of the original's DumpingDebugHook, and prints values as numpy does."""
import json
import os
import unittest

import frame

try:
    import numpy as np
    import tensorflow as tf
    from tensorflow.core.util import event_pb2
    from tensorflow.python.debug.lib import debug_data
    from tensorflow.python.debug.wrappers import framework, hooks
except ImportError as error:
    frame.skip(f"there is no TensorFlow ({error})")

v1 = tf.compat.v1
DEVICE = "_tfdbg_device_,job_localhost,replica_0,task_0,device_CPU_0"
TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
         "complex64", "complex128"]
OPS = ["DebugIdentity", "DebugNumericSummary", "DebugNanCount"]


class Dumps(frame.InteropTest):
    def lines(self, *words, status=0):
        """The output of a command with --json."""
        code, text = self.run_program(*words, "--json")
        self.assertEqual(code, status, text)
        return [json.loads(line) for line in text.splitlines()]

    def session(self, root, fetches, feeds, runs=1, ops=("DebugIdentity",), nodes=None, dtypes=None):
        """Runs with the original's hook. Returns the fetched values of each run."""
        hook = hooks.DumpingDebugHook(root, watch_fn=lambda fetches, feeds: framework.WatchOptions(
            list(ops), node_name_regex_allowlist=nodes, tensor_dtype_regex_allowlist=dtypes))
        with v1.train.MonitoredSession(hooks=[hook]) as session:
            return [session.run(fetches, feeds(i)) for i in range(runs)]

    def test_a_session_of_several_runs(self):
        root = self.path("dump")
        with tf.Graph().as_default():
            x = v1.placeholder(tf.float32, [2, 2], name="x")
            w = v1.get_variable("net/w", initializer=np.float32([[1, -2], [0.5, 4]]))
            logits = tf.matmul(x, w, name="net/logits")
            ratio = tf.truediv(logits, logits - logits[0, 0] * 0 - x, name="net/ratio")
            fetches = {"net/logits": logits, "net/ratio": ratio}
            feeds = [np.float32([[1, 2], [3, 4]]), np.float32([[0, 0], [0, 0]]), np.float32([[5, 6], [7, 8]])]
            results = self.session(root, fetches, lambda i: {x: feeds[i]}, 3, OPS, "net/", "float32$")
        listed = self.lines("ls", root)
        runs = [line for line in listed if "tensors" in line]
        self.assertEqual([run["run"] for run in runs], sorted(os.listdir(root)))
        for i, run in enumerate(runs):
            theirs = debug_data.DebugDumpDir(os.path.join(root, run["run"]))
            self.assertEqual(run["tensors"], theirs.size)
            self.assertEqual(run["fetches"], [theirs.run_fetches_info])
            self.assertEqual(run["feeds"], [theirs.run_feed_keys_info])
            self.assertEqual(run["metadata"][0]["session_run_index"], theirs.core_metadata.session_run_index)
            self.assertEqual(run["metadata"][0]["input_names"], ["x:0"])
            self.assertEqual(run["devices"][0]["name"], theirs.devices()[0])
            self.assertEqual(run["devices"][0]["graph_nodes"], len(theirs.nodes()))
            ours = [(d["node"], d["slot"], d["op"], d["time"]) for d in listed if d["run"] == run["run"] and "node" in d]
            self.assertEqual(ours, [(d.node_name, d.output_slot, d.debug_op, d.timestamp) for d in
                                    sorted(theirs.dumped_tensor_data, key=lambda d: d.extended_timestamp)])
            for datum in theirs.dumped_tensor_data:
                value = datum.get_tensor()
                [tensor] = [line for line in self.lines("cat", root, datum.tensor_name, f"--run={i}", "--op", datum.debug_op)
                            if line["op"] == datum.debug_op]
                self.assertEqual((tensor["dtype"], tensor["shape"]), (value.dtype.name, list(value.shape)))
                np.testing.assert_array_equal(np.array(tensor["value"], value.dtype), value, datum.watch_key)
            for name, value in results[i].items():
                [tensor] = self.lines("cat", root, f"{name}:0", f"--run={i}")
                np.testing.assert_array_equal(np.array(tensor["value"], np.float32), value)
        [found] = self.lines("find", "--nan", root)
        self.assertEqual((found["run"], found["node"], found["first"]), (runs[1]["run"], "net/ratio", True))
        self.assertEqual(found["nan"], int(np.isnan(results[1]["net/ratio"]).sum()))
        theirs = debug_data.DebugDumpDir(os.path.join(root, runs[1]["run"]))
        self.assertEqual(theirs.find(lambda d, t: np.isnan(t).any(), first_n=1)[0].node_name, "net/ratio")
        self.assertEqual(sorted(f"{i['node']}:{i['slot']}" if i["slot"] else i["node"] for i in found["fed_by"]),
                         sorted(theirs.node_inputs("net/ratio")))
        self.assertIn("net/logits", [i["node"] for i in found["fed_by"] if i["dumped"]])
        for op in ("DebugNumericSummary", "DebugNanCount"):  # works without the elements
            self.assertEqual(self.lines("find", "--nan", root, "--op", op)[0]["node"], "net/ratio")
        stats = {(s["run"], s["node"]): s for s in self.lines("stats", root)}
        for i, run in enumerate(runs):
            value = results[i]["net/logits"]
            entry = stats[run["run"], "net/logits"]
            self.assertEqual((entry["min"], entry["max"]), (value.min(), value.max()))
            self.assertAlmostEqual(entry["mean"], value.astype(np.float64).mean(), delta=1e-12)

    def test_two_sessions(self):
        for name, factor in (("a", 1), ("b", 1), ("c", 1 + 1e-6)):
            with tf.Graph().as_default():
                x = v1.placeholder(tf.float64, [3], name="x")
                y = tf.square(x * v1.get_variable("factor", initializer=np.float64(factor)), name="net/y")
                z = tf.exp(y, name="net/z")
                self.session(self.path(name), z, lambda i: {x: [1, 2, 3]}, nodes="net/")
        self.assertEqual(self.lines("diff", self.path("a"), self.path("b")), [])
        [first] = self.lines("diff", self.path("a"), self.path("c"), status=1)
        self.assertEqual((first["node"], first["first"]), ("net/y", True))
        self.assertIn("3 of 3 elements differ", first["difference"])
        self.assertEqual(self.lines("diff", self.path("a"), self.path("c"), "--rtol", "1e-3"), [])

    def test_element_types(self):
        root = self.path("dump")
        with tf.Graph().as_default():
            feeds = {kind: np.arange(-3, 3).reshape(2, 3).astype(kind) for kind in TYPES}
            feeds["string"] = np.array([b"a", b"", b"\0\xff'"], object)
            feeds["empty"] = np.zeros([0, 3], np.float32)
            holders = {name: v1.placeholder(value.dtype if name != "string" else tf.string, name=f"x/{name}")
                       for name, value in feeds.items()}
            tensors = {name: tf.concat([x, x], 0, name=f"t/{name}") for name, x in holders.items()}
            tensors["bfloat16"] = tf.cast(holders["float32"], tf.bfloat16, name="t/bfloat16")
            values = self.session(root, tensors, lambda i: {holders[name]: feeds[name] for name in feeds}, nodes="t/")[0]
        for name, value in values.items():
            [tensor] = self.lines("cat", root, f"t/{name}")
            self.assertEqual(tensor["shape"], list(value.shape), name)
            text = self.ours("cat", root, f"t/{name}:0").split("\n", 1)[1]
            self.assertEqual(text, str(value) + "\n", name)
            if name == "bfloat16":
                self.assertEqual(tensor["value"], value.astype(np.float32).tolist())
                value = value.astype(np.float32)
            self.ours("cat", root, f"t/{name}:0", "--npy", self.path("t.npy"))
            loaded = np.load(self.path("t.npy"))
            np.testing.assert_array_equal(loaded, value if name != "string" else value.astype("S"))
            if name not in ("string", "bfloat16"):
                self.assertEqual(loaded.dtype, value.dtype)

    def write(self, arrays):
        """Writes a dump of these arrays, in one run. Returns its folder."""
        folder = self.path("dump", "run_1700000000000000_0", DEVICE)
        os.makedirs(folder)
        for i, array in enumerate(arrays):
            event = event_pb2.Event(wall_time=float(i))
            value = event.summary.value.add(tag=f"n{i}", node_name=f"n{i}:0:DebugIdentity")
            value.tensor.dtype = tf.as_dtype(array.dtype).as_datatype_enum
            value.tensor.tensor_shape.SetInParent()
            for size in array.shape:
                value.tensor.tensor_shape.dim.add(size=size)
            value.tensor.tensor_content = array.tobytes()
            with open(os.path.join(folder, f"n{i}_0_DebugIdentity_{1000 + i}"), "wb") as file:
                file.write(event.SerializeToString())
        return self.path("dump")

    def test_prints_as_numpy(self):
        random = np.random.default_rng(1)
        arrays = []
        for kind in TYPES:
            for shape in [(), (1,), (7,), (40,), (3, 4), (2, 3, 4), (1001,), (60, 70), (12, 11, 13), (1, 1, 1, 1), (0, 3), (2, 0)]:
                wide = random.standard_normal(shape) * 10.0 ** random.integers(-3, 4, shape)
                near = np.round(random.standard_normal(shape), 2)
                for array in (wide, near):
                    arrays.append(np.asarray(array).astype(kind))
        special = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e-300, 1e300, 1e16, 1e15, 123456789.0, 0.1, 1 / 3, 5e-324, 65504]
        for kind in ("float16", "float32", "float64", "complex64", "complex128"):
            with np.errstate(all="ignore"):
                numbers = np.array(special).astype(kind)
            arrays += [numbers, numbers[:2], numbers[2:5], numbers[2:3], numbers[[0, 4]], numbers[[2, 10]], numbers[8:12]]
            arrays += [np.array(n, kind) for n in numbers]
        arrays += [np.frombuffer(random.bytes(4000), np.uint8).view(kind) for kind in ("float16", "float32", "float64")]
        arrays += [np.arange(65536, dtype=np.uint16).view(np.float16)[i::97] for i in range(97)]
        root = self.write(arrays)
        for precision in (8, 3):
            with np.printoptions(precision=precision):
                printed = self.ours("cat", root, *[f"n{i}:0" for i in range(len(arrays))], "--precision", str(precision))
                for i, array in enumerate(arrays):
                    want = f"run_1700000000000000_0  n{i}:0  DebugIdentity  {array.dtype} {array.shape}\n{array!s}\n"
                    self.assertEqual(printed[:len(want)], want, f"{array!r}")
                    printed = printed[len(want):]
                self.assertEqual(printed, "")

    @unittest.skipUnless("CROCHET_INTEROP_SAMPLES" in os.environ, "no samples of the original's files are given")
    def test_samples(self):
        samples = os.environ["CROCHET_INTEROP_SAMPLES"]
        root = os.path.join(samples, "dump")
        with open(os.path.join(samples, "dump_expect.json")) as file:
            [expected] = json.load(file)["runs"]
        [run] = [line for line in self.lines("ls", root) if "tensors" in line]
        self.assertEqual(run["feeds"], [expected["feeds"]])
        self.assertLessEqual(expected["core_metadata"].items(), run["metadata"][0].items())
        for key, tensor in expected["tensors"].items():
            name, op = key.rsplit(":", 1)
            [ours] = self.lines("cat", root, name, "--op", op)
            value = np.array(ours["value"], np.float64)
            np.testing.assert_allclose(value, np.array(tensor["value"], np.float64), tensor.get("rtol", 0), 0, err_msg=key)
            for fact in ("dtype", "shape"):
                self.assertEqual(ours[fact], tensor.get(fact, ours[fact]), key)
        self.assertEqual([f["node"] for f in self.lines("find", "--nan", root)], ["net/ratio"])

    def test_a_file_that_is_damaged_hides_nothing(self):
        root = self.write([np.float32([1, 2]), np.float32([3, np.nan])])
        with open(os.path.join(root, "run_1700000000000000_0", DEVICE, "n0_0_DebugIdentity_1000"), "r+b") as file:
            file.truncate(30)
        status, text = self.run_program("find", "--nan", root)
        self.assertEqual(status, 2)
        self.assertIn("n0_0_DebugIdentity_1000 is damaged", text)
        self.assertIn("n1:0  float32 (2,)  1 NaN", text)


if __name__ == "__main__":
    v1.disable_eager_execution()
    frame.main()
