"""The summaries that a training run shows at its start and at its end."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gonie.tasks.recipe import load_recipe
from gonie.tasks.torch.example_training import example_setup
from gonie.tasks.torch.prepare import prepare
from gonie.training.fit import build_model
from gonie.training.run import start_run


def setup_rows(recipe: Path, labels: Counter[str] | None = None) -> dict[str, str]:
    job: Any = prepare(load_recipe(recipe), lambda text: None)
    model = build_model(job)
    job.labels = labels or job.labels
    return dict(example_setup(job, model, lambda text: None).summary)


def test_the_summary_counts_sentences_texts_or_pairs(toy: Path, text_toy: Path, pair_toy: Path) -> None:
    rows = setup_rows(text_toy / "texts.toml")
    assert rows["train"].startswith("60 texts, ")
    assert rows["dev"] == "20 texts"
    assert rows["labels"] in ("good 30  bad 30", "bad 30  good 30")
    assert setup_rows(toy / "toy.toml")["dev"] == "20 sentences"
    rows = setup_rows(pair_toy / "values.toml")
    assert rows["train"].startswith("60 pairs, ")
    assert rows["dev"] == "20 pairs"
    assert sum(int(part.split()[1]) for part in rows["labels"].split("  ")) == 60, (
        "of each fifth of the scale"
    )


def test_a_long_list_of_labels_is_shortened(toy: Path) -> None:
    rows = setup_rows(toy / "toy.toml", Counter({f"type{i}": 1000 - i for i in range(50)}))
    assert rows["labels"].startswith("type0 1,000  type1 999  ")
    assert rows["labels"].endswith("  and 38 more")
    assert "type20" not in rows["labels"]


@pytest.mark.parametrize(
    ("toys", "recipe", "score"),
    [
        ("toy", "toy.toml", "F1"),
        ("text_toy", "texts.toml", "accuracy"),
        ("pair_toy", "labels.toml", "accuracy"),
        ("pair_toy", "values.toml", "Pearson"),
    ],
)
def test_a_run_ends_with_its_scores_and_next_commands(
    toys: str, recipe: str, score: str, tmp_path: Path, *, silence: Any, request: pytest.FixtureRequest
) -> None:
    folder = tmp_path / "my run"
    result = start_run(
        load_recipe(request.getfixturevalue(toys) / recipe, ["train.epochs=1"]), folder, silence
    )
    assert result is not None
    names = [name for name, _ in result.output.results]
    assert names == [f"dev {score}", f"test {score}", "report"]
    for name, value in result.output.results[:2]:
        headline = result.evaluations[name.split()[0]].headline[1]
        assert value.startswith(f"{100 * headline:.2f}  (95% ")
    typed = [shlex.split(command) for command in result.output.commands]
    command = "tag" if toys == "toy" else "classify"
    assert [line[:3] for line in typed] == [
        ["gonie", command, str(folder)],
        ["gonie", "evaluate", str(folder)],
    ]
    assert len(typed[0]) == (5 if toys == "pair_toy" else 4), "as many texts as the model takes"
