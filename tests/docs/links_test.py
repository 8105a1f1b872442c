# SPDX-License-Identifier: Apache-2.0
"""tools/site/links.py: each kind of fault is found, and nothing else is."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "site"))
import links  # noqa: E402


class Links(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("mkdocs.yml", "nav:\n  - Start:\n      - README.md\n      - A page: page.md\n")
        self.write("docs/README.md", "# Start\n[a page](page.md#two-words)\n")
        self.write("docs/page.md", "# Page\n## Two words\n[code](../src/a.hpp) [here](#page)\n")
        self.write("src/a.hpp", "int a;\n")

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text, encoding="utf-8")

    def check(self, *expected):
        self.assertEqual(links.faults(self.root), list(expected))

    def test_nothing_is_wrong(self):
        self.check()

    def test_a_missing_file(self):
        self.write("docs/page.md", "## Two words\n[`code`](../src/b.hpp)\n")
        self.check("docs/page.md: ../src/b.hpp: there is no such file")

    def test_a_missing_heading(self):
        self.write("docs/README.md", "[a page](page.md#one-word)\n")
        self.check("docs/README.md: page.md#one-word: docs/page.md has no such heading")

    def test_a_missing_heading_of_the_same_page(self):
        self.write("docs/page.md", "## Two words\n[here](#page)\n```\n# Page\n```\n")
        self.check("docs/page.md: #page: docs/page.md has no such heading")

    def test_a_target_outside_of_the_repository(self):
        self.write("docs/page.md", "## Two words\n[out](../../a.hpp)\n")
        self.check("docs/page.md: ../../a.hpp: there is no such file")

    def test_a_page_that_nothing_names(self):
        self.write("docs/other.md", "# Other\n")
        self.check("docs/other.md: docs/README.md has no link to it",
                   "docs/other.md: the navigation of mkdocs.yml does not have it")

    def test_a_navigation_without_its_page(self):
        self.write("mkdocs.yml", "nav:\n  - README.md\n  - A page: page.md\n  - Old: old.md\n")
        self.check("mkdocs.yml: docs/old.md: there is no such file")

    def test_code_is_no_link(self):
        code = "## Two words\n`a[0](b)` ``[x](`y)``\n\n    run[1](z)\n\n```cpp\nf = [](auto&) {};\n```\n"
        self.write("docs/page.md", code + "a code span over `two\nlines [x](y)`\n")
        self.check()

    def test_addresses_are_not_followed(self):
        self.write("docs/page.md", "## Two words\n[out](https://example.org/x) [mail](mailto:a@example.org)\n")
        self.check()

    def test_anchors_are_those_of_git_hosts(self):
        self.assertEqual(links.anchors("# A `Code` & more: x_y\n## [Text](a.md)\n## Text\n"),
                         {"a-code--more-x_y", "text", "text-1"})

    def test_links_are_rewritten_outside_of_code_only(self):
        self.assertEqual(links.rewritten("[a](b) `[a](b)` [`c`](d#e)", lambda target: target.upper()),
                         "[a](B) `[a](b)` [`c`](D#E)")


if __name__ == "__main__":
    unittest.main()
