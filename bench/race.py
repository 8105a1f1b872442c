#!/usr/bin/env python3
"""Records the races that docs/benchmarks.md shows: crochet, built by both compilers, against its peers.

    python3 bench/race.py workloads --anchors FOLDER [--rounds 2] [--threads 1 2] [CASE...]
    python3 bench/race.py unseen [--rounds 2] [--threads 1 2] [CASE...]
    python3 bench/report.py build/bench docs/benchmarks.md

`workloads` are W1 to W6. The folder has the peers and their runner, run_anchors.py; ANCHOR_BUILD names where its C++
programs are built. `unseen` are X1 to X7, with the peers of bench/peers. Python interpreters that have the peers:
ANCHOR_TORCH_PY, ANCHOR_JAX_PY, ANCHOR_TF_PY; what is not named is left out. crochet itself:

    cmake --preset release && cmake --build build/release --target crochet_anchor
    cmake --preset release -B build/release-clang -DCMAKE_CXX_COMPILER=clang++
    cmake --build build/release-clang --target crochet_anchor"""
import argparse
import datetime
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import report

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE / "peers"))
PYTHONS = {"torch": "ANCHOR_TORCH_PY", "jax": "ANCHOR_JAX_PY", "tensorflow": "ANCHOR_TF_PY"}
PEERS = "torch|jax|jax-loop|tf2|eigen|openblas|hand"


def versions():
    """The peers' names and versions, if available."""
    found = []
    for module, variable in PYTHONS.items():
        if python := os.environ.get(variable):
            tell = f"import importlib.metadata as m; print(next(v for n in ('{module}', '{module}-cpu', '{module}_cpu') " \
                   "for v in [next((d.version for d in m.distributions() if d.metadata['Name'] == n), None)] if v))"
            said = subprocess.run([python, "-c", tell], capture_output=True, text=True, check=False).stdout.strip()
            found.append(f"{module} {said}")
    if shutil.which("dpkg-query"):
        for package in ("libopenblas0", "libeigen3-dev"):
            said = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True,
                                  check=False).stdout
            found += [f"{package} {said}"] if said else []
    return ", ".join(found)


def crochets():
    """The built programs of both compilers."""
    programs = {"crochet": ROOT / "build/release/bench/crochet_anchor",
                "crochet-clang": ROOT / "build/release-clang/bench/crochet_anchor"}
    return {name: str(path) for name, path in programs.items() if path.exists()}


def workloads(options, out):
    runner = pathlib.Path(options.anchors) / "run_anchors.py"
    command = [sys.executable, runner, *options.cases, "--peers", options.peers, "--json", out]
    command += [f"--add={name}={program}" for name, program in crochets().items()]
    return command


def unseen(options, out):
    import protocol
    peers = {name: f"{os.environ[variable]} {HERE}/peers/{name}_peer.py"
             for name, variable in PYTHONS.items() if name != "tensorflow" and variable in os.environ}
    return [sys.executable, HERE / "anchor/compare.py", *(f"{n}={c}" for n, c in (crochets() | peers).items()),
            "--cases", *(options.cases or protocol.CASES), "--out", out]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("race", choices=["workloads", "unseen"])
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--anchors", help="the folder of run_anchors.py")
    parser.add_argument("--peers", default=PEERS, help="regular expression, for workloads")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0.15, help="of one answer")
    parser.add_argument("--tries", type=int, default=3, help="attempts to measure without interference")
    parser.add_argument("--patience", type=float, default=0.5, help="seconds to wait for a quiet moment")
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--out", type=pathlib.Path, help="default: bench/results/<race>.json")
    options = parser.parse_intermixed_args()
    if options.race == "workloads" and not options.anchors:
        parser.error("workloads need --anchors")

    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "race.json"
        command = (workloads if options.race == "workloads" else unseen)(options, out)
        command += ["--threads", *map(str, options.threads)]
        for name in ("rounds", "seconds", "tries", "patience"):
            command += [f"--{name}", str(getattr(options, name))]
        subprocess.run(command, check=True)
        measured = json.loads(out.read_text())
    cases = measured["cases"] if isinstance(measured, dict) else measured
    again = f"python3 bench/race.py {options.race}" + (" --anchors FOLDER" if options.anchors else "")
    record = {"machine": report.machine(), "versions": versions(), "date": datetime.date.today().isoformat(),
              "commands": [f"{again} --rounds {options.rounds} --seconds {options.seconds}",
                           "python3 bench/report.py build/bench docs/benchmarks.md"], "cases": cases}
    target = options.out or report.RESULTS / f"{options.race}.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(record, indent=1) + "\n")
    print(f"recorded {len(cases)} cases in {target}")


if __name__ == "__main__":
    main()
