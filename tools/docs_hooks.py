"""Hooks of the documentation site (mkdocs.yml): notebooks, and files of the repository that pages link to.

A link such as ``../../src/gonie/nn/crf/layer.py`` works on GitHub but leaves the docs folder. The site gets a
page for each such file under ``files/``: Markdown unchanged, source files as code blocks, folders as lists.
A notebook becomes a page of its Markdown, code and stored outputs. A test executes it; the site does not.
"""

from __future__ import annotations

import ast
import base64
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
DOCS = PurePosixPath("docs")
FILES = PurePosixPath("files")  # where the site has pages of files outside docs/
LANGUAGES = {".py": "python", ".toml": "toml", ".sh": "sh", ".txt": "text", ".md": "md"}
FOLDER = "folder.md"  # the page that lists a folder
NO_SEARCH = "---\nsearch:\n  exclude: true\n---\n\n"  # source code would hide the pages in search results
FENCE = re.compile(r"^(```|~~~).*?^\1[ \t]*$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(?<=\]\()(?P<path>[^)#\s:]+)(?P<anchor>#[^)\s]*)?(?=\))")
HIDDEN = re.compile(r"^<!-- (run|read|texts).*-->\n", re.MULTILINE)  # what a test does with the next block
ANSI = re.compile(r"\x1b\[[0-9;]*m")


# --- files of the repository -----------------------------------------------------------------------------


def site_page(path: PurePosixPath) -> PurePosixPath:
    """Return the page of the site, relative to docs/, for a file or folder of the repository."""
    if path.is_relative_to(DOCS):
        inside = path.relative_to(DOCS)
        return inside.with_suffix(".md") if inside.suffix == ".ipynb" else inside
    if (ROOT / path).is_dir():
        return FILES / path / FOLDER
    return FILES / path if path.suffix == ".md" else FILES / f"{path}.md"


def source_path(page: PurePosixPath) -> PurePosixPath:
    """Return the file of the repository that a page was made from: the inverse of ``site_page``."""
    if not page.is_relative_to(FILES):
        return DOCS / page
    inside = page.relative_to(FILES)
    if (ROOT / inside).exists():
        return inside
    return inside.parent if inside.name == FOLDER else inside.with_suffix("")


def replace_links(markdown: str, change: Callable[[PurePosixPath, str], str]) -> str:
    """Replace the links to files, outside of code blocks. ``change`` gets a path and an anchor."""

    def replaced(match: re.Match[str]) -> str:
        return change(PurePosixPath(match["path"]), match["anchor"] or "")

    parts, end = [], 0
    for fence in FENCE.finditer(markdown):
        parts += [LINK.sub(replaced, markdown[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, LINK.sub(replaced, markdown[end:])])


def target(origin: PurePosixPath, link: PurePosixPath) -> PurePosixPath:
    """Return the path in the repository that a link in the file ``origin`` names."""
    return PurePosixPath(os.path.normpath(origin.parent / link))


def outside_links(origin: PurePosixPath, markdown: str) -> list[PurePosixPath]:
    """Return the existing files and folders outside docs/ that a page links to."""
    found: list[PurePosixPath] = []

    def note(link: PurePosixPath, anchor: str) -> str:
        path = target(origin, link)
        if not path.is_relative_to(DOCS) and ".." not in path.parts and (ROOT / path).exists():
            found.append(path)
        return f"{link}{anchor}"

    replace_links(markdown, note)
    return found


def page_of_file(path: PurePosixPath) -> str:
    """Return the Markdown of the page for a file or folder outside docs/."""
    full = ROOT / path
    if full.is_dir():
        listed = "".join(f"* {title(entry)}\n" for entry in sorted(full.iterdir()) if entry.suffix == ".py")
        return f"{NO_SEARCH}# `{path}/`\n\n{listed}"
    text = full.read_text("utf-8")
    if path.suffix == ".md":
        return text
    return f"{NO_SEARCH}# `{path}`\n\n````{LANGUAGES.get(path.suffix, 'text')}\n{text.rstrip()}\n````\n"


def title(module: Path) -> str:
    """Return the name of a module and the first line of its docstring."""
    docstring = ast.get_docstring(ast.parse(module.read_text("utf-8"))) or ""
    return f"`{module.name}`: {docstring.partition(chr(10))[0]}" if docstring else f"`{module.name}`"


# --- notebooks -------------------------------------------------------------------------------------------


def notebook_page(notebook: dict[str, Any], name: str) -> str:
    """Return a notebook as Markdown: its text, its code, and the outputs stored in it."""
    cells = ["".join(cell_page(cell)) for cell in notebook["cells"]]
    head, *rest = cells
    note = f"This page is a notebook: [download it]({name}) and run it with Jupyter.\n"
    return "\n\n".join([head, note, *rest]) + "\n"


def cell_page(cell: dict[str, Any]) -> Iterator[str]:
    """Yield the Markdown of one cell."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
        return
    language = "console" if source.startswith("!") else "python"
    code = "\n".join(f"$ {line[1:]}" if line.startswith("!") else line for line in source.split("\n"))
    yield f"```{language}\n{code if language == 'console' else source}\n```\n"
    for output in cell["outputs"]:
        yield output_page(output)


def output_page(output: dict[str, Any]) -> str:
    """Return one output: printed text, a picture, or a table of HTML."""
    if output["output_type"] == "stream":
        return text_block("".join(output["text"]))
    data = output.get("data", {})
    if "image/png" in data:
        encoded = "".join(data["image/png"]).replace("\n", "")
        base64.b64decode(encoded, validate=True)
        return f"\n![output](data:image/png;base64,{encoded})\n"
    if "text/html" in data:
        html = "".join(line for line in "".join(data["text/html"]).splitlines(keepends=True) if line.strip())
        return f'\n<div class="gonie-output">\n{html}\n</div>\n'
    return text_block("".join(data.get("text/plain", "")))


def text_block(text: str) -> str:
    """Return printed text as a code block."""
    return f"\n```text\n{ANSI.sub('', text).rstrip()}\n```\n"


# --- the hooks -------------------------------------------------------------------------------------------


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of notebooks, and of every file that a page links to."""
    waiting: list[PurePosixPath] = []
    for file in [*files]:
        path = PurePosixPath(file.src_uri)
        if path.suffix == ".ipynb":
            content = notebook_page(json.loads(file.content_string), path.name)
            files.append(File.generated(config, str(path.with_suffix(".md")), content=content))
            waiting += outside_links(DOCS / path, content)
        elif path.suffix == ".md":
            waiting += outside_links(DOCS / path, file.content_string)
    seen: set[PurePosixPath] = set()
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            content = page_of_file(path)
            files.append(File.generated(config, str(site_page(path)), content=content))
            waiting += outside_links(path, content)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links at pages of the site, and hide the comments that tests read."""
    here = PurePosixPath(page.file.src_uri)
    origin = source_path(here)

    def change(link: PurePosixPath, anchor: str) -> str:
        path = target(origin, link)
        if path == origin.with_suffix(".ipynb"):  # the notebook of this page, to download
            return str(link)
        return f"{os.path.relpath(site_page(path), here.parent)}{anchor}"

    return replace_links(HIDDEN.sub("", markdown), change)
