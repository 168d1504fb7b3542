"""Tagged files in any format: detection of the format and the scheme, repairs, surveys and writing."""

from __future__ import annotations

import gzip
import io
import json
import re
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.errors import GonieError, InputError, OutputError
from gonie.formats import tagged as formats
from gonie.formats.format import ReadOptions
from gonie.formats.table import FORMATS
from gonie.formats.tagged import TaggedSource, detect_format, read, survey, write
from gonie.text.report import Report
from gonie.text.schemes import IOB2, PLAIN, Scheme
from gonie.text.types import Sentence


def blank_tokenizer(text: str) -> list[Sentence]:
    words = text.split()
    starts, at = [], 0
    for word in words:
        at = text.index(word, at)
        starts.append(at)
        at += len(word)
    ends = tuple(start + len(word) for start, word in zip(starts, words, strict=True))
    return [Sentence(tuple(words), text=text, starts=tuple(starts), ends=ends)]


def wrote(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


UD = "1\tAnn\t_\tPROPN\t_\t_\t0\troot\t_\t_\n"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.conll", "a\tO\n", "conll"),
        ("a.conllu", UD, "conllu"),
        ("a.conllu.gz", UD, "conllu"),
        ("a.jsonl", '{"text": "a"}\n', "jsonl"),
        ("a.txt", '\n{"text": "a"}\n', "jsonl"),
        ("a.txt", "# c\n" + UD, "conllu"),
        ("a.tsv", "a\tB-X\nb\tO\n", "conll"),
        ("a.tsv", "Ann left\tB-X O\nhi\tO\n", "tsv"),
        ("a.tsv", "## id\t<가:PS>\n가\tB-PS\n \tO\n", "klue"),
        ("a.txt", "#\tO\n#x\tO\n", "conll"),
        ("a.txt", "{\tO\n}\tO\n", "conll"),
        ("a.iob2", "1\ta\tO\t-\t-\n", "conll"),
        ("a", "EU NNP B-ORG\n", "conll"),
    ],
)
def test_the_format_is_detected(tmp_path: Path, name: str, text: str, expected: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    assert detect_format(path) == expected
    report = Report()
    list(read(path, ReadOptions(tokenizer=blank_tokenizer), report))
    assert report.choices["format"][0] == expected
    assert report.path == str(path)


@pytest.mark.parametrize("text", ["", "\n\n \n", "# only\n# comments\n", "-DOCSTART- O\n\n"])
def test_a_file_without_sentences_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"the file is empty|no sentences in the file"):
        list(read(wrote(tmp_path / "a.conll", text), ReadOptions(), Report()))


def test_unknown_formats_and_columns_are_refused(tmp_path: Path) -> None:
    path = wrote(tmp_path / "a", "a\tO\n")
    with pytest.raises(InputError, match=r"format 'tsb'. Did you mean tsv\? Choose one of .*conllu, .*conll"):
        list(read(path, ReadOptions(format="tsb"), Report()))
    with pytest.raises(InputError, match="semeval is a format of labelled texts, not of tagged"):
        list(read(path, ReadOptions(format="semeval"), Report()))
    with pytest.raises(InputError, match="is not a number"):
        list(read(path, ReadOptions(tag_column="upos"), Report()))


def test_invalid_tags_are_repaired_or_refused_by_policy(tmp_path: Path) -> None:
    path = wrote(tmp_path / "a.conll", "a\tO\nb\tI-X\nc\tI-X\n\nd\tB-X\n")
    raw = TaggedSource(path)
    assert [s.tags for s in raw] == [("O", "I-X", "I-X"), ("B-X",)]
    begin = raw.with_scheme(IOB2, "begin")
    assert [s.tags for s in begin] == [("O", "B-X", "I-X"), ("B-X",)]
    assert begin.report.repairs == {"begin": 1}
    assert next(iter(raw.with_scheme(IOB2, "outside"))).tags == ("O", "O", "O")
    with pytest.raises(InputError, match=r"a\.conll:2: I-X must follow"):
        list(raw.with_scheme(IOB2, "error"))
    named = TaggedSource(path, ReadOptions(scheme="IOB2", repair="begin"))
    assert next(iter(named)).tags == ("O", "B-X", "I-X")


