#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""safetensors: the reference library writes a file, this library reads it and writes it again, the reference reads
the result."""
import json
import struct

import frame

try:
    import numpy as np
    import safetensors
    from safetensors.numpy import load_file, save_file
except ImportError as error:
    frame.skip(f"there is no safetensors ({error})")

TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
         "float64", "complex64"]


class SafetensorsFiles(frame.InteropTest):
    def copy(self, prefix, to="copy"):
        self.ours("copy", "safetensors", prefix, "safetensors", self.path(to))
        return self.path(to)

    def assert_holds(self, prefix, tensors):
        loaded = load_file(prefix + ".safetensors")
        self.assertEqual(sorted(loaded), sorted(tensors))
        for name, value in tensors.items():
            self.assertEqual((loaded[name].dtype, loaded[name].shape), (value.dtype, value.shape), name)
            self.assertEqual(loaded[name].tobytes(), value.tobytes(), name)

    def test_every_type_and_shape(self):
        tensors = {}
        for kind in TYPES:
            values = (np.arange(24).reshape(2, 3, 4) % 5).astype(kind)
            tensors |= {f"{kind}/whole": values, f"{kind}/scalar": np.array(1, kind), f"{kind}/none": values[:, :0].copy()}
        tensors["\u00e9\"\\\t"] = np.ones(3, np.float32)
        save_file(tensors, self.path("a.safetensors"), {"format": "np"})
        self.assert_holds(self.copy(self.path("a")), tensors)
        self.assert_holds(self.copy(self.path("copy"), "again"), tensors)
        self.assertEqual(len(self.ours("list", "safetensors", self.path("a")).splitlines()), len(tensors))

    def test_metadata_both_ways(self):
        metadata = {"format": "pt", "": "", "quote\"\\\n": "\u00e9", "long": "z" * 1000}
        save_file({"w": np.ones(2, np.float32)}, self.path("a.safetensors"), metadata)
        self.assertEqual(json.loads(self.ours("metadata", self.path("a"), self.path("b"))), metadata)
        with safetensors.safe_open(self.path("b.safetensors"), "np") as file:
            ours = {key: value for key, value in file.metadata().items() if not key.startswith("crochet.")}
        self.assertEqual(ours, metadata)
        self.assert_holds(self.path("b"), {"w": np.ones(2, np.float32)})

    def test_the_data_lie_where_the_reference_puts_them(self):
        tensors = {"b": np.ones(3, np.uint8), "c": np.ones(2, np.float64), "a": np.ones(5, np.uint8), "d": np.ones(1, np.int64)}
        save_file(tensors, self.path("a.safetensors"))
        self.copy(self.path("a"))
        headers = []
        for name in ("a", "copy"):
            with open(self.path(name + ".safetensors"), "rb") as file:
                header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
                self.assertEqual(file.tell() % 8, 0)
            header.pop("__metadata__", None)
            headers.append(list(header.items()))
        self.assertEqual(headers[0], headers[1])

    def test_types_that_numpy_lacks(self):
        data = bytes(range(8))
        for theirs, kind in (("BF16", "bfloat16"), ("F8_E4M3", "float8_e4m3fn"), ("F8_E5M2", "float8_e5m2")):
            shape = [4] if kind == "bfloat16" else [8]
            text = json.dumps({"w": {"dtype": theirs, "shape": shape, "data_offsets": [0, 8]}}).encode()
            with open(self.path("a.safetensors"), "wb") as file:
                file.write(struct.pack("<Q", len(text)) + text + data)
            self.assertEqual(self.ours("list", "safetensors", self.path("a")), f"w {kind} {shape}\n")
            with open(self.copy(self.path("a")) + ".safetensors", "rb") as file:
                name, tensor = safetensors.deserialize(file.read())[0]
            self.assertEqual((name, tensor["shape"], bytes(tensor["data"])), ("w", shape, data))

    def test_floats_in_two_bytes(self):
        """Every float16 is read as NumPy reads it; floats are rounded as NumPy rounds them, and to bfloat16."""
        every = np.arange(1 << 16, dtype=np.uint16)
        save_file({"w": every.view(np.float16).reshape(256, 256)}, self.path("a.safetensors"))
        self.ours("widen", "safetensors", self.path("a"), "safetensors", self.path("wide"))
        wide = load_file(self.path("wide.safetensors"))["w"]
        np.testing.assert_array_equal(wide, every.view(np.float16).astype(np.float32).reshape(256, 256))

        random = np.random.default_rng(1)
        floats = random.normal(size=10000).astype(np.float32) * np.exp2(random.integers(-30, 15, 10000)).astype(np.float32)
        save_file({"w": floats, "n": np.array([7], np.int64)}, self.path("b.safetensors"))
        self.ours("round", "safetensors", self.path("b"), "float16", "safetensors", self.path("half"))
        self.assert_holds(self.path("half"), {"w": floats.astype(np.float16), "n": np.array([7], np.int64)})

        self.ours("round", "safetensors", self.path("b"), "bfloat16", "safetensors", self.path("brain"))
        bits = floats.view(np.uint32)
        rounded = (bits + 0x7FFF + (bits >> 16 & 1) >> 16).astype("<u2")
        with open(self.path("brain.safetensors"), "rb") as file:
            tensors = dict(safetensors.deserialize(file.read()))
        self.assertEqual((tensors["w"]["dtype"], bytes(tensors["w"]["data"])), ("BF16", rounded.tobytes()))

    def test_between_the_formats(self):
        tensors = {"w": np.arange(6, dtype=np.float32).reshape(2, 3), "n/step": np.array(7, np.int64)}
        save_file(tensors, self.path("a.safetensors"))
        self.ours("copy", "safetensors", self.path("a"), "bundle", self.path("b"))
        self.ours("copy", "bundle", self.path("b"), "safetensors", self.path("c"))
        self.assert_holds(self.path("c"), tensors)

    def test_what_the_reference_refuses(self):
        good = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
        data = bytes(8)
        for header, rest in (
            ({"w": good}, data[:7]), ({"w": good}, data + b"x"), ({"w": good | {"dtype": "F99"}}, data),
            ({"w": good | {"shape": [3]}}, data), ({"w": good | {"shape": [-2]}}, data), ({"w": good | {"shape": [2.5]}}, data),
            ({"w": good | {"data_offsets": [4, 12]}}, data + data[:4]), ({"w": good | {"data_offsets": [8, 0]}}, data),
            ({"w": good, "v": good}, data), ({"w": {"dtype": "F32", "shape": [2]}}, data), ([], data),
            ({"__metadata__": {"a": 1}, "w": good}, data), ({"w": good | {"shape": [1 << 62, 8], "data_offsets": [0, 0]}}, b""),
        ):
            text = json.dumps(header).encode()
            whole = struct.pack("<Q", len(text)) + text + rest
            with open(self.path("a.safetensors"), "wb") as file:
                file.write(whole)
            with self.assertRaises(Exception, msg=header):
                safetensors.deserialize(whole)
            self.assertEqual(self.run_program("verify", "safetensors", self.path("a"))[0], 3, header)


if __name__ == "__main__":
    frame.main()
