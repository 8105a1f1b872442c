#!/usr/bin/env python3
"""Runs a program that records cases (agree.hpp) and sets what it wrote against JAX, which computes in double.

    python3 tests/agreement/judge.py FAMILY PROGRAM

Values and gradients (of sum(value * weights)) may differ from JAX's by TOLERANCE times the largest element: crochet
computes in float, whose rounding is 6e-8. Exit status: 0 they agree, 1 they do not, 77 there is no JAX here."""
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
os.environ.setdefault("JAX_PLATFORMS", "cpu")
try:
    import jax
    import jax.numpy as jnp
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}. `make full` makes a Python environment that has JAX")
    sys.exit(SKIPPED)
jax.config.update("jax_enable_x64", True)

TOLERANCE = 1e-5
nn, lax = jax.nn, jax.lax


def conv(x, w, strides=(1, 1), padding="SAME"):
    return lax.conv_general_dilated(x, w, strides, padding, dimension_numbers=("NHWC", "HWIO", "NHWC"))


def max_pool(x, size, strides, padding):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, *size, 1), (1, *strides, 1), padding)


def sparse_cross_entropy(z, y):
    return -jnp.mean(jnp.take_along_axis(nn.log_softmax(z), y[:, None], 1))


def features(x, w, b):
    return max_pool(nn.relu(conv(x, w) + b), (2, 2), (2, 2), "VALID")


def cnn(x, y, w1, b1, w2, b2, w3, b3, w4, b4):
    h = features(features(x, w1 * 0.4, b1), w2 * 0.08, b2)
    h = nn.relu(h.reshape(len(h), -1) @ (w3 * 0.025) + b3)
    return sparse_cross_entropy(h @ (w4 * 0.12) + b4, y)


def wide_mlp(x, y, w1, b1, w2, b2, w3, b3):
    h = nn.relu(nn.relu(x @ (w1 * 0.05) + b1) @ (w2 * 0.06) + b2)
    return sparse_cross_entropy(h @ (w3 * 0.06) + b3, y)


def chain(x):
    return jnp.exp(-jnp.sqrt(jnp.tanh(x * 1.1 + 0.3) ** 2 + 1)) * x


# Family -> case -> what JAX calls it. A case has a line of the same name in <family>.cpp.
CASES = {
    "elementwise": {
        "add": lambda x, y: x + y,
        "sub": lambda x, y: x - y,
        "mul": lambda x, y: x * y,
        "div": lambda x, y: x / y,
        "numbers": lambda x: 2 - (x * 3 + 0.5) / 4,
        "neg": lambda x: -x,
        "maximum": jnp.maximum,
        "minimum": jnp.minimum,
        "abs": jnp.abs,
        "square": jnp.square,
        "relu": nn.relu,
        "exp": jnp.exp,
        "log": jnp.log,
        "sqrt": jnp.sqrt,
        "tanh": jnp.tanh,
        "sigmoid": nn.sigmoid,
        "select": jnp.where,
        "equal": jnp.equal,
        "not_equal": jnp.not_equal,
        "less": jnp.less,
        "greater": jnp.greater,
        "cast_down": lambda x: jnp.trunc(x * 10).astype(jnp.int32),
        "cast_up": lambda x: x * 0.1,
        "chain": chain,
    },
    "arrays": {
        "reshape": lambda x: x.reshape(7, 15),
        "flatten": lambda x: x.reshape(3, 35),
        "expand_dims": lambda x: jnp.expand_dims(x, 1),
        "squeeze": lambda x: jnp.squeeze(x, 1),
        "broadcast_to": lambda x: jnp.broadcast_to(x, (4, 3, 5)),
        "tril": lambda x: jnp.tril(x, 1),
        "triu": lambda x: jnp.triu(x, -1),
        "one_hot": lambda i: nn.one_hot(i, 5),
        "sum": jnp.sum,
        "sum_rows": lambda x: jnp.sum(x, 1),
        "sum_columns": lambda x: jnp.sum(x, 0),
        "sum_apart": lambda x: jnp.sum(x, (0, -1)),
        "mean": lambda x: jnp.mean(x, (1, 2)),
        "max": lambda x: jnp.max(x, 1),
        "argmax": lambda x: jnp.argmax(x, -1),
    },
    "networks": {
        "matmul": jnp.matmul,
        "matmul_turned": lambda a, b: a.T @ b.T,
        "matmul_row": jnp.matmul,
        "matmul_batched": jnp.matmul,
        "matmul_batched_turned": lambda a, b: a @ jnp.swapaxes(b, -1, -2),
        "conv2d": conv,
        "conv2d_valid": lambda x, w: conv(x, w, (2, 3), "VALID"),
        "conv2d_same_strided": lambda x, w: conv(x, w, (2, 2)),
        "max_pool": lambda x: max_pool(x, (2, 2), (2, 2), "VALID"),
        "max_pool_same": lambda x: max_pool(x, (3, 3), (2, 2), "SAME"),
        "sparse_softmax_cross_entropy": lambda z, y: sparse_cross_entropy(z * 5, y),
        "softmax_cross_entropy": lambda z, p: -jnp.mean(jnp.sum(p * p * nn.log_softmax(z), 1)),
        "mlp": lambda x, y, w1, b1, w2, b2: sparse_cross_entropy(
            nn.relu(x @ (w1 * 0.05) + b1) @ (w2 * 0.1) + b2, y),
        "wide_mlp": wide_mlp,
        "cnn": cnn,
        "chain_mean": lambda x: jnp.mean(nn.sigmoid(nn.relu(chain(x)) - 0.1)),
    },
}


