#!/usr/bin/env python3
"""Measures the choice of threads: one and two threads, near and far, and two programs on the same cores.

    python3 bench/threads/measure.py build/release bench/results/threads.json [--rounds 6] [--seconds 0.15]
    python3 bench/report.py build/bench docs/benchmarks.md

- near: crochet_anchor with --threads 1 and 2.
- far: crochet_far, in which each signal between two threads takes --transfer nanoseconds longer.
- shared: two crochet_anchor with --threads 2 at the same time, against one alone.

The programs alternate, and the one that is measured runs alone: the others wait for input, and their threads sleep. Near
and far have the least time of all blocks; shared has the mean of all blocks, since programs that share cores take turns
for milliseconds. A block is about 5 ms (bench/anchor/protocol.hpp)."""
import argparse
import datetime
import json
import pathlib
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import report

SMALL = ["X8:1:infer", "X8:16:train", "X9:19:train", "W1:1:infer", "W1:1:train", "W1:32:train", "W1:128:train"]
NEAR = SMALL + ["W3:1:train", "W3:32:train", "X7:1:train"]
SHARED = ["X8:16:train", "X9:19:train", "W1:32:train", "W3:32:train"]


class Program:
    """A running program of the protocol."""

    def __init__(self, *words):
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def start(self, case, seconds):
        self.process.stdin.write(f"{case.replace(':', ' ')} {seconds}\n")
        self.process.stdin.flush()

    def answer(self):
        """The microseconds per step of each block."""
        return json.loads(self.process.stdout.readline())["us"]

    def ask(self, case, seconds):
        self.start(case, seconds)
        return self.answer()

    def end(self):
        self.process.communicate()


def one_and_two(command, cases, options):
    """The least times of each case on one and on two threads. Programs are started anew in each round, because where
    the memory of a process lies changes its times by some per cent."""
    least = {case: {1: float("inf"), 2: float("inf")} for case in cases}
    for _ in range(options.rounds):
        programs = {n: Program(*command, "--threads", str(n)) for n in (1, 2)}
        for case in cases:
            for n, program in programs.items():
                least[case][n] = min([least[case][n], *program.ask(case, options.seconds)])
        for program in programs.values():
            program.end()
    for case, of in least.items():
        print(f"{pathlib.Path(command[0]).name} {case}: {of}", flush=True)
    return [{"case": case, "one": of[1], "two": of[2]} for case, of in least.items()]


def shared(command, options):
    """The mean times of a program alone, and of two at the same time."""
    programs = [Program(*command, "--threads", "2") for _ in range(2)]
    rows = []
    for case in SHARED:
        for program in programs:
            program.ask(case, 0.01)  # makes the case and warms it up
        alone, both = [], []
        for _ in range(options.rounds):
            alone += programs[0].ask(case, 4 * options.seconds)
            for program in programs:
                program.start(case, 4 * options.seconds)
            both += [x for program in programs for x in program.answer()]
        rows.append({"case": case, "alone": statistics.mean(alone), "both": statistics.mean(both), "worst": max(both)})
        print(f"shared {case}: {rows[-1]}", flush=True)
    for program in programs:
        program.end()
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=0.15, help="of one answer")
    parser.add_argument("--transfer", type=int, default=2000, help="nanoseconds of a far signal")
    options = parser.parse_args()
    anchor, far = str(options.build / "bench/crochet_anchor"), str(options.build / "bench/crochet_far")
    content = {"machine": report.machine(), "date": datetime.date.today().isoformat(), "transfer": options.transfer,
               "near": one_and_two([anchor], NEAR, options),
               "far": one_and_two([far, "--transfer", str(options.transfer)], SMALL, options),
               "shared": shared([anchor], options)}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
