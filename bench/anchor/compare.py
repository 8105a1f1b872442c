#!/usr/bin/env python3
"""Compares the speed of programs that implement the protocol of protocol.hpp.

    python3 bench/anchor/compare.py crochet=build/release/bench/crochet_anchor other='COMMAND --its-options' \\
        --cases W1:32:train W3:128:infer --threads 1 2 --rounds 6 --out bench/results/race.json

Every round measures every program once for every case, so that disturbances of the machine affect all programs alike.
The other programs are stopped meanwhile, because some of them have threads that spin while they wait. A measurement
during which other processes used the processors is repeated, up to --tries times. The output has the minimum of all
rounds and the median of their medians, in microseconds per step; bench/report.py makes a table of it. Programs whose
names do not begin with `crochet` are the ones that crochet is compared with."""
import argparse
import datetime
import json
import os
import pathlib
import shlex
import signal
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import report

CASES = [f"W1:{batch}:{mode}" for mode in ("train", "infer") for batch in (1, 32, 128, 1024)] + \
        [f"W3:{batch}:{mode}" for mode in ("train", "infer") for batch in (1, 32, 128)]
DISTURBED = 0.1  # share of the processors that others may use during an answer
TICK = os.sysconf("SC_CLK_TCK")


def busy(cpu):
    """Busy seconds of a processor, or of all of them, since the machine started."""
    lines = pathlib.Path("/proc/stat").read_text().splitlines()
    words = next(line.split() for line in lines if line.split()[0] == ("cpu" if cpu is None else f"cpu{cpu}"))
    return sum(map(int, words[1:4] + words[6:9])) / TICK


def used_by(pid):
    words = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / TICK


class Competitor:
    """A running competitor. With one thread it has its own processor."""

    def __init__(self, name, words, threads, cpu):
        self.name, self.cpu = name, cpu if threads == 1 else None
        self.processors = 1 if threads == 1 else os.cpu_count()
        pin = (lambda: os.sched_setaffinity(0, {cpu})) if threads == 1 else None
        limits = {name: str(threads) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
        # malloc keeps freed memory: otherwise programs that allocate in every step have page faults in every step.
        kept = {"MALLOC_MMAP_THRESHOLD_": str(1 << 32), "MALLOC_TRIM_THRESHOLD_": str(1 << 33)}
        self.process = subprocess.Popen(words + ["--threads", str(threads)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env={**os.environ, **limits, **kept}, preexec_fn=pin)

    def ask(self, case, seconds):
        """The result, and the share of its processors that other processes used meanwhile."""
        self.process.send_signal(signal.SIGCONT)
        start, busy_before, own_before = time.time(), busy(self.cpu), used_by(self.process.pid)
        self.process.stdin.write(f"{case.replace(':', ' ')} {seconds}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.name} ended at {case}")
        others = busy(self.cpu) - busy_before - (used_by(self.process.pid) - own_before)
        share = others / (time.time() - start) / self.processors
        self.process.send_signal(signal.SIGSTOP)
        return json.loads(line), share

    def end(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.communicate()


def wait_for_quiet(cpu, patience):
    """Waits, up to a limit, until these processors are idle."""
    end = time.time() + patience
    while time.time() < end:
        before = busy(cpu)
        time.sleep(0.05)
        if busy(cpu) - before <= 2 / TICK:
            return


def race(case, competitors, options):
    """Name -> its times, or the reason why it did not take part."""
    got = {}
    for c in competitors:
        answer, _ = c.ask(case, 0.01)  # makes the case and warms it up
        got[c.name] = {"skip": answer["skip"]} if "skip" in answer else {"clean": [], "dirty": []}
    for number in range(options.rounds):
        first = number % len(competitors)
        for c in competitors[first:] + competitors[:first]:
            for _ in range(0 if "skip" in got[c.name] else options.tries):
                wait_for_quiet(c.cpu, options.patience)
                answer, others = c.ask(case, options.seconds)
                clean = others < DISTURBED
                got[c.name]["clean" if clean else "dirty"].append((min(answer["us"]), statistics.median(answer["us"])))
                if clean:
                    break
    return {name: summary(of) for name, of in got.items()}


def summary(of):
    if "skip" in of:
        return of
    use = of["clean"] or of["dirty"]
    return {"min": min(least for least, _ in use), "median": statistics.median(median for _, median in use),
            "clean": len(of["clean"]), "dirty": len(of["dirty"])}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("competitors", nargs="+", metavar="NAME=COMMAND")
    parser.add_argument("--cases", nargs="+", default=CASES, metavar="WORKLOAD:BATCH:MODE")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=0.15, help="of one answer")
    parser.add_argument("--tries", type=int, default=3, help="attempts to measure without interference")
    parser.add_argument("--patience", type=float, default=0.5, help="seconds to wait for a quiet moment")
    parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)), help="where one thread runs")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()

    commands = dict(c.split("=", 1) for c in options.competitors)
    rows = []
    for threads in options.threads:
        competitors = [Competitor(n, shlex.split(words), threads, options.cpu) for n, words in commands.items()]
        for case in options.cases:
            workload, batch, mode = case.split(":")
            peers = race(case, competitors, options)
            rows.append({"workload": workload, "batch": int(batch), "mode": mode, "threads": threads, "peers": peers})
            took = {n: f"{of['min']:.4g} us" if "min" in of else of["skip"] for n, of in peers.items()}
            print(f"{case} on {report.plural(threads, 'thread')}: {took}", flush=True)
        for c in competitors:
            c.end()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({"machine": report.machine(), "date": datetime.date.today().isoformat(),
                                       "cases": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
