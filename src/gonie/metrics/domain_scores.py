"""The scores of several domains, and how far each is from the score that it is compared with."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

from gonie.metrics.grouped import Gap, GroupScore, gap


@dataclass(frozen=True)
class DomainScores:
    """The main score of each domain, by name.

    ``reference`` is the score of the domains ``inside``, with which all others are compared, if it is known.
    ``overall`` is the score on several domains together that is shown with them. ``trained`` is the split of
    the reference, if that is the score of the domains that were trained on. All other domains are then out of
    domain. Empty: the domains are files, of which the first is the reference.
    """

    scores: Mapping[str, GroupScore]
    reference: GroupScore | None
    inside: Collection[str]
    overall: GroupScore | None
    trained: str = ""

    @classmethod
    def of_files(cls, scores: Mapping[str, GroupScore], overall: GroupScore) -> DomainScores:
        """Return the scores of files, which are compared with the first one."""
        first = next(iter(scores))
        return cls(scores, scores[first], (first,), overall)

    @cached_property
    def gaps(self) -> dict[str, Gap]:
        """How much higher the score of each other domain is than the reference, where both have mentions."""
        if self.reference is None or self.reference.lacks_mentions:
            return {}
        return {
            name: gap(score, self.reference)
            for name, score in self.scores.items()
            if name not in self.inside and not score.lacks_mentions
        }

    @property
    def outside(self) -> list[str]:
        """The domains that were not trained on, as far as that is known."""
        return [name for name in self.scores if name not in self.inside] if self.trained else []
