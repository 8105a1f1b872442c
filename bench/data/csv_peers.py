#!/usr/bin/env python3
"""Milliseconds of read_csv() and of the readers of other libraries, on one thread, for a table of 100,000 x 10 cells:
of numbers, and with a column of texts.

    pip install pandas pyarrow polars duckdb numpy
    python3 bench/data/csv_peers.py build/release/bench/programs/data
"""
import json
import os
import random
import subprocess
import sys
import tempfile
import time

os.environ["POLARS_MAX_THREADS"] = "1"  # read at import

import duckdb
import numpy
import pandas
import polars
import pyarrow
from pyarrow import csv

ROUNDS = 15


def number():
    return f"{random.randrange(1000)}.{random.randrange(100, 1000)}"


def write_table(path, texts):
    """A table of the form of data/csv/numbers, or of data/csv/texts."""
    random.seed(1)
    with open(path, "w", encoding="utf-8") as out:
        out.write("a,b,c,d,e,f,g,h,i,j\n")
        for _ in range(100_000):
            last = random.choice(["red", "green", "blue", "yellow"]) if texts else number()
            out.write(",".join([*(number() for _ in range(9)), last]) + "\n")


def crochet_milliseconds(program, texts):
    """One round of the benchmark, which writes its own table of the same form."""
    arguments = [f"--benchmark_filter=^data/csv/{'texts' if texts else 'numbers'}", "--benchmark_min_time=0.1", "--benchmark_format=json"]
    found = json.loads(subprocess.run([program, *arguments], check=True, capture_output=True).stdout)
    return found["benchmarks"][0]["real_time"] / 1e6


def readers(path, texts):
    pyarrow.set_cpu_count(1)
    database = duckdb.connect()
    database.execute("set threads=1")

    def plain():
        with open(path, "rb") as file:
            return file.read()

    found = {
        "plain read": plain,
        "pandas": lambda: pandas.read_csv(path),
        "pyarrow": lambda: csv.read_csv(path, read_options=csv.ReadOptions(use_threads=False)),
        "polars": lambda: polars.read_csv(path),
        "duckdb": lambda: database.execute(f"select * from read_csv('{path}')").fetchnumpy(),
    }
    if not texts:
        found["numpy.loadtxt"] = lambda: numpy.loadtxt(path, delimiter=",", skiprows=1)
    return found


def milliseconds(run):
    begin = time.perf_counter()
    run()
    return (time.perf_counter() - begin) * 1e3


def compare(program, path, texts):
    write_table(path, texts)
    runs = readers(path, texts)
    times = {"crochet": [], **{name: [] for name in runs}}
    for _ in range(ROUNDS):  # in turn, so that a slow minute of the machine is in all of them
        times["crochet"].append(crochet_milliseconds(program, texts))
        for name, run in runs.items():
            times[name].append(milliseconds(run))
    print(f"{'with texts' if texts else 'numbers':14} {'least':>7} {'median':>7}")
    for name, found in sorted(times.items(), key=lambda item: min(item[1])):
        print(f"{name:14} {min(found):7.1f} {sorted(found)[ROUNDS // 2]:7.1f}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for texts in (False, True):
            compare(sys.argv[1], os.path.join(folder, "table.csv"), texts)


if __name__ == "__main__":
    main()