def test_a_repaired_tag_says_what_it_was_read_as(tmp_path: Path) -> None:
    """A tag that is not of the scheme becomes O, also with the policy begin."""
    path = wrote(tmp_path / "a.conll", "a\tO\nb\tI-X\nc\tX-geo\n\nd\tB-X\n")
    source = TaggedSource(path).with_scheme(IOB2, "begin")
    assert next(iter(source)).tags == ("O", "B-X", "O")
    lines = source.report.lines()
    assert "1 tag that is not of the scheme (read as O)" in lines
    assert f"  {path}:2: I-X must follow an entity with the same label, but follows O; read as B-X" in lines
    assert f"  {path}:3: X-geo is not a tag of IOB2 (B-X I-X O); read as O" in lines


def test_the_invalid_tags_of_the_whole_file_are_counted(tmp_path: Path) -> None:
    path = wrote(tmp_path / "a.conll", "a\tO\n\nb\tO\nc\tI-X\n\nd\tO\ne\tI-X\n\nf\tB-X\n")
    with pytest.raises(InputError, match=rf"^{path}:4: I-X .*\(2 invalid .*--set data\.repair=begin"):
        list(TaggedSource(path).with_scheme(IOB2, "error"))


def test_a_file_with_tags_of_no_scheme_is_refused_without_a_repair(tmp_path: Path) -> None:
    path = wrote(tmp_path / "a.conll", "a\tDET\nb\tNOUN\n\nc\tO\n")
    with pytest.raises(InputError, match=r"2 of 3 tags are not IOB2.*'DET'. Check the file") as caught:
        list(TaggedSource(path).with_scheme(IOB2, "error"))
    assert "repair" not in str(caught.value)


def test_a_source_can_be_read_again_with_a_new_report(tmp_path: Path) -> None:
    source = TaggedSource(wrote(tmp_path / "a.conll", "a\tO\n\nb\tO\n"))
    assert [len(list(source)), len(list(source))] == [2, 2]
    assert (source.report.sentences, source.report.tokens) == (2, 2)


def test_standard_input_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\tI-X\nb\tB-Y\n")))
    source = TaggedSource("-")
    assert len(list(source)) == 1
    with pytest.raises(InputError, match=r"standard input: .*cannot be a stream"):
        list(source)


pieces = st.sampled_from(
    [
        *(
            "a",
            "가",
            "\t",
            " ",
            "\n",
            "\n\n",
            "\r\n",
            "#",
            "# ",
            "## x\n",
            "1",
            "1-2",
            "O",
            "B-X",
            "I-X",
            "_",
        ),
        *("\0", "{", '{"text": "a b"', ', "spans": [', "[0, 1]", "]}", "-DOCSTART-", "# text = a", "\ufeff"),
        *("1\ta\t_\tX\t_\t_\t0\td\t_\t_\n", "\x85"),
    ]
).map(str.encode)


@settings(deadline=None, max_examples=400)
@given(st.lists(pieces | st.just(b"\xff"), max_size=30).map(b"".join), st.sampled_from(["auto", *FORMATS]))
def test_any_input_is_read_or_refused_with_a_message(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, name: str
) -> None:
    """No input may cause a stack trace."""
    path = tmp_path_factory.mktemp("hostile") / "a"
    path.write_bytes(data)
    try:
        found = survey(TaggedSource(path, ReadOptions(format=name, tokenizer=blank_tokenizer)))
    except GonieError:
        return
    assert found.sentences > 0


# --- survey ---


def test_a_survey_reports_the_scheme_and_invalid_tags(tmp_path: Path) -> None:
    good = "a\tB-X\nb\tI-X\nc\tO\n\n" * 10
    path = wrote(tmp_path / "a.conll", good + "# c\nx\tO\n# c\ny\tI-X\nz\tBX\n")
    found = survey(TaggedSource(path))
    assert found.scheme == IOB2
    assert (found.sentences, found.tokens, found.untagged, found.detection.invalid) == (11, 33, 0, 2)
    assert found.labels == {"B-X": 10, "I-X": 11, "O": 11, "BX": 1}
    assert [problem.place for problem in found.problems] == [f"{path}:44", f"{path}:45"]
    assert "scheme" in found.report.choices
    assert len(survey(TaggedSource(path), shown=1).problems) == 1


