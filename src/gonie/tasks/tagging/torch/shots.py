"""Few-shot samples of tagged sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from gonie.tasks.tagging.recipe import TagRecipe
from gonie.tasks.torch.shots import sample_rows
from gonie.text.schemes import Scheme, to_spans
from gonie.text.types import Sentence


def sample_sentences(
    sentences: Iterable[Sentence], scheme: Scheme, recipe: TagRecipe, note: Callable[[str], None]
) -> list[Sentence]:
    """Return a sample with ``train.shots`` mentions of each type, in order. The tags are of ``scheme``."""
    every = list(sentences)
    mentions = [count_mentions(sentence.tags or (), scheme) for sentence in every]
    rows = sample_rows(mentions, recipe, "sentences", note)
    if recipe.data.dev is None:
        note(
            "no dev file: the sampled sentences are also the dev sentences, so the dev score says nothing "
            "about other text"
        )
    return [every[row] for row in rows]


def rarest_types(sentences: Iterable[Sentence], scheme: Scheme) -> list[str]:
    """Return the type of each sentence with the fewest mentions in all, empty if it has no mention."""
    mentions = [count_mentions(sentence.tags or (), scheme) for sentence in sentences]
    totals: Counter[str] = Counter()
    for own in mentions:
        totals.update(own)
    return [min(own, key=lambda name: (totals[name], name), default="") for own in mentions]


def count_mentions(tags: Iterable[str], scheme: Scheme) -> Counter[str]:
    """Return the number of entities of each type, or of tokens of each plain tag."""
    if not scheme.has_spans:
        return Counter(tags)
    return Counter(span[2] for span in to_spans(list(tags), scheme))
