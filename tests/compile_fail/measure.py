#!/usr/bin/env python3
"""Measures the compile errors of the cases in this folder: how many errors, and how many bytes of text.

    python3 tests/compile_fail/measure.py                               # all cases, this checkout
    python3 tests/compile_fail/measure.py program hooks/private_member  # cases by prefix of the path
    python3 tests/compile_fail/measure.py --root ../older-checkout      # the same cases, another checkout's headers

A line for each case: for g++ and for clang++ the errors / bytes, the offset of the first `expect-error` in the text (if
found), and whether the case passes: one error, within its limit, with every expected text. A case that compiles has 0
errors. No precompiled header is used. Paths of the checkout are removed from the text, as in check.cmake."""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ERROR = re.compile(r": (?:fatal )?error: ")


def expectations(source):
    limit = re.search(r"// at-most-bytes: (\d+)", source)
    return re.findall(r"// expect-error: ([^\n]+)", source), int(limit.group(1)) if limit else 2500


def compile_text(compiler, root, links, case, timeout):
    folders = [f"-I{folder}" for folder in (root / "include", root / "kernels", links)]
    words = [compiler, "-std=c++20", "-fno-diagnostics-color", *folders, "-include", "crochet/crochet.hpp",
             "-fsyntax-only", str(case)]
    try:
        done = subprocess.run(words, capture_output=True, timeout=timeout, env=dict(os.environ, LC_ALL="C"))
    except subprocess.TimeoutExpired:
        return None
    text = (done.stdout + done.stderr).decode(errors="replace")
    return text.replace(f"{root}/", "").replace(f"{HERE.parent.parent}/", "")


def measure(compiler, root, links, case, timeout):
    """The cell of the table for one case and compiler, and whether the case passes."""
    text = compile_text(compiler, root, links, case, timeout)
    if text is None:
        return "timeout", False
    expected, limit = expectations(case.read_text())
    errors = len(ERROR.findall(text))
    size = len(text.encode())
    first = re.search(expected[0], text) if expected else None
    good = errors == 1 and size <= limit and bool(expected) and all(re.search(e, text) for e in expected)
    return f"{errors} / {size} @{first.start() if first else '-'}", good


def selected(prefixes):
    for case in sorted(HERE.rglob("*.cpp")):
        name = case.relative_to(HERE).with_suffix("").as_posix()
        if name.startswith("harness/"):
            continue
        if not prefixes or any(name.startswith(p) for p in prefixes):
            yield name, case


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefixes", nargs="*")
    parser.add_argument("--root", type=pathlib.Path, default=HERE.parent.parent)
    parser.add_argument("--compilers", nargs="+", default=["g++", "clang++"])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=float, default=120)
    args = parser.parse_args()
    root = args.root.resolve()
    good = total = 0
    with tempfile.TemporaryDirectory() as links, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        if not (root / "kernels" / "crochet").exists():  # checkouts from before kernels/ was an include root
            os.makedirs(os.path.join(links, "crochet"))
            os.symlink(root / "kernels", os.path.join(links, "crochet", "kernels"))
        rows = [(name, [pool.submit(measure, c, root, links, case, args.timeout) for c in args.compilers])
                for name, case in selected(args.prefixes)]
        print(f"{'case':56}" + "".join(f"{c:>24}" for c in args.compilers))
        for name, cells in rows:
            results = [cell.result() for cell in cells]
            total += len(results)
            good += sum(ok for _, ok in results)
            print(f"{name:56}" + "".join(f"{text:>20} {'ok ' if ok else 'BAD'}" for text, ok in results), flush=True)
    print(f"{good} of {total} as they should be")


if __name__ == "__main__":
    main()
