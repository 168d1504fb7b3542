"""The verdict on explanation methods: it must agree with the table of faithfulness."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gonie.reports.explanation import Faithfulness
from gonie.reports.explanations.verdict import beats, is_control, measured_on, standing, verdict

RANDOM = Faithfulness("random", 0.1, 0.3, 100)
UNIFORM = Faithfulness("uniform attention", 0.2, 0.2, 100)


def test_the_verdict_names_the_most_faithful_method_and_the_failures() -> None:
    found = [
        Faithfulness(
            "attention", 0.15, 0.1, 100
        ),  # better than random, but not better than uniform attention
        Faithfulness("integrated gradients", 0.4, 0.15, 100),
        Faithfulness("erasure", 0.45, 0.05, 100),
        RANDOM,
        UNIFORM,
    ]
    told = verdict(found)
    assert told.startswith("Most faithful on this model: erasure.")
    assert "0.450" in told
    assert "0.200" in told  # the better control
    assert told.endswith("On both measures, attention does not beat uniform attention.")


def test_the_verdict_says_which_control_no_method_beats() -> None:
    told = verdict([Faithfulness("attention", 0.3, 0.5, 100), Faithfulness("erasure", 0.0, 0.1, 100), RANDOM])
    assert "no method beats the controls on both measures" in told
    assert "attention does not beat random; erasure does not beat random." in told


def test_few_texts_give_no_verdict() -> None:
    few = [Faithfulness("erasure", 0.5, 0.0, 1), Faithfulness("random", 0.1, 0.3, 1)]
    told = verdict(few, noun="span")
    assert told.startswith("Measured on only 1 span, too few for a verdict.")
    assert told.endswith("--on FILE.")
    assert standing(few[0], few[1:]) == ""
    assert not beats(few[0], few[1:])
    assert "too few" not in verdict([Faithfulness("erasure", 0.5, 0.0, 30), RANDOM])


def test_without_figures_or_without_controls_nothing_is_claimed() -> None:
    for found in ([], [RANDOM], [Faithfulness("erasure", 0.5, 0.0, 100)]):
        assert "was not measured" in verdict(found)
    assert standing(Faithfulness("erasure", 0.5, 0.0, 100), []) == ""


def test_a_lead_too_small_for_the_table_does_not_count() -> None:
    assert not beats(Faithfulness("erasure", 0.10004, 0.1, 100), [RANDOM])
    assert beats(Faithfulness("erasure", 0.101, 0.299, 100), [RANDOM])


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), min_size=2, max_size=5))
def test_the_verdict_always_agrees_with_the_table(figures: list[tuple[float, float]]) -> None:
    names = ("random", "attention", "erasure", "integrated gradients", "uniform attention")
    found = [Faithfulness(name, *pair, 50) for name, pair in zip(names, figures, strict=False)]
    controls = [each for each in found if is_control(each)]
    told = verdict(found)
    better = [each.method for each in found if standing(each, controls) == "beats the controls"]
    assert ("no method beats the controls" in told) == (not better)
    if better:
        assert told.split(": ")[1].split(".")[0] in better


def test_the_number_of_measured_texts_is_shown() -> None:
    assert measured_on([RANDOM, UNIFORM], "text") == "100 texts"
    assert measured_on([RANDOM, Faithfulness("erasure", 0.5, 0.0, 12)], "span") == "12 to 100 spans"


def test_a_drop_that_rounds_to_zero_has_no_sign() -> None:
    nearly = [Faithfulness("erasure", 0.5, -0.5, 40), Faithfulness("random", -0.0001, 0.5, 40)]
    assert "of a control, by 0.000." in verdict(nearly)


def test_the_verdict_names_what_removing_words_lowers() -> None:
    found = [Faithfulness("erasure", 0.5, 0.0, 100), RANDOM]
    assert "lowers the probability of the prediction by 0.500" in verdict(found)
    assert "lowers the predicted value by 0.500" in verdict(found, quantity="the predicted value")
