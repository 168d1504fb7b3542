"""Reports of taggers: complete, safe to open and accessible."""

import re

import pytest

from gonie.metrics.evaluation import evaluate
from gonie.metrics.novelty import SeenMentions
from gonie.reports.tag_report import MOST_PASSAGES, how_scored, render
from gonie.text.schemes import Scheme
from gonie.text.types import Sentence

IOB2, PLAIN = Scheme(kind="IOB2"), Scheme(kind="plain")
CURVE = [{"epoch": n, "loss": 5 / n, "score": n / 10, "rate": 0.1, "seconds": 1.5} for n in range(1, 4)]
HOSTILE = '"><script>alert(1)</script><img src="https://evil.example/x" onerror=alert(2)>'


def spans_evaluation():
    gold = [
        Sentence(
            words=("George", "Bush", "in", "서울"), tags=("B-PER", "I-PER", "O", "B-LOC"), path="d", line=1
        ),
        Sentence(words=("see", "https://enron.com"), tags=("O", "B-ORG"), path="d", line=6),
    ]
    predicted = [["B-PER", "O", "O", "B-LOC"], ["O", "O"]]
    seen = SeenMentions.from_types({"서울": ["LOC"]})
    return evaluate(gold, predicted, scheme=IOB2, seen=seen, bootstrap=50, known_tags=["B-PER", "B-LOC"])


def hostile_evaluation():
    gold = [Sentence(words=(HOSTILE, "\0\x1b"), tags=(f"B-{HOSTILE}", "O"), path=HOSTILE, line=1)]
    seen = SeenMentions.from_types({HOSTILE: [HOSTILE]})
    return evaluate(gold, [["O", "B-X"]], scheme=IOB2, bootstrap=10, seen=seen, known_tags=["B-X"])


def plain_evaluation(labels=3):
    tags = tuple(f"T{n}" for n in range(labels))
    gold = [Sentence(words=tags, tags=tags)]
    return evaluate(gold, [[*tags[1:], tags[0]]], scheme=PLAIN, bootstrap=0)


def test_the_page_shows_scores_errors_and_settings(parse):
    page = render(
        spans_evaluation(), title="runs/ner", curve=CURVE, details={"recipe": "task = 'tag'\nx = 1"}
    )
    text = " ".join(parse(page).text)
    scores = ("runs/ner", "40.00", "95% interval", "Dev score", "PER", "all (macro)")
    errors = ("wrong boundary", "missed", "spurious", "Errors", "서울", "cannot predict: ORG (1)")
    settings = ("seen in training with this type", "task = 'tag'", "Mode conlleval.")
    for wanted in (*scores, *errors, *settings):
        assert wanted in text, wanted


def test_the_repair_of_predictions_is_told_only_if_some_are_invalid() -> None:
    """A count of 0 reads like an error."""
    gold = [Sentence(words=("Kim", "ran"), tags=("B-PER", "O"))]
    valid = evaluate(gold, [["B-PER", "O"]], scheme=IOB2)
    assert how_scored(valid).endswith("Mode conlleval.")
    invalid = evaluate(gold, [["O", "I-PER"]], scheme=IOB2, repair="begin")
    told = "Repair policy begin: 1 predicted sentences were invalid, 1 tags changed."
    assert how_scored(invalid).endswith(f"Mode conlleval. {told}")
    stray = [Sentence(words=("Kim", "ran"), tags=("I-PER", "O"))]
    assert how_scored(evaluate(stray, [["B-PER", "O"]], scheme=IOB2)).endswith("Invalid gold sentences: 1.")


def test_gold_spans_inside_tokens_are_counted_and_marked(parse):
    spans = ((0, 2, "LC"), (0, 6, "QT"), (4, 9, "DT"))
    gold = Sentence(("서울은", "왔다"), ("O", "O"), {}, "서울은 왔다. 또", (0, 4), (3, 6), unreachable=spans)
    text = " ".join(parse(render(evaluate([gold], [["B-LC", "O"]], scheme=IOB2), title="x")).text)
    assert "3 of 3 gold spans do not match the tokens" in text
    assert "wrong boundary" in text


@pytest.mark.parametrize("make", [spans_evaluation, hostile_evaluation, plain_evaluation])
def test_the_page_loads_nothing_and_runs_nothing(make, parse):
    details = {
        HOSTILE: HOSTILE,
        "recipe": HOSTILE + "\nurl = 'http://x.example'",
        "table": {HOSTILE: {HOSTILE: 1.5}},
    }
    page = render(make(), title=HOSTILE, curve=[*CURVE, {"epoch": HOSTILE, "loss": HOSTILE}], details=details)
    assert not re.search(r"https?://|@import|url\(", page)
    assert parse(page).runs_and_loads_nothing()
    assert "default-src 'none'" in page


