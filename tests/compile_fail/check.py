#!/usr/bin/env python3
"""check.py --compiler PROGRAM --options FILE --header FILE --root DIR [--twin] CASE
check.py --compiler PROGRAM --options FILE --header FILE --root DIR --batch FILE CASE...

Each case must be rejected by the compiler as it states (cases.py). --header is a precompiled header.

--twin: with CROCHET_FIXED defined the same file must compile, so the difference is the only cause of the error.

--batch: a file that includes all these cases, each in a namespace of its own. The compiler reads it once, in place of all
cases, in a sixth of the time. A case that does not pass so is compiled alone, and only that decides: an error that two
cases cause in one template is reported for the first of them only, and a namespace makes names longer."""
import argparse
import functools
import pathlib
import subprocess
import sys

import cases

# Limits are those of g++ 12 and clang 14. Newer ones repeat the line of source with its number at each place that they
# name, and g++ the values of more arguments.
LONGER = 1.5
# A compiler states how headers include each other once, and the source of an assertion; alone a case gets them all.
STATED_ONCE = 350


@functools.cache
def length_factor(compiler):
    version = subprocess.run([compiler, "-dumpversion"], capture_output=True, text=True, check=True).stdout
    known = 14 if "clang" in compiler.name else 12
    return LONGER if int(version.split(".")[0]) > known else 1


def expectations(args, case):
    """What the case states, for this compiler."""
    return cases.scaled(cases.expectations(case.read_text()), length_factor(args.compiler))


def compile_text(args, file, *options):
    """Whether the compiler rejects the file, and its text, which must not depend on the path of the project."""
    more = ["-ferror-limit=0"] if "clang" in args.compiler.name else []
    words = [args.compiler, f"@{args.options}", *more, *options, "-fsyntax-only", "-include", args.header, file]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text = done.stdout.decode(errors="replace").replace(f"{args.root}/", "")
    return done.returncode != 0, cases.OURS.sub("", text)


def alone(args, case):
    """Why this case fails, or None."""
    expected = expectations(args, case)
    options = [] if "clang" in args.compiler.name else expected.gnu_options
    if not expected.patterns:
        return "there is no line `// expect-error: REGEX`, or one without REGEX"
    rejected, text = compile_text(args, case, *options)
    if not rejected:
        return "this must not compile, but does"
    reason = cases.complaint(text, expected)
    if reason is None and args.twin:
        rejected, text = compile_text(args, case, *options, "-DCROCHET_FIXED")
        if rejected:
            return f"the corrected program (CROCHET_FIXED) must compile, but:\n{text}"
    return reason


def passed_together(args):
    """The cases that a compilation of the whole batch shows as they should be."""
    rejected, text = compile_text(args, args.batch)
    names = {str(case.relative_to(args.root)): case for case in args.cases}
    texts = cases.texts_by_case(text, list(names)) if rejected else None
    for name, case in names.items() if texts else []:
        expected = expectations(args, case)
        if expected.patterns and cases.complaint(texts[name], expected, STATED_ONCE) is None:
            yield case


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("compiler", "options", "header", "root"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--twin", action="store_true")
    parser.add_argument("--batch", type=pathlib.Path)
    parser.add_argument("cases", type=pathlib.Path, nargs="+")
    args = parser.parse_args()
    together = set(passed_together(args)) if args.batch else set()
    failed = 0
    for case in args.cases:
        reason = None if case in together else alone(args, case)
        failed += reason is not None
        print(f"{case.relative_to(args.root)}: {'passed' if case in together else reason or 'passed alone'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
