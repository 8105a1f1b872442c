#!/usr/bin/env python3
"""Makes docs/benchmarks.md out of what `make bench` measured, and of the recorded races in bench/results/.

    python3 bench/report.py build/bench docs/benchmarks.md"""
import argparse
import datetime
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "gpu"))
import chapter

RESULTS = pathlib.Path(__file__).resolve().parent / "results"
NANOSECONDS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
BY_HAND = "by_hand"
WAYS = {  # columns of the overhead table, and what they are
    BY_HAND: "the same work written into the loop",
    "static": "a `HookChain` under a `MonitoredSession`",
    "dynamic": "a `DynamicHooks` under one, with hooks chosen at run time",
    "virtual": "a vector of pointers to a base class with virtual functions",
    "function": "a vector of `std::function`",
    "request_map": "a request object of every hook in every step, merged in maps",
}
LIMITS = ("hand",)  # estimates of what is possible, and no peers
TARGETS = {"W1": 1.05, "W2": 1.05, "W3": 1.1, "W4": 1.1, "W5": 1.05, "W6": 1.0}  # times hand
HOW = """
One process each, alternating; microseconds or milliseconds a step, the minimum of all rounds. A ~ marks a time without an
undisturbed round. train is forward, loss, backward and update; infer is forward. crochet runs under a `MonitoredSession`
with an empty chain, its batch a constant of the model (`-clang`: compiled by clang++, else by g++), and fetches the loss in
every training step, because the others compute it in every step. Two runs differ by 10 % and more: ratios between 0.9 and
1.1 are not significant. On two threads crochet and `hand` were also run alone, one after the other, and their times are the
minimum of these runs too: a second thread of `hand` keeps spinning while others are measured, and occupies one of two cores.
"""
WORKLOADS = """
W1: MLP 784-128-10, SGD. W2: MLP 784-512-512-10, Adam. W3: CNN on 28x28 images, two 3x3 convolutions of 32 and 64 filters
with relu and max pooling, dense 128 and 10, Adam. W4: transformer encoder block, width 128, 4 heads, length 64, inner 512,
Adam. W5: the mean of 12 chained elementwise operations on 2^20 numbers; train is value and gradient. W6: one parameter.
`hand` is hand-written C++ for each workload, the estimate of the machine's limit; `openblas` and `eigen` are plain C++ with
these libraries' products. The first losses of crochet and `hand` are equal, from equal weights and data (W5's differs in the
fourth digit: `hand` sums 2^20 numbers in float).
""" + HOW
BOUNDS = """
Limits, measured with all other programs stopped and at real-time priority, times `hand`:

- W5 train 1.13 with both compilers (1.16 before signs and powers of two were moved together). Its time hardly depends on
  how instructions are scheduled and registers allocated (-O2 1.15, no second scheduling 1.16, -fschedule-insns 1.19,
  -frename-registers 1.16, no optimization of induction variables 1.15, one region for registers 1.14), nor on spills:
  191 accesses to spilled registers with g++, 211 with clang++, and the same time. The difference to `hand` is quotients
  and roots: 3 and 1 for each vector against 2 and an estimate of 1 / sqrt, 35 ns more of the divider for eight vectors
  that take 122 ns and `hand` 106. Attempts to hide them: half of the vectors 2, 5 or 9 instructions after the
  other half (1.13, 1.14, 1.21), and an estimate and a Newton step instead of one quotient (1.22).
- W5 infer 1.05 (g++), 1.08 (clang++).
- W1 batch 1 on 2 threads: two transfers between cores in each of a team's barriers, 0.1 to 0.2 us of 2.2 and 5.9.
- Other cases on 2 threads above it by a few hundredths vary from run to run (0.98 to 1.10 for the same case): the
  machine's second core is not always available, to `hand` and its peers as well as to crochet.
- W6 is 4.4 ns against 4.5: less than one clock cycle of the processor.
"""
REFERENCE_EIGEN = {"g++": 2.46, "clang++": 2.54}  # seconds of the case eigen where the budgets were set
COMPILE_BOUNDS = """
Parts of the compile time, in seconds: parsing the headers (`-fsyntax-only` of a file that only includes them); evaluation
of graph and plan and instantiation of templates (`-fsyntax-only` of the case, less the headers); optimization and code
generation (the rest).

| file | g++: headers, evaluation, code | clang++: headers, evaluation, code |
| --- | ---: | ---: |
| mlp | 0.79, 0.25, 2.57 | 0.75, 0.27, 1.82 |
| mlp_wide | 0.79, 0.50, 3.14 | 0.88, 0.53, 1.92 |
| cnn | 0.81, 0.95, 4.85 | 0.75, 0.82, 3.53 |
| encoder | 0.77, 1.01, 3.57 | 0.75, 0.81, 2.91 |
| deep_32_mixed | 0.78, 3.14, 3.27 | 0.77, 3.06, 2.17 |
| separable | 0.83, 2.27, 7.93 | 0.80, 2.20, 7.03 |

The same by g++ for the programs of users, as shares of their seconds:

| file | headers | evaluation | code |
| --- | ---: | ---: | ---: |
| first_program | 0.29 | 0.06 | 0.66 |
| checkpoints | 0.26 | 0.09 | 0.64 |
| training_job | 0.22 | 0.11 | 0.68 |
| inference | 0.35 | 0.06 | 0.59 |

Limits of the rows above budget:

- mlp_wide with g++ is the code of a training step: 91 kB in 230 functions, none of them above 8 % of it: products (tiles for
  whole blocks and edges, dot products for few rows, one row), reductions, the loss, four shared updates of Adam, and 25 kB of
  session and messages. No pass of g++ takes more than 6 % of the optimizer's time (measured with mlp).
- hooks_128: 0.3 s for `crochet.hpp`; of the rest each hook, a type of its own, takes 6 ms to instantiate and 9 ms (g++) to
  11 ms (clang++) to optimize into the step.
- core with clang++ is near its budget: 1.75 to 2.4 times hana in different runs, of 0.1 s.
- first_program: of its headers a quarter is the standard library's, the rest crochet's, of which instantiations take
  half; its code is 190 kB in 400 functions: a quarter the model's step, a quarter kernels that models share, a quarter
  hooks and session, a quarter data, messages and threads. None is above 2 % of it.
- checkpoints and inference are 5 and 7 % above their budgets at the speed of that machine: headers and code as those of
  first_program.
- separable is a training step of 11 shared kernels and 17 loops: three quarters of its seconds are the optimizer, a
  quarter is headers and evaluation. The longest function is the gradient of a depthwise convolution's image, 6 % of the
  code; a version of it with half of the code took 6 % longer in inference, and saved 5 % of the seconds.
- `-O2` in place of `-O3` takes 7 % fewer seconds for the programs of `bench/anchor` with g++ (290 against 312 s) and 12 %
  for separable. The steps take 0.98 to 1.03 of the time on W1 to W5 and X7, and 1.07 on X4 (batch 32, training).
- Megabytes of checkpoints and training_job with g++: their headers alone take 300 and 340 MB. With clang++ both are within
  their budgets.
- compiled_parts, of 44 s with g++: 17 s are protobuf's generated messages; the rest is four files (input and output 12 s,
  traces 6, debugging 5, export 6), and half of their time
  is the front end (headers of messages and of JSON). Messages without reflection (lite) are not possible where a message
  is printed as text, measured by its descriptor before it is parsed, or imported by one that is; messages generated for
  size save 7 s.

Processor seconds depend on the load and the speed of the machine: while its other core compiles, all rows, hana and eigen
too, are up to 1.5 times as high.
"""
INTEL = """
Workloads and measurement as above, on another processor: it has AMX, a third-level cache shared by many cores, and a peak
of 215 GFLOP/s of floats a core. On two threads crochet was also run alone, one case after the other; its time is the minimum.
"""

