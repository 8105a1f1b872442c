#!/usr/bin/env python3
"""Measures the cost of compiling crochet, and checks it against the budgets.

    python3 bench/compile_time/measure.py build/release build/bench/compile_time.json

Every case is a file in cases/, compiled at -O3 for this machine, with no other flag and without the compiler cache. The
case compiled_parts is what a project that links crochet::io compiles once: the compiled half and the generated messages,
at -O1. Seconds are processor seconds in user mode of the compiler and its child processes; megabytes are the largest resident
set among them. Both are minima over the rounds, which are interleaved. With --check the exit status is nonzero if a
compiler exceeds a budget."""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

CASES = pathlib.Path(__file__).resolve().parent / "cases"
COMPILERS = ("g++", "clang++")

PARTS = "compiled_parts"

# The budget of each case, in seconds, or as a multiple of another case; of some also in megabytes.
BUDGETS = (
    ("core", "hana", 2.0),
    ("hooks_128", None, 1.5),
    ("mlp", None, 4.0),
    ("mlp_wide", None, 4.0),
    ("mlp_eigen", "eigen", 3.0),
    ("cnn", None, 10.0),
    ("encoder", None, 10.0),
    ("separable", None, 8.0),
    ("deep_32_equal", None, 12.0),
    ("deep_32_mixed", None, 12.0),
    ("first_program", None, 6.0),
    ("checkpoints", None, 6.0, 300),
    ("training_job", None, 12.0, 450),
    ("inference", None, 6.0),
    (PARTS, None, 25.0),
)


def case_names():
    return sorted(path.stem for path in CASES.glob("*.cpp")) + [PARTS]


def commands(compiler, flags, case, output):
    includes = ["-I" + folder for folder in flags["include"]]
    if case == PARTS:
        return [[compiler, "-std=c++20", "-O1", *includes, "-c", part, "-o", output] for part in flags["parts"]]
    return [[compiler, "-std=c++20", "-O3", "-march=native", *includes,
             "-c", str(CASES / f"{case}.cpp"), "-o", output]]


def compile_once(words):
    """User seconds and megabytes; None if it does not compile."""
    with tempfile.TemporaryFile() as log:
        child = subprocess.Popen(words, stdout=log, stderr=log)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            log.seek(0)
            print(log.read(2000).decode(errors="replace"), file=sys.stderr)
            return None
    return {"seconds": used.ru_utime, "megabytes": used.ru_maxrss / 1024}


def compile_all(lines):
    """The seconds of all commands, and the largest size; None if one fails."""
    spent = [compile_once(words) for words in lines]
    if None in spent:
        return None
    return {"seconds": sum(s["seconds"] for s in spent), "megabytes": max(s["megabytes"] for s in spent)}


def least(samples):
    """The minimum of each quantity; None if a case did not compile."""
    if None in samples:
        return None
    return {quantity: min(s[quantity] for s in samples) for quantity in samples[0]}


def version(compiler):
    return subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


def measure(compilers, cases, flags, rounds):
    samples = {c: {case: [] for case in cases} for c in compilers}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            for case in cases:
                for compiler in compilers:
                    of = samples[compiler][case]
                    if None not in of:  # what did not compile once will not the next time
                        of.append(compile_all(commands(compiler, flags, case, os.path.join(folder, "out.o"))))
            print(f"compile_time: round {number + 1} of {rounds}", flush=True)
    return {c: {case: least(of) for case, of in of_cases.items()} for c, of_cases in samples.items()}


def judge(results):
    """One line per budget: quantity, limit, and the value with each compiler."""
    judged = []
    for case, reference, limit, *size in BUDGETS:
        spent, sizes = {}, {}
        for compiler, cases in results.items():
            if cases.get(case) and (reference is None or cases.get(reference)):
                unit = cases[reference]["seconds"] if reference else 1.0
                spent[compiler] = cases[case]["seconds"] / unit
                sizes[compiler] = cases[case]["megabytes"]
        judged.append({"case": case, "reference": reference, "limit": limit, "spent": spent})
        if size:
            judged.append({"case": case, "reference": "MB", "limit": size[0], "spent": sizes})
    return judged


def unit_of(budget):
    reference = budget["reference"]
    return " MB" if reference == "MB" else f" x {reference}" if reference else " s"


def report(results, judged):
    for compiler, cases in results.items():
        for case, of in cases.items():
            cost = f"{of['seconds']:6.2f} s {of['megabytes']:5.0f} MB" if of else "does not compile"
            print(f"compile_time: {compiler:8} {case:12} {cost}")
    for budget in judged:
        unit = unit_of(budget)
        for compiler, spent in budget["spent"].items():
            verdict = "over" if spent > budget["limit"] else "within"
            limit = f"{budget['limit']:g}{unit}"
            print(f"compile_time: {compiler:8} {budget['case']}: {spent:.2f}{unit}, {verdict} {limit}")


def within_budgets(results, judged):
    """Checks that every measured case compiled."""
    compiled = all(of for cases in results.values() for of in cases.values())
    return compiled and all(spent <= b["limit"] for b in judged for spent in b["spent"].values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="a build folder with the benchmarks in it")
    parser.add_argument("out", type=pathlib.Path, help="the JSON file to write")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--compilers", nargs="+", default=COMPILERS, choices=COMPILERS)
    parser.add_argument("--cases", nargs="+", default=case_names(), choices=case_names(), metavar="CASE")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()

    flags = json.loads((options.build / "bench" / "compile_time.json").read_text())
    compilers = [c for c in options.compilers if shutil.which(c)]
    results = measure(compilers, options.cases, flags, options.rounds)
    judged = judge(results)
    report(results, judged)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({"compilers": {c: version(c) for c in compilers}, "rounds": options.rounds,
                                       "results": results, "budgets": judged}, indent=1) + "\n")
    if not all(of for cases in results.values() for of in cases.values()):
        sys.exit("compile_time: a case does not compile")
    if options.check and not within_budgets(results, judged):
        sys.exit("compile_time: over budget")


if __name__ == "__main__":
    main()
