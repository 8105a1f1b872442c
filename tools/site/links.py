# SPDX-License-Identifier: Apache-2.0
"""Checks each relative link and anchor of the pages: python3 tools/site/links.py [ROOT].

The pages are docs/**/*.md, the README.md files of examples, and the .md files of the root. A target must exist, an
anchor must be a heading of its page, each page of docs/ must be linked from docs/README.md and stand in the navigation
of mkdocs.yml, and the navigation must name existing pages. Prints one line for each fault. Exit status 1 if there is one.
"""
import functools
import pathlib
import re
import sys

LINK = re.compile(r"(\]\()([^()\s]+)(\))")
OUTSIDE = re.compile(r"^[a-z][a-z0-9+.-]*:|^//")


def slug(heading, separator="-"):
    """The anchor of a heading: lower case, without punctuation, a separator for each blank, as git hosts make it."""
    text = re.sub(r"`|\*\*|\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r" ", separator, re.sub(r"[^\w\- ]", "", text))


def split_code(text):
    """The parts of a page as pairs (part, whether it is code): fenced blocks, indented blocks, code spans."""
    parts, fence, prose, blank = [], None, [], True
    for line in text.splitlines(keepends=True):
        opening = re.match(r" *(```+|~~~+)", line)
        indented = fence is None and line.startswith("    ") and blank
        if opening and fence is None:
            fence = opening[1]
            prose.append((line, True))
        elif fence is not None:
            prose.append((line, True))
            if opening and line.strip() == fence:
                fence = None
        elif indented:
            prose.append((line, True))
        else:
            prose.append((line, False))
        blank = indented or not line.strip()
    # Code spans may continue on the next line, so lines of prose are joined first.
    text_so_far = ""
    for line, is_code in prose + [("", True)]:
        if not is_code:
            text_so_far += line
            continue
        for i, part in enumerate(re.split(r"((?<!`)(`+)(?!`).*?(?<!`)\2(?!`))", text_so_far, flags=re.S)):
            if i % 3 != 2:
                parts.append((part, i % 3 == 1))
        text_so_far = ""
        parts.append((line, True))
    return parts


def rewritten(text, replace):
    """The page with each target t of a link replaced by replace(t), which returns None to keep it."""
    def one(match):
        target = replace(match[2])
        return match[0] if target is None else match[1] + target + match[3]
    return "".join(part if is_code else LINK.sub(one, part) for part, is_code in split_code(text))


def links(text):
    """The targets of all relative links of a page."""
    found = []
    rewritten(text, lambda target: found.append(target))
    return [target for target in found if not OUTSIDE.match(target)]


def anchors(text):
    """The anchors of a page: of its headings, numbered where they are equal, and of <a id="...">."""
    seen, result, fence = {}, set(re.findall(r'<a (?:id|name)="([^"]+)"', text)), None
    for line in text.splitlines():
        opening = re.match(r" *(```+|~~~+)", line)
        if opening:
            fence = opening[1] if fence is None else (None if line.strip() == fence else fence)
        heading = re.match(r"#{1,6} +(.*?)(?: +#+)?$", line) if fence is None else None
        if heading:
            name = slug(heading[1])
            seen[name] = seen.get(name, -1) + 1
            result.add(name if seen[name] == 0 else f"{name}-{seen[name]}")
    return result


def resolve(root, page, target):
    """The path below root and the anchor that a link of this page (a path below root) has; None: it leaves root."""
    path, _, anchor = target.partition("#")
    if not path:
        return page, anchor
    found = (root / page).parent / path
    try:
        return pathlib.Path(*found.resolve().relative_to(root.resolve()).parts), anchor
    except ValueError:
        return None, anchor


def pages(root):
    """All pages, as paths below root."""
    found = [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("examples/**/README.md")]
    return sorted(path.relative_to(root) for path in found)


def navigation(root):
    """The pages that mkdocs.yml names, as paths below root."""
    file = root / "mkdocs.yml"
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    return [pathlib.Path("docs", name) for name in re.findall(r"([\w./-]+\.md)\s*$", text, flags=re.M)]


def faults(root):
    """A line for each fault."""
    read = functools.lru_cache(None)(lambda path: (root / path).read_text(encoding="utf-8"))
    result, everything = [], pages(root)
    for page in everything:
        for target in links(read(page)):
            path, anchor = resolve(root, page, target)
            if path is None or not (root / path).exists():
                result.append(f"{page}: {target}: there is no such file")
            elif anchor and path.suffix == ".md" and anchor not in anchors(read(path)):
                result.append(f"{page}: {target}: {path} has no such heading")
    start, named = pathlib.Path("docs/README.md"), navigation(root)
    linked = {resolve(root, start, target)[0] for target in links(read(start))} if (root / start).exists() else set()
    for page in everything:
        if page.parts[0] == "docs" and page != start and page not in linked:
            result.append(f"{page}: docs/README.md has no link to it")
        if page.parts[0] == "docs" and page not in named:
            result.append(f"{page}: the navigation of mkdocs.yml does not have it")
    result += [f"mkdocs.yml: {page}: there is no such file" for page in named if not (root / page).exists()]
    return result


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    found, everything = faults(root), pages(root)
    for line in found:
        print(line)
    print(f"{len(everything)} pages, {len(found)} faults")
    return 1 if found or not everything else 0


if __name__ == "__main__":
    sys.exit(main())