def test_a_survey_with_a_given_scheme_counts_its_invalid_tags(tmp_path: Path) -> None:
    path = wrote(tmp_path / "a.conll", "a\tB-X\nb\tI-X\n")
    found = survey(TaggedSource(path, ReadOptions(scheme=Scheme(kind="BIOES"))))
    assert (found.scheme.kind, found.detection.invalid) == ("BIOES", 1)
    assert survey(TaggedSource(path)).detection.invalid == 0


def test_a_survey_reports_plain_and_missing_tags(tmp_path: Path) -> None:
    assert survey(TaggedSource(wrote(tmp_path / "a", "a\tNN\nb\tVB\n"))).scheme == PLAIN
    assert survey(TaggedSource(wrote(tmp_path / "a", "a\nb\n\nc"))).untagged == 2


def test_a_survey_of_standard_input_has_counts_but_no_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\tI-X\nb\tB-Y\n")))
    found = survey(TaggedSource("-"))
    assert (found.detection.invalid, found.problems) == (1, [])


# --- writing ---

words = st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1, max_size=5)
rows = st.lists(st.tuples(words, st.sampled_from(["O", "S-X", "S-Y"])), min_size=1, max_size=5)
REWRITTEN = {"jsonl": r"B-\1", "nikl": r"B-\1", "klp2016": r"B_\1", "naver": r"\1_B"}
"""How formats with a scheme of their own write the tag of one word."""


@settings(deadline=None, max_examples=60)
@given(
    sentences=st.lists(rows, min_size=1, max_size=4),
    name=st.sampled_from(["conll", "conllu", "tsv", "klue", "slashed", *REWRITTEN]),
)
def test_entities_survive_writing_and_reading_in_every_format(
    tmp_path_factory: pytest.TempPathFactory, sentences: list[list[tuple[str, str]]], name: str
) -> None:
    """Words and tags stay the same; in KLUE, which stores characters, the text does."""
    scheme = Scheme(kind="BIOES")
    given = [
        Sentence(tuple(w for w, _ in rows), tuple(t for _, t in rows), line=i)
        for i, rows in enumerate(sentences)
    ]
    if any(word.startswith(("#", "-DOCSTART-")) for s in given for word in s.words):
        return
    path = tmp_path_factory.mktemp("formats") / "out.gz"
    assert write(path, given, name, scheme=scheme) == len(given)
    tag_column = {"conllu": "misc:NER", "conll": 1}.get(name)
    if name == "conllu" and not any(tag != "O" for s in given for tag in s.tags or ()):
        return  # without an entity the file has no NER key, and reading it is refused
    options = ReadOptions(format=name, tag_column=tag_column, tokenizer=blank_tokenizer)
    back = list(read(path, options, Report()))
    assert [s.surface.split() for s in back] == [list(s.words) for s in given]
    if name != "klue":
        form = REWRITTEN.get(name, r"S-\1")
        expected = [tuple(re.sub("S-(.)", form, tag) for tag in s.tags or ()) for s in given]
        assert [s.tags for s in back] == expected


def test_a_failed_write_keeps_the_old_file(tmp_path: Path) -> None:
    path = wrote(tmp_path / "a.conll", "old")
    with pytest.raises(InputError):
        write(path, [Sentence(("a",), ("O",)), Sentence(("b\tc",), ("O",))], "conll")
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.conll"]
    with pytest.raises(OutputError, match="does not exist"):
        write(tmp_path / "no" / "a", [], "conll")


def test_compressed_output_is_deterministic(tmp_path: Path) -> None:
    given = [Sentence(("a",), ("O",))]
    for suffix in ("gz", "xz"):
        for name in ("a", "b"):
            write(tmp_path / f"{name}.{suffix}", given, "conll")
        assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()
        assert next(iter(TaggedSource(tmp_path / f"a.{suffix}"))).words == ("a",)


def test_the_table_of_formats_is_complete() -> None:
    assert {"conll", "conllu", "jsonl", "tsv", "klue", "json", "parquet", "arrow"} <= set(FORMATS)
    suffixes = [suffix for known in FORMATS.values() for suffix in known.suffixes]
    assert len(suffixes) == len(set(suffixes))
    assert all(known.description for known in FORMATS.values())


