# SPDX-License-Identifier: Apache-2.0
"""Checks that each C++ block of the pages is compiled: python3 check_blocks.py ROOT.

A source file of tests/ or examples/ has the text of each ```cpp block of README.md and docs/, apart from blanks and
comments, and the #include lines of that block. Cases of tests/compile_fail do not count. Prints one line for each block
that no file has. Exit status 1 if there is one.
"""
import pathlib
import re
import sys

# Blocks that are no part of a program, by their page and first line: what compares them instead.
OTHERS = {("docs/deploying.md", "struct Digits {"): "tests/docs/deploying_test.cpp: the header that is written has it"}


def squeezed(text):
    """Without comments, #include lines, blanks and line ends."""
    return re.sub(r"//[^\n]*|^#include[^\n]*|\s+", "", text, flags=re.MULTILINE)


def includes(text):
    return set(re.findall(r"^#include [<\"][^>\"]+[>\"]", text, flags=re.MULTILINE))


def blocks_of(page):
    """The C++ blocks of a page, each as the number of its first line and its text."""
    for block in re.finditer(r"^```cpp\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL):
        yield page.count("\n", 0, block.start()) + 2, block.group(1)


def compiled_files(root):
    """Of each file its code, squeezed, and its #include lines."""
    for folder in ("tests", "examples"):
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in (".cpp", ".hpp", ".cu") and "compile_fail" not in file.parts:
                text = file.read_text(encoding="utf-8")
                yield squeezed(text), includes(text)


def faults(root):
    files = list(compiled_files(root))
    pages = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    found, others = [], set()
    for page in pages:
        name = page.relative_to(root).as_posix()
        for line, text in blocks_of(page.read_text(encoding="utf-8")):
            if (name, text.split("\n")[0]) in OTHERS:
                others.add((name, text.split("\n")[0]))
                continue
            having = [lines for code, lines in files if squeezed(text) in code]
            if not having:
                found.append(f"{name}:{line}: no test or example has this block")
            elif not any(includes(text) <= lines for lines in having):
                missing = min((includes(text) - lines for lines in having), key=len)
                found.append(f"{name}:{line}: the file with this block lacks {', '.join(sorted(missing))}")
    found += [f"{page}: no block begins with {line}" for page, line in OTHERS if (page, line) not in others]
    return found


def main():
    found = faults(pathlib.Path(sys.argv[1]))
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