UNSEEN = """
X1: MLP 617-300-170-26, SGD. X2: MLP 64-72 (7 times)-5, tanh, Adam. X3: MLP 784-128-10 in double, SGD. X4: CNN on 32x32x3
images, 24 filters 5x5 and 40 filters 3x3, dense 100 and 10, Adam. X5: CNN on 40x40x2 images, 20 and 36 filters 3x3 of
stride 2, mean over all positions, Adam. X6: transformer block, width 96, 6 heads, length 50, inner 200, Adam. X7: elementwise
operations and a mean on a 300x1000 matrix and a row in double; train is value and both gradients. crochet's batch is a
constant of the model except for batches 75 and 100, which are dynamic.
""" + HOW

THREADS = """
`Cpu{.threads = n}` is a limit. A run takes as many threads as make it fastest, found by measurement and for each plan and
sizes ([thread_choice.hpp](../include/crochet/executor/cpu/thread_choice.hpp)). The aim is that a limit of two is never slower
than one thread by more than 3 %.

X8: MLP 4-16-16-2, tanh, Adam. X9: MLP with 12 layers of width 37, tanh, double, Adam. W1, W3 and X7 as in the other chapters.
Microseconds a step under a `MonitoredSession` with an empty chain.
"""


# What was measured.

class Samples:
    """Nanoseconds per run of one benchmark, one for each repetition."""

    def __init__(self, values):
        self.least = min(values)
        self.median = statistics.median(values)


