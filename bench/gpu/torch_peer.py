#!/usr/bin/env python3
"""PyTorch on W1 to W6: eager, the step as one CUDA graph, torch.compile with its CUDA graphs, and the compiled step as
one CUDA graph. fp32 without TF32, fused optimizers, the data on the device."""
import torch
import torch.nn as nn
import torch.nn.functional as F

import peer

chosen = peer.options(__doc__)
on_gpu = chosen.device == "gpu"
device = torch.device("cuda" if on_gpu else "cpu")
torch.set_float32_matmul_precision("highest")
torch.backends.cudnn.allow_tf32 = False
torch.backends.cudnn.benchmark = True
torch.manual_seed(0)


def mlp(sizes):
    layers = [m for a, b in zip(sizes, sizes[1:]) for m in (nn.Linear(a, b), nn.ReLU())]
    return nn.Sequential(*layers[:-1])


def cnn():
    return nn.Sequential(nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3, padding=1),
                         nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(3136, 128), nn.ReLU(), nn.Linear(128, 10))


def chain(x):
    inner = torch.square(torch.tanh(x * 1.1 + 0.3)) + 1.0
    return torch.sigmoid(torch.relu(torch.exp(-torch.sqrt(inner)) * x) - 0.1).mean()


def problem(workload, batch):
    """A loss without arguments, and its parameters."""
    labels = torch.randint(0, 10, (batch,), device=device)
    if workload == "W5":
        x = torch.randn(peer.CHAIN, device=device, requires_grad=True)
        return chain, (x,), [x]
    if workload == "W4":
        model = nn.TransformerEncoderLayer(128, 4, 512, dropout=0.0, batch_first=True).to(device)
        x, y = (torch.randn(batch, 64, 128, device=device) for _ in range(2))
        return lambda x, y: F.mse_loss(model(x), y), (x, y), list(model.parameters())
    if workload == "W3":
        model = cnn().to(device).to(memory_format=torch.channels_last)
        x = torch.rand(batch, 1, 28, 28, device=device).to(memory_format=torch.channels_last)
    else:
        model, x = mlp(peer.MLP[workload]).to(device), torch.rand(batch, 784, device=device)
    return lambda x, y: F.cross_entropy(model(x), y), (x, labels), list(model.parameters())


def optimizer_of(workload, parameters):
    if workload == "W5":
        return None
    if workload == "W1":
        return torch.optim.SGD(parameters, lr=peer.SGD_RATE, fused=True)
    return torch.optim.Adam(parameters, lr=peer.ADAM_RATE, fused=True, capturable=on_gpu)


def step_of(workload, batch, compiled=None):
    """One step. compiled: the options of torch.compile for loss and update."""
    torch.compiler.reset()
    with_compiler = (lambda f: torch.compile(f, dynamic=False, **compiled)) if compiled is not None else (lambda f: f)
    if workload == "W6":
        p = torch.zeros((), device=device)
        update = with_compiler(lambda p: p.sub_(0.1 * (2 * (p - 3))))
        return lambda: update(p)
    loss_of, data, parameters = problem(workload, batch)
    loss_of, optimizer = with_compiler(loss_of), optimizer_of(workload, parameters)

    def step():
        for p in parameters:
            p.grad = None
        loss = loss_of(*data)
        loss.backward()
        if optimizer is not None:
            optimizer.step()
        return loss
    return step


def wait():
    if on_gpu:
        torch.cuda.synchronize()


def calls(step):
    def run(n):
        for _ in range(n):
            step()
        wait()
    return run, 1


def captured(step):
    """The step as one graph, by the recipe of PyTorch's manual."""
    if not on_gpu:
        return None
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return calls(graph.replay)


def marked(step):
    """torch.compile's own graphs reuse memory from one marked step to the next."""
    def one():
        torch.compiler.cudagraph_mark_step_begin()
        return step()
    return calls(one)


peer.race({
    "torch eager": lambda w, b: calls(step_of(w, b)),
    "torch graph": lambda w, b: captured(step_of(w, b)),
    "torch compile": lambda w, b: marked(step_of(w, b, {"mode": "reduce-overhead"})),
    "torch compile, graph": lambda w, b: captured(step_of(w, b, {})),
}, chosen)
