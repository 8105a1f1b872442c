#!/usr/bin/env python3
"""JAX in the race: one jitted call a step, its state donated."""
import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp
import numpy as np

import jax_layers as layers
import protocol
from jax_layers import conv, filters, layer, linear, nn, pool, random

jax.config.update("jax_enable_x64", True)


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
        return [linear(a, b, dtype) for a, b in zip(sizes, sizes[1:])], net, x, y, layers.cross_entropy, optimizer == "adam"
    if name == "X4":
        def net(p, x):
            x = pool(nn.relu(conv(p[1], pool(nn.relu(conv(p[0], x))))))
            return layer(p[3], nn.relu(layer(p[2], x.reshape(len(x), -1))))
        p = [filters(5, 3, 24), filters(3, 24, 40), linear(2560, 100), linear(100, 10)]
        return p, net, *classifier_input(batch, 32, 32, 3), layers.cross_entropy, True
    if name == "X5":
        def net(p, x):
            return layer(p[2], nn.relu(conv(p[1], nn.relu(conv(p[0], x, 2)), 2)).mean((1, 2)))
        p = [filters(3, 2, 20), filters(3, 20, 36), linear(36, 7)]
        return p, net, *classifier_input(batch, 40, 40, 2, classes=7), layers.cross_entropy, True
    if name == "X6":
        x, y = (jnp.asarray(random.standard_normal((batch, 50, 96), np.float32)) for _ in range(2))
        net = lambda p, x: layers.encoder(p, x, heads=6)
        return layers.encoder_parameters(96, 200), net, x, y, layers.mean_square, True
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
        return (layers.adam(s, g, protocol.ADAM_RATE) if by_adam else jax.tree.map(lambda p, g: p - protocol.SGD_RATE * g, s, g)), loss
    state = [layers.adam_state(p) if by_adam else p]
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
