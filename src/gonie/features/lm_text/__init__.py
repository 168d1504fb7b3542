"""Text for language models: files larger than memory, tokenised once and read as contiguous streams.

``build_stream`` builds a ``TokenStream`` from files. ``Streams`` splits it into batches.
"""

from __future__ import annotations

from gonie.features.lm_text.batches import Distinct, Streams, TextRows, distinct
from gonie.features.lm_text.paragraphs import read_paragraphs
from gonie.features.lm_text.stream import BEGIN, END, FIRST, UNKNOWN, TokenStream, spell_stream
from gonie.features.lm_text.tokenise import TokenisingProgress, build_stream

__all__ = [
    "BEGIN",
    "END",
    "FIRST",
    "UNKNOWN",
    "Distinct",
    "Streams",
    "TextRows",
    "TokenStream",
    "TokenisingProgress",
    "build_stream",
    "distinct",
    "read_paragraphs",
    "spell_stream",
]
