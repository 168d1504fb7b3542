"""Evaluates a trained model on each domain of its dev and test examples."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from gonie.metrics.domain_scores import DomainScores
from gonie.metrics.grouped import GroupScore
from gonie.tasks.torch.job import EvaluatedDomains, ExampleJob, Split
from gonie.text.domains import domain_places


def evaluate_domains(job: ExampleJob, answers: Mapping[Split, Sequence[Any]]) -> dict[str, EvaluatedDomains]:
    """Evaluate the predictions of each split on each of its domains, if there are several to compare.

    Domains that were not trained on are compared with those that were: with their score on the same split, or
    on dev if the split has none of them (``data.leave_out``). Domains that the start was trained on count as
    trained on. If training files have no names, domains are compared with the first one.
    """
    splits = {split: _Domains.of(job, split, own) for split, own in answers.items()}
    if len({name for own in splits.values() for name in own.places}) < 2:
        return {}
    trained = [name for name in job.recipe.data.files("train") if name]
    if trained and job.start is not None:
        for _, earlier in job.start.lineage:
            trained += job.recipe.data.domains_learned_by(earlier.data)
    found = {split: _compared(own, splits["dev"], trained) for split, own in splits.items() if own.places}
    return {split: own for split, own in found.items() if len(own.evaluations) > 1 or own.scores.outside}


class _Domains(NamedTuple):
    """The predictions of a split, and the numbers of the examples of each domain."""

    job: ExampleJob
    split: Split
    examples: Sequence[Any]
    answers: Sequence[Any]
    places: Mapping[str, Sequence[int]]

    @classmethod
    def of(cls, job: ExampleJob, split: Split, answers: Sequence[Any]) -> _Domains:
        examples = job.examples(split)
        return cls(job, split, examples, answers, domain_places(examples))

    def evaluate(self, names: Collection[str]) -> Any:
        """Evaluate the examples of some domains together."""
        places = [at for name in names for at in self.places[name]]
        return self.job.evaluate([self.examples[at] for at in places], [self.answers[at] for at in places])

    def score(self, names: Collection[str]) -> GroupScore:
        """Return the main score on some domains together."""
        return GroupScore.of(self.evaluate(names), sum(len(self.places[name]) for name in names))


def _compared(own: _Domains, dev: _Domains, trained: Collection[str]) -> EvaluatedDomains:
    """Compare the domains of a split."""
    evaluations = {name: own.evaluate([name]) for name in own.places}
    scores = {name: GroupScore.of(each, len(own.places[name])) for name, each in evaluations.items()}
    if not trained:
        return EvaluatedDomains(evaluations, DomainScores.of_files(scores, own.score(own.places)))
    inside = [name for name in own.places if name in trained]
    known = own if inside else dev
    names = [name for name in known.places if name in trained]
    reference = known.score(names) if names else None
    overall = None if len(inside) == 1 else reference  # which a row shows already
    return EvaluatedDomains(
        evaluations, DomainScores(scores, reference, inside, overall, trained=known.split)
    )