def wide(x):
    """Floating numbers in double; the others as they are."""
    return jnp.asarray(x, jnp.float64 if x.dtype.kind == "f" else x.dtype)


def difference(ours, theirs):
    """The greatest one, relative to the largest element; infinite if shapes or NaNs differ."""
    theirs = np.asarray(theirs)
    if ours.shape != theirs.shape:
        return float("inf")
    if ours.dtype.kind == "b" or theirs.dtype.kind == "b":
        return 0.0 if ours.dtype.kind == theirs.dtype.kind and (ours == theirs).all() else float("inf")
    ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)
    if not np.isfinite(theirs).all() or not np.isfinite(ours).all():
        return 0.0 if np.array_equal(ours, theirs, equal_nan=True) else float("inf")
    return float(np.max(np.abs(ours - theirs), initial=0) / max(np.max(np.abs(theirs), initial=0), 1e-30))


def judge(folder, function):
    """What is compared -> how much it differs."""
    read = {path.stem: np.load(path) for path in folder.glob("*.npy")}
    inputs = [wide(read[f"in{i}"]) for i in range(sum(name.startswith("in") for name in read))]
    found = {"value": difference(read["value"], function(*inputs))}
    wanted = [i for i in range(len(inputs)) if f"gradient{i}" in read]
    if wanted:
        weights = wide(read["weights"])
        gradients = jax.grad(lambda *x: jnp.sum(function(*x) * weights), wanted)(*inputs)
        for i, gradient in zip(wanted, gradients):
            found[f"gradient {i}"] = difference(read[f"gradient{i}"], gradient)
    return found


def main():
    family, program = sys.argv[1:]
    cases, worst, wrong = CASES[family], 0.0, 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, folder], check=True)
        recorded = {path.name: path for path in pathlib.Path(folder).iterdir()}
        if recorded.keys() != cases.keys():
            print(f"{family}: cases on one side only: {sorted(recorded.keys() ^ cases.keys())}")
            wrong += 1
        for name in recorded.keys() & cases.keys():
            for what, by in judge(recorded[name], cases[name]).items():
                if by > TOLERANCE:
                    print(f"{family}: {name}: {what} differs by {by:.1e} of the largest element")
                    wrong += 1
                else:
                    worst = max(worst, by)
    print(f"{family}: {len(cases)} cases; {wrong} disagreements; else the greatest difference is {worst:.1e}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
