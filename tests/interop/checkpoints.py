#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints: TensorFlow writes one, this library reads it and writes it again, TensorFlow reads the result."""
import os
import random
import shutil

import frame

try:
    import numpy as np
    import tensorflow as tf
except ImportError as error:
    frame.skip(f"there is no TensorFlow ({error})")

v1 = tf.compat.v1
TYPES = ["float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
         "uint64", "bool", "complex64", "complex128"]


def save(prefix, tensors, slices=None):
    """Saves the tensors with TensorFlow's operation, in this order."""
    tf.raw_ops.SaveV2(prefix=prefix, tensor_names=list(tensors), shape_and_slices=slices or [""] * len(tensors),
                      tensors=[tf.convert_to_tensor(value) for value in tensors.values()])


def load(prefix):
    reader = tf.train.load_checkpoint(prefix)
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


class Checkpoints(frame.InteropTest):
    def copy(self, prefix):
        """Reads the checkpoint and writes it again with this library. Returns the new prefix."""
        self.ours("copy", "bundle", prefix, "bundle", self.path("copy"))
        return self.path("copy")

    def assert_same(self, prefix, other):
        a, b = load(prefix), load(other)
        self.assertEqual(sorted(a), sorted(b))
        for name in a:
            x, y = np.asarray(a[name]), np.asarray(b[name])
            self.assertEqual((x.dtype, x.shape), (y.dtype, y.shape), name)
            same = x.tolist() == y.tolist() if x.dtype == object else x.tobytes() == y.tobytes()
            self.assertTrue(same, name)
        self.assertEqual(sorted(tf.train.list_variables(prefix)), sorted(tf.train.list_variables(other)))

    def assert_same_bytes(self, prefix, other):
        for ending in (".index", ".data-00000-of-00001"):
            self.assertEqual(read_bytes(prefix + ending), read_bytes(other + ending), ending)

    def test_every_type_and_shape_byte_for_byte(self):
        tensors = {}
        for kind in TYPES:
            values = tf.cast(tf.reshape(tf.range(24), (2, 3, 4)) % 5 - (0 if "u" in kind or kind == "bool" else 2), kind)
            for name, value in {"whole": values, "scalar": values[0, 0, 1], "none": values[:, :0], "one": values[:1, 0]}.items():
                tensors[f"{kind}/{name}"] = value
        tensors = dict(sorted(tensors.items()))
        save(self.path("a"), tensors)
        copy = self.copy(self.path("a"))
        self.assert_same(self.path("a"), copy)
        self.assert_same_bytes(self.path("a"), copy)
        listed = self.ours("list", "bundle", self.path("a")).splitlines()
        self.assertEqual(len(listed), len(tensors))
        self.assertIn("bfloat16/whole bfloat16 [2, 3, 4]", listed)
        self.assertIn("bool/scalar bool []", listed)

    def test_floats_in_two_bytes(self):
        """Floats are rounded as TensorFlow casts them, and both types are read as TensorFlow casts them."""
        random = np.random.default_rng(1)
        floats = random.normal(size=10000).astype(np.float32) * np.exp2(random.integers(-30, 15, 10000)).astype(np.float32)
        save(self.path("a"), {"n": np.int64(7), "w": floats})
        for kind in ("float16", "bfloat16"):
            self.ours("round", "bundle", self.path("a"), kind, "bundle", self.path(kind))
            save(self.path("theirs"), {"n": np.int64(7), "w": tf.cast(floats, kind)})
            self.assert_same(self.path("theirs"), self.path(kind))
            self.assert_same_bytes(self.path("theirs"), self.path(kind))
            every = tf.bitcast(tf.constant(np.arange(1 << 16, dtype=np.uint16)), kind)
            save(self.path("every"), {"w": every})
            self.ours("widen", "bundle", self.path("every"), "bundle", self.path("wide"))
            np.testing.assert_array_equal(load(self.path("wide"))["w"], tf.cast(every, tf.float32).numpy())

    def test_strings_byte_for_byte(self):
        save(self.path("a"), {
            "empty": np.zeros([0], object), "long": np.array([b"x" * 100000, b"", b"y" * 127, b"z" * 128], object),
            "one": "\u00e9\0\n".encode(), "table": np.array([[b"a", b"bb"], [b"", b"\xff\xfe"]], object)})
        copy = self.copy(self.path("a"))
        self.assert_same(self.path("a"), copy)
        self.assert_same_bytes(self.path("a"), copy)

    def test_many_tensors_byte_for_byte(self):
        """Several index blocks, and names that are prefixes of others."""
        names = sorted({f"{i}/{'x' * (i % 97)}" for i in range(6000)} | {"a", "a/b", "a/b/c", "a.b"})
        save(self.path("a"), {name: np.full([i % 3], i, np.int32) for i, name in enumerate(names)})
        self.assertGreater(os.path.getsize(self.path("a.index")), 262144)
        copy = self.copy(self.path("a"))
        self.assert_same_bytes(self.path("a"), copy)

    def make_small(self):
        save(self.path("small"), {"global_step": np.int64(7), "s": np.array([b"ab", b""], object),
                                  "w": np.arange(6, dtype=np.float32).reshape(2, 3)})
        return self.path("small")

    def test_several_data_files(self):
        parts = []
        for shard in range(3):
            parts.append(self.path(f"part{shard}"))
            save(parts[-1], {f"t{shard}": np.full([5], shard, np.float32), f"s{shard}": np.array([b"x" * shard], object)})
        tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix=self.path("a"))
        self.assertTrue(os.path.exists(self.path("a.data-00002-of-00003")))
        self.assert_same(self.path("a"), self.copy(self.path("a")))
        os.remove(self.path("a.data-00001-of-00003"))
        self.assertNotEqual(self.run_program("verify", "bundle", self.path("a"))[0], 0)

    def test_partitioned_variables(self):
        with tf.Graph().as_default(), v1.Session() as session:
            rows = v1.get_variable("rows", [10, 3], partitioner=v1.fixed_size_partitioner(3), initializer=v1.random_normal_initializer(seed=1))
            v1.get_variable("columns", [4, 7], partitioner=v1.fixed_size_partitioner(2, axis=1), initializer=v1.random_normal_initializer(seed=2))
            v1.get_variable("line", [8192 * 3], tf.int64, partitioner=v1.fixed_size_partitioner(5), initializer=v1.ones_initializer())
            self.assertEqual(len(list(rows)), 3)
            session.run(v1.global_variables_initializer())
            prefix = v1.train.Saver().save(session, self.path("model.ckpt"), global_step=1)
        self.assertEqual(self.ours("list", "bundle", prefix).splitlines(),
                         ["columns float32 [4, 7]", "line int64 [24576]", "rows float32 [10, 3]"])
        self.assert_same(prefix, self.copy(prefix))

    def test_slices_along_several_dimensions(self):
        whole = np.arange(60, dtype=np.int32).reshape(3, 4, 5)
        parts, slices, names = [], [], []
        for i in (0, 2):
            for k in (0, 3):
                part = whole[i:i + (2 if i == 0 else 1), :, k:k + (3 if k == 0 else 2)]
                parts.append(part)
                names.append("w")
                slices.append(f"3 4 5 {i},{part.shape[0]}:-:{k},{part.shape[2]}")
        tf.raw_ops.SaveV2(prefix=self.path("a"), tensor_names=names, shape_and_slices=slices,
                          tensors=[tf.constant(part) for part in parts])
        self.assert_same(self.path("a"), self.copy(self.path("a")))

    def test_savers_files_of_a_session(self):
        with tf.Graph().as_default(), v1.Session() as session:
            v1.train.get_or_create_global_step()
            v1.get_variable("layer/weights", initializer=tf.reshape(tf.range(6.0), (2, 3)))
            session.run(v1.global_variables_initializer())
            saver = v1.train.Saver(max_to_keep=2)
            for step in (1, 2, 3):
                saver.save(session, self.path("model.ckpt"), global_step=step)
        newest = self.path("model.ckpt-3")
        self.assertEqual(self.ours("read-state", self.folder).split(), [newest, self.path("model.ckpt-2"), newest])
        self.assert_same(newest, self.copy(newest))

    def test_object_based_checkpoints(self):
        saved = tf.train.Checkpoint(w=tf.Variable([1.0, 2.0]), step=tf.Variable(5, dtype=tf.int64))
        prefix = saved.save(self.path("ckpt"))
        copy = self.copy(prefix)
        restored = tf.train.Checkpoint(w=tf.Variable([0.0, 0.0]), step=tf.Variable(0, dtype=tf.int64))
        restored.restore(copy).assert_consumed()
        self.assertEqual(restored.w.numpy().tolist(), [1.0, 2.0])
        self.assertEqual(int(restored.step), 5)

    def test_a_checkpoint_in_place_of_another(self):
        """A second and third checkpoint of a prefix have other data files. TensorFlow follows the index."""
        for value in range(3):
            save(self.path("a"), {"w": np.full([4], value, np.float32)})
            self.ours("copy", "bundle", self.path("a"), "bundle", self.path("b"))
            self.assertEqual(load(self.path("b"))["w"].tolist(), [value] * 4)
            self.assertEqual(os.path.exists(self.path("b.data-00000-of-00002")), value == 1)

    def test_state_file(self):
        for step in (10, 20):
            shutil.copy(self.make_small() + ".index", self.path(f"model.ckpt-{step}.index"))
        prefixes = [self.path("model.ckpt-10"), self.path("model.ckpt-20")]
        self.ours("write-state", self.folder, *prefixes)
        state = tf.train.get_checkpoint_state(self.folder)
        self.assertEqual(list(state.all_model_checkpoint_paths), prefixes)
        self.assertEqual(list(state.all_model_checkpoint_timestamps), [1.7e9 + 0.25, 1.7e9 + 0.375])
        self.assertEqual(tf.train.latest_checkpoint(self.folder), prefixes[1])
        v1.train.update_checkpoint_state(self.folder, "odd \"name\"\\\u00e9-2", ["m-1", "odd \"name\"\\\u00e9-2"])
        self.assertEqual(self.ours("read-state", self.folder).splitlines()[0], self.path("odd \"name\"\\\u00e9-2"))

    def test_damage_is_noticed_by_both(self):
        """Damaged files of TensorFlow in this library, and of this library in TensorFlow."""
        original = self.make_small()
        copy = self.copy(original)
        chance = random.Random(1)
        for prefix, notices in ((original, self.notice), (copy, self.tensorflow_notices)):
            for ending in (".data-00000-of-00001", ".index"):
                good = read_bytes(prefix + ending)
                # TensorFlow checks only the first block of the index, the tensors; this library checks all of it.
                size = len(good) if ending != ".index" or prefix == original else 84 + 5
                for place in chance.sample(range(size), min(size, 60)):
                    bad = bytearray(good)
                    bad[place] ^= 1 << chance.randrange(8)
                    with open(prefix + ending, "wb") as file:
                        file.write(bad)
                    self.assertTrue(notices(prefix), f"{ending}, byte {place}")
                with open(prefix + ending, "wb") as file:
                    file.write(good)
        self.assert_same(original, copy)

    def notice(self, prefix):
        return self.run_program("verify", "bundle", prefix)[0] == 3

    @staticmethod
    def tensorflow_notices(prefix):
        try:
            load(prefix)
            return False
        except Exception:  # several types, depending on the damage
            return True


if __name__ == "__main__":
    frame.main()
