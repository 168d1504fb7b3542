"""What tables of groups, files and noise show, on the terminal and on pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from gonie.messages import say
from gonie.metrics.domain_scores import DomainScores
from gonie.metrics.grouped import Gap, GroupScore
from gonie.metrics.novelty import Recall
from gonie.metrics.robustness import NoiseCurve, NoiseScore
from gonie.metrics.separation import Separation
from gonie.reports.report_page import percent, range_text
from gonie.text.noise_levels import NONE, SPACES, TYPOS

FEW = 20
"""Groups with fewer examples are marked."""
MARK = "*"
FEW_NOTE = f"{MARK} fewer than {FEW} examples: see the interval"
SEEN_NOTE = (
    "seen: recall of mentions that the training data has with the same type; unseen: of all others; share: "
    "that of unseen mentions"
)
UNCERTAINTIES = {
    "lowest": "least certain answer",
    "total_entropy": "total entropy",
    "data_entropy": "mean entropy of the models or passes",
    "mutual_information": "mutual information",
}
"""The names of scores of uncertainty."""
SEPARATION_NOTE = (
    "AUROC: how often the model is less certain of a text than of one of the first file (50: chance)"
)
Separations = Mapping[str, Mapping[str, Separation]]
"""How well each score of uncertainty tells the texts of a file from those of the first one."""
MEASURES = {"f1": "F1", "accuracy": "accuracy", "relation_f1": "macro F1", "pearson": "Pearson"}
KINDS = {
    NONE: "no noise",
    TYPOS: "words with a typo",
    "lower": "lower case",
    "upper": "upper case",
    "title": "title case",
    SPACES: "spaces lost",
}
"""The names of kinds of noise."""


def group_columns(scores: Iterable[GroupScore]) -> list[str]:
    """Return the headings of the columns after the name of a group."""
    found = list(scores)
    columns = [say("examples"), measure_name(found[0].measure), say("95% interval")]
    return [*columns, say("seen"), say("unseen"), say("share")] if has_novelty(found) else columns


def has_novelty(scores: Iterable[GroupScore]) -> bool:
    """Return whether the scores have recall of seen and unseen mentions."""
    return any(score.seen is not None for score in scores)


def measure_name(measure: str) -> str:
    """Return the name of a score in tables."""
    return say(MEASURES.get(measure, measure))


def group_cells(score: GroupScore, *, novelty: bool) -> list[str]:
    """Return the cells of a group, one for each of ``group_columns``."""
    mark = MARK if score.examples < FEW else ""
    measured = ["–", ""] if score.lacks_mentions else [percent(score.score), range_text(score.interval)]
    cells = [f"{score.examples:,}{mark}", *measured]
    if not novelty:
        return cells
    share = score.unseen_share
    return [*cells, _recall(score.seen), _recall(score.unseen), "–" if share is None else f"{share:.0%}"]


def _recall(found: Recall | None) -> str:
    return "–" if found is None or not found.gold else percent(found.recall)


class DomainWords(NamedTuple):
    """The texts of a table of domains: the heading of their names, the last row, and the caption."""

    column: str
    overall: str
    caption: str


def domain_words(found: DomainScores, split: str) -> DomainWords:
    """Return the texts of a table of files, or of the domains of a split of a run."""
    if not split:
        return DomainWords(
            "file", say("all files"), "Scores in percent, by file, and the gap to the first file"
        )
    caption = "Scores in percent, by domain, and the gap to the domains trained on"
    if not found.trained:
        caption = "Scores in percent, by domain, and the gap to the first domain"
    overall = f"trained on ({found.trained})" if found.trained else "all domains"
    return DomainWords(say(f"domain ({split})"), say(overall), caption)


def domain_name(found: DomainScores, name: str) -> str:
    """Return the name of a domain, and whether it was not trained on."""
    return f"{name} ({say('out of domain')})" if name in found.outside else name


def gap_cells(difference: Gap | None) -> list[str]:
    """Return the cells of a difference and its interval. Those of the reference are empty."""
    if difference is None:
        return ["", ""]
    interval = difference.interval
    bounds = "" if interval is None else f"{100 * interval[0]:+z.2f} – {100 * interval[1]:+z.2f}"
    return [f"{100 * difference.score:+z.2f}", bounds]


def separation_columns() -> list[str]:
    """Return the headings of the columns after the name of a file."""
    return [say("uncertainty"), "AUROC", say("95% interval")]


def separation_rows(separation: Separations) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of a file and the cells of each score of uncertainty."""
    for name, scores in separation.items():
        for by, found in scores.items():
            yield name, [say(UNCERTAINTIES[by]), percent(found.auroc), range_text(found.interval)]


def noise_columns(curve: NoiseCurve) -> list[str]:
    """Return the headings of a table of noise."""
    score = measure_name(curve.measure)
    return [say("noise"), say("share"), score, say("change"), say("lowest – highest draw")]


def noise_cells(score: NoiseScore) -> list[str]:
    """Return the cells of a level of noise after its name."""
    low, high = score.spread
    return [
        "" if score.kind == NONE else f"{score.rate:.0%}",
        percent(score.score),
        f"{100 * score.change:+z.2f}" if score.rate else "",
        f"{percent(low)}–{percent(high)}" if len(score.scores) > 1 else "",
    ]


def noise_notes(curve: NoiseCurve) -> list[str]:
    """Return what was sampled, and which kinds of noise change nothing."""
    notes = []
    if curve.examples < curve.total:
        notes.append(f"noise in {curve.examples:,} of {curve.total:,} examples (--limit)")
    if any(not score.rate for score in curve.of_kind(SPACES)):
        notes.append("spaces lost: words are joined by spaces and cut anew, also at 0%")
    notes += [f"left out, because it changes no text: {KINDS[kind]}" for kind in curve.skipped]
    return notes