def google_benchmark(path):
    """Name -> Samples; and the context. Benchmarks in real time have it in their name."""
    content = json.loads(path.read_text())
    values = {}
    for run in content.get("benchmarks", []):
        if run.get("run_type") == "aggregate" or run.get("error_occurred"):
            continue
        name = run.get("run_name", run["name"])
        which = "real_time" if "/real_time" in name else "cpu_time"
        name = name.replace("/real_time", "")
        values.setdefault(name, []).append(run[which] * NANOSECONDS[run["time_unit"]])
        for counter in {"ratio", "us"} & run.keys():  # what a benchmark worked out itself, side by side
            values.setdefault(f"{name}:{counter}", []).append(run[counter])
    return {name: Samples(of) for name, of in values.items()}, content.get("context", {})


def read_programs(folder):
    """All Samples of all programs' JSON files in one map, and the contexts."""
    samples, contexts = {}, []
    for path in sorted(folder.glob("*.json")):
        if path.name != "compile_time.json":
            of_program, context = google_benchmark(path)
            samples.update(of_program)
            contexts.append(context)
    return samples, contexts


def read_races():
    """Recorded races by name: cases, machine, versions, day and commands."""
    return {path.stem: json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))}


# The machine.

def processor():
    text = pathlib.Path("/proc/cpuinfo").read_text() if os.path.exists("/proc/cpuinfo") else ""
    name = re.search(r"^model name\s*:\s*(.+)$", text, re.M)
    return name[1].strip() if name else "unknown processor"


def first_line(*command):
    if not shutil.which(command[0]):
        return None
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]


def machine():
    lines = [f"{os.cpu_count()} processors, {processor()}"]
    lines += [version for c in ("g++", "clang++") if (version := first_line(c, "--version"))]
    return "; ".join(lines)


def load(contexts):
    """The background load, as measured by the programs at their start."""
    starts = [c["load_avg"][0] for c in contexts if c.get("load_avg")]
    if not starts:
        return ""
    busy = max(starts) > 0.5
    return (f" Load when the programs began: {max(starts):.1f} at most"
            + (": the machine was not idle, so look at the least times rather than at the medians." if busy else "."))


# Text.

def time_of(ns):
    for unit, factor in (("ns", 1.0), ("us", 1e3), ("ms", 1e6)):
        if ns < 1000 * factor:
            return f"{three_digits(ns / factor)} {unit}"
    return f"{three_digits(ns / 1e9)} s"


def three_digits(x):
    return f"{x:.0f}" if x >= 99.95 else f"{x:#.3g}"


def ratio_of(x):
    return f"{x:.2f}" if x < 10 else f"{x:.0f}"


def cell(samples):
    return f"{time_of(samples.least)} ({time_of(samples.median)})" if samples else "-"


def table(head, rows):
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def section(title, *parts):
    return "\n\n".join([f"## {title}", *(p for p in parts if p)])


def reproduce(*commands):
    return "To repeat it:\n\n" + "\n".join("    " + c for c in commands)


def plural(n, noun):
    return f"{n} {noun}" + ("" if n == 1 else "s")


# The sections.

def races_section(races):
    chapters = {"workloads": ("Training steps, against other libraries and by hand", WORKLOADS, BOUNDS),
                "workloads_intel": ("The same on an Intel processor", INTEL),
                "unseen": ("Sizes without tuning", UNSEEN)}
    return [race_section(races[name], *texts) for name, texts in chapters.items() if name in races]


