"""Tests ``gonie.evaluate`` by named values, on several files and under noise."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import gonie

from .conftest import SENTENCES, TEXTS


def with_years(swapped: str = "") -> list[dict[str, Any]]:
    """Return the sentences with years in turn. In one year, people are tagged as places."""
    return [
        {
            "tokens": words,
            "tags": [tag.replace("PER", "LOC") if year == swapped else tag for tag in tags],
            "year": int(year),
        }
        for at, (words, tags) in enumerate(SENTENCES)
        for year in ("1999" if at % 2 else "2004",)
    ]


def test_rows_in_memory_are_scored_by_their_values(tagged: Any) -> None:
    scores = gonie.evaluate(tagged.model, with_years("1999"), by="year")
    groups = scores.by["year"]
    assert list(groups) == ["1999", "2004"]
    assert groups["1999"].score < groups["2004"].score
    assert groups["2004"].examples == 15
    assert scores.to_dict()["by"]["year"]["2004"]["f1"] == groups["2004"].score
    own = [gonie.Sentence(tuple(w), tuple(t), meta={"source": "web"}) for w, t in SENTENCES]
    assert (
        gonie.evaluate(tagged.model, own, by=["source"]).by["source"]["web"].score == tagged.scores["dev"].f1
    )
    with pytest.raises(gonie.InputError, match="no example has a value named genre"):
        gonie.evaluate(tagged.model, own, by="genre")


def test_texts_in_memory_are_scored_by_their_values(classified: Any) -> None:
    rows = [{"text": text, "label": label, "meta": {"site": label[0]}} for text, label in TEXTS]
    scores = gonie.evaluate(classified.model, rows, by="site")
    assert {site: group.examples for site, group in scores.by["site"].items()} == {"n": 12, "p": 12}
    assert scores.accuracy == classified.scores["dev"].accuracy


def test_named_data_is_compared_with_the_first(tagged: Any, tmp_path: Path) -> None:
    file = tmp_path / "web.jsonl"
    file.write_text("\n".join(map(json.dumps, with_years("2004"))), "utf-8")
    scores = gonie.evaluate(tagged.model, {"news": SENTENCES, "web": file})
    assert scores.domains["news"].f1 == tagged.scores["dev"].f1
    assert scores.gap["web"].score == pytest.approx(scores.domains["web"].f1 - scores.domains["news"].f1)
    assert scores.domains["web"].f1 < scores.f1 < scores.domains["news"].f1, "the pooled score"
    assert scores.headline == "f1"
    assert scores.interval() is not None
    record = json.loads(scores.to_json())
    assert record.keys() == {"headline", "domains", "gap", "separation", "pooled"}
    assert record["pooled"]["sentences"] == 60
    assert scores.errors()
    with pytest.raises(gonie.InputError, match="no files to score"):
        gonie.evaluate(tagged.model, {})


@pytest.mark.parametrize(("name", "rows"), [("web", []), ("b/c", [*SENTENCES, (["one", "two"], ["O"])])])
def test_bad_examples_are_named_by_their_domain(tagged: Any, name: str, rows: list[Any]) -> None:
    """Several domains have examples of the same number."""
    with pytest.raises(gonie.InputError, match=rf"no rows in {name}|{name} row 31"):
        gonie.evaluate(tagged.model, {"news": SENTENCES, name: rows})


def test_noise_is_scored_on_request(tagged: Any) -> None:
    assert gonie.evaluate(tagged.model, SENTENCES).noise == ()
    scores = gonie.evaluate(tagged.model, SENTENCES, noise=True, limit=6)
    kinds = {score.kind for score in scores.noise}
    assert {"none", "typos", "upper", "spaces-lost"} <= kinds
    assert [each["kind"] for each in scores.to_dict()["noise"]] == [score.kind for score in scores.noise]


def test_ensembles_and_passes_are_scored(tagged: Any, classified: Any, tmp_path: Path) -> None:
    folder = tagged.folder
    alone = gonie.evaluate(folder, SENTENCES)
    copies = [shutil.copytree(folder / "bundle", tmp_path / name) for name in ("one", "two")]
    for others in (copies[:1], [copies[0], gonie.load(copies[1])]):
        assert gonie.evaluate(tagged.model, SENTENCES, ensemble=others).f1 == alone.f1
    assert gonie.evaluate(gonie.load([folder, folder]), SENTENCES).f1 == alone.f1
    one, same = (gonie.evaluate(folder, SENTENCES, mc_dropout=3, seed=4).to_dict() for _ in range(2))
    assert one == same
    files = {"a": TEXTS, "b": TEXTS[:4]}
    found = gonie.evaluate(classified.folder, files, mc_dropout=3)
    assert found.separation["b"]["mutual_information"].inside == len(TEXTS)
    assert found.to_dict()["separation"]["b"]["lowest"]["auroc"] == found.separation["b"]["lowest"].auroc
    with pytest.raises(gonie.InputError, match="a model is in the ensemble twice"):
        gonie.evaluate(folder, SENTENCES, ensemble=folder)
    with pytest.raises(gonie.InputError, match="a model is in the ensemble twice"):
        gonie.evaluate(folder, SENTENCES, ensemble=[tagged.model])
    with pytest.raises(gonie.InputError, match="mc_dropout cannot be combined with ensemble"):
        gonie.evaluate(folder, SENTENCES, ensemble=[folder], mc_dropout=3)
    wrong: Any
    for wrong in ({"mc_dropout": "5"}, {"mc_dropout": 2, "seed": 0.5}, {"noise": True, "limit": "9"}):
        with pytest.raises(gonie.InputError, match=f"{[*wrong][-1]} must be a whole number: "):
            gonie.evaluate(folder, SENTENCES, **wrong)
