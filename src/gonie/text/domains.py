"""Domains of text: the name of the file that an example comes from, if training files are named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Protocol, TypeVar

DOMAIN = "domain"
"""The key of the domain in ``meta`` of an example."""


class HasMeta(Protocol):
    """An example with named values: a sentence, a labelled text or a pair."""

    @property
    def meta(self) -> Mapping[str, str]:
        """The named values."""
        ...


Example = TypeVar("Example", bound=Any)


def in_domain(example: Example, domain: str) -> Example:
    """Return the example with its domain, or as it is if the domain has no name."""
    return replace(example, meta={**example.meta, DOMAIN: domain}) if domain else example


def domain_places(examples: Iterable[HasMeta]) -> dict[str, list[int]]:
    """Return the numbers of the examples of each domain, in the order of their first example."""
    places: dict[str, list[int]] = {}
    for at, example in enumerate(examples):
        if DOMAIN in example.meta:
            places.setdefault(example.meta[DOMAIN], []).append(at)
    return places


def domain_names(examples: Iterable[HasMeta]) -> list[str]:
    """Return the domains of the examples, in the order of their first example."""
    return list(domain_places(examples))
