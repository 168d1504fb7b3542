"""Pretraining a language model: how it learns from running text, how it is scored, and what is kept of it."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from torch import nn

from gonie.features.lm_text import Streams
from gonie.tasks.language_model.recipe import PretrainConfig, PretrainRecipe
from gonie.tasks.language_model.torch.build import build_language_model
from gonie.tasks.language_model.torch.data import PretrainData
from gonie.tasks.language_model.torch.feed import Feed
from gonie.tasks.language_model.torch.folder import WEIGHTS, Predictions, SavedBilm, save_bilm
from gonie.tasks.language_model.torch.perplexity import Perplexity, measure, measure_alone
from gonie.tasks.language_model.torch.start import put_start, told_of_start
from gonie.tasks.language_model.torch.stateful import StatefulReader
from gonie.tasks.run_files import BILM_FOLDER
from gonie.tasks.torch.job import Note, RunOutput, TrainedRun
from gonie.tasks.torch.training_setup import DevScore, Rows, TrainingSetup
from gonie.version import __version__

ENOUGH = 5
"""How many times as many steps as the learning rate takes to rise a training should have at least."""


class LanguageModelJob:
    """A language model's recipe with its text tokenised.

    What is trained is a ``StatefulReader``: the language model with what its rows have read so far.
    """

    def __init__(self, recipe: PretrainRecipe, data: PretrainData) -> None:
        self.recipe = recipe
        self.data = data

    def rates(self, model: StatefulReader) -> Mapping[str, float]:
        """All parts learn at the same rate."""
        return {}

    def fingerprint(self) -> str:
        """A digest of the text and of the words that are predicted."""
        return self.data.fingerprint

    def files(self) -> Mapping[str, str]:
        """The run folder keeps nothing else before the model is trained."""
        return {}

    def build(self) -> StatefulReader:
        """A fresh language model, or the one that it starts from."""
        config = self.recipe.train
        model = build_language_model(self.recipe.model, len(self.data.vocabulary))
        put_start(model, self.recipe.model, self.data.vocabulary)
        return StatefulReader(model=model, rows=config.rows, forget=config.forget)

    def setup(self, model: StatefulReader, note: Note) -> TrainingSetup:
        """Rows of running text, and the perplexity of held-out text."""
        config = self.recipe.train
        tokens = self.data.train.tokens
        streams = Streams(tokens, rows=config.rows, steps=config.steps, seed=config.seed)
        feed = Feed(self.data.train, streams, next(model.parameters()).device)
        if (steps := config.epochs * feed.size(0)) < ENOUGH * config.warmup:
            note(_too_few(steps, config))

        def evaluate() -> DevScore:
            found = measure(model.model, self.data.heldout, config, note)
            shown = f"held-out perplexity {_both(found)}"
            return DevScore(-math.log(found.mean), "log-likelihood", shown, {"perplexity": found._asdict()})

        def resting(epochs_done: float) -> Iterable[nn.Module]:
            """While a new softmax settles, it says nothing yet about the rest."""
            settling = epochs_done < (config.settle or 0.0) * config.epochs
            return (model.model.bilm,) if settling else ()

        return TrainingSetup(
            batches=feed,
            evaluate=evaluate,
            weights=model.model,
            resting=resting,
            end_epoch=model.begin,  # the next epoch cuts the text elsewhere
            summary=self._summary(model, feed),
        )

    def finish(self, run: TrainedRun, note: Note) -> RunOutput:
        """Write the language model of the best epoch."""
        model, recipe = run.model.model, self.recipe
        record = next(record for record in run.history if record["epoch"] == run.best_epoch)
        perplexity = Perplexity(**record["perplexity"])
        alone = measure_alone(model, self.data.heldout, recipe.train, note)
        about = {
            **self._about(perplexity, run.best_epoch),
            "perplexity_alone": alone._asdict(),
            **told_of_start(recipe.model),
        }
        saved = SavedBilm(
            bilm=model.bilm,
            shape=recipe.model.bilm,
            language=recipe.data.language,
            unit=recipe.data.token_unit,
            about=about,
            predictions=Predictions(self.data.vocabulary, model.softmax.state_dict()),
        )
        folder = run.folder / BILM_FOLDER
        save_bilm(folder, saved, storage=recipe.model.storage)
        size = (folder / WEIGHTS).stat().st_size
        return RunOutput(
            results=[
                ("held-out perplexity", _both(perplexity)),
                ("sentence by sentence", f"{_both(alone)}, as sentences are read in use"),
                ("size", f"{size / 1e6:.1f} MB without the softmax"),
            ],
            commands=_next_commands(saved, shlex.quote(str(run.folder))),
            evaluations={},
            baselines={},
        )

    def add_comparisons(
        self, run: TrainedRun, output: RunOutput, variants: Mapping[str, RunOutput], note: Note
    ) -> RunOutput:
        """There is nothing to compare with."""
        return output

    def _summary(self, model: StatefulReader, feed: Feed) -> Rows:
        data, epochs = self.data, self.recipe.train.epochs
        sizes = [
            sum(parameter.numel() for parameter in part.parameters())
            for part in (model.model.bilm, model.model.softmax)
        ]
        return [
            ("text", f"{data.train.words:,} words, {data.heldout.words:,} held out"),
            (
                "predicts",
                f"{len(data.vocabulary):,} words; {100 * data.heldout.unknown:.1f}% of held-out words are "
                "not among them",
            ),
            (
                "model",
                f"{sizes[0]:,} parameters, and {sizes[1]:,} in the softmax, "
                f"on {model.model.softmax.weight.device}",
            ),
            ("steps", f"{feed.size(0):,} per epoch, {epochs} epochs"),
        ]

    def _about(self, perplexity: Perplexity, epochs: int) -> dict[str, Any]:
        """Where the model comes from, for whoever uses it."""
        data, files = self.data, self.recipe.data
        return {
            "gonie": __version__,
            "text": [Path(file).name for file in files.text],
            "words": data.train.words,
            "epochs": epochs,
            "heldout": Path(files.heldout).name if files.heldout else "the end of the text",
            "heldout_words": data.heldout.words,
            "vocabulary": len(data.vocabulary),
            "unknown": data.heldout.unknown,
            "perplexity": perplexity._asdict(),
        }


def _both(perplexity: Perplexity) -> str:
    return f"{perplexity.ahead:,.2f} forward, {perplexity.back:,.2f} backward"


def _next_commands(saved: SavedBilm, folder: str) -> list[str]:
    """A shipped recipe whose text is cut into the words that the model knows, and vectors of a text."""
    recipe = "ner" if saved.language == "en" else f"ner-ko --set data.unit={saved.unit}"
    return [
        f"gonie train {recipe} --set model.elmo.bilm={folder}",
        f'gonie embed {folder} "your text" --out vectors.npz',
    ]


def _too_few(steps: int, config: PretrainConfig) -> str:
    """What is told of a training that ends when its learning rate has hardly risen."""
    wanted = ENOUGH * config.warmup
    rows = max(1, config.rows * steps // wanted)
    return (
        f"only {steps:,} steps, where {wanted:,} or more are advised: over the first {config.warmup:,} the "
        "learning rate only rises, and little will be learned. Read fewer rows at once "
        f"(--set train.rows={rows}), or use more text or more epochs"
    )
