#!/usr/bin/env python3
"""JAX in the race: one jitted call a step, its state donated."""
import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp
import numpy as np

import protocol

jax.config.update("jax_enable_x64", True)
random = np.random.default_rng(0)
nn = jax.nn


def drawn(*shape, dtype=np.float32):
    return jnp.asarray(random.standard_normal(shape, dtype) * dtype((2.0 / np.prod(shape[:-1])) ** 0.5))


def linear(a, b, dtype=np.float32):
    return [drawn(a, b, dtype=dtype), jnp.zeros(b, dtype)]


def layer(p, x):
    return x @ p[0] + p[1]


def cross_entropy(z, y):
    return -jnp.mean(jnp.take_along_axis(nn.log_softmax(z), y[:, None], 1))


def conv(p, x, stride=1):
    return jax.lax.conv_general_dilated(x, p[0], (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")) + p[1]


def pool(x):  # by reshape: XLA's own gradient of a window's maximum is slow
    b, h, w, c = x.shape
    return x.reshape(b, h // 2, 2, w // 2, 2, c).max((2, 4))


def filters(size, a, b):
    return [drawn(size, size, a, b), jnp.zeros(b, np.float32)]


def norm(p, x):
    m = x.mean(-1, keepdims=True)
    v = ((x - m) ** 2).mean(-1, keepdims=True)
    return (x - m) * jax.lax.rsqrt(v + 1e-5) * p[0] + p[1]


def encoder(p, x, heads=6):
    b, s, d = x.shape
    q, k, v = jnp.moveaxis(layer(p["qkv"], x).reshape(b, s, 3, heads, d // heads), 2, 0)
    a = nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) * (d // heads) ** -0.5)
    x = norm(p["n1"], x + layer(p["o"], jnp.einsum("bhqk,bkhd->bqhd", a, v).reshape(b, s, d)))
    return norm(p["n2"], x + layer(p["f2"], nn.relu(layer(p["f1"], x))))


def adam(s, g, b1=0.9, b2=0.999, eps=1e-8):
    t = s["t"] + 1
    rate = (protocol.ADAM_RATE * jnp.sqrt(1 - b2 ** t) / (1 - b1 ** t)).astype(jnp.float32)
    m = jax.tree.map(lambda m, g: b1 * m + (1 - b1) * g, s["m"], g)
    v = jax.tree.map(lambda v, g: b2 * v + (1 - b2) * g * g, s["v"], g)
    return dict(p=jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + eps), s["p"], m, v), m=m, v=v, t=t)


def classifier_input(batch, *shape, classes=10, dtype=np.float32):
    return jnp.asarray(random.random((batch, *shape), dtype)), jnp.asarray(random.integers(0, classes, batch))


def problem(name, batch):
    """Parameters, network, input, target, loss function, and whether Adam trains it."""
    if name in protocol.DENSE:
        sizes, activation, optimizer, dtype = protocol.DENSE[name]
        act = nn.relu if activation == "relu" else jnp.tanh

        def net(ps, x):
            for p in ps[:-1]:
                x = act(layer(p, x))
            return layer(ps[-1], x)
        dtype = np.dtype(dtype).type
        x, y = classifier_input(batch, sizes[0], classes=sizes[-1], dtype=dtype)
        return [linear(a, b, dtype) for a, b in zip(sizes, sizes[1:])], net, x, y, cross_entropy, optimizer == "adam"
    if name == "X4":
        def net(p, x):
            x = pool(nn.relu(conv(p[1], pool(nn.relu(conv(p[0], x))))))
            return layer(p[3], nn.relu(layer(p[2], x.reshape(len(x), -1))))
        p = [filters(5, 3, 24), filters(3, 24, 40), linear(2560, 100), linear(100, 10)]
        return p, net, *classifier_input(batch, 32, 32, 3), cross_entropy, True
    if name == "X5":
        def net(p, x):
            return layer(p[2], nn.relu(conv(p[1], nn.relu(conv(p[0], x, 2)), 2)).mean((1, 2)))
        p = [filters(3, 2, 20), filters(3, 20, 36), linear(36, 7)]
        return p, net, *classifier_input(batch, 40, 40, 2, classes=7), cross_entropy, True
    if name == "X6":
        one = lambda: [jnp.ones(96, np.float32), jnp.zeros(96, np.float32)]
        p = dict(qkv=linear(96, 288), o=linear(96, 96), f1=linear(96, 200), f2=linear(200, 96), n1=one(), n2=one())
        x, y = (jnp.asarray(random.standard_normal((batch, 50, 96), np.float32)) for _ in range(2))
        return p, encoder, x, y, lambda z, y: jnp.mean((z - y) ** 2), True
    return None


def row_chain(train):
    x, b = jnp.asarray(random.standard_normal((300, 1000))), jnp.asarray(random.standard_normal(1000))

    def f(x, b):
        return jnp.mean(jnp.tanh(x * b + 0.5) * jnp.exp(-x * x) + jnp.sqrt(jnp.abs(x) + 1))
    call = jax.jit(jax.value_and_grad(f, (0, 1)) if train else f)

    def steps(n):
        for _ in range(n):
            r = call(x, b)
        r = jax.block_until_ready(r)
        return float(r[0] if train else r)
    return steps


def make(name, batch, train):
    if name == "X7":
        return row_chain(train)
    found = problem(name, batch)
    if found is None:
        return None
    p, net, x, y, loss_of, by_adam = found
    if not train:
        call = jax.jit(net)

        def infer(n):
            for _ in range(n):
                out = call(p, x)
            return float(jax.block_until_ready(out).ravel()[0])
        return infer
    value = jax.value_and_grad(lambda p, x, y: loss_of(net(p, x), y))

    def step(s, x, y):
        loss, g = value(s["p"] if by_adam else s, x, y)
        return (adam(s, g) if by_adam else jax.tree.map(lambda p, g: p - protocol.SGD_RATE * g, s, g)), loss
    zeros = lambda: jax.tree.map(jnp.zeros_like, p)
    state = [dict(p=p, m=zeros(), v=zeros(), t=jnp.zeros((), jnp.int32)) if by_adam else p]
    one = jax.jit(step, donate_argnums=0)

    def steps(n):
        s = state[0]
        for _ in range(n):
            s, loss = one(s, x, y)
        state[0] = s
        jax.block_until_ready(s)
        return float(loss)
    return steps


protocol.serve(make)
