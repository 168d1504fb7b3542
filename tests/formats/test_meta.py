"""Named values of texts are read from columns, keys and comments, if they are requested."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonie.errors import InputError
from gonie.formats.format import ReadOptions
from gonie.formats.labelled import LabelledSource
from gonie.formats.meta import LONGEST, value_text
from gonie.formats.pairs import PairSource
from gonie.formats.tagged import TaggedSource
from gonie.text.labelled_text import PairOptions, TextOptions
from gonie.text.tokenizers import EnglishTokenizer

CONLL = """# source = web
# year = 2004
Anna B-PER
sleeps O

# year = 1999
Seoul B-LOC

Bonn B-LOC
"""


def metas(path: Path, text: str, *names: str, **options: object) -> list[dict[str, str]]:
    path.write_text(text, "utf-8")
    tokenizer = EnglishTokenizer()
    source = TaggedSource(path, ReadOptions(meta=names, tokenizer=tokenizer, **options))  # type: ignore[arg-type]
    return [dict(sentence.meta) for sentence in source]


def test_a_comment_holds_for_its_sentence_alone(tmp_path: Path) -> None:
    found = metas(tmp_path / "a.conll", CONLL, "year", "source")
    assert found == [{"year": "2004", "source": "web"}, {"year": "1999"}, {}]


def test_values_are_read_only_on_request(tmp_path: Path) -> None:
    assert metas(tmp_path / "a.conll", CONLL) == [{}, {}, {}]
    assert metas(tmp_path / "a.conll", CONLL, "year") == [{"year": "2004"}, {"year": "1999"}, {}]


def test_comments_of_a_document_hold_until_the_next(tmp_path: Path) -> None:
    rows = "1\tAnna\t_\tPROPN\t_\t_\t0\troot\t_\t_\n\n"
    text = (
        "# newdoc id = a\n# meta::genre = news\n# newpar\n# sent_id = 1\n# s_type = decl\n"
        f"# text = Anna\n{rows}"
        f"# sent_id = 2\n{rows}# newdoc id = b\n# sent_id = 3\n{rows}"
    )
    found = metas(tmp_path / "a.conllu", text, "newdoc", "genre", "s_type")
    assert found == [
        {"newdoc": "a", "genre": "news", "s_type": "decl"},
        {"newdoc": "a", "genre": "news"},
        {"newdoc": "b"},
    ]
    source = TaggedSource(tmp_path / "a.conllu", ReadOptions(meta=("genre",)))
    assert [sentence.id for sentence in source] == ["1", "2", "3"]


def test_comments_before_an_empty_line_are_of_the_document(tmp_path: Path) -> None:
    text = "-DOCSTART- O\n\n# year = 1\n\nAnna B-PER\n\nBonn B-LOC\n\n-DOCSTART- O\n\nSeoul B-LOC\n"
    assert metas(tmp_path / "a.conll", text, "year") == [{"year": "1"}, {"year": "1"}, {}]


def test_keys_of_json_objects_and_of_their_meta(tmp_path: Path) -> None:
    rows = [
        {
            "text": "Anna sleeps.",
            "spans": [[0, 4, "PER"]],
            "year": 2004,
            "meta": {"year": 1, "source": "web"},
        },
        {"tokens": ["Bonn"], "tags": ["B-LOC"], "year": 1999.0, "source": None},
    ]
    text = "\n".join(map(json.dumps, rows))
    assert metas(tmp_path / "a.jsonl", text, "year", "source", format="jsonl") == [
        {"year": "2004", "source": "web"},
        {"year": "1999"},
    ]


def test_prodigy_and_doccano(tmp_path: Path) -> None:
    span = {"start": 0, "end": 4, "label": "PER"}
    answer = {
        "text": "Anna sleeps",
        "spans": [span],
        "answer": "accept",
        "_input_hash": 1,
        "meta": {"year": 7},
    }
    assert metas(tmp_path / "p.jsonl", json.dumps(answer), "year") == [{"year": "7"}]
    record = {"id": 1, "text": "Anna sleeps", "label": [[0, 4, "PER"]], "Comments": [], "year": 8}
    assert metas(tmp_path / "d.jsonl", json.dumps(record), "year") == [{"year": "8"}]


def test_a_table_of_tokens_has_the_value_of_the_first_row(tmp_path: Path) -> None:
    text = "Sentence #,Word,Tag,Year\nSentence: 1,Anna,B-PER,2004\n,sleeps,O,\nSentence: 2,Bonn,B-LOC,1999\n"
    assert metas(tmp_path / "a.csv", text, "Year") == [{"Year": "2004"}, {"Year": "1999"}]


TOKENS = """sentence_id,word,pos,tag,year
1,Anna,NN,B-PER,2004
1,sleeps,VB,O,2004
2,Bonn,NN,B-LOC,1999
"""


def test_a_table_of_tokens_is_grouped_by_columns_with_one_value_per_sentence(tmp_path: Path) -> None:
    """The part of speech of the first word would be taken for that of the sentence."""
    assert metas(tmp_path / "a.csv", TOKENS, "year") == [{"year": "2004"}, {"year": "1999"}]
    with pytest.raises(InputError, match=r"value named yaer. Did you mean year\? The .* values are year$"):
        metas(tmp_path / "a.csv", TOKENS, "yaer")
    for name in ("word", "tag"):
        with pytest.raises(InputError, match=rf"csv:1: the column '{name}' has a value for each token, not"):
            metas(tmp_path / "a.csv", TOKENS, name)
    with pytest.raises(InputError, match=r"csv:3: the values of the column 'pos' differ .*: 'NN' and 'VB'"):
        metas(tmp_path / "a.csv", TOKENS, "pos")


def test_a_column_that_differs_in_a_later_sentence_is_not_proposed(tmp_path: Path) -> None:
    text = TOKENS.replace("VB", "NN") + "2,sleeps,VB,O,1999\n"
    with pytest.raises(InputError, match=r"The names of its values are year$"):
        metas(tmp_path / "a.csv", text, "genre")
    with pytest.raises(InputError, match=r"csv:5: the values of the column 'pos' differ"):
        metas(tmp_path / "a.csv", text, "pos")


def test_columns_of_labelled_texts_and_pairs(tmp_path: Path) -> None:
    texts, pairs = tmp_path / "texts.tsv", tmp_path / "pairs.tsv"
    texts.write_text("text\tlabel\tyear\tsource\nhello\tgood\t2004\tweb\nbye\tbad\t\tnews\n", "utf-8")
    source = LabelledSource(texts, TextOptions(meta=("year",)))
    assert [dict(text.meta) for text in source] == [{"year": "2004"}, {}]
    assert source.report.choices["ignored columns"][0] == "source"
    plain = LabelledSource(texts)
    assert [text.meta for text in plain] == [{}, {}]
    assert plain.report.choices["ignored columns"][0] == "year, source"
    pairs.write_text("premise\thypothesis\tlabel\tgenre\na b\tc d\tyes\tfiction\n", "utf-8")
    assert [dict(pair.meta) for pair in PairSource(pairs, PairOptions(meta=("genre",)))] == [
        {"genre": "fiction"}
    ]


def test_columns_of_parquet(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = arrow.table({"text": ["a b", "c"], "label": ["x", "y"], "day": [date(2004, 5, 1), None]})
    parquet.write_table(table, tmp_path / "t.parquet")
    source = LabelledSource(tmp_path / "t.parquet", TextOptions(meta=("day",)))
    assert [dict(text.meta) for text in source] == [{"day": "2004-05-01"}, {}]


def test_an_unknown_name_is_refused_with_the_names_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"value named genre. The names of its values are source, year"):
        metas(tmp_path / "a.conll", CONLL, "genre")
    with pytest.raises(InputError, match=r"has no named values"):
        metas(tmp_path / "b.conll", "Anna B-PER\n", "genre")
    (tmp_path / "t.tsv").write_text("text\tlabel\tyear\na b\tx\t1\n", "utf-8")
    with pytest.raises(InputError, match=r"genre. The names of its values are label, year$"):
        list(LabelledSource(tmp_path / "t.tsv", TextOptions(meta=("genre",))))


def test_a_mistyped_name_is_refused_with_the_name_that_was_meant(tmp_path: Path) -> None:
    """The texts themselves are not proposed."""
    with pytest.raises(
        InputError, match=r"value named yaer. Did you mean year\? The names of its values are"
    ):
        metas(tmp_path / "a.conll", CONLL, "yaer")
    (tmp_path / "p.tsv").write_text("premise\thypothesis\tlabel\tgenre\na b\tc d\tyes\tfiction\n", "utf-8")
    with pytest.raises(InputError, match=r"premises. The names of its values are label, genre$"):
        list(PairSource(tmp_path / "p.tsv", PairOptions(meta=("premises",))))


@given(st.one_of(st.text(), st.integers(), st.floats(), st.booleans(), st.none(), st.lists(st.integers())))
def test_values_are_short_lines(value: object) -> None:
    found = value_text(value)
    assert isinstance(value, float) or len(found) <= LONGEST
    assert "\n" not in found
    assert found == found.strip()


def test_a_long_text_is_not_a_value() -> None:
    assert value_text("x" * LONGEST)
    assert value_text("x" * (LONGEST + 1)) == ""
