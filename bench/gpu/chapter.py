"""The chapter "GPU" of docs/benchmarks.md: recorded figures of bench/gpu/recorded.json, which is a copy of a gpu.json of
bench/gpu.sh; without that file, predictions."""
import json
import pathlib

import table

RECORDED = pathlib.Path(__file__).resolve().parent / "recorded.json"
# Microseconds a training step on an H200, predicted: the work at peak rate; a graph of one kernel a step; one launch a
# run; several runs a launch.
PREDICTIONS = {"W1 b1": (0.2, 14, 12, 10), "W1 b32": (0.3, 16, 14, 12), "W1 b128": (0.8, 18, 16, 14),
               "W1 b1024": (6.3, 25, 21, 19), "W3 b32": (9.3, 50, 38, 35), "W3 b128": (37, 105, 92, 90),
               "W4 b8": (9.1, 65, 44, 32), "W5": (2.6, 6, 6, 4.5)}
# The same for PyTorch and JAX, from overheads that others have published.
FRAMEWORKS = {"W1 b1": "40 to 150", "W1 b32": "40 to 150", "W1 b128": "50 to 150", "W1 b1024": "60 to 170",
              "W3 b32": "200 to 400", "W3 b128": "250 to 500", "W4 b8": "250 to 500", "W5": "20 to 40"}
HOW = """
`sh bench/gpu.sh` runs the tests of models, compute-sanitizer, and these benchmarks on the GPU of the machine, within ten
minutes and without downloads. It requires CMake, a C++20 compiler, Python, NVIDIA's driver and NVRTC. It uses GoogleTest,
compute-sanitizer, PyTorch and JAX where they are installed, and prints a line for each that is missing. Each part can be run
alone (`sh bench/gpu.sh tests`, `sh bench/gpu.sh bench peers`; the head of the script lists the parts) and is stopped when
its share of the time is over. The results are `build/gpu/results/gpu.json` and `gpu.md`. The exit status is not 0 if a
test fails, a case throws, a step does not train, or a part fails, is not begun, or has passed or measured nothing, also
for want of a compiler or of GoogleTest.

| part | what it measures |
| --- | --- |
| `costs` | launches of an empty kernel, of a graph and of the smallest plan; the barrier of the grid by number of blocks; copies from pinned memory |
| `kernels` | products (also in TF32 and bf16), convolutions and their gradients: share of the peak. Elementwise programs, reductions, normalizations: share of the bandwidth of a copy of the same size |
| `steps` | a training step of W1 to W6 with the data on the device, at 32 runs and at one run a launch, and as a graph; with hooks that are not due; with the loss logged every 100 steps; with rows of a `DeviceData`; with feeds from the host; with products in TF32 and bf16. The loss of the first and of the last run show that it trains |
| `peers` | the same steps by PyTorch (eager, as one CUDA graph, compiled with its own CUDA graphs, compiled and as one CUDA graph) and by JAX (a call a step, `lax.scan` over 100 steps), fp32 without TF32 |
"""
TARGETS = """
Other targets: at least three times faster than the fastest peer at small batches (W1 to batch 128, W4, W5), and not slower
in any case; every elementwise program at 0.85 of the copy bandwidth; large fp32 products at 0.7 of the peak, products in TF32
and bf16 at 0.6; a chain of hooks that are not due adds nothing.
"""
PREDICTED = """
**Nothing of this has run on a GPU yet. The figures of this table are predictions, not measurements.** They assume 1.3 us
for a barrier of the grid, arithmetic at 35 to 50 % of the peak of an H200, and at least 1 us between two barriers. The
frameworks' figures are estimates from overheads that others have published.
"""


def predictions():
    rows = [[case, str(limit), *(f"{x:g}" for x in PREDICTIONS[case]), FRAMEWORKS[case]]
            for case, limit in table.STEP_TARGETS.items()]
    return table.table(["us a training step", "target", "work at peak rate", "graph of a kernel a step, predicted",
                        "one run a launch, predicted", "32 runs a launch, predicted", "frameworks, expected"], rows)


def recorded(record):
    results = table.Results(record["results"])
    return [f"Measured on {record['device']}, {record['date']}.", table.targets_table(record["targets"]),
            "Microseconds a training step:", table.modes_table(results.us("steps")),
            "The same by the peers:", table.modes_table(results.us("peers"))]


def chapter(path=RECORDED):
    """The parts of the chapter behind its title."""
    figures = recorded(json.loads(path.read_text())) if path.exists() else [PREDICTED.strip(), predictions()]
    return [HOW.strip(), *figures, TARGETS.strip()]
