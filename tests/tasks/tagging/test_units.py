"""Units of words × formats of files: each is scored exactly as by characters, or refused with both units.

A fake tagger finds spans by a digest of the words, so that its answers depend on how a text is cut.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import pytest

from gonie.errors import InputError
from gonie.formats.format import ReadOptions, WordUnit
from gonie.formats.spans import AnnotatedText, char_spans, tagged_sentences
from gonie.formats.tagged import TaggedSource, write
from gonie.metrics.evaluation import Evaluation
from gonie.tasks.tagging.scoring import score_source
from gonie.text.report import Report
from gonie.text.schemes import IOB2, PLAIN, Scheme, from_spans, to_spans
from gonie.text.tokenizers import Tokenizer, tokenizer
from gonie.text.types import Sentence

UNITS = ("eojeol", "syllable", "morpheme")
CharSpan = tuple[int, int, str]
GOLD: list[tuple[str, list[CharSpan]]] = [
    ("삼성전자는 서울에 본사를 두고 있다.", [(0, 4, "OG"), (6, 8, "LC")]),
    ("김철수는 어제 부산에서 왔다. 그는 3월 2일에 간다.", [(0, 3, "PS"), (8, 10, "LC"), (20, 25, "DT")]),
    ("이영희 씨와 박민수 씨를 만났다", [(0, 3, "PS"), (7, 10, "PS")]),
    ("한국은행의 이주열 총재가 금리를 올렸다.", [(0, 4, "OG"), (6, 9, "PS")]),
    ("현대자동차를 인천에 팔았다. 회사는 광주에 있다.", [(0, 5, "OG"), (7, 9, "LC"), (20, 22, "LC")]),
] * 4
LABELS = ("OG", "LC", "PS")
NAMES = {"삼성전자": "OG", "서울": "LC", "이영희": "PS", "박민수": "LC", "이주열": "PS"}
"""What the fake tagger finds. One label is wrong."""
TEXTUAL = ("klue", "jsonl", "jsonl tokens", "conll", "nikl", "labelstudio", "brat", "prodigy", "doccano")
"""Formats that have the text of a sentence."""
TEXTLESS = ("conll without text", "slashed", "tsv", "csv")


class Tagged(NamedTuple):
    tags: tuple[str, ...]
    scores: tuple[float, ...]
    spans: tuple[tuple[int, int, str, float], ...] = ()


def fake_tags(sentence: Sentence) -> tuple[str, ...]:
    """Return tags of the known names, and of some other words that follow from the cutting of the text."""
    words, spans, at = sentence.words, [], 0
    while at < len(words):
        name = next((end for end in range(at + 1, at + 6) if "".join(words[at:end]) in NAMES), at + 1)
        choice = crc32("\n".join(words[at : at + 2]).encode()) % 6
        if name > at + 1 or words[at] in NAMES:
            spans.append((at, name, NAMES["".join(words[at:name])]))
        elif choice < 3:
            spans.append((at, at + 1, LABELS[choice]))
        at = name
    return tuple(from_spans(spans, len(words), IOB2))


def tag(sentences: Sequence[Sentence]) -> list[Tagged]:
    return [Tagged(tags, (1.0,) * len(tags)) for tags in map(fake_tags, sentences)]


def reference(documents: Iterable[tuple[Sequence[Sentence], Iterable[CharSpan]]]) -> tuple[int, int, int]:
    """Count gold, predicted and correct spans by their characters, and nothing else."""
    gold = predicted = correct = 0
    for sentences, spans in documents:
        wanted = set(spans)
        given = {
            (sentence.offsets()[start][0], sentence.offsets()[end - 1][1], label)
            for sentence, tagged in zip(sentences, tag(sentences), strict=True)
            for start, end, label in to_spans(tagged.tags, IOB2)
        }
        gold, predicted = gold + len(wanted), predicted + len(given)
        correct += len(wanted & given)
    return gold, predicted, correct


@pytest.fixture(scope="module")
def tokenizers() -> dict[str, Tokenizer]:
    pytest.importorskip("kiwipiepy")
    return {unit: tokenizer(language="ko", unit=unit) for unit in UNITS}


def score(path: Path, model: Tokenizer, scheme: Scheme = IOB2) -> tuple[Evaluation, Report]:
    source = TaggedSource(path, ReadOptions(tokenizer=model, unit=WordUnit.of(model)))
    evaluation = score_source(
        source,
        tag,
        model_scheme=scheme,
        known_tags=("O", "B-OG", "B-LC", "B-PS", "B-DT"),
        mode="conlleval",
        repair="none",
        seen=Path("none"),
    )
    return evaluation, source.report


def sentences_in(split: Tokenizer, *, own: bool) -> list[Sentence]:
    """Return the gold in words of a unit. ``own`` words are words of the file, and not of gonie."""
    texts = [AnnotatedText(text=text, spans=spans, line=at) for at, (text, spans) in enumerate(GOLD, 1)]
    found = list(tagged_sentences(texts, split, Report()))
    if not own:
        return found
    return [
        Sentence(each.words, each.tags, {}, each.text, each.starts, each.ends, each.path, each.line)
        for each in found
    ]


def make(folder: Path, format: str, split: Tokenizer) -> Path:
    """Write the gold in a format, in words of a unit if the format has words."""
    path = folder / f"gold.{format.split(maxsplit=1)[0]}"
    if format == "jsonl":
        rows = [{"text": text, "spans": [list(span) for span in spans]} for text, spans in GOLD]
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
        return path
    sentences = sentences_in(split, own=True)
    if format in TEXTLESS:
        sentences = [Sentence(each.words, each.tags) for each in sentences]
    write(path, sentences, format.split(maxsplit=1)[0])
    return path


def gold_texts(path: Path, split: Tokenizer) -> Iterator[tuple[str, list[CharSpan]]]:
    """Yield the texts of a file with its spans, read without any cutting."""
    for sentence in TaggedSource(path, ReadOptions(tokenizer=split)):
        start = sentence.starts[0]
        text = (sentence.text or "")[start : sentence.ends[-1]]
        yield text, [(a - start, b - start, label) for a, b, label in char_spans(sentence, IOB2)]


@pytest.mark.parametrize(("format", "unit", "words"), list(product(TEXTUAL, UNITS, UNITS)))
def test_files_with_text_are_scored_as_their_text(
    format: str, unit: str, words: str, tokenizers: dict[str, Tokenizer], tmp_path: Path
) -> None:
    path = make(tmp_path, format, tokenizers[words])
    evaluation, report = score(path, tokenizers[unit])
    if format == "jsonl":
        texts: list[tuple[str, list[CharSpan]]] = GOLD
    elif format in ("klue", "conll", "jsonl tokens"):  # a text for each sentence
        texts = list(gold_texts(path, tokenizers[words]))
    else:
        own = sentences_in(tokenizers[words], own=True)
        texts = [
            (text, [span for each in own if each.line == at for span in char_spans(each, IOB2)])
            for at, (text, _) in enumerate(GOLD, 1)
        ]
    micro = evaluation.spans.micro
    expected = reference((tokenizers[unit](text), spans) for text, spans in texts)
    assert (micro.gold, micro.predicted, micro.correct) == expected
    assert expected[0] > 10
    assert micro.correct > 0
    if format in ("klue", "conll"):
        assert report.choices["unit"][0] == unit


@pytest.mark.parametrize(("format", "unit", "words"), list(product(TEXTLESS, UNITS, UNITS)))
def test_files_without_text_are_scored_in_their_unit_only(
    format: str, unit: str, words: str, tokenizers: dict[str, Tokenizer], tmp_path: Path
) -> None:
    path = make(tmp_path, format, tokenizers[words])
    if unit != words:
        with pytest.raises(InputError) as refused:
            score(path, tokenizers[unit])
        assert f"{words}s" in str(refused.value)
        assert f"(data.unit) is {unit}" in str(refused.value)
        return
    micro = score(path, tokenizers[unit])[0].spans.micro
    sentences = list(TaggedSource(path))
    expected = reference(([each], char_spans(each, IOB2)) for each in sentences)
    assert (micro.gold, micro.predicted, micro.correct) == expected


NAVER = "1\t김철수는\tPS_B\n2\t서울에\tLC_B\n3\t갔다.\t-\n\n"
KLP = (
    "; 김철수는 서울로\n$<김철수:PS>는 <서울:LC>로\n1\t김철수\tNNP\tB_PS\n1\t는\tJX\tO\n"
    "2\t서울\tNNP\tB_LC\n2\t로\tJKB\tO\n\n"
)
CONTRACTED = "; 지난 19일\n$<지난 19일:DT>\n1\t지나\tVV\tB_DT\n1\tㄴ\tETM\tI\n2\t19\tSN\tI\n2\t일\tNNB\tI\n\n"
INSIDE = "; 내 집\n$<내:PS> 집\n1\t나\tNP\tB_PS\n1\t의\tJKG\tO\n2\t집\tNNG\tO\n\n"
CONLLU = "1\t김철수는\t_\tNOUN\t_\t_\t0\troot\t_\tNE=B-PS\n2\t갔다\t_\tVERB\t_\t_\t1\tx\t_\tNE=O\n\n"


@pytest.mark.parametrize(
    ("text", "entities", "own"),
    [
        pytest.param(NAVER, 2, "eojeol", id="naver"),
        pytest.param(KLP, 2, "", id="klp2016"),
        pytest.param(CONTRACTED, 1, "", id="klp2016 with contracted words"),
        pytest.param(INSIDE, 1, "morpheme", id="klp2016 without offsets"),
    ],
)
def test_files_of_korean_corpora(
    text: str, entities: int, own: str, *, tokenizers: dict[str, Tokenizer], tmp_path: Path
) -> None:
    """An entity that ends inside a contracted word has no offsets, so its text cannot be cut anew."""
    path = tmp_path / "file.txt"
    path.write_text(text * 2, "utf-8")
    for unit in UNITS:
        if own in ("", unit):
            assert score(path, tokenizers[unit])[0].spans.micro.gold == 2 * entities
        else:
            with pytest.raises(InputError, match=f"are {own}s, but .* is {unit}"):
                score(path, tokenizers[unit])


@pytest.mark.parametrize("unit", UNITS)
def test_parts_of_speech_cannot_move_to_other_words(
    unit: str, tokenizers: dict[str, Tokenizer], tmp_path: Path
) -> None:
    text = "프랑스의\t프랑스/NNP + 의/JKG\n문장이다.\t문장/NNG + 이/VCP + 다/EF + ./SF\n"
    (tmp_path / "sejong.txt").write_text(text * 5, "utf-8")
    (tmp_path / "ud.conllu").write_text(f"# text = 김철수는 갔다\n{CONLLU}" * 5, "utf-8")
    for name, own in (("sejong.txt", "morpheme"), ("ud.conllu", "eojeol")):
        wanted = WordUnit.of(tokenizers[unit], PLAIN)
        source = TaggedSource(tmp_path / name, ReadOptions(unit=wanted, tokenizer=tokenizers[unit]))
        if unit == own:
            assert sum(1 for _ in source) == 5
        else:
            with pytest.raises(InputError, match=f"are {own}s, but .* is {unit}"):
                list(source)


def test_english_words_have_no_contract() -> None:
    assert WordUnit.of(tokenizer(language="en", unit="word")) is None
