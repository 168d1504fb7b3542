"""The training data of a language model: tokenised text, the bytes of its words, and the vocabulary."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gonie.errors import InputError
from gonie.features.byte_spelling import Spelled
from gonie.features.lm_text import (
    END,
    FIRST,
    UNKNOWN,
    TokenisingProgress,
    TokenStream,
    build_stream,
    spell_stream,
)
from gonie.tasks.language_model.recipe import PretrainRecipe
from gonie.tasks.paths import locate

Note = Callable[[str], None]
Tokens = NDArray[np.int32]
Counts = NDArray[np.int64]
FEWEST = 2
"""Minimum number of words of a vocabulary."""


@dataclass(frozen=True)
class RunningText:
    """Running text: ``tokens`` (M,) of U forms, the bytes of the forms (U, C), and their target ids (U,)."""

    tokens: Tokens
    spelled: Spelled
    targets: NDArray[np.int64]

    @property
    def words(self) -> int:
        """The number of words, without sentence marks."""
        return int(np.count_nonzero(self.tokens > END))

    @property
    def unknown(self) -> float:
        """The share of words that are not in the vocabulary."""
        words = self.tokens[self.tokens > END]
        return float((self.targets[words] == UNKNOWN).mean())


@dataclass(frozen=True)
class PretrainData:
    """The training text, the held-out text, and the vocabulary in the order of target ids."""

    train: RunningText
    heldout: RunningText
    vocabulary: Sequence[str]
    fingerprint: str


def read_pretrain_data(
    recipe: PretrainRecipe,
    folder: Path,
    note: Note,
    *,
    advance: Callable[[TokenisingProgress], None] | None = None,
    vocabulary: Sequence[str] | None = None,
) -> PretrainData:
    """Tokenise the recipe's text into ``folder``, unless it is there already, and choose the vocabulary.

    A given ``vocabulary``, from the model that this one starts from, is used unchanged.
    """
    data = recipe.data
    stream = _stream(recipe, data.text, folder / "train", note, advance)
    if data.heldout:
        held = _stream(recipe, [data.heldout], folder / "heldout", note, advance)
        learned, apart, counts = stream.tokens, held.tokens, stream.counts
    else:
        held = stream
        learned, apart = _hold_out(stream.tokens, data.holdout)
        counts = stream.counts - np.bincount(apart, minlength=len(stream.counts))
    words = list(vocabulary) if vocabulary is not None else _most_frequent(stream, counts, data.vocabulary)
    train = _text(stream, learned, words, recipe)
    heldout = replace(train, tokens=apart) if held is stream else _text(held, apart, words, recipe)
    digest = hashlib.sha256(json.dumps([stream.fingerprint, len(train.tokens), words]).encode())
    return PretrainData(train, heldout, words, digest.hexdigest())


def _stream(
    recipe: PretrainRecipe,
    files: Sequence[str],
    folder: Path,
    note: Note,
    advance: Callable[[TokenisingProgress], None] | None,
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


def _most_frequent(stream: TokenStream, counts: Counts, most: int) -> list[str]:
    """Return the vocabulary: the sentence marks, the unknown word, then the most frequent words.

    ``counts`` (U,) are the counts of the forms in the training text. Forms with count 0 are left out.
    """
    order = FIRST + np.argsort(-counts[FIRST:], kind="stable")
    met = order[counts[order] > 0][:most].tolist()
    if len(met) < FEWEST:
        only = f" ({stream.forms[met[0]]!r})" if met else ""
        raise InputError(
            f"vocabulary of fewer than {FEWEST} words: {len(met)}{only}",
            fix="Use more text, or a larger data.vocabulary",
        )
    return [stream.forms[id] for id in (*range(FIRST), *met)]


def _text(
    stream: TokenStream, tokens: Tokens, vocabulary: Sequence[str], recipe: PretrainRecipe
) -> RunningText:
    numbers = {word: number for number, word in enumerate(vocabulary) if number >= FIRST}
    targets = np.fromiter((numbers.get(form, UNKNOWN) for form in stream.forms), dtype=np.int64)
    targets[:FIRST] = np.arange(FIRST)  # a word spelled <S> is not a sentence mark
    return RunningText(tokens, spell_stream(stream, longest=recipe.model.longest), targets)


def _hold_out(tokens: Tokens, share: float) -> tuple[Tokens, Tokens]:
    """Split the tokens (M,) into training sentences and the last sentences."""
    ends = np.flatnonzero(tokens == END) + 1  # (sentences,)
    if len(ends) < 2:
        raise InputError(
            f"too few sentences to hold one out: {len(ends)}",
            fix="Use more text, or a held-out file: --set data.heldout=FILE",
        )
    learned = min(max(round(len(ends) * (1 - share)), 1), len(ends) - 1)
    cut = int(ends[learned - 1])
    return tokens[:cut], tokens[cut:]
