"""Writers of morphemes to standard output: one line per sentence, columns, or JSON lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gonie.cli.views.stream_output import open_output, put
from gonie.formats.jsonl import json_line
from gonie.text.jamo import to_letters
from gonie.text.tokenizers.morphemes import escape, parse_morphemes
from gonie.text.types import Sentence

Format = Callable[[str, Sequence[Sentence]], str]


def analysis_writer(kind: str) -> Callable[[str, Sequence[Sentence]], None]:
    """Return a function that writes the sentences of a text."""
    open_output(kind, tuple(FORMATS))
    formatted = FORMATS[kind]
    return lambda text, sentences: put(formatted(text, sentences))


def as_text(text: str, sentences: Sequence[Sentence]) -> str:
    """Return one line per sentence, with a space between eojeol: ``책/NNG+을/JKO 읽/VV+었/EP+다/EF``."""
    return "".join(f"{''.join(_joined(each))}\n" for each in sentences)


def as_conll(text: str, sentences: Sequence[Sentence]) -> str:
    """Return a row per token: word, forms, tags, start and end. An empty line ends a sentence."""
    return "".join("\n".join([*map("\t".join, _rows(each)), "", ""]) for each in sentences)


def as_record(text: str, sentences: Sequence[Sentence]) -> str:
    """Return a line of JSON with the ranges of the sentences, and the tokens with their morphemes."""
    return json_line(
        {
            "text": text,
            "sentences": [{"start": each.starts[0], "end": each.ends[-1]} for each in sentences],
            "tokens": [token for each in sentences for token in _records(each)],
        }
    )


FORMATS: Mapping[str, Format] = {"text": as_text, "conll": as_conll, "jsonl": as_record}
"""The output formats by name."""


def _joined(sentence: Sentence) -> Iterator[str]:
    """Yield the analyses of a sentence, each after "+", or after a space at the start of an eojeol."""
    last = sentence.starts[0]
    for number, (start, end) in enumerate(sentence.offsets()):
        yield ("+" if start == last else " ") if number else ""
        yield to_letters(sentence.columns["morphemes"][number])
        last = end


def _rows(sentence: Sentence) -> Iterator[tuple[str, ...]]:
    for (start, end), word, analysis in _tokens(sentence):
        morphemes = parse_morphemes(analysis)
        forms = "+".join(escape(to_letters(each.form)) for each in morphemes)
        yield word, forms, "+".join(escape(each.tag) for each in morphemes), str(start), str(end)


def _records(sentence: Sentence) -> Iterator[dict[str, Any]]:
    for (start, end), word, analysis in _tokens(sentence):
        found = [{"form": to_letters(each.form), "tag": each.tag} for each in parse_morphemes(analysis)]
        yield {"text": word, "start": start, "end": end, "morphemes": found}


def _tokens(sentence: Sentence) -> Iterator[tuple[tuple[int, int], str, str]]:
    return zip(sentence.offsets(), sentence.words, sentence.columns["morphemes"], strict=True)