def test_a_page_with_lone_surrogates_can_be_written():
    gold = [Sentence(words=("\ud800",), tags=("B-X",))]
    render(evaluate(gold, [["O"]], scheme=IOB2, bootstrap=0), title="t").encode("utf-8")


def test_the_page_is_accessible(parse):
    page = render(spans_evaluation(), title="t", curve=CURVE)
    parsed = parse(page)
    tags = [tag for tag, _ in parsed.tags]
    assert page.startswith("<!DOCTYPE html>")
    assert ("html", {"lang": "en"}) in parsed.tags
    assert tags.count("table") == tags.count("caption") >= 4
    assert all(attributes.get("scope") in ("col", "row") for tag, attributes in parsed.tags if tag == "th")
    assert all(
        "role" in attributes or "aria-hidden" in attributes for tag, attributes in parsed.tags if tag == "svg"
    )
    assert "prefers-color-scheme: dark" in page
    assert 'name="viewport"' in page


def test_scores_come_first_then_errors_and_training_last(parse):
    page = render(spans_evaluation(), title="t", curve=CURVE, details={"recipe": "a = 1\nb = 2"})
    names = re.findall(r"<h2>(.*?)</h2>", page)
    assert names == ["Types", "Seen in training?", "Confusion", "Errors", "Tags", "Training", "Details"]
    links = [found["href"] for tag, found in parse(page).tags if tag == "a"]
    assert len(links) == len(names)
    assert all(f'id="{link[1:]}"' in page for link in links)


def test_types_have_different_colours_in_scores_and_errors():
    page = render(spans_evaluation(), title="t")
    found = {label: kind for kind, label in re.findall(r'<span class="tag (c\d)">(\w+)</span>', page)}
    assert len(set(found.values())) == len(found) == 3
    marks = re.findall(r'<mark class="\w+ (c\d)"><bdi>.*?</bdi><small>(\w+)', page)
    assert {label for _, label in marks} == set(found)
    assert all(found[label] == kind for kind, label in marks)


def test_all_errors_are_listed_up_to_a_limit():
    words = [Sentence(words=("a",), tags=("B-X",), path="d", line=n) for n in range(MOST_PASSAGES + 7)]
    some, many = (
        render(evaluate(gold, [["O"]] * len(gold), scheme=IOB2, bootstrap=0), title="t")
        for gold in (words[:30], words)
    )
    assert some.count("<article") == 30
    assert "30 sentences with errors." in some
    assert many.count("<article") == MOST_PASSAGES
    assert "The 500 worst of 507 sentences with errors; 7 are left out." in many


def test_reports_of_plain_labels_have_their_own_texts(parse):
    text = " ".join(parse(render(plain_evaluation(), title="t")).text)
    assert "accuracy of tokens" in text
    assert "wrong boundary" not in text
    assert "T0 → T1" in text


def test_sections_without_data_are_left_out(parse):
    gold = [Sentence(words=("a",), tags=("B-X",))]
    text = " ".join(parse(render(evaluate(gold, [["B-X"]], scheme=IOB2, bootstrap=0), title="t")).text)
    assert "100.00" in text
    assert "None." in text
    assert "Training" not in text
    assert "Seen in training" not in text


def test_tables_of_a_thousand_labels_are_shortened():
    page = render(plain_evaluation(labels=1000), title="t")
    assert page.count("<td") < 5000
    assert "rarer labels are only in the JSON" in page
    assert "24 most frequent labels" in page


def test_the_page_shows_the_calibration_of_spans_and_the_risk(parse):
    gold = [Sentence(words=("Kim", "in", "서울"), tags=("B-PER", "O", "B-LOC"))] * 4
    predicted = [["B-PER", "O", "B-PER"]] * 4
    chances = [{(0, 1, "PER"): 0.9, (2, 3, "PER"): 0.4 + n / 10} for n in range(4)]
    found = evaluate(
        gold, predicted, scheme=IOB2, confidences=[[0.9, 1.0, 0.5]] * 4, chances=chances, bootstrap=0
    )
    page = render(found, title="t")
    parse(page)
    assert "<h2>Calibration</h2>" in page
    assert "<h2>Risk and coverage</h2>" in page
    assert "perfect model" in page
    assert "Risk and coverage of 8 spans: area" in page
    assert "<h2>Calibration</h2>" not in render(plain_evaluation(), title="t")
