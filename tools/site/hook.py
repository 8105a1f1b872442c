# SPDX-License-Identifier: Apache-2.0
"""A hook of MkDocs: the pages of docs/ as a site, with the files outside of docs/ that they link.

Pages link headers, tests and examples by relative paths, as a git host needs them. The site has a page for each such
file, with its text, and one for each such folder, with a list. Anchors are those of git hosts. The generated reference
is copied into the site if doxygen has made it.
"""
import json
import os
import pathlib
import shutil
import sys

from mkdocs.structure.files import File

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import links  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
MADE = ROOT / "build" / "site-pages"  # the generated pages
REFERENCE = ROOT / "build" / "reference" / "html"
LANGUAGES = {".hpp": "cpp", ".cpp": "cpp", ".ipp": "cpp", ".cu": "cpp", ".cuh": "cpp", ".py": "python", ".sh": "sh",
             ".txt": "cmake", ".cmake": "cmake", ".json": "json", ".proto": "protobuf"}


def place(path):
    """The page of the site, below docs/, that shows this path below the root."""
    if path.parts[:1] == ("docs",):
        return pathlib.Path(*path.parts[1:]) if path.parts[1:] else pathlib.Path("README.md")
    if (ROOT / path).is_dir():
        return pathlib.Path("source", path, "contents.md")
    return pathlib.Path("source", path if path.suffix == ".md" else path.parent / (path.name + ".md"))


def site_target(page, target):
    """The link of this page (a path below the root) as the site needs it; None: as it is."""
    if links.OUTSIDE.match(target) or target.startswith("#"):
        return None
    path, anchor = links.resolve(ROOT, page, target)
    if path is None or not (ROOT / path).exists():
        return None  # then MkDocs reports it
    relative = os.path.relpath(place(path), place(page).parent)
    return relative + ("#" + anchor if anchor else "")


def outside(page):
    """The paths outside of docs/ that this page links."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = {links.resolve(ROOT, page, target)[0] for target in links.links(text)}
    return {path for path in found if path is not None and path.parts[:1] != ("docs",) and (ROOT / path).exists()}


def fence_for(text):
    return "`" * (1 + max([2] + [len(line) - len(line.lstrip("`")) for line in text.splitlines()]))


def text_of_page(path):
    """The generated page of a file or folder."""
    if path.suffix == ".md":
        return (ROOT / path).read_text(encoding="utf-8")
    title = f"# {path.as_posix()}\n\n"
    if (ROOT / path).is_dir():
        names = sorted((ROOT / path).iterdir(), key=lambda entry: (entry.is_file(), entry.name))
        return title + "\n".join(f"- `{entry.name}{'/' if entry.is_dir() else ''}`" for entry in names
                                 if not entry.name.startswith((".", "__"))) + "\n"
    text = (ROOT / path).read_text(encoding="utf-8")
    fence = fence_for(text)
    return f"{title}{fence}{LANGUAGES.get(path.suffix, 'text')}\n{text.rstrip()}\n{fence}\n"


def on_config(config):
    config["mdx_configs"].setdefault("toc", {})["slugify"] = links.slug
    return config


def on_files(files, config):
    """Adds the pages of linked files, and removes what is in docs/ for other programs."""
    for file in list(files):
        if file.src_path == "Doxyfile":
            files.remove(file)
    shutil.rmtree(MADE, ignore_errors=True)
    waiting = set().union(*(outside(page) for page in links.pages(ROOT) if page.parts[0] == "docs"))
    done = set()
    while waiting:
        path = waiting.pop()
        done.add(path)
        if path.suffix == ".md":
            waiting |= outside(path) - done
        page = MADE / place(path)
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text_of_page(path), encoding="utf-8")
        files.append(File(place(path).as_posix(), str(MADE), config["site_dir"], config["use_directory_urls"]))
    files.append(File("site.css", str(pathlib.Path(__file__).parent), config["site_dir"], config["use_directory_urls"]))
    return files


def on_page_markdown(markdown, page, config, files):
    path = pathlib.Path(page.file.src_path)
    if path.parts[0] == "source":
        if path.name.endswith(".md") and not (ROOT / path.relative_to("source")).exists():
            return markdown  # the text of a file
        path = path.relative_to("source")
    else:
        path = "docs" / path
    markdown = links.rewritten(markdown, lambda target: site_target(path, target))
    if path.as_posix() == "docs/reference.md" and REFERENCE.exists():
        markdown += '\n<p><a href="classes/index.html">Open the generated reference</a></p>\n'
    return markdown


def on_post_build(config):
    index = pathlib.Path(config["site_dir"], "search", "search_index.json")
    found = json.loads(index.read_text(encoding="utf-8"))
    found["docs"] = [entry for entry in found["docs"] if not entry["location"].startswith("source/")]
    index.write_text(json.dumps(found), encoding="utf-8")
    if REFERENCE.exists():
        shutil.copytree(REFERENCE, pathlib.Path(config["site_dir"], "classes"), dirs_exist_ok=True)
