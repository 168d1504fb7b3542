"""Labelled texts from files: what classifiers learn from, in whatever form people keep it.

``TextSource(path, TextOptions(…))`` yields each ``Text`` of a table, a JSONL file, a SemEval relation file or
a folder of parallel files. A new format is its file and a line of ``TEXT_FORMATS`` in ``source``.
"""

from __future__ import annotations

from gonie.data.texts.marks import cut_marks
from gonie.data.texts.source import TEXT_FORMATS, TextSource, read_texts
from gonie.data.texts.text import Text, TextOptions

__all__ = ["TEXT_FORMATS", "Text", "TextOptions", "TextSource", "cut_marks", "read_texts"]
