#!/usr/bin/env python3
"""Runs a program that records cases (agree.hpp) and compares the records with JAX, which computes in double.

    python3 tests/agreement/judge.py FAMILY PROGRAM

Values and gradients (of sum(value * weights)) may differ from JAX's by TOLERANCE times the largest element: crochet
computes in float, whose rounding is 6e-8. Exit status: 0 if they agree, 1 if not, 77 without JAX."""
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


def normalized(x, axes, epsilon=1e-5):
    mean = jnp.mean(x, axes, keepdims=True)
    return (x - mean) * lax.rsqrt(jnp.mean((x - mean) ** 2, axes, keepdims=True) + epsilon)


def layer_norm(x, g, b):
    return normalized(x, -1) * g + b


def batch_norm(x, g, b):
    return normalized(x, (0, 1, 2)) * g + b


def group_norm(x, groups, g, b):
    n, h, w, c = x.shape
    return normalized(x.reshape(n, h, w, groups, c // groups), (1, 2, 4)).reshape(x.shape) * g + b


def self_attention(x, heads, causal=False):
    b, s, d = x.shape[0], x.shape[1], x.shape[2] // 3
    q, k, v = jnp.moveaxis(x.reshape(b, s, 3, heads, d // heads), 2, 0)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * (d // heads) ** -0.5
    scores = jnp.where(jnp.tri(s) > 0, scores, -jnp.inf) if causal else scores
    return jnp.einsum("bhqk,bkhd->bqhd", nn.softmax(scores), v).reshape(b, s, d)


def attention(q, k, v, seen=None):
    scores = jnp.einsum("...qd,...kd->...qk", q, k) * q.shape[-1] ** -0.5
    scores = scores if seen is None else jnp.where(seen, scores, -1e30)
    return jnp.einsum("...qk,...ke->...qe", nn.softmax(scores), v)


def encoder(x, wqkv, wo, g1, b1, w1, c1, w2, c2, g2, b2):
    h = layer_norm(x + self_attention(x @ (wqkv * 0.1), 4) @ (wo * 0.1), g1, b1)
    y = layer_norm(h + nn.relu(h @ (w1 * 0.1) + c1) @ (w2 * 0.05) + c2, g2, b2)
    return jnp.mean((y - lax.stop_gradient(x)) ** 2)


def huber(e):
    return jnp.where(jnp.abs(e) <= 1, e * e / 2, jnp.abs(e) - 0.5)


def weighted_cross_entropy(z, y, w):
    losses = -jnp.take_along_axis(nn.log_softmax(z), y[:, None], 1)[:, 0]
    return jnp.sum(losses * w * w) / jnp.sum(w * w)


STEPS = 25  # Trainer::steps in train.hpp


def trained(optimizer, clip=lambda gradients: gradients, every=1):
    """The parameters after STEPS runs: kernel, then bias. Each `every`-th run applies the mean gradient.
    optimizer(w, g, state, step) -> new w, new state; the initial state of a parameter is {}."""
    def train(w, b, x):
        def loss(parameters):
            return jnp.mean((jnp.tanh(x @ parameters[0] + parameters[1]) - 0.3) ** 2) * 10
        parameters, states = [w, b], [{}, {}]
        for step in range(STEPS // every):
            gradients = clip(jax.grad(loss)(parameters))
            made = [optimizer(p, g, s, step) for p, g, s in zip(parameters, gradients, states)]
            parameters, states = [m[0] for m in made], [m[1] for m in made]
        return jnp.concatenate([p.ravel() for p in parameters])
    return train


class GivenValue:
    """A function of random numbers, which are taken from the recorded value."""
    def __init__(self, function_of):
        self.function_of = function_of


def kept(value, rate):
    """The elements that dropout kept. Their number must be within 5 standard deviations: one failure in a million."""
    dropped, deviation = np.sum(value == 0), (value.size * rate * (1 - rate)) ** 0.5
    assert abs(dropped - value.size * rate) < 5 * deviation, f"{dropped} of {value.size} dropped"
    return value != 0


def sgd(rate):
    return lambda w, g, s, step: (w - (rate(step) if callable(rate) else rate) * g, s)


def momentum(rate, beta=0.9, nesterov=False):
    def update(w, g, s, step):
        a = beta * s.get("a", 0) + g
        return w - rate * (g + beta * a if nesterov else a), {"a": a}
    return update


def rmsprop(rate, decay=0.9, beta=0.0, epsilon=1e-10, centered=False):
    def update(w, g, s, step):
        square, mean = decay * s.get("v", 1.0) + (1 - decay) * g * g, decay * s.get("m", 0.0) + (1 - decay) * g
        u = beta * s.get("u", 0.0) + rate * g / jnp.sqrt(square - (mean * mean if centered else 0) + epsilon)
        return w - u, {"v": square, "m": mean, "u": u}
    return update


def adagrad(rate, initial=0.1, epsilon=1e-7):
    def update(w, g, s, step):
        a = s.get("a", initial) + g * g
        return w - rate * g / (jnp.sqrt(a) + epsilon), {"a": a}
    return update


def moments(g, s, step, beta1=0.9, beta2=0.999):
    """Adam's moments: the state, and both moments with bias correction."""
    s = {"m": beta1 * s.get("m", 0.0) + (1 - beta1) * g, "v": beta2 * s.get("v", 0.0) + (1 - beta2) * g * g}
    return s, s["m"] / (1 - beta1 ** (step + 1)), s["v"] / (1 - beta2 ** (step + 1))


def adam(rate, epsilon_hat=1e-8):
    """With TensorFlow's epsilon, which is added to the root of the uncorrected moment."""
    def update(w, g, s, step):
        s, m, v = moments(g, s, step)
        epsilon = epsilon_hat / np.sqrt(1 - 0.999 ** (step + 1))
        return w - (rate(step) if callable(rate) else rate) * m / (jnp.sqrt(v) + epsilon), s
    return update


def adamw(rate, decay, epsilon=1e-8):
    """With PyTorch's epsilon. The decay applies to matrices only."""
    def update(w, g, s, step):
        s, m, v = moments(g, s, step)
        return w - rate * ((decay * w if w.ndim > 1 else 0) + m / (jnp.sqrt(v) + epsilon)), s
    return update


def lion(rate, decay, beta1=0.9, beta2=0.99):
    def update(w, g, s, step):
        m = s.get("m", 0.0)
        return w - rate * (jnp.sign(beta1 * m + (1 - beta1) * g) + decay * w), {"m": beta2 * m + (1 - beta2) * g}
    return update


def shortened(x, norm, limit):
    return x * (limit / jnp.maximum(norm, limit))


def by_global_norm(limit):
    return lambda gs: [shortened(g, jnp.sqrt(sum(jnp.sum(h * h) for h in gs)), limit) for g in gs]


def cosine(initial, steps, alpha=0.0):
    return lambda step: initial * ((1 - alpha) * (1 + np.cos(np.pi * min(step / steps, 1))) / 2 + alpha)


# Family -> case -> the same computation in JAX. A case has a line of the same name in <family>.cpp.
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
        "sigmoid": nn.sigmoid,
        "tanh": jnp.tanh,
        "softplus": lambda x: nn.softplus(x * 10),
        "silu": nn.silu,
        "gelu": lambda x: nn.gelu(x, approximate=False),
        "gelu_tanh": nn.gelu,
        "elu": lambda x: nn.elu(x, 1.5),
        "selu": nn.selu,
        "leaky_relu": lambda x: nn.leaky_relu(x, 0.1),
        "hard_sigmoid": lambda x: nn.hard_sigmoid(x * 4),
        "softsign": nn.soft_sign,
        "floor_divide": jnp.floor_divide,
        "mod": jnp.mod,
        "clip": lambda x: jnp.clip(x, -0.5, 1),
        "squared_difference": lambda x, y: (x - y) ** 2,
        "reciprocal": lambda x: 1 / x,
        "sign": jnp.sign,
        "floor": lambda x: jnp.floor(x * 3),
        "ceil": lambda x: jnp.ceil(x * 3),
        "round": lambda x: jnp.round(jnp.floor(x * 8) * 0.25),
        "trunc": lambda x: jnp.trunc(x * 3),
        "less_equal": jnp.less_equal,
        "greater_equal": lambda x: x >= 0.25,
        "logic": lambda a, b: (a & b) ^ (a | ~b),
        "select": jnp.where,
        "equal": jnp.equal,
        "not_equal": jnp.not_equal,
        "less": jnp.less,
        "greater": jnp.greater,
        "cast_down": lambda x: jnp.trunc(x * 10).astype(jnp.int32),
        "cast_up": lambda x: x * 0.1,
        "isnan": lambda x: jnp.isnan(jnp.sqrt(x)),
        "isinf": lambda x: jnp.isinf(1 / jnp.floor(x)),
        "isfinite": lambda x: jnp.isfinite(jnp.log(jnp.floor(x))),
        "chain": chain,
    },
    "functions": {
        "exp": jnp.exp,
        "expm1": jnp.expm1,
        "exp2": jnp.exp2,
        "log": jnp.log,
        "log1p": jnp.log1p,
        "log2": jnp.log2,
        "log10": jnp.log10,
        "sqrt": jnp.sqrt,
        "rsqrt": lax.rsqrt,
        "sin": jnp.sin,
        "cos": jnp.cos,
        "tan": jnp.tan,
        "asin": jnp.arcsin,
        "acos": jnp.arccos,
        "atan": jnp.arctan,
        "sinh": jnp.sinh,
        "cosh": jnp.cosh,
        "asinh": jnp.arcsinh,
        "atanh": jnp.arctanh,
        "erf": jax.scipy.special.erf,
        "erfc": jax.scipy.special.erfc,
        "acosh": lambda x: jnp.arccosh(x + 1),
        "pow": jnp.power,
        "pow_number": lambda x: x ** 3,
        "atan2": jnp.arctan2,
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
        "transpose": lambda x: jnp.transpose(x, (2, 0, 1)),
        "swap_axes": lambda x: jnp.swapaxes(x, -1, -2),
        "concat": lambda *x: jnp.concatenate(x, 1),
        "stack": lambda *x: jnp.stack(x, -1),
        "slice": lambda x: x[:, 7:1:-2],
        "crop": lambda x: x[1:3, -4:-1],
        "reverse": jnp.flipud,
        "split": lambda x: x[:, 3:6],
        "pad": lambda x: jnp.pad(x, ((0, 2), (1, 3)), constant_values=0.5),
        "pad_reflect": lambda x: jnp.pad(x, ((1, 0), (2, 3)), "reflect"),
        "repeat": lambda x: jnp.repeat(x, 3, 1),
        "tile": lambda x: jnp.tile(x, (2, 3)),
        "gather": lambda x, i: jnp.take(x, i, 1),
        "embedding": lambda x, i: x[i],
        "segment_sum": lambda x, i: jax.ops.segment_sum(x, i, 5),
        "take_along": lambda x, i: jnp.take_along_axis(x, i, 1),
        "argmin": lambda x: jnp.argmin(x, -1),
        "min": lambda x: jnp.min(x, 1),
        "product": lambda x: jnp.prod(x, 1),
        "variance": lambda x: jnp.var(x, 0),
        "std": lambda x: jnp.std(x, 1),
        "cumulative_sum": lambda x: jnp.cumsum(x, 1),
        "cumulative_sum_reverse": lambda x: jnp.flip(jnp.cumsum(jnp.flip(x, 0), 0), 0),
        "norm": lambda x: jnp.linalg.norm(x),
        "lower_triangle": lambda x: jnp.where(jnp.tri(7, 5, -1) > 0, x, x * x),
        "take_along_rows": lambda x, i: jnp.take_along_axis(x, i, 1),
        "top_k": lambda x: jax.lax.top_k(x, 4)[0],
        "top_k_indices": lambda x: jax.lax.top_k(x, 4)[1],
        "sum": jnp.sum,
        "sum_rows": lambda x: jnp.sum(x, 1),
        "sum_columns": lambda x: jnp.sum(x, 0),
        "sum_apart": lambda x: jnp.sum(x, (0, -1)),
        "mean": lambda x: jnp.mean(x, (1, 2)),
        "max": lambda x: jnp.max(x, 1),
        "argmax": lambda x: jnp.argmax(x, -1),
    },
    "blocks": {
        "softmax": lambda x: nn.softmax(x * 5),
        "softmax_columns": lambda x: nn.softmax(x, 0),
        "log_softmax": lambda x: nn.log_softmax(x * 100),
        "logsumexp": lambda x: nn.logsumexp(x * 100, -1),
        "sigmoid_cross_entropy": lambda z, p: jnp.mean(nn.softplus(z * 20) - z * 20 * p),
        "mean_squared_error": lambda y, t: jnp.mean((y - t) ** 2),
        "mean_absolute_error": lambda y, t: jnp.mean(jnp.abs(y - t)),
        "huber_loss": lambda y, t: jnp.mean(huber(y - t)),
        "cross_entropy_weighted": weighted_cross_entropy,
        "weighted_mean": lambda x, w: jnp.average(x, weights=w),
        "accuracy": lambda z, y: jnp.mean(jnp.argmax(z, -1) == y),
        "binary_accuracy": lambda z, p: jnp.mean((z > 0.25) == (p > 0.5)),
        "layer_norm": layer_norm,
        "rms_norm": lambda x, g: x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5) * g,
        "batch_norm": batch_norm,
        "batch_norm_given": lambda x, g, b, m, v: (x - m) * lax.rsqrt(v * v + 1e-5) * g + b,
        "group_norm": lambda x, g, b: group_norm(x, 3, g, b),
        "self_attention": lambda x: self_attention(x, 4),
        "self_attention_causal": lambda x: self_attention(x, 2, causal=True),
        "dot_product_attention": attention,
        "dot_product_attention_causal": lambda q, k, v: attention(q, k, v, jnp.tri(13) > 0),
        "dot_product_attention_seen": attention,
        "multi_head_attention_causal": lambda x, i, o: self_attention(x @ (i * 0.2), 4, causal=True) @ (o * 0.2),
        "depthwise_conv2d": lambda x, w: lax.conv_general_dilated(
            x, w.reshape(3, 3, 1, 6), (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=6),
        "conv2d_dilated": lambda x, w: lax.conv_general_dilated(
            x, w, (1, 1), "SAME", rhs_dilation=(2, 2), dimension_numbers=("NHWC", "HWIO", "NHWC")),
        "conv1d": lambda x, w: lax.conv_general_dilated(x, w, (2,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")),
        "average_pool": lambda x: x.reshape(2, 4, 2, 5, 2, 5).mean((2, 4)),
        "global_average_pool": lambda x: x.mean((1, 2)),
        "global_max_pool": lambda x: x.max((1, 2)),
        "encoder": encoder,
    },
    "optimizers": {
        "sgd": trained(sgd(0.1)),
        "momentum": trained(momentum(0.05)),
        "nesterov": trained(momentum(0.05, 0.8, nesterov=True)),
        "rmsprop": trained(rmsprop(0.02)),
        "rmsprop_centered": trained(rmsprop(0.02, beta=0.5, centered=True)),
        "adagrad": trained(adagrad(0.1)),
        "adam": trained(adam(0.05)),
        "adamw": trained(adamw(0.05, 0.1)),
        "lion": trained(lion(0.01, 0.2)),
        "clip_by_value": trained(sgd(0.1), lambda gs: [jnp.clip(g, -0.05, 0.05) for g in gs]),
        "clip_by_norm": trained(sgd(0.1), lambda gs: [shortened(g, jnp.linalg.norm(g), 0.3) for g in gs]),
        "clip_by_global_norm": trained(sgd(0.1), by_global_norm(0.4)),
        "accumulate": trained(momentum(0.05), every=5),
        "exponential_decay": trained(sgd(lambda step: 0.2 * 0.5 ** (step / 10))),
        "staircase": trained(sgd(lambda step: 0.2 * 0.5 ** (step // 10))),
        "cosine_decay": trained(sgd(cosine(0.2, 20, 0.1))),
        "polynomial_decay": trained(sgd(lambda step: 0.19 * (1 - min(step / 20, 1)) ** 2 + 0.01)),
        "piecewise_constant": trained(sgd(lambda step: 0.2 if step < 5 else 0.1 if step < 15 else 0.02)),
        "warmup": trained(adam(lambda step: cosine(0.05, 12)(max(step - 8, 0)) * min(step / 8, 1))),
    },
    "control": {
        "identity": lambda x: x * x,
        "stop_gradient": lambda x: lax.stop_gradient(x * x) * x,
        "stop_gradient_in_the_middle": lambda x, y: jnp.sin(x * y) + lax.stop_gradient(jnp.sin(x) * y) * x,
        "assign": lambda x, y: y + 2 * x * y + (2 * x) ** 2 * y,
        "assign_add": lambda x, y: (1 + x) * y + (1 + x) * y * (1 + x + 0.5),
        "assign_sub": lambda x, y: (1 - x * x) * y * (1 - x * x - 0.25),
        "with_dependencies": lambda x, y: x * y * (1 * 2 + 3),
        "select_whole": lambda x, y: jnp.where(jnp.sum(x) > 0, jnp.sin(x) * y, x + y * y),
        "dropout": GivenValue(lambda value: lambda x: jnp.where(kept(value, 0.25), x / 0.75, 0)),
        "dropout_rare": GivenValue(lambda value: lambda x: jnp.where(kept(value, 0.01), x * x / 0.99, 0)),
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
    """Converts floating-point arrays to double. Other arrays keep their type."""
    return jnp.asarray(x, jnp.float64 if x.dtype.kind == "f" else x.dtype)


def difference(ours, theirs):
    """The largest difference, relative to the largest element. Infinite if shapes or NaNs differ."""
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
    """Compares the value and the gradients of a case. Returns the difference of each by name."""
    read = {path.stem: np.load(path) for path in folder.glob("*.npy")}
    if isinstance(function, GivenValue):
        function = function.function_of(read["value"])
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
