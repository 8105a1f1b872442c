#!/usr/bin/env python3
"""JAX on W1 to W6: a jitted call a step, and lax.scan over 100 steps a call. fp32, state donated, data on the device."""
import functools
import os

import peer

chosen = peer.options(__doc__)
os.environ["JAX_PLATFORMS"] = "cuda" if chosen.device == "gpu" else "cpu"
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_default_matmul_precision", "highest")  # not TF32
random = np.random.default_rng(0)
nn = jax.nn
STEPS = 100 if chosen.seconds > 0 else 2


def drawn(*shape):
    scale = np.float32((2.0 / np.prod(shape[:-1])) ** 0.5)
    return jnp.asarray(random.standard_normal(shape, np.float32) * scale)


def linear(a, b):
    return [drawn(a, b), jnp.zeros(b, np.float32)]


def layer(p, x):
    return x @ p[0] + p[1]


def cross_entropy(z, y):
    return -jnp.mean(jnp.take_along_axis(nn.log_softmax(z), y[:, None], 1))


def dense_net(ps, x):
    for p in ps[:-1]:
        x = nn.relu(layer(p, x))
    return layer(ps[-1], x)


def conv(p, x):
    return jax.lax.conv_general_dilated(x, p[0], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")) + p[1]


def pool(x):
    b, h, w, c = x.shape
    return x.reshape(b, h // 2, 2, w // 2, 2, c).max((2, 4))


def conv_net(p, x):
    x = pool(nn.relu(conv(p[1], pool(nn.relu(conv(p[0], x))))))
    return dense_net(p[2:], x.reshape(len(x), -1))


def norm(p, x):
    m = x.mean(-1, keepdims=True)
    v = ((x - m) ** 2).mean(-1, keepdims=True)
    return (x - m) * jax.lax.rsqrt(v + 1e-5) * p[0] + p[1]


def encoder(p, x, heads=4):
    b, s, d = x.shape
    q, k, v = jnp.moveaxis(layer(p["qkv"], x).reshape(b, s, 3, heads, d // heads), 2, 0)
    a = nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) * (d // heads) ** -0.5)
    x = norm(p["n1"], x + layer(p["o"], jnp.einsum("bhqk,bkhd->bqhd", a, v).reshape(b, s, d)))
    return norm(p["n2"], x + layer(p["f2"], nn.relu(layer(p["f1"], x))))


def chain(x):
    inner = jnp.square(jnp.tanh(x * 1.1 + 0.3)) + 1.0
    return jnp.mean(nn.sigmoid(nn.relu(jnp.exp(-jnp.sqrt(inner)) * x) - 0.1))


def adam(s, g, b1=0.9, b2=0.999, eps=1e-8):
    t = s["t"] + 1
    rate = (peer.ADAM_RATE * jnp.sqrt(1 - b2 ** t) / (1 - b1 ** t)).astype(jnp.float32)
    m = jax.tree.map(lambda m, g: b1 * m + (1 - b1) * g, s["m"], g)
    v = jax.tree.map(lambda v, g: b2 * v + (1 - b2) * g * g, s["v"], g)
    return dict(p=jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + eps), s["p"], m, v), m=m, v=v, t=t)


def problem(workload, batch):
    """Parameters, network, data, loss."""
    y = jnp.asarray(random.integers(0, 10, batch))
    if workload == "W4":
        one = lambda: [jnp.ones(128, np.float32), jnp.zeros(128, np.float32)]
        p = dict(qkv=linear(128, 384), o=linear(128, 128), f1=linear(128, 512), f2=linear(512, 128), n1=one(), n2=one())
        x, y = (jnp.asarray(random.standard_normal((batch, 64, 128), np.float32)) for _ in range(2))
        return p, encoder, (x, y), lambda z, y: jnp.mean((z - y) ** 2)
    if workload == "W3":
        p = [[drawn(3, 3, 1, 32), jnp.zeros(32)], [drawn(3, 3, 32, 64), jnp.zeros(64)], linear(3136, 128), linear(128, 10)]
        return p, conv_net, (jnp.asarray(random.random((batch, 28, 28, 1), np.float32)), y), cross_entropy
    sizes = peer.MLP[workload]
    p = [linear(a, b) for a, b in zip(sizes, sizes[1:])]
    return p, dense_net, (jnp.asarray(random.random((batch, 784), np.float32)), y), cross_entropy


def training(workload, batch):
    """The state, step(state, *data) -> state and loss, and the data."""
    if workload == "W6":
        return jnp.zeros((), np.float32), lambda p: (p - 0.1 * (2 * (p - 3)), p), ()
    p, net, data, loss_of = problem(workload, batch)
    value = jax.value_and_grad(lambda p, x, y: loss_of(net(p, x), y))
    if workload == "W1":
        def descend(p, x, y):
            loss, g = value(p, x, y)
            return jax.tree.map(lambda p, g: p - peer.SGD_RATE * g, p, g), loss
        return p, descend, data

    def step(s, x, y):
        loss, g = value(s["p"], x, y)
        return adam(s, g), loss
    zeros = lambda: jax.tree.map(jnp.zeros_like, p)
    return dict(p=p, m=zeros(), v=zeros(), t=jnp.zeros((), jnp.int32)), step, data


def looped(call, state, data, steps):
    box = [state]

    def run(n):
        s = box[0]
        for _ in range(n):
            s, loss = call(s, *data)
        box[0] = s
        jax.block_until_ready((s, loss))
    return run, steps


def by_call(workload, batch):
    if workload == "W5":
        x = jnp.asarray(random.standard_normal(peer.CHAIN, np.float32))
        value = jax.jit(jax.value_and_grad(chain))

        def run(n):
            for _ in range(n):
                result = value(x)
            jax.block_until_ready(result)
        return run, 1
    state, step, data = training(workload, batch)
    return looped(jax.jit(step, donate_argnums=0), state, data, 1)


def by_scan(workload, batch):
    if workload == "W5":  # nothing is carried from step to step, so that a scan may compute it once
        return None
    state, step, data = training(workload, batch)

    @functools.partial(jax.jit, donate_argnums=0)
    def many(state, *data):
        return jax.lax.scan(lambda s, _: step(s, *data), state, None, length=STEPS)
    return looped(many, state, data, STEPS)


peer.race({"jax step": by_call, "jax scan": by_scan}, chosen)
