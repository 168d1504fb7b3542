"""Types for type checkers: the names of shipped recipes by task, and the options of ``gonie.train``."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from gonie.api.events import OnEvent

TagRecipe = Literal[
    "bilstm",
    "bilstm-crf",
    "chunk",
    "crf",
    "demo",
    "demo-ko",
    "lstm",
    "lstm-crf",
    "ner",
    "ner-ko",
    "ner-ko-elmo",
    "pos",
    "pos-ko",
    "rnn",
    "tag",
    "window-crf",
    "window-ner",
    "window-person",
]
TextRecipe = Literal[
    "classify", "classify-ko", "intents", "relations", "reviews-han", "sentiment-nsmc", "subjectivity"
]
PairRecipe = Literal["pairs", "similarity-ko"]
Device = Literal["cpu", "cuda", "auto"]


class TrainOptions(TypedDict, total=False):
    """The options of ``gonie.train`` besides the recipe and the data."""

    set: Mapping[str, Any] | None
    out: str | PathLike[str] | None
    seed: int | None
    device: Device | None
    resume: bool
    progress: bool
    on_event: OnEvent | None
