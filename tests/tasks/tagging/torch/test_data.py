"""Reading tagged files into training data: splits, labels, long sentences, and the notes about them."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pydantic import BaseModel

from gonie.errors import InputError, RecipeError
from gonie.nn.inference import to_tensors
from gonie.tasks.recipe import load_recipe
from gonie.tasks.tagging.recipe import TagRecipe
from gonie.tasks.tagging.torch.data import TagData, read_tag_data, tag_data_key
from gonie.tasks.tagging.torch.files import read_tag_train
from gonie.tasks.tagging.torch.streams import HoldOut, Pieces
from gonie.tasks.torch.prepare import prepare
from gonie.text.partial_tags import TagSets
from gonie.text.rules import allowed
from gonie.text.schemes import PLAIN, Scheme
from gonie.text.types import Sentence
from gonie.training.fit import build_model


def write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


def numbered(count: int) -> list[Sentence]:
    return [Sentence(words=(f"w{i}",), tags=("O",)) for i in range(count)]


def prepared(toy: Path, *changes: str) -> tuple[TagData, list[str]]:
    notes: list[str] = []
    return read_tag_data(load_recipe(toy / "toy.toml", changes), notes.append), notes


# --- holding out -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5])
def test_a_split_is_disjoint_complete_and_repeatable(share: float) -> None:
    """A sentence in both parts would inflate the score; one in neither would be lost."""
    sentences = numbered(500)
    held = HoldOut(sentences, share=share, seed=3, held_out=True)
    rest = HoldOut(sentences, share=share, seed=3, held_out=False)
    one, other = [s.words for s in held], [s.words for s in rest]
    assert not set(one) & set(other)
    assert Counter(one) + Counter(other) == Counter(s.words for s in sentences)
    assert one == [s.words for s in held], "the same at every pass"
    assert abs(len(one) - 500 * share) < 50
    assert share == 0 or one != [s.words for s in HoldOut(sentences, share=share, seed=4, held_out=True)]


def test_without_a_dev_file_some_sentences_are_held_out(toy: Path) -> None:
    made, notes = prepared(toy, "data.dev=none", "data.holdout=0.25")
    whole, _ = prepared(toy)
    assert len(made.dev) + len(made.train) == len(whole.train)
    assert any(f"{len(made.dev)} sentences of" in note and "held out" in note for note in notes)


def test_too_few_sentences_to_hold_out_is_noted(tmp_path: Path) -> None:
    path = write(tmp_path / "t.conll", "Anna\tB-PER\n")
    recipe = write(tmp_path / "r.toml", f'[data]\ntrain = "{path}"\n[model.words]\n')
    notes: list[str] = []
    made = read_tag_data(load_recipe(recipe), notes.append)
    assert len(made.dev) == len(made.train) == 1
    assert any("too few sentences" in note for note in notes)


def test_a_share_of_zero_is_named_as_the_reason_that_nothing_is_held_out(toy: Path) -> None:
    """The file has enough sentences. A high score on those of training must not be taken for a good model."""
    (note,) = (each for each in prepared(toy, "data.dev=none", "data.holdout=0")[1] if "no dev file" in each)
    assert note == (
        "warning: no dev file, and data.holdout = 0: the training sentences are used as dev sentences, so "
        "the dev score says nothing about new data. Name a dev file"
    )


def test_a_share_that_leaves_nothing_to_train_on_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "t.conll", "Anna\tB-PER\n\n" * 20)
    recipe = write(tmp_path / "r.toml", f'[data]\ntrain = "{path}"\nholdout = 0.999\n[model.words]\n')
    with pytest.raises(
        RecipeError, match=r"data.holdout: 0.999 leaves no sentence of .* set a smaller share"
    ):
        read_tag_data(load_recipe(recipe), lambda text: None)


# --- notes and labels ------------------------------------------------------------------------------------


def test_each_file_is_described_once(toy: Path) -> None:
    _, notes = prepared(toy)
    for split in ("train", "dev", "test"):
        (found,) = [note for note in notes if note.startswith(f"{toy}/{split}.conll")]
        assert "sentences" in found


def test_labels_that_cannot_be_predicted_are_named(toy: Path, tmp_path: Path) -> None:
    """They always count as errors, so the user must know about them."""
    dev = write(tmp_path / "dev.conll", "Anna\tB-PER\n\nAcme\tB-ORG\nInc\tI-ORG\n")
    test = write(tmp_path / "test.conll", "Acme\tB-GPE\n")
    made, notes = prepared(toy, f"data.dev={dev}", f"data.test={test}")
    (about_dev,) = [note for note in notes if "in dev" in note]
    (about_test,) = [note for note in notes if "in test" in note]
    assert "not in the training data" in about_dev
    assert about_dev.endswith("ORG (1)")
    assert about_test.endswith("GPE (1)")
    assert not any("ORG" in label for label in made.encoding.labels)


def test_tags_are_converted_to_the_scheme_of_the_model(toy: Path) -> None:
    made, _ = prepared(toy)
    assert set(made.encoding.labels) == {"O"} | {f"{p}-{t}" for p in "BIES" for t in ("PER", "LOC")}
    assert {tag for sentence in made.dev for tag in sentence.tags or ()} <= set(made.encoding.labels)
    other, _ = prepared(toy, "data.model_scheme=IOB2")
    assert set(other.encoding.labels) == {"O", "B-PER", "I-PER", "B-LOC", "I-LOC"}


def test_a_file_without_tags_is_refused_with_its_line(toy: Path, tmp_path: Path) -> None:
    dev = write(tmp_path / "dev.conll", "Anna\nlives\n")
    with pytest.raises(InputError, match=r"dev\.conll:1: sentence without tags.*data\.tag_column"):
        prepared(toy, f"data.dev={dev}")


def test_invalid_tags_are_refused_or_repaired_by_policy(toy: Path, tmp_path: Path) -> None:
    train = write(tmp_path / "t.conll", "Anna\tB-PER\nis\tO\nKim\tI-PER\n\nBert\tB-PER\nLee\tI-PER\n" * 20)
    changes = [f"data.train={train}", "data.scheme=IOB2"]
    with pytest.raises(InputError, match=r"t\.conll:3"):
        prepared(toy, *changes, "data.repair=error")
    _, notes = prepared(toy, *changes)
    assert any("repaired 20 tags with policy 'begin'" in note for note in notes)
    made, notes = prepared(toy, *changes, "data.repair=outside")
    assert any("repaired 20 tags with policy 'outside'" in note for note in notes)
    assert made.labels["O"] == 2 * made.labels["S-PER"]


# --- long sentences --------------------------------------------------------------------------------------


def test_pieces_of_a_sentence_contain_all_its_words() -> None:
    words = tuple(f"w{i}" for i in range(10))
    long = Sentence(words=words, tags=("O",) * 10, columns={"pos": words}, path="f", line=3)
    pieces = Pieces([*numbered(2), long], 4, sets=TagSets(["O"]), rules=allowed(["O"], PLAIN))
    for _ in range(2):
        cut = list(pieces)
        assert [len(piece) for piece in cut] == [1, 1, 4, 4, 2]
        assert pieces.cut == 1
    assert tuple(word for piece in cut[2:] for word in piece.words) == words
    assert tuple(value for piece in cut[2:] for value in piece.columns["pos"]) == words
    assert cut[3].path == "f"


def test_overlong_sentences_are_cut_and_counted(toy: Path) -> None:
    whole, _ = prepared(toy)
    made, notes = prepared(toy, "data.max_tokens=4")
    assert made.train.lengths.max() == 4
    assert made.train.tokens == whole.train.tokens
    cut = int((whole.train.lengths > 4).sum())
    assert any(f"{cut} sentences longer than 4 tokens" in note for note in notes)
    _, notes = prepared(toy, "data.max_tokens=4", "data.augment.copies=2", "data.augment.kinds={typos = 1.0}")
    assert any(f"train.conll: {cut} sentences longer than 4 tokens" in note for note in notes)
    assert any(note.startswith("changed copies: ") and "longer than 4 tokens" in note for note in notes)


LONG = [
    ("Anna", "B-PER"),
    ("de", "I-PER"),
    ("Kim", "I-PER"),
    ("met", "O"),
    ("Jan", "B-PER"),
    ("Lee", "I-PER"),
]


@pytest.mark.parametrize("partial", [False, True])
def test_a_sentence_is_not_cut_inside_an_entity(toy: Path, tmp_path: Path, partial: bool) -> None:
    """A piece that starts or ends inside an entity violates the scheme, so its loss would be infinite."""
    rows = [f"{word}\t{tag}" for word, tag in LONG * 3]
    train = write(tmp_path / "long.conll", "\n".join(rows) + "\n")
    unsure = write(tmp_path / "unsure.conll", "\n".join(rows).replace("O", "?") + "\n")
    rules = [f"data.partial={unsure}"] if partial else ["model.head.constrain_training=true"]
    changes = [f"data.train={train}", f"data.dev={train}", "data.max_tokens=5", *rules]
    recipe = load_recipe(toy / "toy.toml", changes)
    job: Any = prepare(recipe, lambda text: None)
    assert job.train.lengths.max() <= 5
    model = build_model(job)
    batch = to_tensors(job.train.batch(np.arange(len(job.train))), torch.device("cpu"))
    assert torch.isfinite(model.loss(batch))


# --- features, vectors and the cache ---------------------------------------------------------------------


def test_only_the_features_of_the_model_are_extracted(toy: Path, tmp_path: Path) -> None:
    assert prepared(toy)[0].encoding.groups == ()
    cities = write(tmp_path / "cities.txt", "Seoul\nOslo\n")
    changes = ['model.head.direct=["spelling", "gazetteer"]', f"data.gazetteers.city={cities}"]
    encoding = prepared(toy, *changes)[0].encoding
    assert encoding.groups == ("spelling", "gazetteer")
    assert len(encoding.features["gazetteer"]) > 2


def test_gazetteers_without_a_list_are_refused(toy: Path) -> None:
    with pytest.raises(RecipeError, match=r"data\.gazetteers"):
        prepared(toy, 'model.head.direct=["gazetteer"]')


def test_vectors_add_their_words_and_report_their_coverage(toy: Path, tmp_path: Path) -> None:
    vectors = write(tmp_path / "v.txt", "anna 1 2\nseoul 3 4\nzebra 5 6\n")
    made, notes = prepared(toy, f"data.vectors={vectors}")
    assert made.pretrained is not None
    row = made.encoding.words.id("zebra")
    assert made.pretrained.matrix[row].tolist() == [5.0, 6.0]
    assert any(str(vectors) in note and "vectors cover" in note for note in notes)
    assert made.encoding.word_id("Zebra") == row


def test_a_memory_mapped_corpus_equals_one_in_memory(toy: Path, tmp_path: Path) -> None:
    """`data.cache` is for corpora larger than memory; the model must not depend on it."""
    held, _ = prepared(toy)
    mapped, _ = prepared(toy, f"data.cache={tmp_path / 'cache'}")
    assert isinstance(mapped.train.arrays["forms"], np.memmap)
    assert held.train.arrays.keys() == mapped.train.arrays.keys()
    for name, array in held.train.arrays.items():
        np.testing.assert_array_equal(array, mapped.train.arrays[name])


def test_mentions_seen_in_training_are_recorded(toy: Path) -> None:
    seen = prepared(toy)[0].seen.to_json()
    assert seen["mentions"]["Seoul"] == ["LOC"]


# --- the fingerprint -------------------------------------------------------------------------------------


def test_the_fingerprint_changes_with_the_recipe_and_with_the_data(toy: Path, tmp_path: Path) -> None:
    """A run is resumed only with the same recipe and data."""

    def fingerprint(*changes: str) -> str:
        recipe: TagRecipe = load_recipe(toy / "toy.toml", changes)
        return read_tag_data(recipe, lambda text: None).fingerprint(recipe)

    train = tmp_path / "train.conll"
    text = (toy / "train.conll").read_text("utf-8")
    same = (f"data.train={train}", f"data.dev={toy}/dev.conll")
    write(train, text)
    first = fingerprint(*same)
    assert fingerprint(*same) == first
    assert fingerprint(*same, "train.seed=9") != first
    write(train, text.replace("Seoul\tB-LOC", "Seoul\tO", 1))
    assert fingerprint(*same) != first


def test_the_fingerprint_changes_with_the_alternatives_of_a_partial_tag(toy: Path, tmp_path: Path) -> None:
    """Both files have one set of tags, in the same place. Only its members differ."""
    unsure = tmp_path / "unsure.conll"
    recipe: TagRecipe = load_recipe(toy / "toy.toml", [f"data.partial={unsure}"])
    prints = set()
    for alternatives in ("B-PER|B-LOC", "B-PER|O"):
        write(unsure, f"Anna\t{alternatives}\nsleeps\tO\n")
        prints.add(read_tag_data(recipe, lambda text: None).fingerprint(recipe))
    assert len(prints) == 2


# --- types -----------------------------------------------------------------------------------------------


def test_types_not_selected_become_o(toy: Path) -> None:
    made, _ = prepared(toy, 'data.types=["PER", "PERSON"]', "data.model_scheme=IO")
    assert made.encoding.labels == ("O", "PER")
    whole, _ = prepared(toy, "data.model_scheme=IO")
    assert made.labels["PER"] == whole.labels["PER"] > 0
    assert {tag for sentence in made.dev for tag in sentence.tags or ()} == {"O", "PER"}


def test_mentions_of_types_that_are_not_selected_are_counted_once(toy: Path) -> None:
    """A type that is missing from the list by mistake would otherwise be lost silently."""
    for settings in ([], ["data.model_scheme=IO"], ["data.dev=none"]):
        notes = prepared(toy, 'data.types=["PER"]', *settings)[1]
        (note,) = [each for each in notes if "read as O" in each]
        places = (toy / "train.conll").read_text("utf-8").count("B-LOC")
        assert note == f"data.types: {places} mentions of other types read as O: LOC ({places})"
    assert not any("read as O" in each for each in prepared(toy, 'data.types=["PER", "LOC"]')[1])


def test_a_rule_for_a_misspelt_type_gets_a_warning(toy: Path) -> None:
    """Otherwise the type silently keeps its name."""
    told = "data.map renames PERS, which is no label of these files. Did you mean PER?"
    assert any(note.endswith(told) for note in prepared(toy, "data.map.PERS=person")[1])
    assert not any("data.map renames" in note for note in prepared(toy, "data.map.PER=person")[1])


def test_a_rule_for_a_type_of_another_file_gets_no_warning(toy: Path, tmp_path: Path) -> None:
    """Of a domain that is left out, or of the test file of a later domain."""
    (tmp_path / "law").write_text("Court B-COURT\nrules O\n\nCourts O\nrule O\n", "utf-8")
    named = [f"data.train.web={toy / 'train.conll'}", "data.map.COURT=ORG"]
    for changes in (
        [f"data.train.law={tmp_path / 'law'}", "data.leave_out=law"],
        [f"data.test.law={tmp_path / 'law'}"],
    ):
        assert not any("data.map renames" in note for note in prepared(toy, *named, *changes)[1])


def test_other_files_are_not_read_again_from_a_pipe(toy: Path) -> None:
    """Its bytes can be read only once, as dev sentences."""
    read, write_end = os.pipe()
    lines = (toy / "dev.conll").read_bytes()
    with open(write_end, "wb") as stream:
        stream.write(lines)
    data, notes = prepared(toy, f"data.dev=/dev/fd/{read}", "data.map.COURT=ORG")
    os.close(read)
    assert data.dev
    assert any("data.map renames COURT" in note for note in notes)


def test_the_training_sentences_of_an_earlier_run_need_no_other_file(toy: Path) -> None:
    """Replay draws them also if the dev or test file is gone."""
    changes = ["data.map.COURT=ORG", "data.test=gone.conll"]
    assert read_tag_train(load_recipe(toy / "toy.toml", changes), Scheme())


def test_a_training_file_without_entities_gets_a_warning(toy: Path, tmp_path: Path) -> None:
    """One of several files may have lost its tags."""
    blank = write(tmp_path / "blank", "Nobody O\nis O\nhere O\n\n" * 3)
    files = [f"data.train.a={toy / 'train.conll'}", f"data.train.b={blank}", "data.scheme=IOB2"]
    told = f"warning: {blank} has no entities: every token has the tag O"
    assert told in prepared(toy, *files)[1]


def test_english_words_in_a_korean_recipe_get_a_warning(toy: Path) -> None:
    """Most likely, the start of a recipe without a language is Korean."""
    korean = ("data.language=ko", "data.unit=eojeol")
    told = f"{toy / 'train.conll'}: warning: no letter is Hangul, but data.language is ko"
    assert any(note.startswith(told) for note in prepared(toy, *korean)[1])
    assert not any("Hangul" in note for note in prepared(toy)[1])


def test_a_misspelt_type_beside_others_gets_a_warning(toy: Path) -> None:
    """Otherwise the type is silently not learned."""
    told = "warning: data.types has LCO, which is no label of these files. Did you mean LOC?"
    assert any(note.endswith(told) for note in prepared(toy, 'data.types=["PER", "LCO"]')[1])
    assert not any("data.types has" in note for note in prepared(toy, 'data.types=["PER", "LOC"]')[1])
    renamed = prepared(toy, "data.map.PER=person", 'data.types=["person", "LOC"]')[1]
    assert not any("data.types has" in note for note in renamed)


def test_unknown_types_are_refused_with_those_of_the_file(toy: Path, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"has none of GPE; it has LOC, PER"):
        prepared(toy, 'data.types=["GPE"]')
    path = write(tmp_path / "pos.conll", "the\tDET\ndog\tNOUN\n")
    with pytest.raises(RecipeError, match="plain labels, without types"):
        prepared(toy, 'data.types=["PER"]', f"data.train={path}")
    path = write(tmp_path / "none.conll", "the\tO\ndog\tO\n")
    with pytest.raises(RecipeError, match="it has only O"):
        prepared(toy, 'data.types=["PER"]', f"data.train={path}")


@pytest.mark.parametrize("text", ["Bob\tPERSON\nran\tO\n", "A\tPERSON\nB\tPERSON\nran\tO\n\nC\tPERSON\n"])
def test_bare_labels_named_in_data_types_are_entities(text: str, toy: Path, tmp_path: Path) -> None:
    """A file of names has more PERSON than O, but must not be read as plain labels."""
    path = write(tmp_path / "names.tsv", text)
    asked = (f"data.train={path}", f"data.dev={path}", 'data.types=["PER", "PERSON"]', "data.model_scheme=IO")
    made, notes = prepared(toy, *asked)
    assert set(made.encoding.labels) == {"O", "PERSON"}
    assert any("scheme: IO (X O) (bare labels, as data.types names them)" in note for note in notes)


def test_bare_labels_in_long_documents_are_read(toy: Path, tmp_path: Path) -> None:
    """The file has lines of `word TAB tag`, and empty lines only between documents."""
    text = "Anna\tPERSON\nKim\tPERSON\nran\tO\n.\tO\nOslo\tO\n.\tO\n" * 300 + "\nBert\tPERSON\nsat\tO\n"
    path = write(tmp_path / "train", text)
    changes = (f"data.train={path}", f"data.dev={path}", 'data.types=["PER", "PERSON"]')
    made, notes = prepared(toy, *changes, "data.model_scheme=IO")
    assert made.encoding.labels == ("O", "PERSON")
    assert made.train.tokens == 1802
    assert any("scheme: IO (X O) (mostly O, and labels without markers: O, PERSON)" in note for note in notes)
    assert any("1 sentences longer than 1000 tokens were split" in note for note in notes)
    spans, _ = prepared(toy, *changes)  # in BIOES, a run of one label is one span
    assert spans.encoding.labels == ("O", "S-PERSON", "B-PERSON", "E-PERSON", "I-PERSON")
    assert (spans.dev[0].tags or ())[:3] == ("B-PERSON", "E-PERSON", "O")


# --- the training sample and the data key ----------------------------------------------------------------


@pytest.mark.parametrize(("asked", "number"), [(0, 0), (1, 1), (7, 7), (80, 80), (1000, 80)])
def test_a_sample_is_spread_over_the_whole_corpus(toy: Path, asked: int, number: int) -> None:
    """The first sentences of a file are often of one kind and do not represent the corpus."""
    made, _ = prepared(toy, f"train.score_train={asked}")
    assert len(made.sample) == number
    lines = [sentence.line for sentence in made.sample]
    assert lines == sorted(lines)
    if asked == 7:
        gaps = np.diff([*lines, (toy / "train.conll").read_text("utf-8").count("\n")])
        assert gaps.max() < 3 * gaps.min()


class Watched:
    """Wraps a recipe and records the keys that are read."""

    def __init__(self, section: BaseModel, read: set[str], place: str = "") -> None:
        self._section, self._read, self._place = section, read, place

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._section, name)
        if isinstance(value, BaseModel) and name != "data":
            return Watched(value, self._read, f"{self._place}{name}.")
        self._read.add(f"{self._place}{name}")
        return value


def test_the_data_key_covers_every_key_that_is_read(toy: Path) -> None:
    """If a key were left out, one run of a comparison would get the data of another."""
    read: set[str] = set()
    recipe = load_recipe(toy / "toy.toml", ["model.chars.width=4"])
    read_tag_data(Watched(recipe, read), lambda text: None)  # type: ignore[arg-type]
    assert "data" in read
    for key in read - {"data", "model.groups", "model.contextual"}:
        assert any(change.startswith(f"{key}=") for change in CHANGES), key


CHANGES = {
    "train.shots=2": True,
    "train.replay=2": True,
    "data.lowercase=false": True,
    "data.dev=none": True,
    'model.head.direct=["spelling"]': True,
    "model.chars.jamo=true": True,
    'model.elmo={bilm = "bilm"}': True,
    "model.head.constrained=false": True,
    'model.head.forbidden=["B-PER -> B-PER"]': True,
    "model.head.constrain_training=true": True,
    "train.score_train=5": True,
    'heads={pos = {train = "pos.conll"}}': True,
    "train.seed=7": False,  # unless it decides the held-out data or random word vectors
    "train.lr=0.5": False,
    "model.words.width=3": False,
    "model.words.tuned=all": False,
    "model.encoder.hidden=3": False,
    "model.head.kind=softmax": False,
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_data_key_changes_only_with_settings_that_affect_data(toy: Path, change: str) -> None:
    base = load_recipe(toy / "toy.toml", ["model.chars.width=4"])
    changed = load_recipe(toy / "toy.toml", ["model.chars.width=4", change])
    assert (tag_data_key(changed) != tag_data_key(base)) is CHANGES[change]


@pytest.mark.parametrize(
    ("change", "read"), [("bilm=other", True), ("at=both", False), ("tuned=true", False), ("l2=0.5", False)]
)
def test_only_the_path_of_a_language_model_changes_the_data_key(toy: Path, change: str, read: bool) -> None:
    base = ["model.elmo.bilm=lm"]
    one, other = (load_recipe(toy / "toy.toml", [*base, *more]) for more in ([], [f"model.elmo.{change}"]))
    assert (tag_data_key(one) != tag_data_key(other)) is read


def test_the_data_key_includes_the_head_if_labels_are_partial(toy: Path) -> None:
    """A CRF needs sentences that follow the rules; a softmax does not."""
    kinds = ("crf", "softmax")
    settings = [["data.partial=more.conll", f"model.head.kind={kind}"] for kind in kinds]
    one, other = (load_recipe(toy / "toy.toml", each) for each in settings)
    assert tag_data_key(one) != tag_data_key(other)


@pytest.mark.parametrize("setting", ["data.dev=none", "data.vectors=v.txt"])
def test_the_data_key_includes_the_seed_if_reading_is_random(toy: Path, setting: str) -> None:
    one, other = (load_recipe(toy / "toy.toml", [setting, f"train.seed={seed}"]) for seed in (1, 2))
    assert tag_data_key(one) != tag_data_key(other)


def test_too_many_tags_are_refused_with_a_hint(toy: Path, tmp_path: Path) -> None:
    """The tag column is probably wrong, and a CRF over so many tags could run out of memory."""
    text = "".join(f"a\tword{i}\n" for i in range(4_500))
    path = write(tmp_path / "wrong.conll", text)
    with pytest.raises(
        InputError, match=r"4,500 different tags in 4,500 tokens, such as 'word0'.*data\.tag_column"
    ):
        prepared(toy, f"data.train={path}", f"data.dev={path}")
    with pytest.raises(InputError, match=r"more than 4,000 different tags: 4,500.*data\.tag_column"):
        prepared(toy, f"data.train={path}", f"data.dev={path}", "data.format=conll")


def test_labels_are_renamed_by_the_recipe(toy: Path) -> None:
    found, _ = prepared(toy, 'data.map={PER = "PERSON", LOC = "O"}')
    types = {label.partition("-")[2] for label in found.encoding.labels} - {""}
    assert "PERSON" in types
    assert not types & {"PER", "LOC"}


def test_korean_files_are_cut_into_the_unit_of_the_recipe(tmp_path: Path) -> None:
    """Otherwise the bundle would name a unit that it was not trained on."""
    recipe = load_recipe("demo-ko", ["data.unit=eojeol"])
    notes: list[str] = []
    data = read_tag_data(recipe, notes.append)
    assert "unit: eojeol (cut from the text; words of the file: characters)" in notes[0]
    assert max(len(word) for sentence in data.dev for word in sentence.words) > 3
    assert sum(len(sentence.unreachable) for sentence in data.dev) > 100
    words = "삼성/B-OG 는/O 서울/B-LC 에/O\n" * 3
    path = write(tmp_path / "slashed.txt", words)
    with pytest.raises(InputError, match=r"are morphemes .* is syllable"):
        read_tag_data(load_recipe("demo-ko", [f"data.train={path}"]), notes.append)


def test_selected_types_hold_for_spans_inside_tokens(tmp_path: Path) -> None:
    text = '{"text": "Anna saw Seoul", "spans": [[0, 4, "PER"], [9, 12, "LOC"], [1, 3, "PER"]]}\n'
    path = write(tmp_path / "a.jsonl", text * 3 + '{"text": " ", "spans": [[0, 1, "PER"]]}\n')
    changes = [f"data.train={path}", f"data.dev={path}", 'data.types=["PER"]']
    data = read_tag_data(load_recipe("tag", changes), lambda _: None)
    assert [sentence.unreachable for sentence in data.dev] == [((1, 3, "PER"),)] * 3 + [((0, 1, "PER"),)]
    assert len(data.train) == 3


def test_korean_texts_are_not_cut_into_english_words(toy: Path, tmp_path: Path) -> None:
    """Entities inside eojeols would be lost."""
    file = tmp_path / "a.jsonl"
    row = {"text": "이순신은 서울에서 태어났다.", "spans": [{"start": 0, "end": 3, "label": "PS"}]}
    file.write_text((json.dumps(row) + "\n") * 20, "utf-8")
    with pytest.raises(InputError, match=r"a.jsonl: most letters .* Hangul.*gonie train ner-ko \S+a.jsonl"):
        prepared(toy, f"data.train={file}")
    made, _ = prepared(toy, f"data.train={file}", "data.language=ko", "data.unit=syllable")
    assert made.train.tokens > 0


def test_files_with_korean_words_and_texts_are_not_read_by_english_recipes(toy: Path, tmp_path: Path) -> None:
    """The tagger would learn characters or eojeols, and read English words."""
    klue = write(tmp_path / "a.klue", "## id-0\t<김 씨:PS>는\n김\tB-PS\n \tI-PS\n씨\tI-PS\n는\tO\n\n" * 20)
    with pytest.raises(InputError, match=r"a.klue: most letters .* gonie train ner-ko \S+a.klue \S+a.klue"):
        prepared(toy, f"data.train={klue}", f"data.dev={klue}")
    text = "# text = 이순신은 서울에 갔다\n이순신은\tNOUN\n서울에\tADV\n갔다\tVERB\n\n"
    plain = write(tmp_path / "b.conll", text * 20)
    with pytest.raises(InputError, match=r"gonie train pos-ko \S+b.conll.*data.unit=eojeol"):
        prepared(toy, f"data.train={plain}", f"data.dev={plain}", "data.format=conll")


@pytest.mark.parametrize(
    ("words", "unit"),
    [("이순신은/B-PS 서울에/B-LC 갔다/O", "eojeol"), ("이순신/B-PS 은/O 서울/B-LC 에/O 갔/O", "morpheme")],
)
def test_korean_words_without_texts_are_named_in_english_recipes(
    words: str, unit: str, toy: Path, tmp_path: Path
) -> None:
    """They can be tagged as tokens, but not as raw text."""
    lines = words.replace(" ", "\n").replace("/", "\t")
    file = write(tmp_path / "a.conll", f"{lines}\n\n" * 20)
    _, notes = prepared(toy, f"data.train={file}")
    warning = next(note for note in notes if "Hangul" in note)
    assert "warning: most letters of the words are Hangul" in warning
    assert f"--set data.language=ko --set data.unit={unit}, or" in warning
    assert f"gonie train ner-ko {file}" in warning
