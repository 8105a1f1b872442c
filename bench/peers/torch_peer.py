#!/usr/bin/env python3
"""PyTorch in the race, eager: fused optimizers, channels_last, inference_mode."""
import torch
import torch.nn as nn
import torch.nn.functional as F

import protocol

torch.set_num_threads(protocol.threads())
torch.set_num_interop_threads(1)
torch.manual_seed(0)


class Mean(nn.Module):
    def forward(self, x):
        return x.mean((2, 3))


def dense(sizes, activation):
    layers = [m for a, b in zip(sizes, sizes[1:]) for m in (nn.Linear(a, b), nn.ReLU() if activation == "relu" else nn.Tanh())]
    return nn.Sequential(*layers[:-1])


def images(batch, channels, size):
    return torch.rand(batch, channels, size, size).to(memory_format=torch.channels_last)


def problem(name, batch):
    """Model, input, target, loss function, optimizer."""
    adam = lambda m: torch.optim.Adam(m.parameters(), lr=protocol.ADAM_RATE, fused=True)
    sgd = lambda m: torch.optim.SGD(m.parameters(), lr=protocol.SGD_RATE, fused=True)
    if name in protocol.DENSE:
        sizes, activation, optimizer, dtype = protocol.DENSE[name]
        dtype = getattr(torch, dtype)
        return (dense(sizes, activation).to(dtype), torch.rand(batch, sizes[0], dtype=dtype),
                torch.randint(0, sizes[-1], (batch,)), F.cross_entropy, sgd if optimizer == "sgd" else adam)
    if name == "X4":
        model = nn.Sequential(nn.Conv2d(3, 24, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(24, 40, 3, padding=1),
                              nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(2560, 100), nn.ReLU(), nn.Linear(100, 10))
        return model.to(memory_format=torch.channels_last), images(batch, 3, 32), torch.randint(0, 10, (batch,)), F.cross_entropy, adam
    if name == "X5":
        model = nn.Sequential(nn.Conv2d(2, 20, 3, 2, 1), nn.ReLU(), nn.Conv2d(20, 36, 3, 2, 1), nn.ReLU(), Mean(), nn.Linear(36, 7))
        return model.to(memory_format=torch.channels_last), images(batch, 2, 40), torch.randint(0, 7, (batch,)), F.cross_entropy, adam
    if name == "X6":
        model = nn.TransformerEncoderLayer(96, 6, 200, dropout=0.0, batch_first=True)
        return model, torch.randn(batch, 50, 96), torch.randn(batch, 50, 96), F.mse_loss, adam
    return None


def row_chain(train):
    x = torch.randn(300, 1000, dtype=torch.float64, requires_grad=train)
    b = torch.randn(1000, dtype=torch.float64, requires_grad=train)

    def f():
        return (torch.tanh(x * b + 0.5) * torch.exp(-x * x) + torch.sqrt(torch.abs(x) + 1)).mean()

    def steps(n):
        for _ in range(n):
            if train:
                x.grad = b.grad = None
                loss = f()
                loss.backward()
            else:
                with torch.inference_mode():
                    loss = f()
        return loss.item()
    return steps


def make(name, batch, train):
    if name == "X7":
        return row_chain(train)
    found = problem(name, batch)
    if found is None:
        return None
    model, x, y, criterion, optimizer = found
    if not train:
        model.eval()

        def infer(n):
            with torch.inference_mode():
                for _ in range(n):
                    out = model(x)
            return out.flatten()[0].item()
        return infer
    update = optimizer(model)

    def steps(n):
        for _ in range(n):
            update.zero_grad(set_to_none=True)
            loss = criterion(model(x), y)
            loss.backward()
            update.step()
        return loss.item()
    return steps


protocol.serve(make)
