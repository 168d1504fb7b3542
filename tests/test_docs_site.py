"""Tests the documentation site: it builds without warnings, links work, and nothing external is loaded."""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[1]
LOADS = {"src", "srcset", "data", "poster", "action"}
"""Attributes with an address that a browser requests automatically, on any element."""
VISITED = ("index", "tutorials/crf", "tutorials/quick-start.ko", "reference/python", "reference/recipe")
ADDRESS = re.compile(r"(?:https?:)?//", re.IGNORECASE)
IN_STYLE = re.compile(r"(?:url\(\s*['\"]?|@import\s+['\"])\s*(?:https?:)?//", re.IGNORECASE)


class SitePage(HTMLParser):
    """Collects the anchors and links of a page, and requests to other servers."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.external: list[str] = []
        self.within: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.within = [tag]
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        loads = {name: value for name, value in given.items() if name in LOADS and tag != "a"}
        if tag in {"link", "use", "image", "base"}:
            loads |= {name: value for name, value in given.items() if name.endswith("href")}
        self.external += [f"<{tag} {name}={value}>" for name, value in loads.items() if ADDRESS.match(value)]
        self.external += [f"style {tag}" for name in ("style",) if IN_STYLE.search(given.get(name, ""))]

    def handle_data(self, data: str) -> None:
        if self.within == ["style"] and IN_STYLE.search(data):
            self.external.append(data.strip()[:80])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if importlib.util.find_spec("mkdocs") is None:
        pytest.skip("no MkDocs: pip install '.[docs]' -c constraints.txt")
    folder = tmp_path_factory.mktemp("site")
    ended = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, SitePage]:
    found = {path: SitePage(path.read_text("utf-8")) for path in site.rglob("*.html")}
    found.pop(site / "404.html")  # its links are absolute, because it is shown at any address
    return found


@pytest.mark.long
def test_every_page_of_the_docs_is_in_the_site(site: Path) -> None:
    sources = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("docs/**/*.ipynb")]
    built = [site / path.relative_to(ROOT / "docs").with_suffix(".html") for path in sources]
    assert len(built) > 20
    assert [path for path in built if not path.is_file()] == []


@pytest.mark.long
def test_links_and_anchors_of_the_site_are_valid(site: Path, pages: dict[Path, SitePage]) -> None:
    broken, number = [], 0
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                assert parts.scheme in {"http", "https"}, link
                continue
            number += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            there = target.is_relative_to(site) and target.is_file()
            if there and parts.fragment and target in pages:
                there = unquote(parts.fragment) in pages[target].anchors
            broken += [] if there else [f"{path.relative_to(site)}: {link}"]
    assert not broken, "\n".join(broken)
    assert number > 1000


@pytest.mark.long
def test_no_page_requests_anything_external(site: Path, pages: dict[Path, SitePage]) -> None:
    found = [f"{path.relative_to(site)}: {one}" for path, page in pages.items() for one in page.external]
    assert not found, "\n".join(found)
    styles = [path.name for path in site.rglob("*.css") if IN_STYLE.search(path.read_text("utf-8"))]
    assert styles == []


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://cdn.example/x.js"></script>',
        '<link rel="stylesheet" href="//fonts.example/css">',
        '<img src="http://example.org/x.png">',
        "<style>@import 'https://fonts.example/css';</style>",
        '<p style="background: url(https://example.org/x.png)">',
    ],
)
def test_external_requests_are_detected(text: str) -> None:
    assert SitePage(text).external
    assert not SitePage('<a href="https://arxiv.org/abs/1508.01991">a paper</a>').external


@pytest.fixture
def served(site: Path) -> Iterator[str]:
    """Serve the site and return its address."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.long
def test_a_browser_requests_nothing_external(browser: Any, served: str) -> None:
    """Detects requests by scripts, which the pages do not show. The search is used too."""
    context = browser.new_context()
    page = context.new_page()
    requested: list[str] = []
    failed: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    page.on("pageerror", lambda error: failed.append(str(error)))
    for name in VISITED:
        page.goto(f"{served}/{name}.html", wait_until="networkidle")
    page.click("input[name=query]")
    page.keyboard.type("viterbi", delay=20)
    page.wait_for_selector(".md-search-result__item")
    context.close()
    assert failed == []
    assert [url for url in requested if not url.startswith((served, "data:", "blob:"))] == []
