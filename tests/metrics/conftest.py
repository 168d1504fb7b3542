"""What tests of several reports share: reading a page as a browser would."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser

import pytest

VOID = {"meta"}


class Page(HTMLParser):
    """Checks that every element is closed where it should be, and keeps what was opened."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def runs_and_loads_nothing(self) -> bool:
        """Has it neither a script nor anything that would fetch or send?"""
        active = {"script", "img", "link", "iframe", "object", "a", "base", "form", "image", "use"}
        reaching = {"src", "href", "srcset", "action"}
        return not any(
            tag in active or any(name in reaching or name.startswith("on") for name in attributes)
            for tag, attributes in self.tags
        )


@pytest.fixture(scope="session")
def parse() -> Callable[[str], Page]:
    """The elements and the text of a page that is well formed."""

    def read(page: str) -> Page:
        parser = Page()
        parser.feed(page)
        parser.close()
        assert parser.open == []
        return parser

    return read
