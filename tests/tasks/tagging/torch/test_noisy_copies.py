"""Noisy copies of tagged sentences, and back-off: the model learns more, its scores stay what they were."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from gonie import load
from gonie.errors import InputError, RecipeError
from gonie.formats.spans import char_spans
from gonie.tasks.sections import NoiseConfig
from gonie.tasks.tagging.torch.data import tag_data_key
from gonie.tasks.tagging.torch.noisy_copies import noisy_copies
from gonie.text.schemes import PLAIN, Scheme
from gonie.text.tokenizers import SyllableTokenizer, tokenizer
from gonie.text.types import Sentence
from gonie.training.run import resume_run, start_run
from support.copied_data import keys_of_seeds, loaded, prepared, syllables, write_data

BIOES = Scheme(kind="BIOES")
RECIPE = """
[data]
train = "{folder}/train.jsonl"
dev = "{folder}/dev.jsonl"
language = "ko"
unit = "syllable"
[data.noise]
copies = 2
[model.words]
width = 8
[model.features]
groups = ["spaces"]
width = 4
[model.encoder]
hidden = 8
[train]
epochs = 2
batch_sentences = 4
device = "cpu"
"""
NAMES = ("이순신", "강감찬", "세종")
FRAMES = ("{} 장군은 서울에 갔다", "어제 {}이 왔다", "그 사람은 {}이다")


def rows(number: int) -> str:
    lines = []
    for at in range(number):
        name, frame = NAMES[at % 3], FRAMES[at // 3 % 3]
        start = frame.index("{}")
        lines.append(
            {"text": frame.format(name), "spans": [{"start": start, "end": start + len(name), "label": "PS"}]}
        )
    return "\n".join(json.dumps(line, ensure_ascii=False) for line in lines) + "\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_data(tmp_path, RECIPE, {"train.jsonl": rows(9), "dev.jsonl": rows(3)})


def copied(
    sentences: list[Sentence], copies: int = 1, seed: int = 0, **kinds: float
) -> tuple[list[Sentence], list[str]]:
    notes: list[str] = []
    config = NoiseConfig(copies=copies, kinds=kinds) if kinds else NoiseConfig(copies=copies)
    cut = SyllableTokenizer()
    return noisy_copies(sentences, config, scheme=BIOES, tokenizer=cut, seed=seed, note=notes.append), notes


NAMED = syllables("세종이 왔다", "B-PS", "E-PS", "O", "O", "O")


def test_copies_keep_their_entities() -> None:
    found, notes = copied([NAMED] * 40, 2)
    assert len(found) == 80
    assert notes == ["noisy copies: 80 sentences (data.noise.copies = 2)"]
    texts = {sentence.text for sentence in found}
    assert len(texts) > 10
    for sentence in found:
        ((start, end, label),) = char_spans(sentence, BIOES)
        assert (label, 2 <= end - start <= 3) == ("PS", True)
    assert found == copied([NAMED] * 40, 2)[0]
    assert found != copied([NAMED] * 40, 2, seed=1)[0]


def test_no_copies_need_no_note() -> None:
    assert copied([NAMED], 0) == ([], [])


def test_copies_that_are_left_out_are_counted() -> None:
    hidden = Sentence(("세종이",), ("O",), {}, "세종이", (0,), (3,), unreachable=((0, 2, "PS"),))
    found, notes = copied([NAMED, Sentence(("세종",), ("S-PS",)), hidden], 2, emoji=1.0)
    assert len(found) == 2
    assert notes[1:] == [
        "noisy copies: left out 2 sentences whose text is not known",
        "noisy copies: left out 2 sentences with entities that tokens cannot express",
    ]


def test_plain_tags_are_refused() -> None:
    """A typing error can change the part of speech, and a lost space the number of words."""
    with pytest.raises(RecipeError, match=r"data\.noise\.copies.*only with entities"):
        noisy_copies(
            [NAMED], NoiseConfig(copies=1), scheme=PLAIN, tokenizer=SyllableTokenizer(), seed=0, note=print
        )


def test_copies_are_added_to_the_training_sentences_alone(folder: Path) -> None:
    clean, _ = prepared(folder, "data.noise.copies=0")
    noisy, notes = prepared(folder)
    assert (len(clean.train), len(noisy.train)) == (9, 27)
    assert noisy.dev == clean.dev
    assert noisy.encoding.to_json() == clean.encoding.to_json(), "the vocabulary is that of the clean text"
    assert noisy.labels == clean.labels
    assert any(note.startswith("noisy copies: 18 sentences") for note in notes)
    again, _ = prepared(folder)
    recipe = loaded(folder)
    assert again.fingerprint(recipe) == noisy.fingerprint(recipe)


def test_held_out_sentences_have_no_copies(folder: Path) -> None:
    made, _ = prepared(folder, "data.dev=none", "data.holdout=0.4")
    assert len(made.train) == 3 * (9 - len(made.dev))
    assert {sentence.text for sentence in made.dev} <= {
        json.loads(line)["text"] for line in rows(9).splitlines()
    }


def test_the_data_depend_on_the_seed_only_with_copies(folder: Path) -> None:
    assert len(keys_of_seeds(tag_data_key, folder)) == 2
    assert len(keys_of_seeds(tag_data_key, folder, "data.noise.copies=0")) == 1


def test_english_is_refused(folder: Path) -> None:
    with pytest.raises(RecipeError, match=r"noise\.copies works only with Korean"):
        loaded(folder, "data.language=en", "data.unit=word")


def test_unknown_kinds_are_refused_with_the_known_ones(folder: Path) -> None:
    with pytest.raises(RecipeError, match=r"data\.noise\.kinds.*spaces-lost"):
        loaded(folder, "data.noise.kinds={rain=1.0}")


class Stopping:
    """A display that stops the run after a number of steps."""

    def __init__(self, silence: Any, steps: int) -> None:
        self._silence, self._left = silence, steps

    def step(self, step: object) -> None:
        self._left -= 1
        if not self._left:
            raise KeyboardInterrupt

    def __getattr__(self, name: str) -> Any:
        return getattr(self._silence, name)


def test_a_run_with_copies_resumes_exactly(folder: Path, silence: Any) -> None:
    recipe = loaded(folder, "train.checkpoint_seconds=1e-9")
    assert start_run(recipe, folder / "whole", silence) is not None
    with contextlib.suppress(KeyboardInterrupt):
        assert start_run(recipe, folder / "broken", Stopping(silence, 4)) is None
    assert resume_run(folder / "broken", silence) is not None
    one, other = (load(folder / name)("세종이 어제 서울에 갔다").to_dict() for name in ("whole", "broken"))
    assert one == other
    weights = [next((folder / name).rglob("*.onnx")).read_bytes() for name in ("whole", "broken")]
    assert weights[0] == weights[1]


# --- back-off --------------------------------------------------------------------------------------------

INSIDE = [
    ("한미 정상이 만났다", (0, 1), (1, 2)),
    ("어제 한미 회담이 열렸다", (3, 4), (4, 5)),
    ("서울에서 만났다", (0, 2)),
]


@pytest.fixture
def names_inside(tmp_path: Path) -> Path:
    pytest.importorskip("kiwipiepy")
    lines = [
        {"text": text, "spans": [{"start": start, "end": end, "label": "LC"} for start, end in spans]}
        for text, *spans in INSIDE * 4
    ]
    text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines) + "\n"
    recipe = RECIPE.replace("syllable", "morpheme").replace("copies = 2", "copies = 0")
    return write_data(tmp_path, recipe, {"train.jsonl": text, "dev.jsonl": text})


def test_words_with_names_inside_are_cut(names_inside: Path) -> None:
    plain, _ = prepared(names_inside)
    cut, _ = prepared(names_inside, "data.backoff=true")
    assert plain.tokenizer.to_json().get("backoff") is None
    assert cut.tokenizer.to_json()["backoff"] == ["한미"]
    assert sum(len(sentence.unreachable) for sentence in plain.dev) == 16
    assert sum(len(sentence.unreachable) for sentence in cut.dev) == 0


def test_forms_are_learned_from_the_training_part_alone(names_inside: Path) -> None:
    """Otherwise the score on held-out sentences would be too high."""
    text = (names_inside / "train.jsonl").read_text("utf-8").splitlines()
    (names_inside / "train.jsonl").write_text("\n".join([text[2]] * 30 + [text[0]]) + "\n", "utf-8")
    for seed in range(1, 40):
        changes = ["data.dev=none", "data.backoff=true", "data.holdout=0.3", f"train.seed={seed}"]
        made, _ = prepared(names_inside, *changes)
        held = any(sentence.text == INSIDE[0][0] for sentence in made.dev)
        assert made.tokenizer.to_json()["backoff"] == ([] if held else ["한미"])
        if held:
            return
    pytest.fail("the sentence is never held out")


def test_a_bundle_carries_its_forms_and_evaluates_as_it_tags(
    names_inside: Path, silence: Any, gonie: Any
) -> None:
    recipe = loaded(names_inside, "data.backoff=true", "train.epochs=12", "train.lr=0.02")
    assert start_run(recipe, names_inside / "run", silence) is not None
    tagger = load(names_inside / "run")
    gold = found = right = 0
    for text, *spans in INSIDE * 4:
        document = tagger(text)
        assert "한미" not in {token.text for token in document.tokens}
        answer = {(span.start, span.end) for span in document.spans}
        gold, found, right = gold + len(spans), found + len(answer), right + len(answer & set(spans))
    shown = gonie("evaluate", names_inside / "run", names_inside / "dev.jsonl")
    assert shown.code == 0, shown.err
    assert f"{100 * 2 * right / (gold + found):.2f}" in shown.out


def test_other_units_have_no_back_off(folder: Path) -> None:
    """ner-ko sets it for both units."""
    made, _ = prepared(folder, "data.backoff=true")
    assert "backoff" not in made.tokenizer.to_json()
    with pytest.raises(InputError, match="back-off"):
        tokenizer(language="ko", unit="syllable", backoff=[])