def test_misaligned_spans_of_jsonl_are_reported(tmp_path: Path) -> None:
    record = {"text": "Ann left", "spans": [[0, 2, "P"], [4, 8, "V"]]}
    source = TaggedSource(
        wrote(tmp_path / "a.jsonl", json.dumps(record)), ReadOptions(tokenizer=blank_tokenizer)
    )
    assert [s.tags for s in source] == [("O", "B-V")]
    assert len(source.report.misaligned) == 1
    assert formats.survey(source).scheme == IOB2


# --- the corpora ---


@pytest.mark.parametrize(
    ("path", "expected", "scheme", "sentences"),
    [
        ("ner/klue_ner_dev/klue-ner-v1.1_dev.tsv", "klue", "IOB2", 5000),
        ("ner/ncbi_disease/test.tsv", "conll", "IOB2", 940),
        ("ner/wnut17/emerging.test.annotated", "conll", "IOB2", 1287),
        ("ner/uner_english_ewt/en_ewt-ud-test.iob2", "conll", "IOB2", 2077),
        ("pos/ud_korean_gsd/ko_gsd-ud-dev.conllu", "conllu", "plain", 950),
    ],
)
def test_published_corpora_are_read_without_options(
    shared_data: Path, path: str, expected: str, scheme: str, sentences: int
) -> None:
    found = survey(TaggedSource(shared_data / path))
    assert found.report.choices["format"][0] == expected
    assert (found.scheme.kind, found.sentences, found.detection.invalid) == (scheme, sentences, 0)


@pytest.mark.parametrize("policy", ["begin", "outside"])
def test_a_file_of_mostly_foreign_tags_is_refused_by_every_policy(tmp_path: Path, policy: str) -> None:
    """A repair would turn all tags of the wrong file into O."""
    path = tmp_path / "wrong.conll"
    path.write_text("It\tpremise\nrains\tO\n\nIt\tneutral\nsnows\tpremise\n", "utf-8")
    options = ReadOptions(scheme="IOB2", repair=policy)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"3 of 4 tags are not IOB2 tags, such as 'premise'"):
        list(TaggedSource(path, options))


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ('{"text": "George", "entities": [[0, 6, "George", "PER"]]}', "invalid span"),
        ('{"text": "George", "spans": [[0, 6, "PER"]], "entities": [[0, 6, "LOC"]]}', "spans, entities"),
    ],
)
def test_spans_that_cannot_be_understood_are_refused(tmp_path: Path, record: str, message: str) -> None:
    (tmp_path / "a.jsonl").write_text(f"{record}\n", "utf-8")
    with pytest.raises(InputError, match=message):
        list(TaggedSource(tmp_path / "a.jsonl"))


def test_tags_of_a_decomposed_file_are_composed(tmp_path: Path) -> None:
    path = wrote(tmp_path / "a.conll", unicodedata.normalize("NFD", "서울\tB-장소\n은\tO\n"))
    (sentence,) = TaggedSource(path)
    assert sentence.tags == ("B-장소", "O")
    assert sentence.words == tuple(unicodedata.normalize("NFD", word) for word in ("서울", "은"))


@pytest.mark.parametrize(
    "text",
    [
        "안녕하세요 오늘 뭐해요 ㅋㅋ\n그냥 집에 있어요\n저녁 먹었어\n네\n",
        "오늘 뭐해요 ㅋㅋ\n그냥 집에 있어요\n내일 또 봐요\n",
        "우리 내일 몇 시에 만나\n네\n나는 아무 때나 다 좋아\n저는 일곱 시쯤이 제일 좋아요\n",
        "네\n아니\n그래\n오늘은 집에 있을래\n",
        "see you later then\nok\nwe can meet there tomorrow\nnot so sure yet\n",
    ],
)
def test_text_without_tags_is_not_taken_for_broken_columns(text: str, tmp_path: Path) -> None:
    file = tmp_path / "chat.txt"
    file.write_text(text)
    with pytest.raises(InputError, match=r"chat.txt: plain text without tags.*gonie tag MODEL --file"):
        list(TaggedSource(file))


@pytest.mark.parametrize(
    "text", ["Ann NNP\nsaw VBD\nhim\n", "서울 B-LC\n에서 O\n봤다\n", "학교 x NNG\n에 JKB\n가 x VV\n"]
)
def test_columns_with_a_missing_tag_are_not_taken_for_text(text: str, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text(text)
    with pytest.raises(InputError, match=r"a.txt:\d: expected \d columns separated by spaces"):
        list(TaggedSource(file))
