#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Repeats the first steps of char_lm in PyTorch, from the same weights and with the same batches, and compares.

    twin.py PROGRAM [--steps 50] [--batch 16] [--threads 1] [--text FILE] [--table]

PROGRAM is the built char_lm. Ends with 1 if a loss, a rate or a norm of the gradients differs by more than the
tolerance, with 77 if there is no PyTorch here. With --table it prints the curves.
"""
import argparse
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
    import torch
    import torch.nn.functional as F
except ImportError:
    print("skipped: there is no PyTorch here")
    sys.exit(77)

# As in model.hpp.
PEAK_RATE, WARMUP, ALL_STEPS, LEAST = 3e-3, 30, 2000, 0.1
# Relative. Both compute in float32 with different summation orders; the difference grows from step to step.
LOSS_TOLERANCE, NORM_TOLERANCE, RATE_TOLERANCE = 1e-5, 1e-3, 1e-12


def rate_after(step):
    """LinearWarmup, then CosineDecay."""
    part = min(max(step - WARMUP, 0) / (ALL_STEPS - WARMUP), 1)
    cosine = (1 - LEAST) * 0.5 * (1 + math.cos(math.pi * part)) + LEAST
    return PEAK_RATE * min(step / WARMUP, 1) * cosine


class Twin:
    """The model of model.hpp, with its weights."""

    def __init__(self, folder):
        skip = {"batches", "steps", "heads"}
        self.w = {p.stem: torch.nn.Parameter(torch.from_numpy(np.load(p))) for p in folder.glob("*.npy") if p.stem not in skip}
        self.heads = int(np.load(folder / "heads.npy"))

    def dense(self, x, name):
        return x @ self.w[name + "_kernel"] + self.w[name + "_bias"]

    def norm(self, x, name):
        return F.layer_norm(x, x.shape[-1:], self.w[name + "_gamma"], self.w[name + "_beta"], eps=1e-5)

    def attention(self, x, name):
        batch, length, width = x.shape
        qkv = self.dense(x, name + "_qkv").view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.dense(seen.transpose(1, 2).reshape(batch, length, width), name + "_out")

    def block(self, x, name):
        x = x + self.attention(self.norm(x, name + "norm1"), name + "attention")
        return x + self.dense(F.gelu(self.dense(self.norm(x, name + "norm2"), name + "up")), name + "down")

    def loss(self, tokens, labels):
        x = self.w["characters_table"][tokens] + self.w["positions"]
        for name in ("block1_", "block2_"):
            x = self.block(x, name)
        logits = self.dense(self.norm(x, "norm"), "output")
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten())


def train(folder):
    """The same columns as steps.npy: loss, rate, norm of the gradients, seconds."""
    twin = Twin(folder)
    every = list(twin.w.values())
    groups = [
        {"params": [p for p in every if p.ndim >= 2], "weight_decay": 0.1},
        {"params": [p for p in every if p.ndim < 2], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=1.0, betas=(0.9, 0.99), eps=1e-8)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate_after)
    tokens, labels = torch.from_numpy(np.load(folder / "batches.npy")).long()
    rows = []
    for t, l in zip(tokens, labels):
        start = time.perf_counter()
        rate = schedule.get_last_lr()[0]
        optimizer.zero_grad()
        loss = twin.loss(t, l)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(every, 1.0)
        optimizer.step()
        schedule.step()
        rows.append((loss.item(), rate, norm.item(), time.perf_counter() - start))
    return np.array(rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--text", help="what to learn; else the program's own choice")
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)

    with tempfile.TemporaryDirectory() as name:
        options = {"steps": given.steps, "batch": given.batch, "threads": given.threads, "twin": name}
        if given.text:
            options["text"] = given.text
        subprocess.run([given.program, *(f"--{k}={v}" for k, v in options.items())], check=True)
        ours = np.load(pathlib.Path(name) / "steps.npy")
        theirs = train(pathlib.Path(name))

    if given.table:
        print("| step | loss, crochet | loss, PyTorch | difference |\n|---|---|---|---|")
        for step in sorted({*range(0, given.steps, 7), given.steps - 1}):
            print(f"| {step + 1} | {ours[step, 0]:.6f} | {theirs[step, 0]:.6f} | {ours[step, 0] - theirs[step, 0]:.1e} |")
    good = True
    for column, what, tolerance in (0, "loss", LOSS_TOLERANCE), (1, "rate", RATE_TOLERANCE), (2, "norm", NORM_TOLERANCE):
        apart = np.abs(ours[:, column] - theirs[:, column]) / np.maximum(np.abs(theirs[:, column]), 1e-30)
        apart[ours[:, column] == theirs[:, column]] = 0
        agrees = bool(apart.max() <= tolerance)  # a NaN does not
        good = good and agrees
        print(f"{what}: largest relative difference {apart.max():.1e} at step {apart.argmax() + 1}, tolerance {tolerance:.0e}")
    later = slice(min(5, given.steps - 1), None)
    a, b = (1e3 * statistics.median(x[later, 3]) for x in (ours, theirs))
    c, d = (1e3 * min(x[later, 3]) for x in (ours, theirs))
    print(f"a step, {given.threads} threads: crochet {c:.2f} ms (median {a:.2f}), PyTorch {torch.__version__} {d:.2f} ms (median {b:.2f})")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
