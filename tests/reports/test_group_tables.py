"""Tables of groups, files and noise: what a page and a terminal show, with data that stays inert."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

from rich.console import Console

from gonie.metrics.domain_scores import DomainScores
from gonie.metrics.grouped import GroupScore
from gonie.metrics.novelty import Recall
from gonie.metrics.robustness import NoiseCurve, NoiseScore
from gonie.reports.group_grid import print_domains, print_groups, print_noise
from gonie.reports.group_tables import domains_part, groups_part, noise_part
from gonie.reports.html.frame import page

HOSTILE = "<script>x</script>[red]"
GROUPS = {
    HOSTILE: GroupScore(7, "f1", 0.5, (0.25, 0.75), Recall(2, 2), Recall(4, 1)),
    "2004": GroupScore(100, "f1", 0.75, (0.7, 0.8), Recall(0, 0), Recall(0, 0)),
    "2005": GroupScore(1, "f1", 1.0, None, Recall(1, 1), Recall(0, 0)),
}
CURVE = NoiseCurve(
    (
        NoiseScore("none", 0.0, "f1", (0.8,), 0.8),
        NoiseScore("typos", 0.05, "f1", (0.7, 0.72, 0.68), 0.8),
        NoiseScore("typos", 0.4, "f1", (0.5, 0.5, 0.5), 0.8),
        NoiseScore("upper", 1.0, "f1", (0.2,), 0.8),
        NoiseScore("spaces-lost", 0.0, "f1", (0.79,), 0.79),
        NoiseScore("spaces-lost", 1.0, "f1", (0.1,), 0.79),
    ),
    examples=10,
    total=20,
    skipped=("lower",),
)


def printed(show: Callable[..., None], *values: Any) -> str:
    console = Console(file=io.StringIO(), width=100)
    show(console, *values)
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_names_of_groups_are_data() -> None:
    shown = printed(print_groups, HOSTILE, GROUPS)
    assert shown.count(HOSTILE) == 2
    domains = DomainScores.of_files(GROUPS, GROUPS["2004"])
    found = page("x", groups_part({HOSTILE: GROUPS}), domains_part(domains, {}))
    assert "<script>x" not in found


def test_groups_without_mentions_have_no_score_and_no_gap() -> None:
    """F1 of 0 would look like a failure of the model, and the gap like a loss of all points."""
    nothing = GroupScore(30, "f1", 0.0, None, Recall(0, 0), Recall(0, 0))
    groups = {"a": GROUPS["2004"], "b": nothing, "c": GROUPS["2005"]}
    known = DomainScores.of_files(groups, GROUPS["2004"])
    assert [*known.gaps] == ["c"]
    assert not DomainScores.of_files({"b": nothing, "c": GROUPS["2005"]}, nothing).gaps
    assert nothing.to_json()["f1"] is None
    row = next(line for line in str(domains_part(known, {})).split("<tr") if ">b<" in line)
    assert "0.00" not in row
    assert "svg" not in row


def test_small_groups_are_marked_and_missing_recall_is_a_dash() -> None:
    lines = printed(print_groups, "year", GROUPS).splitlines()
    assert "7*" in lines[1]
    assert lines[1].split()[-3:] == ["100.00", "25.00", "67%"]
    assert lines[2].split() == ["2004", "100", "75.00", "70.00–80.00", "–", "–", "–"]
    assert lines[3].split() == ["2005", "1*", "100.00", "100.00", "–", "0%"]
    assert "fewer than 20" in lines[4]


def test_a_group_without_mentions_has_no_score() -> None:
    """F1 is 0 by definition, which would read as a complete failure."""
    nothing = GroupScore(100, "f1", 0.0, None, Recall(0, 0), Recall(0, 0))
    lines = printed(print_groups, "year", {**GROUPS, "2006": nothing}).splitlines()
    assert lines[4].split() == ["2006", "100", "–", "–", "–", "–"]


def test_gaps_have_a_sign_and_the_first_file_has_none() -> None:
    domains = DomainScores.of_files({"news": GROUPS["2004"], "web": GROUPS[HOSTILE]}, GROUPS["2004"])
    lines = printed(print_domains, domains).splitlines()
    assert lines[1].split()[-1] == "–"
    assert lines[2].split()[-1] == "-25.00"
    assert "-50.50 – +0.50" in domains_part(domains, {}), "the interval of the gap"


def test_domains_of_a_run_are_compared_with_those_trained_on() -> None:
    domains = {"news": GROUPS["2004"], "web": GROUPS[HOSTILE]}
    found = DomainScores(domains, GROUPS["2004"], ("news",), GROUPS["2004"], trained="dev")
    console = Console(file=io.StringIO(), width=120)
    print_domains(console, found, split="test")
    header, news, web, trained, *_ = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert header.startswith("domain (test)")
    assert news.startswith("news ")
    assert web.startswith("web (out of domain)")
    assert web.split()[-1] == "-25.00"
    assert trained.startswith("trained on (dev)")
    page = domains_part(found, {}, split="test")
    assert "the gap to the domains trained on" in page
    assert "web (out of domain)" in page
    files = DomainScores.of_files(domains, GROUPS["2004"])
    assert "out of domain" not in domains_part(files, {}, split="dev")


def test_without_a_reference_there_is_no_gap() -> None:
    found = DomainScores({"web": GROUPS["2004"]}, None, (), None, trained="dev")
    assert found.gaps == {}
    lines = printed(lambda console: print_domains(console, found, split="test")).splitlines()
    assert lines[1].startswith("web (out of domain)")
    assert lines[2].startswith("seen: "), "no row of domains that were trained on"


def test_a_terminal_of_80_columns_cuts_nothing() -> None:
    console = Console(file=io.StringIO(), width=80)
    domains = {"news": GROUPS["2004"], "web": GROUPS["2005"]}
    print_domains(console, DomainScores.of_files(domains, GROUPS["2004"]))
    print_noise(console, CURVE)
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "…" not in shown
    assert all(word in shown for word in ("news", "all files", "70.00–80.00", "68.00–72.00", "+25.00"))


def test_noise_is_drawn_as_one_curve_for_typos_and_one_for_spaces() -> None:
    found = noise_part(CURVE)
    assert found.count("<svg") == 2
    lines = [each.split() for each in re.findall(r'points="([^"]*)"', found)]
    assert [len(points) for points in lines] == [3, 2], "the curve of typos begins without noise"
    heights = [float(point.split(",")[1]) for point in lines[0]]
    assert heights == sorted(heights), "a lower score is farther down"
    for words in ("10 of 20 examples", "lower case", "-60.00", "68.00–72.00"):
        assert words in found
    assert "left out, because it changes no text: lower case" in printed(print_noise, CURVE)
