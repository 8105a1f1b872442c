#!/usr/bin/env python3
"""JAX on W1 to W6: a jitted call a step, and lax.scan over 100 steps a call. fp32, state donated, data on the device."""
import functools
import os
import pathlib
import sys

import peer

chosen = peer.options(__doc__)
os.environ["JAX_PLATFORMS"] = "cuda" if chosen.device == "gpu" else "cpu"
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import jax
import jax.numpy as jnp
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))
import jax_layers as layers
from jax_layers import conv, filters, layer, linear, nn, pool, random

jax.config.update("jax_default_matmul_precision", "highest")  # not TF32
STEPS = 100 if chosen.seconds > 0 else 2


def dense_net(ps, x):
    for p in ps[:-1]:
        x = nn.relu(layer(p, x))
    return layer(ps[-1], x)


def conv_net(p, x):
    x = pool(nn.relu(conv(p[1], pool(nn.relu(conv(p[0], x))))))
    return dense_net(p[2:], x.reshape(len(x), -1))


def chain(x):
    inner = jnp.square(jnp.tanh(x * 1.1 + 0.3)) + 1.0
    return jnp.mean(nn.sigmoid(nn.relu(jnp.exp(-jnp.sqrt(inner)) * x) - 0.1))


def problem(workload, batch):
    """Parameters, network, data, loss."""
    y = jnp.asarray(random.integers(0, 10, batch))
    if workload == "W4":
        x, y = (jnp.asarray(random.standard_normal((batch, 64, 128), np.float32)) for _ in range(2))
        net = lambda p, x: layers.encoder(p, x, heads=4)
        return layers.encoder_parameters(128, 512), net, (x, y), layers.mean_square
    if workload == "W3":
        p = [filters(3, 1, 32), filters(3, 32, 64), linear(3136, 128), linear(128, 10)]
        return p, conv_net, (jnp.asarray(random.random((batch, 28, 28, 1), np.float32)), y), layers.cross_entropy
    sizes = peer.MLP[workload]
    p = [linear(a, b) for a, b in zip(sizes, sizes[1:])]
    return p, dense_net, (jnp.asarray(random.random((batch, 784), np.float32)), y), layers.cross_entropy


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
        return layers.adam(s, g, peer.ADAM_RATE), loss
    return layers.adam_state(p), step, data


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
