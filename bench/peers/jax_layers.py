# SPDX-License-Identifier: Apache-2.0
"""The layers and the optimizer of the JAX programs: bench/peers/jax_peer.py and bench/gpu/jax_peer.py. What concerns
jax.config and the environment is set by a program before it computes."""
import jax
import jax.numpy as jnp
import numpy as np

random = np.random.default_rng(0)
nn = jax.nn


def drawn(*shape, dtype=np.float32):
    return jnp.asarray(random.standard_normal(shape, dtype) * dtype((2.0 / np.prod(shape[:-1])) ** 0.5))


def linear(a, b, dtype=np.float32):
    return [drawn(a, b, dtype=dtype), jnp.zeros(b, dtype)]


def filters(size, a, b):
    return [drawn(size, size, a, b), jnp.zeros(b, np.float32)]


def norm_of(width):
    return [jnp.ones(width, np.float32), jnp.zeros(width, np.float32)]


def layer(p, x):
    return x @ p[0] + p[1]


def conv(p, x, stride=1):
    return jax.lax.conv_general_dilated(x, p[0], (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")) + p[1]


def pool(x):  # by reshape: XLA's own gradient of a window's maximum is slow
    b, h, w, c = x.shape
    return x.reshape(b, h // 2, 2, w // 2, 2, c).max((2, 4))


def norm(p, x):
    m = x.mean(-1, keepdims=True)
    v = ((x - m) ** 2).mean(-1, keepdims=True)
    return (x - m) * jax.lax.rsqrt(v + 1e-5) * p[0] + p[1]


def encoder(p, x, heads):
    b, s, d = x.shape
    q, k, v = jnp.moveaxis(layer(p["qkv"], x).reshape(b, s, 3, heads, d // heads), 2, 0)
    a = nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) * (d // heads) ** -0.5)
    x = norm(p["n1"], x + layer(p["o"], jnp.einsum("bhqk,bkhd->bqhd", a, v).reshape(b, s, d)))
    return norm(p["n2"], x + layer(p["f2"], nn.relu(layer(p["f1"], x))))


def encoder_parameters(width, inner):
    return dict(qkv=linear(width, 3 * width), o=linear(width, width), f1=linear(width, inner), f2=linear(inner, width),
                n1=norm_of(width), n2=norm_of(width))


def cross_entropy(z, y):
    return -jnp.mean(jnp.take_along_axis(nn.log_softmax(z), y[:, None], 1))


def mean_square(z, y):
    return jnp.mean((z - y) ** 2)


def adam_state(p):
    zeros = lambda: jax.tree.map(jnp.zeros_like, p)
    return dict(p=p, m=zeros(), v=zeros(), t=jnp.zeros((), jnp.int32))


def adam(s, g, rate, b1=0.9, b2=0.999, eps=1e-8):
    t = s["t"] + 1
    rate = (rate * jnp.sqrt(1 - b2 ** t) / (1 - b1 ** t)).astype(jnp.float32)
    m = jax.tree.map(lambda m, g: b1 * m + (1 - b1) * g, s["m"], g)
    v = jax.tree.map(lambda v, g: b2 * v + (1 - b2) * g * g, s["v"], g)
    return dict(p=jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + eps), s["p"], m, v), m=m, v=v, t=t)
