"""Which recipes fit a data file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gonie.errors import InputError
from gonie.formats.labelled import LabelledSource
from gonie.formats.tagged import TaggedSource
from gonie.tasks.fitting import fitting_recipes
from support.format_files import FILES

POS = "".join(
    f"{at}\t{word}\t_\t{tag}\t_\t_\t_\t_\t_\t_\n" for at, word, tag in [(1, "새", "DET"), (2, "책이", "NOUN")]
)
TABLE = "text\tlabel\n" + "재미있는 영화였다\t1\n돈이 아깝다\t0\n" * 3
SPANS = json.dumps({"text": "이순신은 서울에 갔다", "spans": [{"start": 0, "end": 3, "label": "PS"}]}) + "\n"


@pytest.mark.parametrize(
    ("name", "content", "recipe"),
    [("a.conllu", POS, "pos-ko"), ("a.tsv", TABLE, "classify-ko"), ("a.jsonl", SPANS, "ner-ko")],
)
def test_korean_files_fit_korean_recipes(name: str, content: str, recipe: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text(content, "utf-8")
    found = fitting_recipes(file)
    assert found is not None
    assert found[1][0] == recipe
    other = TaggedSource(file) if recipe == "classify-ko" else LabelledSource(file)
    with pytest.raises(InputError, match=rf"To train on it, run: gonie train {recipe} \S+{name}\."):
        list(other)


@pytest.mark.parametrize(("name", "recipe"), [("hf-ner.jsonl", "tag"), ("klue-ner.tsv", "ner-ko")])
def test_files_of_another_kind_are_refused_with_the_recipe_of_their_language(name: str, recipe: str) -> None:
    with pytest.raises(InputError, match=f"run: gonie train {recipe} "):
        list(LabelledSource(FILES / name))
