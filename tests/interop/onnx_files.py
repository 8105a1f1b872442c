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
        self.assertEqual(len(files), 5)
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
        first = dict(zip(names, session.run(names, {"x": x[:1]})))  # another size of the dynamic dimension
        for name, y in zip(names, session.run(names, {"x": x})):
            right = np.fromfile(f"{base}.{name}.bin", dtype=y.dtype).reshape(y.shape)
            self.assertEqual(np.isnan(y.astype(float)).tolist(), np.isnan(right.astype(float)).tolist(), name)
            difference = np.abs(np.nan_to_num(y.astype(float)) - np.nan_to_num(right.astype(float)))
            largest = float(np.max(difference / np.maximum(1, np.abs(np.nan_to_num(right.astype(float))))))
            if name != "column_mean":
                np.testing.assert_allclose(first[name], right[:1], rtol=2e-6, atol=2e-6, err_msg=name)
            print(f"| `{name}` | {', '.join(operators(model.graph, name))} | {largest:.1e} |")
            self.assertLess(largest, 2e-6, f"{os.path.basename(base)}: {name}")


if __name__ == "__main__":
    frame.main()
