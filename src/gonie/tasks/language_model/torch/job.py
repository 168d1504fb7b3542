"""The pretraining job of a language model: its data, model, perplexity and saved folder."""

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
from gonie.tasks.language_model.torch.start import describe_start, load_start
from gonie.tasks.language_model.torch.stateful import StatefulReader
from gonie.tasks.run_files import BILM_FOLDER
from gonie.tasks.torch.job import Note, RunOutput, TrainedRun
from gonie.tasks.torch.training_setup import DevScore, Rows, TrainingSetup
from gonie.version import __version__

ENOUGH = 5
"""Minimum ratio of training steps to warm-up steps, below which there is a warning."""


class LanguageModelJob:
    """The recipe of a language model with its tokenised text.

    The trained module is a ``StatefulReader``: the language model with the carried states of its rows.
    """

    def __init__(self, recipe: PretrainRecipe, data: PretrainData) -> None:
        self.recipe = recipe
        self.data = data

    def rates(self, model: StatefulReader) -> Mapping[str, float]:
        """Return nothing, because all parts have the same learning rate."""
        return {}

    def fingerprint(self) -> str:
        """Return a digest of the text and the vocabulary."""
        return self.data.fingerprint

    def files(self) -> Mapping[str, str]:
        """Return no additional files."""
        return {}

    def build(self) -> StatefulReader:
        """Build an untrained language model, or load the one that it starts from."""
        config = self.recipe.train
        model = build_language_model(self.recipe.model, len(self.data.vocabulary))
        load_start(model, self.recipe.model, self.data.vocabulary)
        return StatefulReader(model=model, rows=config.rows, forget=config.forget)

    def setup(self, model: StatefulReader, note: Note) -> TrainingSetup:
        """Return a setup with rows of running text, and the perplexity of held-out text as dev score."""
        config = self.recipe.train
        tokens = self.data.train.tokens
        streams = Streams(tokens, rows=config.rows, steps=config.steps, seed=config.seed)
        feed = Feed(self.data.train, streams, next(model.parameters()).device)
        if (steps := config.epochs * feed.size(0)) < ENOUGH * config.warmup:
            note(_warn_few_steps(steps, config))

        def evaluate() -> DevScore:
            found = measure(model.model, self.data.heldout, config, note)
            shown = f"held-out perplexity {_both_directions(found)}"
            return DevScore(-math.log(found.mean), "log-likelihood", shown, {"perplexity": found._asdict()})

        def resting(epochs_done: float) -> Iterable[nn.Module]:
            """Freeze the biLM at first, while a new softmax is trained."""
            settling = epochs_done < (config.settle or 0.0) * config.epochs
            return (model.model.bilm,) if settling else ()

        return TrainingSetup(
            batches=feed,
            evaluate=evaluate,
            weights=model.model,
            resting=resting,
            end_epoch=model.begin,  # the rows of the next epoch start elsewhere
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
            **describe_start(recipe.model),
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
                ("held-out perplexity", _both_directions(perplexity)),
                ("sentence by sentence", f"{_both_directions(alone)}, as at inference"),
                ("size", f"{size / 1e6:.1f} MB without the softmax"),
            ],
            commands=_next_commands(saved, shlex.quote(str(run.folder))),
            evaluations={},
            baselines={},
        )

    def add_comparisons(
        self, run: TrainedRun, output: RunOutput, variants: Mapping[str, RunOutput], note: Note
    ) -> RunOutput:
        """Return the output unchanged, because there are no baselines."""
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
                "not in the vocabulary",
            ),
            (
                "model",
                f"{sizes[0]:,} parameters, and {sizes[1]:,} in the softmax, "
                f"on {model.model.softmax.weight.device}",
            ),
            ("steps", f"{feed.size(0):,} per epoch, {epochs} epochs"),
        ]

    def _about(self, perplexity: Perplexity, epochs: int) -> dict[str, Any]:
        """Return the origin of the model, for its description."""
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


def _both_directions(perplexity: Perplexity) -> str:
    return f"{perplexity.ahead:,.2f} forward, {perplexity.back:,.2f} backward"


def _next_commands(saved: SavedBilm, folder: str) -> list[str]:
    """Return commands to train with a shipped recipe of the same token unit, and to embed a text."""
    recipe = "ner" if saved.language == "en" else f"ner-ko --set data.unit={saved.unit}"
    return [
        f"gonie train {recipe} --set model.elmo.bilm={folder}",
        f'gonie embed {folder} "your text" --out vectors.npz',
    ]


def _warn_few_steps(steps: int, config: PretrainConfig) -> str:
    """Return the warning for a training that ends soon after the warm-up of the learning rate."""
    wanted = ENOUGH * config.warmup
    rows = max(1, config.rows * steps // wanted)
    return (
        f"only {steps:,} training steps; at least {wanted:,} are recommended, because the first "
        f"{config.warmup:,} are warm-up. Use fewer rows (--set train.rows={rows}), more text or more epochs"
    )
