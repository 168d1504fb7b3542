"""Running text for a language model: files larger than memory, tokenised once, read as contiguous streams.

``build_stream`` makes a ``TokenStream`` of files, ``Streams`` cuts it into batches.
"""

from __future__ import annotations

from gonie.data.running.batches import Batch, Distinct, Streams, distinct
from gonie.data.running.paragraphs import read_paragraphs
from gonie.data.running.spelling import spell_stream
from gonie.data.running.stream import BEGIN, END, FIRST, UNKNOWN, TokenStream
from gonie.data.running.tokenise import Advance, build_stream

__all__ = [
    "BEGIN",
    "END",
    "FIRST",
    "UNKNOWN",
    "Advance",
    "Batch",
    "Distinct",
    "Streams",
    "TokenStream",
    "build_stream",
    "distinct",
    "read_paragraphs",
    "spell_stream",
]
