# SPDX-License-Identifier: Apache-2.0
"""check_blocks.py: each kind of fault is found, and nothing else is."""
import pathlib
import tempfile
import unittest
from unittest import mock

import check_blocks


class Blocks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("README.md", "# Start\n\n```cpp\n#include <a.hpp>\n\nint a = 1;  // one\n```\n")
        self.write("docs/page.md", "```cmake\nproject(x)\n```\n")
        self.write("tests/page_test.cpp", "#include <a.hpp>\n#include <vector>\nvoid test() {\n  int a =\n    1;\n}\n")
        patch = mock.patch.dict(check_blocks.OTHERS, clear=True)
        patch.start()
        self.addCleanup(patch.stop)

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text, encoding="utf-8")

    def check(self, *expected):
        self.assertEqual(check_blocks.faults(self.root), list(expected))

    def test_nothing_is_wrong(self):
        self.check()

    def test_a_block_that_no_file_has(self):
        self.write("docs/page.md", "text\n\n```cpp\nint a = 2;\n```\n")
        self.check("docs/page.md:4: no test or example has this block")

    def test_lines_of_a_block_that_are_apart(self):
        self.write("tests/page_test.cpp", "#include <a.hpp>\nint a\n;int b;\n= 1;\n")
        self.check("README.md:4: no test or example has this block")

    def test_a_missing_include(self):
        self.write("tests/page_test.cpp", "int a = 1;\n")
        self.check("README.md:4: the file with this block lacks #include <a.hpp>")

    def test_a_case_of_compile_fail_does_not_count(self):
        (self.root / "tests/page_test.cpp").unlink()
        self.write("tests/compile_fail/page.cpp", "#include <a.hpp>\nint a = 1;\n")
        self.check("README.md:4: no test or example has this block")

    def test_a_file_for_nvcc_counts(self):
        self.write("docs/page.md", "```cpp\n__device__ int b;\n```\n")
        self.write("tests/page.cu", "__device__ int b;\n")
        self.check()

    def test_an_exception_that_no_page_has(self):
        check_blocks.OTHERS[("README.md", "int b;")] = "nothing"
        self.check("README.md: no block begins with int b;")


if __name__ == "__main__":
    unittest.main()