def threads_section(measured):
    """One and two threads on near and on far cores, and two programs that share the cores."""
    if not measured:
        return []
    rows = [[case_label(row["case"]), where, time_of(1e3 * row["one"]), time_of(1e3 * row["two"]),
             f"{row['two'] / row['one']:.2f}"]
            for where in ("near", "far") for row in measured[where]]
    shared = [[case_label(row["case"]), time_of(1e3 * row["alone"]), time_of(1e3 * row["both"]),
               f"{row['both'] / row['alone']:.2f}", time_of(1e3 * row["worst"])] for row in measured["shared"]]
    slower = [row for row in rows if float(row[-1]) > 1.03]
    verdict = ("A limit of two is slower than one thread by more than 3 % in: "
               + "; ".join(f"{row[0]}, {row[1]} ({row[-1]})" for row in slower) if slower
               else "A limit of two is nowhere slower than one thread by more than 3 %")
    return [section("Thread choice", f"Measured on {measured['machine']}, {measured['date']}.", THREADS.strip(),
                    f"Least times. far: each signal between two threads takes {measured['transfer'] / 1000:g} us longer.",
                    table(["case", "cores", "1 thread", "limit of 2", "2 / 1"], rows), verdict + ".",
                    "Two programs with a limit of two threads each at the same time, against one alone; mean times of "
                    "blocks of about 5 ms, and the longest of them. The aim is 2.3 at most.",
                    table(["case", "one program", "two programs", "ratio", "longest"], shared),
                    reproduce("cmake --preset release && cmake --build build/release --target crochet_anchor crochet_far",
                              "python3 bench/threads/measure.py build/release bench/results/threads.json"))]


def case_label(case):
    workload, batch, mode = case.split(":")
    return f"{workload} batch {batch} {mode}"


def race_cell(of):
    if not of or "min" not in of:
        return "-"
    return ("~" if not of.get("clean", 1) else "") + time_of(of["min"] * 1e3)


class Row:
    """One case of a race: each competitor's time, and crochet's ratios."""

    def __init__(self, case):
        self.case, self.threads, self.workload = case, case["threads"], case["workload"]
        self.label = f"{case['workload']} batch {case['batch']} {case['mode']}"
        self.least = {n: of["min"] for n, of in case["peers"].items() if "min" in of}
        peers = {n: t for n, t in self.least.items() if n not in LIMITS and not n.startswith("crochet")}
        self.best = min(peers, key=peers.get) if peers else None

    def ratio(self, ours, other):
        """None if a time is missing. Two decimals, which is more than the precision."""
        if ours not in self.least or other not in self.least:
            return None
        return round(self.least[ours] / self.least[other], 2)

    def name(self):
        return f"{self.label}, {plural(self.threads, 'thread')}"


def ratio_cell(ratio):
    return "-" if ratio is None else f"{ratio:.2f}"


def race_table(rows, names, ours, limits):
    head = ["case", "threads", *names] + [f"{o} / {limit}" for limit in limits for o in ours] + \
           ["best peer"] + [f"{o} / best" for o in ours]
    lines = []
    for row in rows:
        lines.append([row.label, str(row.threads), *(race_cell(row.case["peers"].get(n)) for n in names),
                      *(ratio_cell(row.ratio(o, limit)) for limit in limits for o in ours), row.best or "-",
                      *(ratio_cell(row.ratio(o, row.best)) for o in ours)])
    return table(head, lines)


def targets_table(rows, ours):
    """The maximum ratios of each workload, and whether they are within the target."""
    lines = []
    for workload, target in TARGETS.items():
        mine = [r for r in rows if r.workload == workload]
        for o in ours:
            by_hand = [r.ratio(o, "hand") for r in mine if r.ratio(o, "hand") is not None]
            by_peer = [r.ratio(o, r.best) for r in mine if r.ratio(o, r.best) is not None]
            if not by_hand:
                continue
            met = sum(x <= target for x in by_hand)
            beaten = sum(x <= 1 for x in by_peer)
            lines.append([workload, o, f"{target:.2f}", f"{min(by_hand):.2f} to {max(by_hand):.2f}",
                          f"{met} of {len(by_hand)}", f"{beaten} of {len(by_peer)}"])
    return table(["workload", "compiled as", "target, times hand", "measured, times hand", "cases within the target",
                  "cases not slower than the best peer"], lines) if lines else ""


def misses(rows, ours):
    """The rows in which a peer is as fast or faster, or the target is missed."""
    lost, equal, over = [], [], []
    for row in rows:
        for o in ours:
            ratio, by_hand = row.ratio(o, row.best), row.ratio(o, "hand")
            if ratio is not None and ratio > 1:
                (lost if ratio > 1.1 else equal).append(f"{row.name()}, {o}: {row.best} ({ratio:.2f})")
            if by_hand is not None and by_hand > TARGETS.get(row.workload, float("inf")):
                over.append(f"{row.name()}, {o}: {by_hand:.2f} (target {TARGETS[row.workload]:.2f})")
    parts = [("A peer is faster by more than 10 % in", lost), ("A peer is faster by at most 10 %, which is noise, in", equal),
             ("Above the target:", over)]
    return "\n\n".join(f"{text} {plural(len(of), 'row')}:\n\n" + "\n".join(f"- {line}" for line in of) if of else
                       f"{text} no row." for text, of in parts if of or text.startswith("A peer is faster by more"))


