# SPDX-License-Identifier: Apache-2.0
"""python3 tests/cuda/operations.py AGREEMENT.csv > docs/cuda-operations.md

The operations that the CUDA executor has: the file of the kernel, the tests that run it on the device in software, and
the largest error. AGREEMENT.csv is what tests/executor/agreement.hpp writes:

    CROCHET_AGREEMENT=agreement.csv build/test/tests/executor/executor_on_software_device
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNELS = ROOT / "kernels/crochet/kernels/cuda"
WITHOUT_CODE = {"placeholder", "variable", "constant", "identity", "reshape", "group", "stop_gradient", "assign",
                "checkpoint", "recompute_from"}
HEAD = """# Operations on a GPU

Every operation of the library has a kernel for the GPU, or is an instruction of the programs that are fused into loops
and kernels ([`program.hpp`](../kernels/crochet/kernels/program.hpp)). The tests run their models on a device in
software, in three orders of its threads and on one to three blocks, and compare every value with a plain computation
in double.

The error is the largest difference of a value of a model that contains the operation, divided by the largest element of
that value. So it is an upper bound for the operation itself. `0` is exact. `tests/cuda/operations.py` writes this page.

| operation | code | error, float | error, double | tests |
|---|---|---|---|---|
"""


def operations():
    """The names that device code has."""
    text = (KERNELS / "text/operations.h").read_text()
    return sorted(set(re.findall(r"CROCHET_OPERATION\((\w+)\)", text)) | {"batched_matmul"})


def kernel_files():
    """The file of each operation's kernel."""
    files = {}
    for path in sorted(KERNELS.glob("*.hpp")):
        for name in re.findall(r"struct Kernel<&op::(\w+)", path.read_text()):
            files[name] = path.name
    return files


def agreement(lines):
    """{operation: {element type: error}}, {operation: tests}"""
    errors, tests = collections.defaultdict(dict), collections.defaultdict(set)
    for line in lines:
        name, dtype, error, *names = line.strip().split(",")
        errors[name][dtype] = max(float(error), errors[name].get(dtype, 0.0))
        tests[name].update(names)
    return errors, tests


def shown(error):
    return "" if error is None else "0" if error == 0 else f"{error:.0e}"


def main(path):
    errors, tests = agreement(pathlib.Path(path).read_text().splitlines())
    files = kernel_files()
    rows, untested = [], []
    for name in operations():
        if name in WITHOUT_CODE:
            continue
        code = (f"[`{files[name]}`](../kernels/crochet/kernels/cuda/{files[name]})" if name in files else "program")
        if not tests[name]:
            untested.append(name)
        found = sorted(test.removesuffix("_test.cpp") for test in tests[name])
        listed = ", ".join(found[:3]) + (f" and {len(found) - 3} more" if len(found) > 3 else "")
        of = errors[name]
        others = [of[t] for t in of if t not in ("float32", "float64")]
        exact = max(others) if others and not {"float32", "float64"} & set(of) else None
        rows.append(f"| {name} | {code} | {shown(of.get('float32', exact))} | {shown(of.get('float64'))} | {listed} |")
    sys.stdout.write(HEAD + "\n".join(rows) + "\n")
    without = ", ".join(sorted(WITHOUT_CODE - {"variable"}))
    sys.stdout.write(f"\nOperations without code of their own: {without}.\n")
    if untested:
        raise SystemExit("no test has run: " + ", ".join(untested))


if __name__ == "__main__":
    main(sys.argv[1])
