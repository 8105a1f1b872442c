# SPDX-License-Identifier: Apache-2.0
"""Checks the pages that compare: python3 check_names.py ROOT.

Each name in the columns `crochet` of docs/coming-from.md occurs in the headers, and each row of figures in docs/why.md is
a row of docs/benchmarks.md. Prints one line for each fault. Exit status 1 if there is one.
"""
import pathlib
import re
import sys

# Names of the user's program in the examples of the tables.
OWN = {"Model", "auto", "batch", "constexpr", "coordinates", "g", "loss", "metrics", "options", "price", "saver", "static",
       "step", "training", "true", "validation", "value", "why", "x"}


def names_of(cell):
    """The identifiers in the code spans of a cell, without string literals."""
    code = " ".join(re.findall(r"`([^`]+)`", cell))
    return set(re.findall(r"[A-Za-z_]\w*", re.sub(r'"[^"]*"(_n)?', "", code))) - OWN


def crochet_names(page):
    """The names in the last column of each table whose last heading is `crochet`."""
    names, inside = set(), False
    for line in page.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not cells:
            inside = False
        elif cells[-1] == "crochet":
            inside = True
        elif inside:
            names |= names_of(cells[-1])
    return names


def figures(page):
    """The rows of tables with numbers: those below a line with right-aligned columns."""
    rows, inside = [], False
    for line in page.splitlines():
        if re.match(r"\|[ :|-]*---:[ :|-]*$", line):
            inside = True
        elif inside and line.startswith("|"):
            rows.append(line)
        else:
            inside = False
    return rows


def main():
    root = pathlib.Path(sys.argv[1])
    page = (root / "docs/coming-from.md").read_text(encoding="utf-8")
    headers = "\n".join(file.read_text(encoding="utf-8") for file in (root / "include").rglob("*.hpp"))
    words = set(re.findall(r"[A-Za-z_]\w*", headers))
    names = crochet_names(page)
    faults = [f"docs/coming-from.md: no header has {name}" for name in sorted(names - words)]
    rows = figures((root / "docs/why.md").read_text(encoding="utf-8"))
    measured = (root / "docs/benchmarks.md").read_text(encoding="utf-8").splitlines()
    faults += [f"docs/why.md: docs/benchmarks.md has no row {row}" for row in rows if row not in measured]
    for fault in faults:
        print(fault)
    print(f"{len(names)} names, {len(rows)} rows, {len(faults)} faults")
    return 1 if faults or len(names) < 50 or len(rows) < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