def race_section(race, title, text, bounds=""):
    rows = [Row(case) for case in race["cases"]]
    names = []
    for row in rows:
        names += [n for n in row.least if n not in names]
    ours = [n for n in names if n in ("crochet", "crochet-clang")]
    rest = [n for n in names if n not in ours]
    limits = [n for n in rest if n in LIMITS]
    names = ours + limits + [n for n in rest if n not in limits]
    where = f"Measured on {race['machine']}, {race['date']}." if "machine" in race else ""
    versions = f" {race['versions']}." if race.get("versions") else ""
    return section(title, where + versions, text.strip(), race_table(rows, names, ours, limits),
                   targets_table(rows, ours) if limits else "", misses(rows, ours), bounds.strip(), reproduce(*race.get("commands", [])))


def overhead_section(samples):
    found = {}
    for name, of in samples.items():
        if match := re.fullmatch(r"overhead/(\w+)/(\d+)", name):
            found.setdefault(int(match[2]), {})[match[1]] = of
    if not found:
        return []
    ways = [w for w in WAYS if any(w in of for of in found.values())]
    rows = [[str(n), *(cell(of.get(w)) for w in ways)] for n, of in sorted(found.items())]
    ratios = [[str(n), *(ratio_of(of[w].least / of[BY_HAND].least) if w in of and BY_HAND in of else "-" for w in ways)]
              for n, of in sorted(found.items())]
    return [section("Cost of hooks in a step",
                    "A minimal step, under N hooks that each add its result to a sum and may request a stop. "
                    + " ".join(f"`{w}`: {WAYS[w]}." for w in ways)
                    + " Minimum time per step, in brackets the median of the repetitions. Compiled at -O2.",
                    table(["hooks", *ways], rows),
                    f"The same as multiples of `{BY_HAND}`:", table(["hooks", *ways], ratios),
                    overhead_reading(found, ways), reproduce('make bench ARGS="--benchmark_filter=overhead"'))]


def overhead_reading(found, ways):
    sentences = []
    for way in (w for w in ways if w != BY_HAND):
        of_way = [of[way].least / of[BY_HAND].least for of in found.values() if way in of and BY_HAND in of]
        if of_way:
            sentences.append(f"`{way}` {ratio_of(min(of_way))} to {ratio_of(max(of_way))}")
    return (f"Against `{BY_HAND}`, least to greatest ratio over all N: " + "; ".join(sentences)
            + ". With steps of a few nanoseconds the ratios are large; relevant for a program is the difference of "
            "the times, compared with a training step." if sentences else "")


def step_section(samples):
    found, columns = {}, []
    for name, of in samples.items():
        if match := re.fullmatch(r"step/(mlp|cnn)/(\d+)/(\w+)/threads:(\d+)", name):
            column = f"{match[3]}, {plural(int(match[4]), 'thread')}"
            columns += [column] if column not in columns else []
            found.setdefault((match[1] == "cnn", int(match[2])), {})[column] = of
    if not found:
        return []
    columns.sort(key=lambda column: (column.split(", ")[1], column.startswith("eigen")))
    rows = [[f"{'CNN' if cnn else 'MLP'} batch {size}", *(cell(of.get(c)) for c in columns)]
            for (cnn, size), of in sorted(found.items())]
    return [section("Training steps, by backend and threads",
                    "The same networks: MLP 784-128-10 under SGD, CNN under Adam. `tiles` is crochet's own matrix "
                    "product, `eigen` is Eigen's. Minimum time per step, in brackets the median: processor time on "
                    "one thread, wall-clock time on several.",
                    table(["step", *columns], rows), step_reading(found),
                    reproduce('make bench ARGS="--benchmark_filter=step/(mlp|cnn)"'))]


def step_reading(found):
    pairs = [(of["tiles, 1 thread"].least, of.get("eigen, 1 thread"), of.get("tiles, 2 threads"))
             for of in found.values() if "tiles, 1 thread" in of]
    backends = [tiles / eigen.least for tiles, eigen, _ in pairs if eigen]
    gains = [tiles / two.least for tiles, _, two in pairs if two]
    sentences = []
    if backends:
        sentences.append(f"On one thread `tiles` takes {min(backends):.2f} to {max(backends):.2f} times as long as "
                         "`eigen`.")
    if gains:
        sentences.append(f"A second thread makes `tiles` {min(gains):.2f} to {max(gains):.2f} times as fast.")
        if min(gains) < 1:
            sentences.append("Below 1 the batch has too little work to share, or the second processor was busy with "
                             "something else: then each wait for it costs more than it brings.")
    return " ".join(sentences)


