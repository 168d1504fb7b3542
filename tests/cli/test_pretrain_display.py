"""What the screen says of a pretraining, where there is no terminal."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from gonie.cli import pretrain_display
from gonie.cli.pretrain_display import PretrainScreen
from gonie.data.running import Advance
from gonie.models.recipe import load_recipe
from gonie.training.loop import Step
from gonie.training.perplexity import Perplexity
from gonie.training.pretrain_run import Pretrained, PretrainSummary

SUMMARY = PretrainSummary(
    folder=Path("runs/[a]"),
    device="cpu",
    words=1000,
    heldout=50,
    unknown=0.25,
    vocabulary=43,
    parameters=5,
    softmax_parameters=7,
    epochs=4,
    batches=10,
    first_epoch=1,
    complete=False,
)


def told(**changes: str) -> list[str]:
    """The lines about a whole pretraining."""
    output = StringIO()
    with PretrainScreen(Console(file=output, width=300)) as screen:
        screen.advance(Advance(Path("[b].txt"), 10, 50, 100))
        screen.begin(SUMMARY)
        screen.step(Step(2, 5, 10, 24, 0.1))
        screen.note("a [note]")
        screen.finished(finished(**changes))
    return output.getvalue().splitlines()


def finished(*, language: str = "en", unit: str = "word") -> Pretrained:
    return Pretrained(
        folder=Path("runs/my model"),
        perplexity=Perplexity(50.0, 51.0),
        alone=Perplexity(60.0, 61.0),
        best_epoch=2,
        vocabulary=43,
        seconds=70.0,
        size=2_500_000,
        language=language,
        unit=unit,
    )


def test_the_lines_say_what_is_done_how_far_it_is_and_how_it_went(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pretrain_display, "QUIET_SECONDS", -1.0)
    text = "\n".join(told())
    for words in (
        "tokenising [b].txt: 50% of all",
        "1,000 words, 50 held out",
        "25.0% of held-out words are none of them",
        "runs/[a]",
        "epoch 2/4:",
        "a [note]",
        "held-out perplexity 50.00 onward, 51.00 backward, over all 43 words (epoch 2)",
        "60.00 onward, 61.00 backward",
        "2.5 MB",
        "gonie embed 'runs/my model'",
    ):
        assert words in text


@pytest.mark.parametrize(
    ("language", "unit"), [("en", "word"), ("ko", "morpheme"), ("ko", "syllable"), ("ko", "eojeol")]
)
def test_the_recipe_to_try_reads_the_words_that_the_model_knows(language: str, unit: str) -> None:
    """A Korean model beside English words would help nobody."""
    (line,) = [line for line in told(language=language, unit=unit) if line.startswith("try:")]
    name, *changes = line.split("gonie train ")[1].split(" --set ")
    recipe = load_recipe(name, [change for change in changes if change.startswith("data.")])
    assert (recipe.data.language, recipe.data.token_unit) == (language, unit)
