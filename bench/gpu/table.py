#!/usr/bin/env python3
"""Makes one JSON and one table of what the parts of bench/gpu.sh left in a folder.

    python3 bench/gpu/table.py build/gpu/results

It reads *.jsonl (lines of JSON of the programs and of the script), tests.log (ctest) and sanitizer.*.log, and writes
gpu.json and gpu.md beside them. The exit status is 1 if a test failed, a sanitizer found an error, a step or a kernel
threw, a step did not train, or a part failed or did not run what it should; the reasons are printed. A target that is
missed is only marked."""
import argparse
import datetime
import json
import pathlib
import re

PARTS = ("build", "tests", "sanitizer", "costs", "kernels", "steps", "peers")
# The targets of a training step in microseconds, with the data on the device, on an H200.
STEP_TARGETS = {"W1 b1": 6, "W1 b32": 8, "W1 b128": 16, "W1 b1024": 25, "W3 b32": 45, "W3 b128": 100, "W4 b8": 45, "W5": 6}
STEP_MODES = ("resident", "one run a launch", "graph")  # of these the best counts
TIMES_FASTER = {case: 3.0 for case in ("W1 b1", "W1 b32", "W1 b128", "W4 b8", "W5")}  # than the best peer; others: 1
# Shares of a peak: kind of kernel -> target, unit, peaks of which the largest counts.
SHARES = {"elementwise": (0.85, "gb_per_s", ("copy by a kernel", "copy by the driver")),
          "memory": (None, "gb_per_s", ("copy by a kernel", "copy by the driver")),
          "large product, fp32": (0.7, "tflops", ("fp32, nominal",)),
          "large product, tf32": (0.6, "tflops", ("tf32, nominal",)),
          "large product, bf16": (0.6, "tflops", ("bf16, nominal",)),
          "product, fp32": (None, "tflops", ("fp32, nominal",)),
          "product, tf32": (None, "tflops", ("tf32, nominal",)),
          "product, bf16": (None, "tflops", ("bf16, nominal",)),
          "convolution, fp32": (None, "tflops", ("fp32, nominal",))}
HOOKS_AT_MOST = 1.05  # times the step without hooks: the difference of two equal measurements
RESULT = re.compile(r"Test\s+#\d+: (\S+) \.*\s*(?:\*\*\*)?(Passed|Failed|Skipped|Timeout|Exception|Not Run)", re.ASCII)
SUMMARY = re.compile(r"(?:ERROR|RACECHECK) SUMMARY: (\d+) (?:error|hazard)")
FOUND = re.compile(r"^========= (?!COMPUTE-SANITIZER)\S", re.MULTILINE)  # the first line of an error


# What was measured.

def read_lines(folder):
    """All lines of JSON; a line that a stopped program left unfinished is dropped."""
    lines = []
    for path in sorted(folder.glob("*.jsonl")):
        for text in path.read_text().splitlines():
            try:
                lines.append(json.loads(text))
            except json.JSONDecodeError:
                continue
    return lines


def read_tests(folder):
    """State -> names of tests; None if no tests were run."""
    path = folder / "tests.log"
    if not path.exists():
        return None
    found = {}
    for match in RESULT.finditer(path.read_text(errors="replace")):
        found.setdefault(match[2], []).append(match[1])
    return found


def read_sanitizers(folder):
    """Tool and program -> number of errors; None if the tool was stopped before its summary, and without an error."""
    found = {}
    for path in sorted(folder.glob("sanitizer.*.log")):
        _, tool, program, _ = path.name.split(".")
        text = path.read_text(errors="replace")
        numbers = SUMMARY.findall(text)
        found[f"{tool}, {program}"] = int(numbers[-1]) if numbers else len(FOUND.findall(text)) or None
    return found


class Results:
    """The lines, by what they are about."""

    def __init__(self, lines):
        self.lines = lines
        self.device = next((l["case"] for l in lines if l.get("part") == "device"), "no GPU")

    def part(self, name):
        return [l for l in self.lines if l.get("part") == name]

    def us(self, part):
        """Case -> mode -> microseconds."""
        table = {}
        for line in self.part(part):
            if "us" in line:
                table.setdefault(line["case"], {})[line.get("mode", "")] = line["us"]
        return table

    def peak(self, names, unit):
        return max((l[unit] for l in self.part("peaks") if l["case"] in names and l.get(unit)), default=None)


# Targets.

