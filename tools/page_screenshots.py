"""Takes the screenshots of the page for the docs: docs/assets/serve-*.png.

Serve models under these names first, then run it with Chromium and Playwright installed (`make browser`):

    gonie serve ner=runs/ner demo=runs/demo korean=runs/ner-ko intents=runs/intents &
    python tools/page_screenshots.py http://127.0.0.1:8000
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

ASSETS = Path(__file__).resolve().parents[1] / "docs" / "assets"
MOST_BYTES = 200_000


def explain_piece(page: Any) -> None:
    """Ask why Samsung is not tagged as an organisation."""
    page.fill("#panel-why input", "Samsung")
    page.select_option("#panel-why select", "ORG")
    page.click("#panel-why button")
    page.wait_for_selector("#panel-why .heat")


def open_tab(name: str) -> Callable[[Any], None]:
    """Return a function that shows a tab and waits for it."""

    def show(page: Any) -> None:
        page.click(f"#tab-{name}")
        page.wait_for_selector(f"#panel-{name}[aria-busy=false]")

    return show


def wait_for_maps(page: Any) -> None:
    """Wait for the heat maps of a classifier."""
    page.wait_for_selector(".map .heat")


SHOTS: dict[str, tuple[dict[str, str], dict[str, Any], tuple[int, int], Callable[[Any], None]]] = {
    "serve-why": ({"model": "ner"}, {}, (1280, 860), explain_piece),
    "serve-compare": ({"model": "ner", "compare": "demo"}, {}, (1280, 760), lambda page: None),
    "serve-dial": (
        {"model": "ner", "bias": "ORG=2.5"},
        {"color_scheme": "dark"},
        (1280, 860),
        open_tab("dial"),
    ),
    "serve-classifier": ({"model": "intents"}, {}, (1280, 980), wait_for_maps),
    "serve-korean": (
        {"model": "korean"},
        {"locale": "ko-KR", "device_scale_factor": 2},
        (390, 844),
        open_tab("tokens"),
    ),
}
"""Each picture: the state of the page, the browser's settings, the size, and what to do first."""


def main(address: str) -> None:
    """Take all pictures."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for name, (state, settings, (width, height), prepare) in SHOTS.items():
            page = browser.new_page(viewport={"width": width, "height": height}, **settings)
            page.goto(f"{address}/#{urlencode(state)}")
            page.wait_for_selector("#left :is(mark, .bars)")
            prepare(page)
            page.wait_for_timeout(300)
            picture = page.screenshot()
            if len(picture) > MOST_BYTES:
                sys.exit(f"{name}.png has {len(picture):,} bytes, more than {MOST_BYTES:,}")
            (ASSETS / f"{name}.png").write_bytes(picture)
            print(f"docs/assets/{name}.png: {len(picture):,} bytes")
            page.close()
        browser.close()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python tools/page_screenshots.py http://127.0.0.1:8000")
    main(sys.argv[1])
