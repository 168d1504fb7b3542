"""Options that choose tags otherwise than by the best sequence, or list what else a sentence may be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import typer

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


NBest = Annotated[
    int | None,
    typer.Option(
        "--nbest",
        metavar="N",
        help="List the N likeliest taggings of each sentence, best first, with their probabilities; with "
        "pretty, jsonl and parquet output.",
    ),
]


def check_nbest(nbest: int | None, *, output: str | None, decode: str, bias: Sequence[str] | None) -> None:
    """Refuse a number that cannot be meant, and what has no place for candidates or no use for them."""
    from gonie.errors import InputError

    if nbest is None:
        return
    check_number(nbest)
    if output == "conll":
        raise InputError(
            "expected --output pretty, jsonl or parquet with --nbest, got conll, which has one tag a word"
        )
    if decode != "viterbi" or bias:
        got = f"--decode {decode}" if decode != "viterbi" else "--bias"
        raise InputError(
            "expected --nbest alone, since it lists taggings by the model's own probability, got "
            f"{got} with it, which chooses others"
        )


def check_number(nbest: int) -> None:
    """Refuse a number of taggings that no tagger lists."""
    from gonie.errors import InputError
    from gonie.tasks.tagging.candidates import MOST

    if not 1 <= nbest <= MOST:
        raise InputError(f"expected --nbest of at least 1 and at most {MOST}, got {nbest!s}")