def target(name, wanted, measured, unit, at_most=True, note=""):
    """A row of the first table. ratio: 1 and less is met where the target is a limit, 1 and more where it is a share."""
    ratio = measured / wanted if measured is not None else None
    met = None if ratio is None else ratio <= 1 if at_most else ratio >= 1
    return {"name": name, "target": wanted, "measured": measured, "unit": unit, "ratio": ratio, "met": met, "note": note}


def best(modes, allowed=None):
    """The fastest mode and its time."""
    return min(((us, mode) for mode, us in modes.items() if allowed is None or mode in allowed), default=(None, ""))


def step_targets(steps):
    rows = []
    for case, limit in STEP_TARGETS.items():
        us, mode = best(steps.get(case, {}), STEP_MODES)
        rows.append(target(f"{case}, a training step", limit, us, "us", note=mode))
    return rows


def peer_targets(steps, peers):
    rows = []
    for case, modes in peers.items():
        ours, _ = best(steps.get(case, {}), STEP_MODES)
        theirs, peer = best(modes)
        times = theirs / ours if ours and theirs else None
        rows.append(target(f"{case}, times faster than the best peer", TIMES_FASTER.get(case, 1.0), times, "", False,
                           f"{peer}: {digits(theirs)} us"))
    return rows


def hook_targets(steps):
    rows = []
    for case, modes in steps.items():
        if "hooks not due" in modes and "resident" in modes:
            rows.append(target(f"{case}, hooks that are not due / without hooks", HOOKS_AT_MOST,
                               modes["hooks not due"] / modes["resident"], ""))
    return rows


def share_of(results, line):
    """The share of the peak of a kernel; None without the peak."""
    if line.get("kind") not in SHARES:
        return None
    _, unit, peaks = SHARES[line["kind"]]
    peak = results.peak(peaks, unit)
    return line[unit] / peak if peak and line.get(unit) else None


def kernel_targets(results):
    return [target(f"{line['case']}, share of peak", SHARES[line["kind"]][0], share_of(results, line), "", False)
            for line in results.part("kernels")
            if "us" in line and SHARES.get(line.get("kind"), (None,))[0] is not None]


def targets_of(results):
    steps, peers = results.us("steps"), results.us("peers")
    return step_targets(steps) + peer_targets(steps, peers) + hook_targets(steps) + kernel_targets(results)


# The table.

def digits(x):
    return "-" if x is None else f"{x:.3g}" if abs(x) < 1000 else f"{x:.0f}"


def table(head, rows):
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def mark(row):
    return {True: "met", False: "**MISSED**", None: "not measured"}[row["met"]]


def with_unit(x, unit):
    return digits(x) if x is None or not unit else f"{digits(x)} {unit}"


def targets_table(targets):
    return table(["target", "limit", "measured", "ratio", "", "by"],
                 [[t["name"], with_unit(t["target"], t["unit"]), with_unit(t["measured"], t["unit"]), digits(t["ratio"]),
                   mark(t), t["note"] or "-"] for t in targets])


def modes_table(measured):
    modes = list(dict.fromkeys(mode for of in measured.values() for mode in of))
    return table(["case", *modes], [[case, *(digits(of.get(mode)) for mode in modes)] for case, of in measured.items()])


def kernels_table(results):
    return table(["kernel", "us", "TFLOP/s", "GB/s", "share of peak"],
                 [[l["case"], digits(l["us"]), digits(l.get("tflops") or None), digits(l.get("gb_per_s") or None),
                   digits(share_of(results, l))] for l in results.part("kernels") if "us" in l])


def costs_table(results):
    return table(["", "us", "GB/s"], [[l["case"], digits(l.get("us")), digits(l.get("gb_per_s"))]
                                      for l in results.part("costs") if "us" in l])


def peaks_table(results):
    return table(["", "TFLOP/s", "GB/s"], [[l["case"], digits(l.get("tflops")), digits(l.get("gb_per_s"))]
                                          for l in results.part("peaks") if "error" not in l])


def tests_text(tests):
    counts = ", ".join(f"{len(names)} {state.lower()}" for state, names in tests.items()) or "none was run"
    wrong = [f"- {state}: {name}" for state, names in tests.items() if state not in ("Passed", "Skipped")
             for name in names]
    return "\n".join([f"{counts}.", *([""] + wrong if wrong else [])])


def sanitizers_table(sanitizers):
    return table(["tool and program", "errors"], [[name, "stopped" if n is None else str(n)]
                                                  for name, n in sanitizers.items()])


