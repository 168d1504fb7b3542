"""The files of the page: complete texts in both languages, no markup from data, nothing from elsewhere."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import gonie

PAGE = Path(gonie.__file__).parent / "serve" / "page"
SCRIPTS = sorted(PAGE.glob("*.js"))
ROW = re.compile(r'^  "([\w.-]+)": \["((?:[^"\\]|\\.)*)", "((?:[^"\\]|\\.)*)"\],$')
FIELD = re.compile(r"\{(\w+)(?:\|[^}]*)?\}")


def read_table() -> dict[str, tuple[str, str]]:
    """Return the table of texts: key, English, Korean."""
    rows = {}
    for line in (PAGE / "texts.js").read_text("utf-8").splitlines():
        if line.startswith("  "):
            found = ROW.match(line)
            assert found, f"not a row of two texts: {line}"
            assert found[1] not in rows, f"twice: {found[1]}"
            rows[found[1]] = (found[2], found[3])
    return rows


TABLE = read_table()


@pytest.mark.parametrize("key", TABLE)
def test_both_languages_have_the_text(key: str) -> None:
    english, korean = TABLE[key]
    assert english.strip()
    assert korean.strip()
    assert set(FIELD.findall(english)) == set(FIELD.findall(korean))


def test_korean_texts_are_korean() -> None:
    same = {key for key, (english, korean) in TABLE.items() if not re.search("[가-힣]", korean) and english}
    assert same <= {
        "copy.curl",
        "copy.python",
        "copy.json",
        "diff.label.other",
        "models.unmeasured",
    }


def test_every_text_is_used_and_exists() -> None:
    code = "\n".join(file.read_text("utf-8") for file in SCRIPTS if file.name != "texts.js")
    markup = (PAGE / "index.html").read_text("utf-8")
    asked = set(re.findall(r'say\(\s*"([\w.-]+)"', code))
    asked |= set(re.findall(r'data-(?:text|label|placeholder)="([\w.-]+)"', markup))
    assert asked - TABLE.keys() == set()
    quoted = set(re.findall(r'"([a-z][\w.-]*)"', code)) | asked
    computed = tuple(re.findall(r"`([a-z]+\.)\$\{", code))
    assert {key for key in TABLE if key not in quoted and not key.startswith(computed)} == set()


def test_data_never_becomes_markup() -> None:
    for file in SCRIPTS:
        code = file.read_text("utf-8")
        unsafe = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|cssText"
        assert not re.search(unsafe, code), file.name
        assert "http:" not in code, file.name
        assert "https:" not in code, file.name


class Attributes(HTMLParser):
    """Collects the attributes and the ids of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: set[str] = set()
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag != "style"
        for name, value in attrs:
            self.names.add(name)
            if name == "id":
                self.ids.append(value or "")
            if name in {"src", "href"}:
                self.links.add(value or "")


def test_the_markup_needs_nothing_that_the_policy_forbids() -> None:
    page = Attributes()
    page.feed((PAGE / "index.html").read_text("utf-8"))
    assert "style" not in page.names
    assert not {name for name in page.names if name.startswith("on")}
    assert len(page.ids) == len(set(page.ids))
    own = {link for link in page.links if link.startswith("/assets/")}
    assert page.links - own == {"#text-0", "/docs", "data:,"}
    assert own == {"/assets/gonie.css", "/assets/page.css", "/assets/page.js"}


def test_modules_import_only_each_other() -> None:
    for file in SCRIPTS:
        imported = re.findall(r'^(?:import|export) .*from "([^"]+)"', file.read_text("utf-8"), re.MULTILINE)
        for name in imported:
            assert name.startswith("./"), f"{file.name}: {name}"
            assert (PAGE / name).is_file(), f"{file.name}: {name}"


def test_modules_are_small() -> None:
    """A module has one subject. The table of texts and the page itself are longer."""
    long = {file.name for file in SCRIPTS if len(file.read_text("utf-8").splitlines()) > 170}
    assert long <= {"page.js", "texts.js"}
