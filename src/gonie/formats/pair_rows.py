"""Pairs of texts in the rows of any table. Columns are found by their names.

Known names of the two texts are ``text`` and ``text_pair``, SNLI's ``premise`` and ``hypothesis``, the
``sentence1`` and ``sentence2`` of STS and GLUE, and the ``question1`` and ``question2`` of QQP. The gold
answer is a label (``label``, ``gold_label``, ``is_duplicate``) or a number (``value``, ``score``). Other
columns are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Any

from gonie.formats.content import FileHead
from gonie.formats.format import HeaderNames, PairFormat, RowFormat
from gonie.text.labelled_text import LabelledPair, PairOptions

TEXTS = (
    ("text", "text_pair"),
    ("premise", "hypothesis"),
    ("sentence1", "sentence2"),
    ("question1", "question2"),
)
"""The names of the two text columns that are known."""
LABELS, VALUES = ("label", "gold_label", "is_duplicate"), ("value", "score")
"""The known names of a column of labels, and of a column of numbers."""


def pair_format(rows: RowFormat) -> PairFormat:
    """Return the format of text pairs in a form of table."""
    return PairFormat(
        name=rows.name,
        description=rows.description,
        read=lambda content, options, report: rows.read(content, _header(options), report),
        write=lambda pairs: rows.write(_records(pairs)),
        suffixes=rows.suffixes,
        recognise=partial(_recognise, rows),
        rank=rows.rank - 1,  # before labelled texts, which pairs also look like
    )


def _header(options: PairOptions) -> HeaderNames:
    """Return the known names, and the numbers of columns that the user gave for a table without a header."""
    named = (*(options.texts or ()), options.label or options.value or "")
    return HeaderNames((*chain(*TEXTS), *LABELS, *VALUES), tuple(filter(str.isdigit, named)))


def _recognise(form: RowFormat, head: FileHead) -> str | None:
    """Return why the first row of a file is a pair, or None."""
    sample = form.peek(head)
    if sample is None:
        return None
    named = [tuple(head.columns[:2])] if len(head.columns) > 1 else []
    texts = next((names for names in (*named, *TEXTS) if set(names) <= set(sample)), None)
    gold = next((name for name in (*head.columns[2:], *LABELS, *VALUES) if name in sample), None)
    if texts is None or gold is None:
        return None
    return f"it has the columns {', '.join(texts)} and {gold}"


def _records(pairs: Iterable[LabelledPair]) -> Iterator[dict[str, Any]]:
    for pair in pairs:
        texts = {"text": pair.first, "text_pair": pair.second}
        if pair.value is not None:
            yield {**texts, "value": pair.value}
        else:
            yield {**texts, **({"label": pair.labels[0]} if pair.labels else {})}
