"""Gazetteers, compared with a brute-force search. A wrong match would mislead the model."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.errors import InputError
from gonie.features.gazetteer import Gazetteers, match_of, read_entries
from gonie.text.particles import may_follow
from gonie.text.types import Sentence

TOKEN = st.sampled_from(["a", "A", "b", "c"])
ENTRIES = st.lists(st.lists(TOKEN, max_size=4), max_size=8)


def brute_force(tokens: list[str], entries: list[list[str]], *, fold: bool) -> list[list[str]]:
    """Try every entry at every position, longest first."""
    if fold:
        tokens, entries = [t.lower() for t in tokens], [[t.lower() for t in e] for e in entries]
    rows: list[list[str]] = [[] for _ in tokens]
    at = 0
    while at < len(tokens):
        length = max((len(e) for e in entries if e and tokens[at : at + len(e)] == e), default=0)
        for part in range(length):
            letter = "S" if length == 1 else "B" if part == 0 else "E" if part == length - 1 else "I"
            rows[at + part].append(f"list={letter}")
        at += max(length, 1)
    return rows


@settings(deadline=None, max_examples=400)
@given(st.lists(TOKEN, max_size=10), ENTRIES, st.booleans())
def test_matches_equal_a_brute_force_search(tokens: list[str], entries: list[list[str]], fold: bool) -> None:
    gazetteers = Gazetteers(lists={"list": entries}, fold=fold)
    assert gazetteers.extract(Sentence(words=tuple(tokens))) == brute_force(tokens, entries, fold=fold)


@settings(deadline=None, max_examples=100)
@given(st.lists(TOKEN, max_size=10), ENTRIES, ENTRIES)
def test_several_lists_are_matched_independently(
    tokens: list[str], one: list[list[str]], two: list[list[str]]
) -> None:
    sentence = Sentence(words=tuple(tokens))
    both = Gazetteers(lists={"one": one, "two": two}).extract(sentence)
    apart = [
        Gazetteers(lists={name: entries}).extract(sentence) for name, entries in (("one", one), ("two", two))
    ]
    assert both == [first + second for first, second in zip(*apart, strict=True)]


def test_the_longest_entry_is_matched() -> None:
    gazetteers = Gazetteers(lists={"city": [("New", "York"), ("New", "York", "City"), ("York",)]})
    rows = gazetteers.extract(Sentence(words=("new", "york", "city", "or", "New", "York")))
    assert rows == [["city=B"], ["city=I"], ["city=E"], [], ["city=B"], ["city=E"]]


def test_without_folding_case_matters() -> None:
    gazetteers = Gazetteers(lists={"city": [("Nice",)]}, fold=False)
    assert gazetteers.extract(Sentence(words=("Nice", "nice"))) == [["city=S"], []]


@settings(deadline=None, max_examples=100)
@given(st.lists(st.lists(st.text(max_size=3), max_size=3)), st.booleans())
def test_saved_gazetteers_have_the_same_entries(entries: list[list[str]], fold: bool) -> None:
    gazetteers = Gazetteers(lists={"list": entries, "도시": [("서울",)]}, fold=fold)
    saved = json.loads(json.dumps(gazetteers.to_json()))
    again = Gazetteers.from_json(saved)
    assert again.to_json() == saved
    assert again.sizes == gazetteers.sizes
    for entry in entries:
        sentence = Sentence(words=tuple(entry))
        assert again.extract(sentence) == gazetteers.extract(sentence)


def test_an_entry_is_saved_as_its_words() -> None:
    saved = Gazetteers(lists={"city": [("New", "York"), ("서 울",)]}).to_json()
    assert saved["lists"] == {"city": ["new york", ["서 울"]]}


# --- Korean ----------------------------------------------------------------------------------------------

SYLLABLE = st.sampled_from("가나한국은는이. 2")
NAMES = st.lists(st.text(alphabet="가나한국이 .2", max_size=4), max_size=8)


def cut(text: str, places: set[int]) -> Sentence:
    """Return the sentence of a text whose tokens end at spaces and at ``places``."""
    edges = [0, *sorted(places & set(range(1, len(text)))), len(text)]
    pieces = [(a, b) for start, end in pairwise(edges) for a, b in _filled(text, start, end)]
    words = tuple(text[start:end] for start, end in pieces)
    return Sentence(
        words=words, text=text, starts=tuple(a for a, _ in pieces), ends=tuple(b for _, b in pieces)
    )


def _filled(text: str, start: int, end: int) -> list[tuple[int, int]]:
    return [match.span() for match in re.compile(r"\S+").finditer(text, start, end)]


def eojeol_of(text: str, at: int) -> tuple[int, int]:
    """Return the letters and digits around a character, with a stop between digits."""
    spans = [match.span() for match in re.finditer(r"\w+(?:(?<=\d)\.(?=\d)\w+)*|.", text)]
    return next((start, end) for start, end in spans if start <= at < end)


def every_match(sentence: Sentence, names: list[str]) -> list[list[str]]:
    """Try every name at every character of the text, and compare with the rules one by one."""
    text, edges = sentence.surface, sentence.offsets()
    wanted = {name.replace(" ", "") for name in names} - {""}
    rows: list[list[str]] = [[] for _ in edges]
    free = 0
    for at, (left, right) in enumerate(edges):
        for start in range(left, right):
            if at < free or (start != left and eojeol_of(text, start)[0] != start):
                continue
            found: dict[int, int] = {}
            for end in range(start + 1, len(text) + 1):
                name = text[start:end].replace(" ", "")
                token = next((n for n, (a, b) in enumerate(edges) if a < end <= b), None)
                if name not in wanted or token is None:
                    continue
                first, last = eojeol_of(text, end - 1)
                rest = text[end : min(edges[token][1], last)]
                if len(name) == 1 and edges[token][1] == end:
                    rest = text[end:last]
                if may_follow(name, rest) and (len(name) > 1 or first == start):
                    found[len(name)] = token
            if found:
                free = found[max(found)] + 1
                length = free - at
                for part in range(length):
                    letter = "S" if length == 1 else "B" if part == 0 else "E" if part == length - 1 else "I"
                    rows[at + part].append(f"list={letter}")
    return rows


@settings(deadline=None, max_examples=600)
@given(st.text(alphabet=SYLLABLE, max_size=14), st.sets(st.integers(1, 13)), NAMES)
def test_korean_matches_equal_a_brute_force_search(text: str, places: set[int], names: list[str]) -> None:
    sentence = cut(text, places)
    gazetteers = Gazetteers(lists={"list": [name.split() for name in names]}, match="characters")
    assert gazetteers.extract(sentence) == every_match(sentence, names)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("삼성전자는 좋다", "S -"),
        ("삼성전자|는 좋다", "S - -"),
        ("삼|성|전|자|는", "B I I E -"),
        ("삼성 전자는", "B E"),
        ("삼성전자서비스는", "-"),
        ("서울대학교에서도", "S"),
        ("서울 대학교", "B E"),
        ("서울대학교병원", "-"),
        ("‘|삼성전자|’", "- S -"),
        ("신삼성전자", "-"),
        ("ㅋㅋ삼성전자ㅋㅋ", "S"),
        ("이씨는 이는", "S -"),
        ("그|이 이", "- - S"),
    ],
)
def test_korean_names_are_found_before_particles(words: str, expected: str) -> None:
    text = words.replace("|", "")
    places = {at - number for number, at in enumerate(match.start() for match in re.finditer(r"\|", words))}
    lists = {"x": [("삼성전자",), ("서울", "대학교"), ("이",)]}
    rows = Gazetteers(lists=lists, match="characters").extract(cut(text, places))
    assert [row[0].removeprefix("x=") if row else "-" for row in rows] == expected.split()


def test_words_without_their_text_are_matched() -> None:
    gazetteers = Gazetteers(lists={"x": [("삼성전자",)]}, match="characters")
    assert gazetteers.extract(Sentence(words=("삼성", "전자", "는", ""))) == [["x=B"], ["x=E"], [], []]
    assert gazetteers.extract(Sentence(words=())) == []


def test_the_way_of_matching_is_saved_and_older_bundles_match_tokens() -> None:
    sentence = Sentence(words=("서울대학교는",))
    saved = Gazetteers(lists={"x": [("서울", "대학교")]}, match=match_of("ko")).to_json()
    assert saved["lists"] == {"x": ["서울대학교"]}
    assert Gazetteers.from_json(saved).extract(sentence) == [["x=S"]]
    older = {"name": "gazetteer", "fold": True, "lists": {"x": ["서울 대학교"]}}
    again = Gazetteers.from_json(older)
    assert again.match == match_of("en")
    assert again.extract(Sentence(words=("서울", "대학교"))) == [["x=B"], ["x=E"]]
    assert again.extract(sentence) == [[]]


def write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def test_a_plain_list_has_one_entry_per_line(tmp_path: Path) -> None:
    entries = read_entries(write(tmp_path / "list.txt", "\ufeffNew York\r\n\nParis, Texas\nNew  York\n"))
    assert entries.entries == (("New", "York"), ("Paris,", "Texas"))
    assert entries.notes == ("lines without an entry: 1", "repeated entries: 1")


def test_entries_are_split_by_the_given_tokenizer(tmp_path: Path) -> None:
    path = write(tmp_path / "list.txt", "서울 역\n")
    assert read_entries(path, tokenize=list).entries == (("서", "울", " ", "역"),)


@pytest.mark.parametrize(
    ("text", "column", "header"),
    [
        ("name\tpop\nNew York\t8\n's \"Hage\t1\n", "name", False),
        ('pop,name\n8,New York\n1,"\'s ""Hage"\n', "name", False),
        ('pop,name\n8,New York\n1,"\'s ""Hage"\n', 1, True),
        ("8\tNew York\n1\t's \"Hage\n", -1, False),
    ],
)
def test_one_column_of_a_table_is_read(tmp_path: Path, text: str, column: int | str, header: bool) -> None:
    entries = read_entries(write(tmp_path / "table", text), column=column, header=header)
    assert entries.entries == (("New", "York"), ("'s", '"Hage'))


def test_a_space_separated_table_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "dist", "SMITH   1.006  1.006   1\n\nJONES   0.8   1.8   2\n")
    assert read_entries(path, column=0).entries == (("SMITH",), ("JONES",))


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("a\tb\n", "name", r"list:1: no column 'name'. Choose one of 'a', 'b', or an index from 0 to 1"),
        ("a\tb\n", 2, r"list:1: no column 2"),
        ("a\tb\nc\n", 1, r"list:2: no column 1: the line has 1 column"),
        ("", None, r"list: the list has no entries"),
        ("", 0, r"list: the list has no entries"),
        ("name\tb\n", "name", r"list: the list has no entries"),
        ('a,b\n"' + "x" * 200_000, 0, r"list:2: invalid table row"),
    ],
)
def test_a_bad_table_is_refused_with_its_line(
    tmp_path: Path, text: str, column: int | str | None, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_entries(write(tmp_path / "list", text), column=column)


def test_invalid_utf8_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "list").write_bytes("Köln\n".encode() + "Zürich\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"list:2: invalid UTF-8: 0xfc"):
        read_entries(tmp_path / "list")


def test_a_folder_or_a_missing_file_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(InputError, match=r"expected a file, got a folder|file not found"):
            read_entries(path)


@pytest.mark.parametrize(
    ("file", "column", "count", "first"),
    [
        ("geonames/cities15000.tsv", "name", 32148, ("'Alī", "Ābād-e", "Katūl")),
        ("geonames/cities15000_korean_altnames.tsv", "korean", 6050, ("라코루냐",)),
        ("sp500.csv", "Headquarters Location", 250, ("Saint", "Paul,", "Minnesota")),
        ("us_census/dist.male.first", 0, 1219, ("JAMES",)),
    ],
)
def test_the_shared_lists_are_read(
    shared_data: Path, file: str, column: int | str, count: int, first: tuple[str, ...]
) -> None:
    entries = read_entries(shared_data / "gazetteers" / file, column=column)
    assert len(entries.entries) == count
    assert entries.entries[0] == first