def session_section(samples):
    found = {}
    for name, of in samples.items():
        if match := re.fullmatch(r"step/session_overhead/(\w+)/(bare|hooks:\d+)", name):
            found.setdefault(match[1], {})[match[2]] = of
    if not found:
        return []
    kinds = sorted({kind for of in found.values() for kind in of}, key=lambda k: (k != "bare", len(k), k))
    rows = [[model, *(cell(of.get(kind)) for kind in kinds)] for model, of in found.items()]
    return [section("Cost of a session beside the executor",
                    "The same step by the bare executor, and under a `MonitoredSession` with no hooks and with eight "
                    "that read the loss. `scalar` is a model whose step is a few instructions; `mlp` is the MLP at "
                    "batch 1.",
                    table(["model", *kinds], rows),
                    session_reading(found),
                    reproduce('make bench ARGS="--benchmark_filter=session_overhead"'))]


def session_reading(found):
    sentences = []
    for model, of in found.items():
        for kind in sorted(of.keys() - {"bare"}) if "bare" in of else ():
            more = of[kind].least - of["bare"].least
            sentences.append(f"`{model}`, {kind}: {'+' if more >= 0 else '-'}{time_of(abs(more))} "
                             f"({100 * more / of['bare'].least:+.1f} %)")
    return ("Against the bare executor, hooks' own work included: " + "; ".join(sentences)
            + ". A few per cent of the MLP's step are noise." if sentences else "")


def at_reference_speed(content):
    """By compiler: how much faster the machine for which the budgets are stated compiles; 1 without the case eigen."""
    return {c: REFERENCE_EIGEN[c] / of["eigen"]["seconds"] if of.get("eigen") else 1.0
            for c, of in content["results"].items()}


def compile_section(folder):
    path = folder / "compile_time.json"
    if not path.exists():
        return []
    content = json.loads(path.read_text())
    compilers = list(content["results"])
    of_first = next(iter(content["results"].values()))
    cases = sorted(of_first, key=lambda case: of_first[case]["seconds"] if of_first[case] else 0)
    rows = [["compiled_parts" if case == "compiled_parts" else f"[{case}](../bench/compile_time/cases/{case}.cpp)",
             *(f"{of['seconds']:.2f} s, {of['megabytes']:.0f} MB" if of else "does not compile"
               for c in compilers for of in [content["results"][c][case]])] for case in cases]
    budgets, over = [], []
    speed = at_reference_speed(content)
    for b in content["budgets"]:
        unit = " MB" if b["reference"] == "MB" else f" x {b['reference']}" if b["reference"] else " s"
        spent = {c: b["spent"].get(c) for c in compilers}
        if not b["reference"]:
            spent = {c: s and s * speed[c] for c, s in spent.items()}
        budgets.append([b["case"], f"{b['limit']:g}{unit}", *(f"{s:.2f}{unit}" if s else "-" for s in spent.values())])
        over += [f"{b['case']}{unit if unit == ' MB' else ''} with {c}" for c in compilers if (spent[c] or 0) > b["limit"]]
    verdict = f"Over the budget: {', '.join(over)}." if over else "Everything is within its budget."
    return [section("Compile time and memory",
                    "One file each at -O3 for this machine, with no other flag and without a compiler cache: processor "
                    f"seconds and peak memory, the least of {plural(content['rounds'], 'round')}. `hooks_N` are N "
                    "hooks under a session, `mlp`, `mlp_wide`, `cnn` and `encoder` train W1 to W4, `deep_32_*` are "
                    "32 dense layers under Adam, of equal and of different widths, `eigen` is one product without "
                    "crochet, `core` is `crochet.hpp` alone, `first_program` is the README's. `compiled_parts` is what a "
                    "project that links `crochet::io` compiles once, at -O1, all files together.",
                    table(["file", *compilers], rows),
                    "Budgets. Their seconds are those of a machine that compiles `eigen` in "
                    + " and ".join(f"{s:.2f} s with {c}" for c, s in REFERENCE_EIGEN.items())
                    + "; the seconds beside them are the measured ones times the ratio of that to the row of `eigen`.",
                    table(["file", "budget", *compilers], budgets), verdict, COMPILE_BOUNDS.strip(),
                    reproduce("python3 bench/compile_time/measure.py build/release build/bench/compile_time.json "
                              "--check"))]


