"""If these break, `gonie evaluate` shows a wrong or garbled table on the terminal."""

from rich.console import Console

from gonie.metrics.evaluation import evaluate
from gonie.metrics.novelty import SeenMentions
from gonie.tasks.tagging.evaluation_view import print_evaluation
from gonie.text.schemes import Scheme
from gonie.text.types import Sentence


def printed(evaluation, width=120):
    console = Console(width=width, record=True, file=None, force_terminal=False)
    with console.capture() as capture:
        print_evaluation(console, evaluation)
    return capture.get()


def ner(sentences=1, **options):
    gold = [Sentence(words=("Kim", "in", "서울"), tags=("B-PER", "O", "B-LOC"))] * sentences
    return evaluate(gold, [["B-PER", "O", "B-ORG"]] * sentences, scheme=Scheme(kind="IOB2"), **options)


def test_headline_types_novelty_mode_and_policy_are_shown():
    text = printed(ner(2, seen=SeenMentions.from_types({"Kim": ["PER"]}), bootstrap=20, repair="begin"))
    for wanted in (
        "F1 50.00",
        "95% interval 50.00–50.00",
        "precision 50.00",
        "macro",
        "unseen",
        "Mode conlleval",
    ):
        assert wanted in text
    assert "Repair policy" not in text, "nothing was repaired"
    assert "cannot predict: LOC (2)" in text


def test_intervals_and_novelty_are_hidden_when_absent():
    text = printed(ner(bootstrap=0))
    assert "unseen" not in text
    assert "–" not in text.replace("95% interval", "")


def test_gold_spans_inside_tokens_are_counted_beside_the_score():
    gold = Sentence(
        ("서울은", "왔다"), ("O", "O"), {}, "서울은 왔다", (0, 4), (3, 6), unreachable=((0, 2, "LC"),)
    )
    text = printed(evaluate([gold], [["O", "O"]], scheme=Scheme(kind="IOB2"), bootstrap=0))
    assert (
        "1 of 1 gold span does not match the tokens (inside a token, across sentences or overlapping)" in text
    )
    assert "counted as missed" in text


def test_one_sentence_is_scored_without_an_interval():
    assert "95% interval" not in printed(ner()).splitlines()[0]
    assert "(1 sentence, 3 tokens)" in printed(ner())


def test_plain_labels_show_accuracy():
    gold = [Sentence(words=("a", "b"), tags=("DET", "NOUN"))]
    text = printed(evaluate(gold, [["DET", "DET"]], scheme=Scheme(kind="plain"), bootstrap=0))
    assert text.startswith("Accuracy 50.00")


def test_labels_are_not_read_as_terminal_markup():
    gold = [Sentence(words=("a",), tags=("B-[red]x[/red]",))]
    text = printed(evaluate(gold, [["O"]], scheme=Scheme(kind="IOB2"), bootstrap=0, known_tags=[]))
    assert text.count("[red]x[/red]") == 2


def test_many_labels_are_cut_and_the_rest_is_counted():
    tags = tuple(f"T{n}" for n in range(100))
    result = evaluate([Sentence(words=tags, tags=tags)], [tags], scheme=Scheme(kind="plain"), bootstrap=0)
    assert "40 rarer labels are not shown" in printed(result)


def test_the_calibration_of_spans_is_shown_beside_that_of_a_perfect_model():
    chances = [{(0, 1, "PER"): 0.9, (2, 3, "ORG"): 0.8}] * 3
    text = printed(ner(3, bootstrap=0, confidences=[[0.9, 1.0, 0.8]] * 3, chances=chances), width=200)
    assert "Calibration error 45.00 (perfect model: " in text
    assert "in bins of equal size 45.00 (perfect model: " in text
    assert "(6 predicted spans)" in text
    assert "Calibration" not in printed(ner(bootstrap=0))