def untrained(results):
    """Steps whose values show that they do not train: not finite, or a loss that did not fall on one and the same batch."""
    return [l for l in results.part("steps") if "last" in l and
            (l["last"] is None or (l["n"] > 1 and l["case"] not in ("W5", "W6") and l["mode"] != "rows of DeviceData" and
                                   not l["last"] < l["first"]))]


def errors_text(results):
    lines = [f"- {l['part']}, {l['case']}{', ' + l['mode'] if 'mode' in l else ''}: {l['error']}"
             for l in results.lines if "error" in l]
    return "\n".join(lines + [f"- steps, {l['case']}, {l['mode']}: the loss went from {l['first']} to {l['last']}"
                              for l in untrained(results)])


def document(results, targets, tests, sanitizers, date):
    states = [[l["case"], l["state"], digits(l.get("seconds"))]
              for l in sorted(results.part("parts"), key=lambda l: PARTS.index(l["case"]))]
    sections = [("Parts", table(["part", "state", "seconds"], states) if states else ""),
                ("Targets", targets_table(targets) if targets else ""),
                ("Steps, us", modes_table(results.us("steps")) if results.us("steps") else ""),
                ("Peers, us a step", modes_table(results.us("peers")) if results.us("peers") else ""),
                ("Launches and barriers", costs_table(results) if results.part("costs") else ""),
                ("Peaks", peaks_table(results) if results.part("peaks") else ""),
                ("Kernels", kernels_table(results) if results.part("kernels") else ""),
                ("Tests", tests_text(tests) if tests is not None else ""),
                ("compute-sanitizer", sanitizers_table(sanitizers) if sanitizers else ""),
                ("Errors", errors_text(results))]
    head = f"# crochet on {results.device}\n\n{date}, by `sh bench/gpu.sh`. The limits of steps are those of an H200."
    return "\n\n".join([head, *(f"## {title}\n\n{text}" for title, text in sections if text)]) + "\n"


# The exit status.

def wrong_tests(tests):
    return [f"test {name}: {state.lower()}" for state, names in (tests or {}).items()
            if state not in ("Passed", "Skipped") for name in names]


def wrong_sanitizers(results, sanitizers):
    """A tool without a summary is right if it was stopped with its part."""
    stopped = any(l["case"] == "sanitizer" and l["state"].startswith("stopped") for l in results.part("parts"))
    return [f"{name}: {'no summary' if n is None else f'{n} errors'}" for name, n in sanitizers.items()
            if n or (n is None and not stopped)]


def wrong_steps(results):
    """Cases that threw, also of kernels and costs, and steps that do not train. A peer may fail."""
    threw = [l for l in results.lines if "error" in l and l["part"] != "peers"]
    return ([f"{l['part']}, {l['case']}: {l['error']}" for l in threw] +
            [f"steps, {l['case']}, {l['mode']}: it does not train" for l in untrained(results)])


def wrong_parts(results, tests, sanitizers):
    """Parts that failed, were not begun, or did not run what they should. What a measurement has before it is stopped
    counts."""
    counts = {"tests": len((tests or {}).get("Passed", [])),
              "sanitizer": len([n for n in sanitizers.values() if n is not None]),
              **{part: len(results.us(part)) for part in ("costs", "kernels", "steps")}}
    wrong = []
    for line in results.part("parts"):
        part, state = line["case"], line["state"]
        unfinished = state.startswith("stopped") and part in ("build", "tests", "steps")
        if state.startswith(("failed", "not started")) or unfinished:
            wrong.append(f"{part}: {state}")
        elif state.startswith(("complete", "stopped")) and counts.get(part) == 0:
            wrong.append(f"{part}: {state}, and nothing has passed or been measured")
    return wrong


def reasons(results, tests, sanitizers):
    """Why the exit status is 1; empty if it is 0."""
    return (wrong_parts(results, tests, sanitizers) + wrong_tests(tests) + wrong_sanitizers(results, sanitizers) +
            wrong_steps(results))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    results = Results(read_lines(folder))
    targets, tests, sanitizers = targets_of(results), read_tests(folder), read_sanitizers(folder)
    date = datetime.date.today().isoformat()
    record = {"device": results.device, "date": date, "targets": targets, "tests": tests, "sanitizers": sanitizers,
              "results": results.lines}
    (folder / "gpu.json").write_text(json.dumps(record, indent=1) + "\n")
    (folder / "gpu.md").write_text(document(results, targets, tests, sanitizers, date))
    wrong = reasons(results, tests, sanitizers)
    for reason in wrong:
        print(f"gpu: wrong: {reason}")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
