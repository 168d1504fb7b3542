"""The options by which `gonie tag` and `gonie evaluate` choose tags otherwise than by the best sequence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from gonie.tasks.tagging.tagger import Tagger

Decode = Annotated[
    Literal["viterbi", "posterior"],
    typer.Option(help="viterbi: the most probable tag sequence; posterior: the most tags expected right."),
]
Bias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[TYPE=]NUMBER",
        help="Added to the score of each entity, of TYPE only if given: above 0 finds more, below 0 only "
        "surer ones. Repeatable.",
    ),
]


def with_decoding(
    tagger: Tagger, decode: Literal["viterbi", "posterior"], bias: Sequence[str] | None
) -> Tagger:
    """The tagger, choosing tags as the options say."""
    return tagger.with_decoding(decode, biases(bias))


def biases(given: Sequence[str] | None) -> dict[str, float]:
    """What the option says, by type of entity."""
    return dict(map(_parse, given or []))


def _parse(text: str) -> tuple[str, float]:
    from gonie.errors import InputError
    from gonie.tasks.tagging.decoding import EVERY

    label, equals, number = text.rpartition("=")
    try:
        return label if equals else EVERY, float(number)
    except ValueError as error:
        raise InputError(expected="--bias NUMBER or --bias TYPE=NUMBER", got=repr(text)) from error
