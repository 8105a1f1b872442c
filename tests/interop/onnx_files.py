#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ONNX files: onnx checks them, and onnxruntime computes what the CPU executor computes. Prints a table: each output,
the operators that it needs, and the largest difference."""
import glob
import os

import frame

try:
    import numpy as np
    import onnx
    import onnxruntime
    from onnx import checker, shape_inference
except ImportError as error:
    frame.skip(f"there is no onnx or onnxruntime ({error})")


def operators(graph, output):
    """The operators that compute an output, in order, each once."""
    made = {name: node for node in graph.node for name in node.output}
    found, todo, seen = [], [output], set()
    while todo:
        node = made.get(todo.pop())
        if node is None or node.name in seen:
            continue
        seen.add(node.name)
        todo += node.input
        if node.op_type not in found and node.op_type != "Identity":
            found.append(node.op_type)
    return found[::-1]


class OnnxFiles(frame.InteropTest):
    def test_every_output_is_the_executors(self):
        self.ours(self.folder)
        files = sorted(glob.glob(self.path("*.onnx")))
        self.assertEqual(len(files), 9)
        for path in files:
            self.compare(path)

    def compare(self, path):
        base = path[: -len(".onnx")]
        model = onnx.load(path)
        checker.check_model(model, full_check=True)
        shape_inference.infer_shapes(model, strict_mode=True)
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        self.assertEqual(session.get_inputs()[0].shape, ["batch", 12])
        x = np.fromfile(base + ".x.bin", dtype=np.float32).reshape(3, 12)
        names = [output.name for output in session.get_outputs()]
        largest = dict.fromkeys(names, 0.0)
        for batch in (1, 3):  # two sizes of the dynamic dimension
            for name, y in zip(names, session.run(names, {"x": x[:batch]})):
                right = np.fromfile(f"{base}.{name}.{batch}.bin", dtype=y.dtype).reshape(y.shape)
                largest[name] = max(largest[name], self.difference(name, y, right))
        for name in names:
            print(f"| `{name}` | {', '.join(operators(model.graph, name))} | {largest[name]:.1e} |")
            self.assertLess(largest[name], 2e-6, f"{os.path.basename(base)}: {name}")

    def difference(self, name, y, right):
        """The largest difference, relative to values above 1. Integers are equal, NaN is at the same places."""
        if not np.issubdtype(y.dtype, np.floating):
            np.testing.assert_array_equal(y, right, err_msg=name)
            return 0.0
        y, right = y.astype(float), right.astype(float)
        self.assertEqual(np.isnan(y).tolist(), np.isnan(right).tolist(), name)
        if name.startswith(("mod", "atan2")):  # the sign of 0 is defined
            np.testing.assert_array_equal(np.signbit(y)[y == 0], np.signbit(right)[y == 0], err_msg=name)
        y, right = np.nan_to_num(y), np.nan_to_num(right)
        return float(np.max(np.abs(y - right) / np.maximum(1, np.abs(right))))


if __name__ == "__main__":
    frame.main()
