"""Spelling of every id of a stream, for a character network that runs once per distinct word."""

from __future__ import annotations

from gonie.features.byte_spelling import (
    LONGEST,
    PADDING,
    WORD_BEGIN,
    WORD_END,
    Spelled,
    begin_row,
    end_row,
    spell_flat,
)
from gonie.features.lm_text.stream import BEGIN, END, UNKNOWN, TokenStream


def spell_stream(stream: TokenStream, *, longest: int = LONGEST) -> Spelled:
    """Return the bytes of each form as ELMo's ids (U, longest), by the id of the form.

    BEGIN and END have the words that stand for them. UNKNOWN is never read and is padding between the marks
    of a word.
    """
    table = spell_flat(stream.form_bytes, stream.form_offsets, longest=longest)
    table[BEGIN] = begin_row(longest)
    table[END] = end_row(longest)
    table[UNKNOWN] = PADDING
    table[UNKNOWN, [0, -1]] = WORD_BEGIN, WORD_END
    return table
