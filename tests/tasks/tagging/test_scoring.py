"""Scoring taggers on tagged files: schemes, novelty, and files that cannot be scored."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from gonie.errors import InputError
from gonie.formats.format import ReadOptions
from gonie.formats.tagged import TaggedSource
from gonie.metrics.evaluation import Evaluation
from gonie.metrics.novelty import SeenMentions
from gonie.tasks.tagging.scoring import score_source
from gonie.text.label_map import parse_map
from gonie.text.schemes import IO, IOB2, PLAIN, Scheme, convert, to_spans
from gonie.text.tokenizers import EnglishTokenizer
from gonie.text.types import Sentence

BIOES = Scheme(kind="BIOES")
GOLD = "Anna\tB-PER\nKim\tI-PER\nsaw\tO\nSeoul\tB-LOC\n\nSeoul\tB-LOC\n"


KNOWN = {IO: ("O", "PER"), PLAIN: ("DET", "NOUN", "VERB", "ADV")}


class Tagged(NamedTuple):
    """The output of a tagger."""

    tags: tuple[str, ...]
    scores: tuple[float, ...]
    spans: tuple[tuple[int, int, str, float], ...] = ()
    entropies: None = None


class Oracle:
    """Gives the tags that it is created with, in BIOES, and records the sentences that it receives."""

    def __init__(self, *tags: str, span: float | None = None) -> None:
        self.tags = [tuple(row.split()) for row in tags]
        self.span = span
        self.asked: list[Sentence] = []

    def __call__(self, sentences: Sequence[Sentence]) -> list[Tagged]:
        self.asked = list(sentences)
        return [Tagged(tags, (0.9,) * len(tags), self.spans(tags)) for tags in self.tags]

    def spans(self, tags: Sequence[str]) -> tuple[tuple[int, int, str, float], ...]:
        return () if self.span is None else tuple((*found, self.span) for found in to_spans(tags, BIOES))


def score(
    path: Path, oracle: Oracle, *, scheme: Scheme = BIOES, seen: Path = Path("none"), **options: object
):
    return score_source(
        TaggedSource(path, ReadOptions(**options)),  # type: ignore[arg-type]
        oracle,
        model_scheme=scheme,
        known_tags=KNOWN.get(scheme, ("O", "B-PER", "E-PER", "I-PER", "S-PER")),
        mode="conlleval",
        repair="none",
        seen=seen,
    )


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.conll"
    path.write_text(GOLD, "utf-8")
    return path


def test_the_model_and_the_file_may_have_different_schemes(gold: Path) -> None:
    """The file is IOB2 and the model BIOES: the same entities must count as the same."""
    result = score(gold, Oracle("B-PER E-PER O S-LOC", "S-LOC"))
    assert result.headline == ("f1", 1.0)
    assert result.scheme == IOB2
    assert score(gold, Oracle("B-PER E-PER O O", "S-PER")).spans.micro.recall == pytest.approx(1 / 3)


def test_labels_the_model_cannot_predict_are_counted(gold: Path) -> None:
    result = score(gold, Oracle("B-PER E-PER O O", "O"))
    assert result.unknown_labels == {"LOC": 2}


def test_errors_have_the_confidence_of_their_span_or_tags(gold: Path) -> None:
    found, missed = score(gold, Oracle("B-PER E-PER O O", "S-PER", span=0.95)).errors()
    assert (found.predicted, found.confidence) == ("PER", 0.95)
    assert (missed.gold_text, missed.confidence) == ("Seoul", 0.9)


def test_recall_is_split_by_mentions_seen_in_training(gold: Path, tmp_path: Path) -> None:
    known = [Sentence(("Seoul",), ("B-LOC",))]
    seen = tmp_path / "seen.json"
    seen.write_text(json.dumps(SeenMentions.from_sentences(known, IOB2).to_json()), "utf-8")
    oracle = Oracle("O O O S-LOC", "S-LOC")
    split = score(gold, oracle, seen=seen).novelty
    assert split is not None
    assert {kind.value: (r.correct, r.gold) for kind, r in split.items() if r.gold} == {
        "seen": (2, 2),
        "unseen": (0, 1),
    }
    assert score(gold, oracle).novelty is None


def test_invalid_gold_tags_are_scored_unchanged(tmp_path: Path) -> None:
    """conlleval reads an I after O as the start of an entity; scoring must not change or refuse gold tags."""
    path = tmp_path / "gold.conll"
    path.write_text("Anna\tI-PER\nsaw\tO\nKim\tB-PER\nLee\tI-PER\n", "utf-8")
    tags = convert(["B-PER", "O", "B-PER", "I-PER"], IOB2, BIOES)
    assert score(path, Oracle(" ".join(tags)), scheme=BIOES).headline == ("f1", 1.0)


def test_plain_tags_are_scored_by_accuracy(tmp_path: Path) -> None:
    path = tmp_path / "gold.conll"
    path.write_text("a\tDET\ndog\tNOUN\nran\tVERB\nfar\tADV\n", "utf-8")
    assert score(path, Oracle("DET NOUN NOUN ADV"), scheme=PLAIN).headline == ("accuracy", 0.75)


def test_plain_tags_with_other_names_need_a_map(tmp_path: Path) -> None:
    """Parts of speech of another tag set would score 0.00 without a reason."""
    path = tmp_path / "xpos.conll"
    path.write_text("dogs\tNNS\nrun\tVBP\n", "utf-8")

    def scored(*rules: str) -> float:
        found = score_source(
            TaggedSource(path, ReadOptions(scheme="plain")),
            Oracle("NOUN VERB"),
            model_scheme=PLAIN,
            known_tags=("NOUN", "VERB"),
            mode="conlleval",
            repair="none",
            seen=Path("none"),
            labels=parse_map(rules),
        )
        return found.headline[1]

    with pytest.raises(InputError, match="--map NNS=LABEL --map VBP=LABEL"):
        scored()
    assert scored("NNS=NOUN", "VBP=VERB") == 1.0
    assert scored("NNS=NOUN") == 0.5
    with pytest.raises(InputError, match=r"cannot drop plain tags: VBP=O\. Map each to one of NOUN, VERB"):
        scored("NNS=NOUN", "VBP=O")


def test_gold_tags_of_another_kind_are_refused_with_examples(gold: Path) -> None:
    with pytest.raises(InputError, match=r"gold\.conll: the model's tags are plain labels.*B-LOC"):
        score(gold, Oracle(), scheme=PLAIN)


def test_a_sentence_without_tags_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "raw.conll"
    path.write_text("Anna\nKim\n", "utf-8")
    with pytest.raises(InputError, match=r"raw\.conll:1: sentence without gold tags"):
        score(path, Oracle())


def test_the_tagger_gets_the_columns_of_the_file(tmp_path: Path) -> None:
    """A model with part-of-speech features needs them when it is scored, too."""
    path = tmp_path / "gold.conll"
    path.write_text("Anna NNP B-PER\nKim NNP I-PER\nsaw VBD O\n", "utf-8")
    oracle = Oracle("B-PER E-PER O")
    assert score(path, oracle, columns={"pos": 1}).headline[1] == 1.0
    assert oracle.asked[0].columns["pos"] == ("NNP", "NNP", "VBD")


def test_a_model_of_one_type_is_scored_on_that_type(gold: Path) -> None:
    """The model is not trained to find the other types."""
    oracle = Oracle("PER O O O", "O")
    source = TaggedSource(gold)
    result = score_source(
        source,
        oracle,
        model_scheme=IO,
        known_tags=("O", "PER"),
        mode="conlleval",
        repair="none",
        seen=Path("none"),
        types=("PER",),
    )
    assert list(result.spans.types) == ["PER"]
    assert (result.spans.micro.precision, result.spans.micro.recall) == (1.0, 0.5)
    assert not result.unknown_labels


def test_bare_labels_are_entities_for_a_model_with_scheme_io(tmp_path: Path) -> None:
    """Without the model, the file would be read as plain tags because O is not the most frequent."""
    path = tmp_path / "names.conll"
    path.write_text("Anna\tPER\nKim\tPER\nran\tO\n", "utf-8")
    assert score(path, Oracle("PER PER O"), scheme=IO).headline == ("f1", 1.0)


def test_spans_inside_tokens_are_renamed_selected_and_missed(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    spans = [[0, 4, "person"], [9, 12, "place"], [1, 3, "person"]]
    path.write_text(json.dumps({"text": "Anna saw Seoul", "spans": spans}) + "\n", "utf-8")

    def scored(*rules: str) -> tuple[int, int, dict[str, int]]:
        source = TaggedSource(path, ReadOptions(tokenizer=EnglishTokenizer()))
        found = score_source(
            source,
            Oracle("S-PER O O"),
            model_scheme=BIOES,
            known_tags=("O", "S-PER", "S-LOC"),
            mode="conlleval",
            repair="none",
            seen=Path("none"),
            labels=parse_map(rules),
        )
        assert len(source.report.misaligned) == 2
        return found.spans.micro.gold, found.spans.micro.correct, dict(found.unreachable)

    assert scored("person=PER", "place=LOC") == (3, 1, {"PER": 1, "LOC": 1})
    assert scored("person=PER", "place=O") == (2, 1, {"PER": 1})


@pytest.mark.parametrize(
    ("predicted", "left_out"), [("S-PER O S-LOC", 1), ("S-LOC O S-LOC", 2), ("S-PER O O", 0)]
)
def test_predictions_of_types_that_neither_file_nor_map_has_are_left_out_and_counted(
    tmp_path: Path, predicted: str, left_out: int
) -> None:
    """Without a map they are errors, so the same data have another score."""
    source, found = mapped(tmp_path, predicted, "person", "person=PER")
    line = next(line for line in source.report.lines() if line.startswith("types: "))
    assert line.startswith("types: PER (of the model, and of the file or its label map")
    wanted = {
        0: "map)",
        1: "left out of the score: 1 prediction of other types)",
        2: ": 2 predictions of other types)",
    }
    assert wanted[left_out] in line
    assert found.spans.micro.predicted == predicted.count("S-") - left_out


def test_predictions_of_types_that_only_the_map_has_are_errors(tmp_path: Path) -> None:
    """A corpus with the labels of a shipped map is annotated with all of them, also if a file has none."""
    _, found = mapped(tmp_path, "S-PER O S-LOC", "person", "wnut")
    assert (found.spans.micro.predicted, found.spans.micro.correct) == (2, 1)


def test_a_shipped_map_that_does_not_cover_the_labels_is_refused_with_the_one_that_does(
    tmp_path: Path,
) -> None:
    """No gold span would remain, and the score would be 0.00."""
    with pytest.raises(InputError, match=r"share no type .* the file has person\. .*--map wnut"):
        mapped(tmp_path, "S-PER O O", "person", "ontonotes")
    with pytest.raises(InputError, match=r"the file has somebody\. Map a label to one of PER, LOC"):
        mapped(tmp_path, "S-PER O O", "somebody", "ontonotes")


def test_a_mapped_file_without_entities_is_scored_on_all_types(tmp_path: Path) -> None:
    _, found = mapped(tmp_path, "S-PER O O", None, "wnut")
    assert found.spans.micro.predicted == 1


def mapped(tmp_path: Path, predicted: str, label: str | None, name: str) -> tuple[TaggedSource, Evaluation]:
    """Score a sentence with one entity, mapped by a shipped map."""
    path = tmp_path / "gold.conll"
    path.write_text(f"Anna\t{f'B-{label}' if label else 'O'}\nsaw\tO\nSeoul\tO\n", "utf-8")
    source = TaggedSource(path, ReadOptions(scheme="IOB2"))
    found = score_source(
        source,
        Oracle(predicted, span=0.9),
        model_scheme=BIOES,
        known_tags=("O", "S-PER", "S-LOC"),
        mode="conlleval",
        repair="none",
        seen=Path("none"),
        labels=parse_map([name]),
    )
    return source, found
