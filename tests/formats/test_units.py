"""Words in the unit of a model: kept, cut anew from the text, or refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gonie.errors import TRAINING, InputError
from gonie.formats.format import ReadOptions, WordUnit
from gonie.formats.inspect import convert_file
from gonie.formats.tagged import TaggedSource, survey
from gonie.formats.units import as_text, recut
from gonie.text.report import Report
from gonie.text.schemes import IOB2, PLAIN, Scheme
from gonie.text.tokenizers import EojeolTokenizer, SyllableTokenizer, Tokenizer
from gonie.text.types import Sentence
from support.format_files import FILES

BIOES = Scheme(kind="BIOES")
MORPHEMES = [["삼성전자", "는", "서울", "에", "있", "다"]] * 4
TAGS = ["B-OG", "O", "B-LC", "O", "O", "O"]


def source(path: Path, model: Tokenizer, scheme: Scheme | None = IOB2, **options: object) -> TaggedSource:
    unit = WordUnit.of(model, scheme)
    return TaggedSource(path, ReadOptions(tokenizer=model, unit=unit, **options))  # type: ignore[arg-type]


def conll(path: Path, sentences: list[list[str]], *texts: str, column: bool = False) -> Path:
    lines = []
    for words in sentences:
        lines += [f"# text = {text}" for text in texts]
        lines += [
            f"{word}\tX\t{tag}" if column else f"{word}\t{tag}"
            for word, tag in zip(words, TAGS, strict=False)
        ]
        lines.append("")
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def test_entities_keep_their_characters_in_other_words() -> None:
    (first, second) = source(FILES / "klue-ner.tsv", EojeolTokenizer())
    assert first.words == ("하나는", "강원도로", "갔다", "😀")
    assert (first.tags, first.unreachable) == (("O",) * 4, ((0, 2, "PS"), (4, 7, "LC")))
    assert (second.words, second.tags) == (("3월", "2일"), ("B-DT", "I-DT"))


def test_the_report_names_the_unit_and_counts_the_new_words() -> None:
    file = source(FILES / "klue-ner.tsv", EojeolTokenizer())
    list(file)
    assert file.report.choices["unit"] == ("eojeol", "cut from the text; words of the file: characters")
    assert (file.report.sentences, file.report.tokens, len(file.report.misaligned)) == (2, 6, 2)
    assert survey(file).tokens == 14, "a survey reads the tags of the file as they are"


def test_without_a_unit_the_words_of_a_file_are_kept() -> None:
    first, _ = TaggedSource(FILES / "klue-ner.tsv", ReadOptions(tokenizer=EojeolTokenizer()))
    assert first.words[:3] == ("하", "나", "는")


def test_tags_keep_their_scheme_or_are_dropped() -> None:
    text = "하나는 왔다"
    sentence = Sentence(("하나", "는", "왔다"), ("S-PS", "O", "O"), {}, text, (0, 2, 4), (2, 3, 6))
    (found,) = recut([sentence], BIOES, SyllableTokenizer(), Report())
    assert found.tags == ("B-PS", "E-PS", "O", "O", "O")
    (found,) = recut([sentence], None, SyllableTokenizer(), Report())
    assert (found.tags, len(found)) == (None, 5)


def test_a_text_has_all_its_gold_spans() -> None:
    sentence = Sentence(("하나는",), ("O",), {}, "하나는", (0,), (3,), unreachable=((0, 2, "PS"),))
    assert as_text([sentence], IOB2).spans == [(0, 2, "PS")]


def test_words_of_an_unknown_unit_with_a_text_are_cut_anew(tmp_path: Path) -> None:
    path = conll(tmp_path / "a.conll", MORPHEMES, "삼성전자는 서울에 있다")
    sentences = list(source(path, SyllableTokenizer()))
    assert (len(sentences), len(sentences[0])) == (4, 10)
    assert [len(each.unreachable) for each in source(path, EojeolTokenizer())] == [2] * 4


@pytest.mark.parametrize("model", [SyllableTokenizer(), EojeolTokenizer()])
def test_morphemes_joined_by_spaces_are_not_a_text(model: Tokenizer, tmp_path: Path) -> None:
    """Examples in memory are stored so. No text has such spaces."""
    path = tmp_path / "a.jsonl"
    rows = []
    for words in MORPHEMES:
        places, at = [], 0
        for word, tag in zip(words, TAGS, strict=True):
            places.append({"start": at, "end": at + len(word), "tag": tag})
            at += len(word) + 1
        rows.append(json.dumps({"text": " ".join(words), "tokens": places}, ensure_ascii=False))
    path.write_text("\n".join(rows) + "\n", "utf-8")
    with pytest.raises(InputError, match=f"are morphemes .* is {model.unit}. Without a text"):
        list(source(path, model))


def test_further_columns_keep_the_words_of_a_file(tmp_path: Path) -> None:
    path = conll(tmp_path / "a.conll", MORPHEMES, "삼성전자는 서울에 있다", column=True)
    with pytest.raises(InputError, match=r"are morphemes .*\(data\.columns\)"):
        list(source(path, SyllableTokenizer(), columns={"pos": 1}))


def test_a_few_words_can_be_of_any_unit_but_syllables_have_one_character(tmp_path: Path) -> None:
    path = conll(tmp_path / "a.conll", [["삼성전자", "주식"]])
    assert [each.words for each in source(path, EojeolTokenizer())] == [("삼성전자", "주식")]
    with pytest.raises(InputError, match=r"are words of several syllables .* is syllable"):
        list(source(path, SyllableTokenizer()))
    path.write_text("George\tB-PS\nsleeps\tO\n", "utf-8")
    assert len(list(source(path, SyllableTokenizer()))) == 1


EOJEOLS = [["삼성전자는", "서울에", "있다"]] * 20


@pytest.mark.parametrize(
    ("sentences", "scheme", "advice"),
    [
        (EOJEOLS, IOB2, r"gonie data convert \S+a.conll --to klue --out NEW.klue\. .*--set data.unit=eojeol"),
        (MORPHEMES, IOB2, r"Give a file with the text of each sentence.*--set data.unit=morpheme$"),
        (EOJEOLS, PLAIN, r"Give a file of syllables\. .*gonie train pos-ko \S+a.conll$"),
        (MORPHEMES, PLAIN, r"gonie train pos-ko \S+a.conll --set data.unit=morpheme$"),
    ],
)
def test_the_refusal_of_a_unit_says_what_to_type(
    sentences: list[list[str]], scheme: Scheme, advice: str, tmp_path: Path
) -> None:
    path = conll(tmp_path / "a.conll", sentences)
    with pytest.raises(InputError, match=advice) as refused:
        list(source(path, SyllableTokenizer(), scheme))
    assert "data.unit=" not in TRAINING.sub("", str(refused.value)), "evaluate and tag train nothing"
    assert "gonie train" not in TRAINING.sub("", str(refused.value))


def test_eojeols_converted_as_the_refusal_says_are_read(tmp_path: Path) -> None:
    path, out = conll(tmp_path / "a.conll", EOJEOLS), tmp_path / "NEW.klue"
    convert_file(TaggedSource(path), to="klue", out=out)
    first = next(iter(source(out, SyllableTokenizer())))
    assert (first.text, first.words[:5]) == ("삼성전자는 서울에 있다", ("삼", "성", "전", "자", "는"))
