"""Visits of the service's page in a browser, which collect everything that must not happen."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest

AXE = """
async () => {
  const found = await axe.run(document, {resultTypes: ['violations']})
  return found.violations.map(v => `${v.id}: ${v.nodes.slice(0, 3).map(n => n.html).join(' | ')}`)
}
"""


class Visit:
    """A visit of the page, which collects everything that must not happen."""

    def __init__(self, page: Any, address: str) -> None:
        self.page = page
        self.address = address
        self.wrong: list[str] = []
        page.on("console", self._log)
        page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        page.on("request", self._request)
        page.on("dialog", lambda dialog: (self.wrong.append("a dialog"), dialog.dismiss()))
        self.asked: list[str] = []
        self.expected = ""

    def _log(self, message: Any) -> None:
        known = self.expected and re.search(self.expected, message.text)
        if message.type in {"error", "warning"} and not known:
            self.wrong.append(f"{message.type}: {message.text}")

    def _request(self, request: Any) -> None:
        self.asked.append(request.url)
        if not request.url.startswith((self.address, "data:")):
            self.wrong.append(f"request to {request.url}")

    def open(self, **state: str) -> Visit:
        fragment = urlencode(state, quote_via=quote)
        self.page.goto("about:blank")
        self.page.goto(f"{self.address}/#{fragment}")
        self.page.wait_for_selector("#models tr")
        return self

    def type(self, text: str, place: str = "#text-0") -> None:
        """Replace the text and wait for its result."""
        self.page.fill(place, text)
        self.settle()

    def settle(self) -> None:
        """Wait until the page shows the result of what is typed, and no request is on its way."""
        self.page.wait_for_timeout(50)
        self.until("!document.querySelector('[aria-busy=true]')", 60)
        self.page.wait_for_timeout(50)
        self.until("!document.querySelector('[aria-busy=true]')", 60)

    def until(self, expression: str, seconds: float = 60) -> None:
        """Wait until an expression is true. Playwright's own waiting is against the policy of the page."""
        self.until_here(lambda: self.page.evaluate(expression), seconds, told=expression)

    def until_here(self, condition: Callable[[], Any], seconds: float = 60, *, told: str = "") -> None:
        """Wait until a function of the test returns a true value."""
        for _ in range(int(seconds * 20)):
            if condition():
                return
            self.page.wait_for_timeout(50)
        pytest.fail(f"not within {seconds} seconds: {told or condition}")

    def copied(self, button: Any) -> str:
        """Click a button that copies something, and return what it has copied."""
        self.page.evaluate("navigator.clipboard.writeText('')")
        button.click()
        self.until("navigator.clipboard.readText()")
        return str(self.page.evaluate("navigator.clipboard.readText()"))

    def tab(self, name: str) -> Any:
        self.page.click(f"#tab-{name}")
        self.settle()
        return self.page.locator(f"#panel-{name}")

    def text(self, selector: str) -> str:
        return str(self.page.inner_text(selector))

    def marks(self, selector: str = "#left") -> list[tuple[str, str]]:
        """Return the marked texts with their notes."""
        found = self.page.eval_on_selector_all(
            f"{selector} mark", "all => all.map(m => [m.textContent, m.dataset.note])"
        )
        return [tuple(each) for each in found]

    def types(self, selector: str = "#left") -> list[tuple[str, str]]:
        return [(text, note.split()[0]) for text, note in self.marks(selector)]


def check_accessibility(seen: Visit) -> None:
    axe = pytest.importorskip("axe_core_python", reason="axe-core-python is not installed")
    # The policy forbids inline scripts, also this one, so it is evaluated by the browser's own tools.
    seen.page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text("utf-8"))
    assert seen.page.evaluate(AXE) == []
