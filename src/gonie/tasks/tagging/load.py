"""Load a tagger from its bundle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gonie.errors import BundleError
from gonie.runtime.decoder import Decoder
from gonie.runtime.session import OnnxScorer
from gonie.runtime.smoke_test import smoke_test_batch
from gonie.tasks.tagging.bundle import TagBundle
from gonie.tasks.tagging.tagger import Tagger
from gonie.text.rules import allowed
from gonie.text.tokenizers import Tokenizer, tokenizer


def load_tag_bundle(bundle: TagBundle, threads: int | None = None) -> Tagger:
    """Load the tagger and test it on a batch. ``threads`` limits the CPU threads of a call."""
    encoding = bundle.encoding
    scorer = OnnxScorer(
        bundle.graph,
        bundle.forms,
        labels=len(encoding.labels),
        threads=threads,
        shared=encoding.has_context,  # a language model keeps all threads busy with one sentence
    )
    scorer.scores(smoke_test_batch(encoding))
    rules = allowed(
        encoding.labels, encoding.scheme, constrained=bundle.constrained, forbidden=bundle.forbidden
    )
    return Tagger(
        encoding=encoding,
        tokenizer=_tokenizer(bundle.tokenizer),
        scorer=scorer,
        decoder=Decoder(
            transitions=bundle.transitions,
            start=bundle.start,
            end=bundle.end,
            allowed=rules,
            temperature=bundle.temperature,
        ),
        recipe=bundle.about.recipe,
        given_scheme=bundle.given_scheme,
    )


def _tokenizer(described: Mapping[str, Any]) -> Tokenizer:
    try:
        return tokenizer(**described)
    except TypeError as error:
        raise BundleError(f"invalid tokenizer: {dict(described)}. It needs a language and a unit.") from error
