"""Evaluation of taggers: if these break, ``gonie evaluate`` reports wrong scores or a stack trace."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.errors import InputError
from gonie.metrics.evaluation import evaluate
from gonie.metrics.novelty import SeenMentions
from gonie.text.schemes import Scheme, convert
from gonie.text.types import Sentence

IOB2, BIOES, PLAIN = Scheme(kind="IOB2"), Scheme(kind="BIOES"), Scheme(kind="plain")


def sentence(tags, words=None):
    tags = tuple(tags.split())
    return Sentence(
        words=tuple(words.split()) if words else tuple(f"w{i}" for i in range(len(tags))), tags=tags
    )


GOLD = [sentence("B-PER I-PER O B-LOC", "George Bush visits Paris"), sentence("O B-ORG", "the UN")]
PREDICTED = [["B-PER", "I-PER", "O", "B-ORG"], ["O", "O"]]


def test_scores_of_a_small_example():
    result = evaluate(GOLD, PREDICTED, scheme=IOB2, bootstrap=0).to_json()
    assert (result["precision"], result["recall"]) == (1 / 2, 1 / 3)
    assert result["f1"] == pytest.approx(0.4)
    assert result["accuracy"] == pytest.approx(4 / 6)
    assert result["types"]["PER"] == {
        "f1": 1.0, "precision": 1.0, "recall": 1.0, "gold": 1, "predicted": 1, "correct": 1,
    }  # fmt: skip
    assert result["macro"]["f1"] == pytest.approx(1 / 3)
    assert (result["sentences"], result["tokens"], result["intervals"]) == (2, 6, None)


def test_json_is_valid_and_scores_are_fractions():
    result = evaluate(
        GOLD, PREDICTED, scheme=IOB2, seen=SeenMentions.from_types({"Paris": ["PER"]}), bootstrap=50
    )
    data = json.loads(json.dumps(result.to_json(), allow_nan=False))
    low, high = data["intervals"]["f1"]
    assert 0 <= low <= data["f1"] <= high <= 1
    assert data["novelty"]["seen_other_type"] == {"recall": 0.0, "gold": 1, "correct": 0}
    assert set(data["intervals"]["types"]) == set(data["types"]) == {"LOC", "ORG", "PER"}
    assert data["mode"] == "conlleval"
    assert data["repair"] == {"policy": "none", "invalid": 0, "count": 0, "invalid_gold": 0}


def test_headline_is_f1_for_spans_and_accuracy_for_plain_labels():
    spans = evaluate(GOLD, PREDICTED, scheme=IOB2, bootstrap=0)
    assert spans.headline == ("f1", pytest.approx(0.4))
    plain = evaluate([sentence("DET NOUN VERB")], [["DET", "NOUN", "NOUN"]], scheme=PLAIN, bootstrap=20)
    assert plain.headline == ("accuracy", pytest.approx(2 / 3))
    data = plain.to_json()
    assert data["f1"] == data["precision"] == data["recall"] == data["accuracy"]
    assert data["types"]["NOUN"]["precision"] == 0.5
    assert (data["mode"], data["boundaries"]) == ("token", None)


def test_an_orphan_inside_tag_counts_only_in_lenient_mode():
    gold, predicted = [sentence("B-X O")], [["I-X", "O"]]
    assert evaluate(gold, predicted, scheme=IOB2, bootstrap=0).headline[1] == 1.0
    assert evaluate(gold, predicted, scheme=IOB2, mode="strict", bootstrap=0).headline[1] == 0.0


def test_repair_policy_changes_the_score_and_is_counted():
    gold, predicted = [sentence("B-X O"), sentence("B-X")], [["I-X", "O"], ["B-X"]]
    begin = evaluate(gold, predicted, scheme=IOB2, mode="strict", repair="begin", bootstrap=0)
    assert begin.headline[1] == 1.0
    assert begin.to_json()["repair"] == {"policy": "begin", "invalid": 1, "count": 1, "invalid_gold": 0}
    outside = evaluate(gold, predicted, scheme=IOB2, repair="outside", bootstrap=0)
    assert outside.spans.micro.correct == 1
    with pytest.raises(InputError, match="invalid"):
        evaluate(gold, predicted, scheme=IOB2, repair="error", bootstrap=0)
    with pytest.raises(InputError, match="repair policy"):
        evaluate(gold, predicted, scheme=IOB2, repair="guess", bootstrap=0)


def test_invalid_gold_tags_are_counted_and_not_repaired():
    result = evaluate([sentence("O I-X")], [["O", "B-X"]], scheme=IOB2, repair="outside", bootstrap=0)
    assert result.repair.invalid_gold == 1
    assert result.headline[1] == 1.0


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.lists(st.sampled_from(["O", "B-X", "B-Y", "B-X I-X", "B-Y I-Y I-Y"]), min_size=1), min_size=1)
)
def test_the_scheme_of_the_predictions_does_not_matter(pieces):
    gold = [sentence(" ".join(piece)) for piece in pieces]
    shifted = [["B-X", *item.tags[1:]] if item.tags[0] == "O" else list(item.tags) for item in gold]
    plainly = evaluate(gold, shifted, scheme=IOB2, bootstrap=0).to_json()
    wide = [convert(tags, IOB2, BIOES) for tags in shifted]
    assert evaluate(gold, wide, scheme=IOB2, predicted_scheme=BIOES, bootstrap=0).to_json() == plainly


def test_unknown_gold_labels_are_listed_and_count_as_missed():
    result = evaluate(GOLD, PREDICTED, scheme=IOB2, known_tags=["O", "B-PER", "I-PER", "B-ORG"], bootstrap=0)
    assert result.unknown_labels == {"LOC": 1}
    assert result.spans.types["LOC"].recall == 0
    from_training = evaluate(
        GOLD, PREDICTED, scheme=IOB2, seen=SeenMentions.from_types({"A": ["PER"]}), bootstrap=0
    )
    assert from_training.unknown_labels == {"LOC": 1, "ORG": 1}
    plain = evaluate([sentence("DET FOO")], [["DET", "DET"]], scheme=PLAIN, known_tags=["DET"], bootstrap=0)
    assert plain.unknown_labels == {"FOO": 1}
    assert evaluate(GOLD, PREDICTED, scheme=IOB2, bootstrap=0).unknown_labels == {}


def test_worst_errors_are_sorted_by_number_or_confidence():
    gold = [sentence("B-X O"), sentence("B-X O B-X"), sentence("B-X")]
    predicted = [["O", "O"], ["O", "O", "O"], ["B-X"]]
    result = evaluate(gold, predicted, scheme=IOB2, bootstrap=0)
    assert [len(mistake.words) for mistake in result.worst_errors()] == [3, 2]
    sure = [[0.99, 0.5], [0.1, 0.5, 0.2], [1.0]]
    result = evaluate(gold, predicted, scheme=IOB2, confidences=sure, bootstrap=0)
    assert [len(mistake.words) for mistake in result.worst_errors(1)] == [2]


def test_a_file_without_entities_is_scored():
    nothing = evaluate([sentence("O O")], [["O", "O"]], scheme=IOB2, bootstrap=10)
    assert nothing.headline == ("f1", 0.0)
    assert nothing.to_json()["accuracy"] == 1.0


@pytest.mark.parametrize(
    ("gold", "predicted", "said"),
    [
        ([], [], "no sentences to score"),
        (GOLD, PREDICTED[:1], "tags for 2 sentences, got tags for 1"),
        ([Sentence(words=("a",), path="t.conll", line=3)], [["O"]], "t.conll:3: sentence without gold tags"),
        ([sentence("O O")], [["O"]], "2 words, 2 gold tags and 1 predicted"),
    ],
)
def test_input_that_cannot_be_scored_is_refused_with_a_message(gold, predicted, said):
    with pytest.raises(InputError, match=said):
        evaluate(gold, predicted, scheme=IOB2)


def test_one_sentence_has_no_intervals():
    result = evaluate([sentence("B-PER O")], [["B-PER", "O"]], scheme=IOB2)
    assert (result.headline, result.interval("f1")) == (("f1", 1.0), None)
    assert result.to_json()["intervals"] is None


def test_the_same_seed_gives_the_same_intervals():
    one, two = (evaluate(GOLD, PREDICTED, scheme=IOB2, bootstrap=30, seed=4).to_json() for _ in range(2))
    assert one == two


# --- bare labels -----------------------------------------------------------------------------------------

IO = Scheme(kind="IO")
BARE_GOLD = ("PER", "PER", "O", "LOC", "O")
BARE_GUESS = ("PER", "O", "O", "LOC", "PER")


def test_bare_labels_are_scored_token_by_token() -> None:
    """Half a name counts as half, and O does not count."""
    sentence = Sentence(words=tuple("abcde"), tags=BARE_GOLD)
    result = evaluate([sentence], [BARE_GUESS], scheme=IO)
    assert (result.headline, result.mode) == (("f1", 2 / 3), "token")
    assert result.spans.types["PER"].to_json().items() >= {"precision": 0.5, "recall": 0.5, "f1": 0.5}.items()
    assert result.tokens.accuracy == 3 / 5
    assert result.boundaries is None
    assert set(result.to_json()["types"]) == {"PER", "LOC"}  # type: ignore[call-overload]


def test_bare_predictions_are_scored_by_token_against_spans() -> None:
    tags = ("B-PER", "I-PER", "O", "B-LOC", "O")
    sentence = Sentence(words=tuple("abcde"), tags=tags)
    result = evaluate([sentence], [BARE_GUESS], scheme=IOB2, predicted_scheme=IO)
    assert result.headline == ("f1", 2 / 3)


def test_span_predictions_are_scored_by_span_against_bare_labels() -> None:
    sentence = Sentence(words=tuple("abcde"), tags=BARE_GOLD)
    guess = ("S-PER", "O", "O", "S-LOC", "S-PER")
    result = evaluate([sentence], [guess], scheme=IO, predicted_scheme=BIOES)
    assert result.headline == ("f1", 2 / 5)
    assert result.tokens.accuracy == 2 / 5  # of tags in the model's scheme: B-PER E-PER O S-LOC O


def test_predicted_spans_are_decisions_with_their_probabilities() -> None:
    gold = [sentence("B-X I-X O B-Y"), sentence("O B-X O O")]
    predicted = [["B-X", "I-X", "O", "B-X"], ["O", "O", "O", "O"]]
    chances = [{(0, 2, "X"): 0.9, (3, 4, "X"): 0.6}, {}]
    found = evaluate(gold, predicted, scheme=IOB2, confidences=[[0.9] * 4] * 2, chances=chances, bootstrap=0)
    assert found.calibration is not None
    assert [(each.count, each.confidence, each.accuracy) for each in found.calibration.width.bins] == [
        (1, 0.6, 0.0),
        (1, 0.9, 1.0),
    ]
    assert found.calibration.width.error == pytest.approx((0.6 + 0.1) / 2)
    assert found.risk_coverage is not None
    assert found.risk_coverage.risks.tolist() == [0.0, 0.5]
    told = found.to_json()
    names = {"ece", "ece_expected", "ece_equal_mass", "ece_equal_mass_expected", "nll", "brier", "decisions"}
    assert names < set(told["calibration"])
    assert told["risk_coverage"]["aurc"] == 0.25


def test_what_has_no_probabilities_or_no_spans_has_no_calibration() -> None:
    gold = [sentence("B-X O")]
    assert evaluate(gold, [["B-X", "O"]], scheme=IOB2, bootstrap=0).to_json()["calibration"] is None
    nothing = evaluate(gold, [["O", "O"]], scheme=IOB2, confidences=[[0.5, 0.5]], chances=[{}], bootstrap=0)
    assert nothing.to_json()["calibration"] is None
    assert nothing.to_json()["risk_coverage"] is None


def test_a_span_that_only_the_repair_makes_has_the_mean_of_its_tokens() -> None:
    found = evaluate(
        [sentence("B-X I-X")],
        [["I-X", "I-X"]],
        scheme=IOB2,
        repair="begin",
        confidences=[[0.5, 0.75]],
        chances=[{}],
        bootstrap=0,
    )
    assert found.calibration is not None
    (only,) = found.calibration.width.bins
    assert only.confidence == 0.625
