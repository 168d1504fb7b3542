"""What a language model learns from: tokenised text, the spelling of its words, and the words it predicts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gonie.data.byte_spelling import Spelled
from gonie.data.running import END, FIRST, UNKNOWN, Advance, TokenStream, build_stream, spell_stream
from gonie.errors import InputError
from gonie.models.bilm_config import PretrainRecipe
from gonie.models.recipe import locate

Note = Callable[[str], None]
FEWEST = 2
"""Words that a vocabulary must have at least: of one there is nothing to predict."""


@dataclass(frozen=True)
class Text:
    """Running text: ``tokens`` (M,) of U forms, their bytes (U, C), and what each is as a target (U,)."""

    tokens: NDArray[np.int32]
    spelled: Spelled
    targets: NDArray[np.int64]

    @property
    def words(self) -> int:
        """How many words there are, the marks of sentences not counted."""
        return int(np.count_nonzero(self.tokens > END))

    @property
    def unknown(self) -> float:
        """The share of words that are not in the vocabulary."""
        words = self.tokens[self.tokens > END]
        return float((self.targets[words] == UNKNOWN).mean())


@dataclass(frozen=True)
class PretrainData:
    """Text to learn from, text held out, and the words that are predicted, by their number."""

    train: Text
    heldout: Text
    vocabulary: Sequence[str]
    fingerprint: str


def read_pretrain_data(
    recipe: PretrainRecipe,
    folder: Path,
    note: Note,
    *,
    advance: Callable[[Advance], None] | None = None,
    vocabulary: Sequence[str] | None = None,
) -> PretrainData:
    """Tokenise the recipe's text into ``folder`` (or find it there), and cut its vocabulary.

    A ``vocabulary`` that is given, by the model that this one starts from, is kept as it is.
    """
    data = recipe.data
    stream = _stream(recipe, data.text, folder / "train", note, advance)
    words = list(vocabulary) if vocabulary is not None else _most_frequent(stream, data.vocabulary)
    train = _text(stream, words, recipe)
    if data.heldout:
        held = _stream(recipe, [data.heldout], folder / "heldout", note, advance)
        heldout = _text(held, words, recipe)
    else:
        train, heldout = _hold_out(train, data.holdout)
    digest = hashlib.sha256(json.dumps([stream.fingerprint, len(train.tokens), words]).encode())
    return PretrainData(train, heldout, words, digest.hexdigest())


def _stream(
    recipe: PretrainRecipe,
    files: Sequence[str],
    folder: Path,
    note: Note,
    advance: Callable[[Advance], None] | None,
) -> TokenStream:
    data = recipe.data
    return build_stream(
        [locate(file) for file in files],
        folder,
        language=data.language,
        unit=data.token_unit,
        column=data.column,
        tokenised=data.tokenised,
        note=note,
        advance=advance,
    )


def _most_frequent(stream: TokenStream, most: int) -> list[str]:
    """The words to predict, with the marks of sentences and the unknown word before them."""
    size = min(FIRST + most, len(stream.forms))
    if size < FIRST + FEWEST:
        only = f" ({stream.forms[FIRST]!r})" if size > FIRST else ""
        raise InputError(
            expected=f"at least {FEWEST} different words to predict",
            got=f"{size - FIRST}{only}",
            fix="Use more text, or a larger data.vocabulary",
        )
    return [stream.forms[i] for i in range(size)]


def _text(stream: TokenStream, vocabulary: Sequence[str], recipe: PretrainRecipe) -> Text:
    numbers = {word: number for number, word in enumerate(vocabulary) if number >= FIRST}
    targets = np.fromiter((numbers.get(form, UNKNOWN) for form in stream.forms), dtype=np.int64)
    targets[:FIRST] = np.arange(FIRST)  # a word that is spelled <S> is none of them
    return Text(stream.tokens, spell_stream(stream, longest=recipe.model.longest), targets)


def _hold_out(text: Text, share: float) -> tuple[Text, Text]:
    """The text without its last sentences, and these."""
    ends = np.flatnonzero(text.tokens == END) + 1
    cut = int(ends[min(int(len(ends) * (1 - share)), len(ends) - 2)]) if len(ends) > 1 else 0
    if not 0 < cut < len(text.tokens):
        raise InputError(
            expected="at least two sentences, one of them to hold out",
            got=f"{len(ends)}",
            fix="Use more text, or name a file with --set data.heldout=FILE",
        )
    parts = (text.tokens[:cut], text.tokens[cut:])
    train, heldout = (Text(tokens, text.spelled, text.targets) for tokens in parts)
    return train, heldout
