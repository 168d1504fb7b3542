"""Finds English in Korean output: words that are no command, option, path, key, tag, format or name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html.parser import HTMLParser

NAMES = """
gonie ELMo ESIM BiLSTM LSTM CRF PyTorch Captum Kiwi Sejong Ray Studio Label Typer Unicode Git CoNLL JSONL Parquet
Pearson Spearman AUC McNemar Holm Enter Ctrl Python TensorBoard MLflow Numba Triton Optuna ONNX AllenNLP softmax float
jamo int Chen et al Hugging Face
conlleval bootstrap true false none auto
"""
"""Models, metrics, tools and file formats."""
UNITS = "ms min MiB GiB MB KB kB eV"
IGNORED = (
    re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*"),  # an option
    re.compile(r"[\w.\[\]-]+=\S*"),  # a setting
    re.compile(r"\S*[/\\]\S*"),  # a path
    re.compile(r"\b[\w-]+(?:\.[\w*-]+)+"),  # a file, or a recipe key
    re.compile(r"\.\w+\b"),  # a suffix
    re.compile(r"<[\w|\[\]]+>|\[[\w|…]+\]"),  # the type of an argument
    re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`"),  # quoted data
    re.compile(r"\b[A-Z][A-Z0-9_:-]*s?\b"),  # a placeholder, tag or metric
    re.compile(r"\b\w*[0-9_]\w*\b"),  # a name with a digit
)
WORD = re.compile(r"[A-Za-z]{2,}(?:-[A-Za-z]+)*")


def english_words(text: str, names: Iterable[str] = ()) -> list[str]:
    """Return the lines of a text with English words, each with the words."""
    allowed = {*NAMES.split(), *UNITS.split(), *names}
    found = []
    for line in text.splitlines():
        rest = line
        for pattern in IGNORED:
            rest = pattern.sub(" ", rest)
        words = [word for word in WORD.findall(rest) if word not in allowed]
        if words:
            found.append(f"{' '.join(words)}   <<   {line.strip()}")
    return found


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