def checkpoint_section(samples):
    found = {}
    for name, of in samples.items():
        if match := re.fullmatch(r"checkpoint/(save|load)/(\w+)/(\d+)", name):
            found.setdefault((match[1] == "load", int(match[3])), {})[match[2]] = of
    found = {case: of for case, of in found.items() if "plain" in of}
    if not found:
        return []
    formats = sorted({f for of in found.values() for f in of if f != "plain"})
    rows = []
    for (load, size), of in sorted(found.items()):
        speeds = [f"{three_digits(size * 1e9 / of[f].least)} MB/s" if f in of else "-" for f in ["plain", *formats]]
        ratios = [ratio_of(of["plain"].least / of[f].least) if f in of else "-" for f in formats]
        rows.append([f"{'load' if load else 'save'} {size} MB", *speeds, *ratios])
    return [section("Checkpoints",
                    "16 float tensors with the given total size, on the disk of the build folder; by the minimum "
                    "time. A save writes under a temporary name, reads back and compares the checksums, then "
                    "fsync, rename, and fsync of the folder; `bundle` does this with two files. `plain` is one "
                    "file of the same bytes, written with large writes and one fsync, or read from the page cache, "
                    "as the checkpoint is. The last columns are fractions of plain's speed; the goal for saving is "
                    "0.8.",
                    table(["case", "plain", *formats, *(f"{f} / plain" for f in formats)], rows),
                    "The cost of a small checkpoint is the second file, the renames and the folder's fsync. They "
                    "make it atomic.",
                    reproduce('make bench ARGS="--benchmark_filter=checkpoint"'))]


def dump_section(samples):
    found = {}
    for name, of in samples.items():
        if match := re.fullmatch(r"dump/(\w+)/(\d+)(/iterations:\d+)?", name):
            found.setdefault(int(match[2]), {})[match[1]] = of
    found = {size: of for size, of in found.items() if {"plain", "one_file", "hook"} <= set(of)}
    if not found:
        return []
    rows = []
    for size, of in sorted(found.items()):
        speeds = [f"{three_digits(size * 1e6 / of[what].least)} MB/s" for what in ("one_file", "plain", "hook")]
        rows.append([f"{three_digits(size / 1000)} MB", *speeds, ratio_of(of["plain"].least / of["hook"].least)])
    return [section("Dumps",
                    "A run whose step has 16 outputs with the given total size, under a DumpingDebugHook that dumps "
                    "all of them, on the disk of the build folder; by the minimum time. `plain files` are the same "
                    "bytes in 16 files, each opened, written and closed, without fsync. The hook also writes "
                    "graph, metadata and others, 4 files a run, and renames each. The goal is 0.8 of the plain files' "
                    "speed.",
                    table(["bytes of a run", "one plain file", "plain files", "hook", "hook / plain files"], rows),
                    "The bytes go from the run's memory to the file in one call. For small tensors the creation and "
                    "renaming of files dominates; the renames make each file atomic.",
                    reproduce('make bench ARGS="--benchmark_filter=dump"'))]


WATCHES = (("plain", "no hook"), ("not_due", "two nodes watched, the hook is not due"),
           ("two_nodes", "two nodes watched, the run kept in memory until the loss is known to be finite"),
           ("all_nodes", "all nodes watched, as well"))


def watches_section(samples):
    if not all(f"watches/{case}" in samples for case, _ in WATCHES):
        return []
    plain = samples["watches/plain"].least
    rows = [[text, time_of(samples[f"watches/{case}"].least), ratio_of(samples[f"watches/{case}"].least / plain)]
            for case, text in WATCHES]
    return [section("Watches",
                    "A training step of the MLP of W1 at batch 32, one thread, under a DumpingDebugHook with "
                    "compile-time watches that writes nothing; by the minimum time. Nodes without a watch stay "
                    "fused and cost nothing; watched nodes are stored and copied.",
                    table(["", "step", "/ without"], rows),
                    reproduce('make bench ARGS="--benchmark_filter=watches"'))]


def profiles_section(samples):
    rows = []
    for case, text in (("recorded_step", "the step that is recorded"), ("step_between", "a step between")):
        name = f"profiler/{case}/manual_time"
        if f"{name}:ratio" in samples:
            ratio = samples[f"{name}:ratio"]
            rows.append([text, time_of(1e3 * samples[f"{name}:us"].median), f"{ratio.median:.3f} ({ratio.least:.3f})"])
    if not rows:
        return []
    return [section("Profiles",
                    "Training of the CNN of W3 at batch 128, one thread: a session with a ProfilerHook that records "
                    "every eighth step alternates with one without hooks; medians of their steps. The work of the "
                    "next step for the record, which passes it to the thread that writes the files, is counted "
                    "with the recorded step. The ratio is to the plain session's step: median (minimum) of the "
                    "repetitions; the goal is at most 1.03 for the recorded step and 1 between.",
                    table(["", "time", "ratio to plain"], rows),
                    reproduce('make bench ARGS="--benchmark_filter=profiler"'))]


