"""Finds English in Korean output: words that are no command, option, path, key, tag, format or name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html.parser import HTMLParser

from typer.main import get_command

from gonie.cli.main import app
from gonie.formats.table import FORMATS, PAIR_FORMATS, TEXT_FORMATS
from gonie.tasks.recipe import recipe_names

NAMES = """
gonie BiLSTM BiLSTM-CRF BI-LSTM-CRF LSTM-CRF CRF ELMo ESIM PyTorch Kiwi Ray CoNLL Parquet AUC Python
Label Studio Data curl mkdir iconv cat pip Ctrl OpenTelemetry CORS JavaScript Java
"""
"""Models, metrics, tools and programs."""
VALUES = """
auto none all true false llm cpu cuda strict conlleval viterbi posterior begin outside error gradients erasure
attention lstm peephole rnn cnn window en ko uner ontonotes wnut crossner tta
"""
"""Values of options and recipe keys."""
UNITS = "ms min MiB GiB MB"
IGNORED = [
    re.compile(pattern, re.ASCII)
    for pattern in (
        r"[A-Z]\w+(?:, [A-Z]\w+)?(?: &| et) [\w.]+ \d{4}(?:, [^()]+\([A-Z]+\))?|arXiv:[\d.]+",  # an article
        r"(?<![\w-])--?[A-Za-z][\w-]*",  # an option
        r"[\w.\[\]-]+=\S*",  # a setting
        r"\S*/\S*",  # a path
        r"[\w-]+(?:\.[\w*-]+)+",  # a file or a recipe key
        r"\.\w+",  # a suffix
        r"<[\w|\[\] ]+>|\[[\w|…]+\]",  # the type of an argument
        r"'[^']*'|\"[^\"]*\"|`[^`]*`",  # quoted data
        r"\b[A-Z][A-Z0-9_:-]*s?\b",  # a placeholder, a tag or an abbreviation
        r"\b\w*[0-9_]\w*\b",  # a name with a digit
    )
]
WORD = re.compile(r"[A-Za-z]{2,}(?:-[A-Za-z]+)*")


def english_words(text: str, names: Iterable[str] = ()) -> list[str]:
    """Return the lines of a text with English words, each with the words."""
    allowed = {*f"{NAMES} {VALUES} {UNITS}".split(), *names}
    found = []
    for line in text.splitlines():
        rest = line
        for pattern in IGNORED:
            rest = pattern.sub(" ", rest)
        words = [word for word in WORD.findall(rest) if word not in allowed]
        if words:
            found.append(f"{' '.join(words)}   <<   {line.strip()}")
    return found


def own_names() -> set[str]:
    """Return the names of commands, recipes and formats."""
    groups = [get_command(app), *getattr(get_command(app), "commands", {}).values()]
    commands = {name for group in groups for name in getattr(group, "commands", {})}
    return {*commands, *recipe_names(), *FORMATS, *TEXT_FORMATS, *PAIR_FORMATS}


class VisibleText(HTMLParser):
    """Collects the text nodes of a page outside of style, code and marked data (``bdi``)."""

    HIDDEN = frozenset(("style", "script", "code", "pre", "bdi"))
    VOID = frozenset(("meta", "br", "hr", "img", "input", "link"))

    def __init__(self) -> None:
        super().__init__()
        self._open: list[str] = []
        self.lines: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element, and the texts of its attributes."""
        if tag not in self.VOID:
            self._open.append(tag)
        self.lines += [value for name, value in attrs if value and name in ("title", "aria-label", "alt")]

    def handle_endtag(self, tag: str) -> None:
        """Leave an element."""
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        """Keep a visible text."""
        if not self.HIDDEN.intersection(self._open) and data.strip():
            self.lines.append(data)


def visible_text(page: str) -> str:
    """Return the visible text of an HTML page, a line per text node."""
    parser = VisibleText()
    parser.feed(page)
    return "\n".join(" ".join(line.split()) for line in parser.lines)
