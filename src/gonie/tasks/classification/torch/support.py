"""Few-shot heads of a classifier: the labels for episodes."""

from __future__ import annotations

from gonie.features.text_corpus import TextCorpus
from gonie.features.text_encoding import TextEncoding
from gonie.tasks.torch.episode_batches import EpisodePool


def text_pool(corpus: TextCorpus, encoding: TextEncoding) -> EpisodePool:
    """Return the labels of the encoded texts, for episodes. Each text has one."""
    labels = encoding.labels
    mentions = [{labels[number]: 1} if number >= 0 else {} for number in corpus.labels.tolist()]
    return EpisodePool(mentions=mentions, array="labels", types=labels, outside=-1)