def events_section(samples):
    found = {}
    for name, of in samples.items():
        if match := re.fullmatch(r"events/(\w+)/\w+:(\d+)", name):
            found[match[1], int(match[2])] = of
    bare = found.get(("steps", 0))
    if not bare:
        return []
    rows = []
    for (what, n), of in sorted(found.items()):
        if what == "scalars":
            rows.append([f"scalars that reach the file, queue of {n}", f"{three_digits(1e3 / of.least)} million/s"])
        elif what == "histograms":
            rows.append([f"histograms of {n} floats that reach the file", f"{three_digits(1e9 / of.least)}/s"])
        elif what == "count_values":
            rows.append([f"counting the {n} values of one, in the thread", time_of(of.least)])
        elif n == 0:
            rows.append(["a step without a writer", cell(of)])
        else:
            rows.append([f"the same, one scalar saved every {plural(n, 'step')}" if n > 1 else
                         "the same, one scalar saved in every step", cell(of)])
    return [section("Event files",
                    "One thread adds events without pause to a writer on the disk of temporary files; the time "
                    "includes the writer's own thread, because its queue is bounded. A step here is a loop of a few "
                    "microseconds under a SummarySaver. Least (median).",
                    table(["case", ""], rows), reproduce('make bench ARGS="--benchmark_filter=events"'))]


def debug_stream_section(samples):
    bare = samples.get("debug_stream/without")
    if not bare:
        return []
    rows = [["without the hook", time_of(bare.median), time_of(bare.least), "1"]]
    for case, what in (("dead", "no server at the address"), ("stuck", "a server that never answers"),
                       ("well", "a server that reads and replies")):
        if of := samples.get(f"debug_stream/{case}"):
            rows.append([what, time_of(of.median), time_of(of.least),
                         f"{bare.median / of.median:.2f} ({bare.least / of.least:.2f})"])
    return [section("Debug streams",
                    "A step of a step function with an output of 256 KiB, under a GrpcDebugHook that streams every "
                    "step. Waits and pauses are a tenth of the defaults, and the sessions last for all "
                    "repetitions: connecting, filling the queue, disconnecting and retrying are in the times. The "
                    "goal with a dead or stuck server is 0.95 of the rate without the hook; by medians (by least times).",
                    table(["server", "median step", "least", "rate / without"], rows),
                    reproduce('make bench ARGS="--benchmark_filter=debug_stream"'))]


def gpu_section():
    return [section("GPU", *chapter.chapter(), reproduce("sh bench/gpu.sh"))]


def other_section(samples):
    known = ("overhead/", "step/", "checkpoint/", "events/", "dump/", "watches/", "debug_stream/", "profiler/")
    rest = {n: of for n, of in samples.items() if not n.startswith(known)}
    if not rest:
        return []
    return [section("Other", table(["benchmark", "least (median)"], [[f"`{n}`", cell(of)] for n, of in rest.items()]),
                    reproduce("make bench"))]


def document(folder):
    samples, contexts = read_programs(folder)
    head = ("# Benchmarks\n\nMade by [bench/report.py](../bench/report.py) from the results of `make bench`; not "
            f"edited by hand.\n\nMachine: {machine()}. {datetime.date.today().isoformat()}.{load(contexts)}\n\nAll "
            "programs are compiled with -O3 for the machine's own processor (preset `release`), unless a table "
            "states otherwise.")
    races = read_races()
    return "\n\n".join([head, *races_section(races), *threads_section(races.get("threads")),
                        *overhead_section(samples), *step_section(samples), *session_section(samples), *checkpoint_section(samples), *events_section(samples),
                        *dump_section(samples), *watches_section(samples), *debug_stream_section(samples),
                        *profiles_section(samples), *gpu_section(), *compile_section(folder),
                        *other_section(samples)]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=pathlib.Path, help="the folder with the JSON files")
    parser.add_argument("document", type=pathlib.Path, help="the file to write")
    options = parser.parse_args()
    options.document.parent.mkdir(parents=True, exist_ok=True)
    options.document.write_text(document(options.results))


if __name__ == "__main__":
    main()
