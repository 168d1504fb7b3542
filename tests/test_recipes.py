"""Tests the shipped recipes: each loads, trains, exports and works, and its comment is correct."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gonie import load
from gonie.cli.options import column_settings, file_settings
from gonie.errors import RecipeError
from gonie.tasks.classification.classifier import TextClassifier
from gonie.tasks.classification.recipe import TextDataConfig, TextRecipe
from gonie.tasks.pairs.classifier import PairClassifier
from gonie.tasks.paths import locate
from gonie.tasks.recipe import load_recipe, recipe_names
from gonie.tasks.sections import Recipe
from gonie.tasks.tagging.recipe import TagRecipe
from gonie.training.run import start_run

FOLDER = Path(__file__).parent.parent / "src" / "gonie" / "recipes"
DOCS = Path(__file__).parent.parent / "docs" / "reference" / "recipe.md"
TAGGERS, CLASSIFIERS, PAIRS = recipe_names("tag"), recipe_names("classify"), recipe_names("pair")
NAMES = sorted([*TAGGERS, *CLASSIFIERS, *PAIRS])
"""The recipes of `gonie train`."""
SIX = {
    "rnn": ("rnn", False, "softmax"),
    "lstm": ("peephole", False, "softmax"),
    "bilstm": ("peephole", True, "softmax"),
    "crf": ("none", None, "crf"),
    "lstm-crf": ("peephole", False, "crf"),
    "bilstm-crf": ("peephole", True, "crf"),
}

ENTITIES = "Anna\tB-PER\nKim\tI-PER\nsaw\tO\nSeoul\tB-LOC\n.\tO\n\nOslo\tB-LOC\nis\tO\nfar\tO\n\n"
PARTS = "the\tDET\ndog\tNOUN\nran\tVERB\n\na\tDET\ncat\tNOUN\nslept\tVERB\n\n"
CHUNKS = (
    "He PRP B-NP\nreckons VBZ B-VP\nthe DT B-NP\ndeficit NN I-NP\n. . O\n\nThey PRP B-NP\nran VBD B-VP\n\n"
)
SYLLABLES = "## klue-ner-v1_dev_00000\t<서울:LC>은 춥다\n서\tB-LC\n울\tI-LC\n은\tO\n \tO\n춥\tO\n다\tO\n\n"
MORPHEMES = (
    "# text = 서울은 춥다\n1\t서울은\t서울+은\tNOUN\tNNP+JX\t_\t2\tnsubj\t_\t_\n"
    "2\t춥다\t춥+다\tADJ\tVA+EF\t_\t0\troot\t_\t_\n\n"
)
TINY = {
    "pos": PARTS,
    "chunk": CHUNKS,
    "demo-ko": SYLLABLES,
    "ner-ko": SYLLABLES,
    "ner-ko-elmo": SYLLABLES,
    "pos-ko": MORPHEMES,
}
SUFFIXES = {"pos-ko": "conllu", "demo-ko": "klue", "ner-ko": "klue", "ner-ko-elmo": "klue"}
SMALL = {
    "words": ("model.words.width=8",),
    "chars": ("model.chars.width=4", "model.chars.hidden=4"),
    "features": ("model.features.width=4",),
    "encoder": ("model.encoder.hidden=6",),
    "pooling": ("model.pooling.hidden=5",),
    "sentences": ("model.sentences.encoder.hidden=4", "model.sentences.pooling.hidden=3"),
    "matching": (
        "model.matching.projection=5",
        "model.matching.composition.hidden=4",
        "model.head.hidden=5",
    ),
}
OPINIONS = "pos\tA good film . <s> It is good .\nneg\tA bad film . <s> It is so bad .\n"
TINY_TEXTS = {
    **dict.fromkeys(
        ("classify-ko", "sentiment-nsmc"), "1\t정말 재미있는 영화였다\n0\t지루하고 재미없는 영화\n"
    ),
    "relations": (
        "Cause-Effect(e1,e2)\tThe <e1>rain</e1> caused the <e2>flood</e2>.\n"
        "Other\tA <e1>dog</e1> near the <e2>house</e2>.\n"
    ),
}
TINY_PAIRS = {
    "pairs": (
        "premise\thypothesis\tlabel\n",
        "A man runs.\tA man moves.\tentailment\nA dog sits.\tIt runs.\tcontradiction\n",
    ),
    "similarity-ko": (
        "sentence1\tsentence2\tscore\n",
        "남자가 달린다.\t한 남자가 달린다.\t4.8\n개가 잔다.\t여자가 춤춘다.\t0.2\n",
    ),
}
ASKED = {
    **dict.fromkeys(("classify-ko", "sentiment-nsmc"), "재미있는 영화"),
    "relations": "The <e1>rain</e1> of a <e2>day</e2>.",
    "reviews-han": "A good film . <s> It is long .",
}


def comment(name: str) -> list[str]:
    """Return the lines of the comment at the start of a recipe; continued lines are joined."""
    lines = (FOLDER / f"{name}.toml").read_text("utf-8").splitlines()
    head = lines[: next(i for i, line in enumerate(lines) if not line.startswith("#"))]
    return "\n".join(line.removeprefix("#").strip() for line in head).replace("\\\n", " ").splitlines()


def commands(name: str) -> Iterator[list[str]]:
    for line in comment(name):
        if line.startswith("gonie "):
            yield shlex.split(re.split(r"\s{3,}", line)[0] if "\\" not in line else line)


def test_all_recipes_of_the_folder_are_listed() -> None:
    assert recipe_names() == sorted(path.stem for path in FOLDER.glob("*.toml"))
    assert set(recipe_names()) == {*NAMES, *recipe_names("pretrain")}
    for name in NAMES:
        task = load_recipe(name, absent={"data.train": "not-there"}).task
        assert task == ("tag" if name in TAGGERS else "pair" if name in PAIRS else "classify")
    assert set(NAMES) >= {*SIX, "ner", "pos", "chunk", "ner-ko", "demo", "demo-ko"}


@pytest.mark.parametrize("name", NAMES)
def test_the_commands_in_the_comment_of_a_recipe_are_valid(name: str) -> None:
    """They are the first thing that a user copies."""
    if name.startswith("demo"):
        assert any("`gonie demo`" in line for line in comment(name))
        return
    found = list(commands(name))
    assert any(command[1:3] == ["train", name] for command in found)
    for command in found:
        if command[1] == "train":
            first = next((i for i, word in enumerate(command) if word.startswith("--")), len(command))
            options = list(zip(command[first::2], command[first + 1 :: 2], strict=True))
            assert {option for option, _ in options} <= {"--set", "--text", "--label"}
            changes = [value for option, value in options if option == "--set"]
            changes += file_settings(command[3:first], changes)
            text = [value for option, value in options if option == "--text"]
            label = [value for option, value in options if option == "--label"]
            changes += column_settings(name, (), text=text, label=label[0] if label else None)
            load_recipe(command[2], changes)


@pytest.mark.parametrize("name", NAMES)
def test_every_key_of_a_recipe_is_in_the_documentation(name: str) -> None:
    documented = DOCS.read_text("utf-8")
    values = tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))
    for changes in values.pop("variants", {}).values():
        assert all(f"`{key}`" in documented for key in changes)
    for key in _keys(values):
        section, _, last = key.rpartition(".")
        alike = re.search(rf"^## `\[{section}\]`\n\nThe same keys as above", documented, re.MULTILINE)
        if not (key.startswith("data.columns.") or (alike and f".{last}` |" in documented)):
            assert f"`{key}`" in documented, f"{name}: {key} is not in {DOCS.name}"


def _keys(values: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _keys(value, f"{prefix}{key}.")
        else:
            yield prefix + key


@pytest.mark.parametrize("name", [name for name in NAMES if name != "chunk"])
def test_the_data_files_of_a_recipe_are_bundled(name: str) -> None:
    data = load_recipe(name).data
    for path in (data.train, data.dev, data.test):
        assert path is not None
        assert path.startswith("bundled:")
        assert locate(path).is_file()
        assert (locate(path).parent / "LICENSE.md").is_file()


def test_chunk_requires_a_training_file() -> None:
    with pytest.raises(RecipeError, match=r"data\.train: missing value.*--set data\.train="):
        load_recipe("chunk")


@pytest.mark.parametrize("name", SIX)
def test_the_six_models_differ_as_in_the_paper(name: str) -> None:
    kind, both, head = SIX[name]
    model = load_recipe(name).model
    assert (model.encoder.kind, model.head.kind) == (kind, head)
    assert both is None or model.encoder.bidirectional is both
    assert model.head.direct == ["spelling", "context"]
    assert (model.words is None) == (kind == "none")
    assert load_recipe(name).train == load_recipe("bilstm-crf").train
    assert load_recipe("rnn").model.encoder.activation == "sigmoid"


def shrunk(name: str, settings: list[str]) -> Recipe:
    """Load a recipe with these settings and small layers, but the same kinds of parts."""
    model = load_recipe(name, settings).model
    small = [change for part, changes in SMALL.items() if getattr(model, part, None) for change in changes]
    return load_recipe(name, [*settings, *small])


def over(name: str, path: Path, content: str, *more: str) -> Recipe:
    """Load a recipe that trains for one epoch on one small file."""
    path.write_text(content, "utf-8")
    files = [f"data.{split}={path}" for split in ("train", "dev", "test")]
    return shrunk(name, [*files, *more, "train.epochs=1", "train.device=cpu"])


KIWI = ("ner-ko-elmo", "pos-ko")
"""Taggers that need Kiwi, which takes seconds each time it is loaded."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long) if name in KIWI else name for name in TAGGERS]
)
def test_a_tagger_trains_exports_and_tags(name: str, tmp_path: Path, silence: Any, gonie: Any) -> None:
    if name in KIWI:
        pytest.importorskip("kiwipiepy")
    path = tmp_path / f"tiny.{SUFFIXES.get(name, 'conll')}"
    recipe = over(name, path, TINY.get(name, ENTITIES) * 6)
    assert isinstance(recipe, TagRecipe)
    result = start_run(recipe, tmp_path / "run", silence)
    assert result is not None
    (_, dev), (_, test) = result.evaluations.items()
    assert dev.headline == test.headline
    if name == "chunk":  # its features need parts of speech
        shown = gonie("tag", tmp_path / "run", "--input", "conll", "--file", tmp_path / "tiny.conll")
        assert shown.code == 0, shown.err
        assert "reckons" in shown.out
        assert gonie("tag", tmp_path / "run", "He ran.").refused("'pos'")
        return
    text = "서울은 춥다" if name in SUFFIXES else "Anna Kim saw the dog."
    document = load(tmp_path / "run")(text)
    assert "".join(token.text for token in document.tokens) == text.replace(" ", "")
    assert all(tag for tag in document.tags)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long) if name in ("classify-ko", "sentiment-nsmc") else name
        for name in CLASSIFIERS
    ],
)  # Kiwi takes seconds each time it is loaded
def test_a_classifier_trains_exports_and_classifies(
    name: str, tmp_path: Path, silence: Any, gonie: Any
) -> None:
    """Input is read as in training, including marks, sentences and morphemes."""
    recipe = classifier(name, tmp_path)
    result = start_run(recipe, tmp_path / "run", silence)
    assert result is not None
    (_, dev), (_, test) = result.evaluations.items()
    assert dev.headline == test.headline
    model = load(tmp_path / "run")
    assert isinstance(model, TextClassifier)
    asked = ASKED.get(name, "A good film")
    given = model(model.text(asked))
    assert given.label in model.labels
    assert given.score == pytest.approx(max(given.scores.values()))
    assert sum(given.scores.values()) == pytest.approx(1.0, abs=1e-5)
    shown = gonie("classify", tmp_path / "run", asked)
    assert shown.code == 0, shown.err
    assert given.label in shown.out


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long) if name.endswith("-ko") else name for name in PAIRS]
)  # Kiwi takes seconds each time it is loaded
def test_a_pair_model_trains_exports_and_answers(name: str, tmp_path: Path, silence: Any, gonie: Any) -> None:
    header, rows = TINY_PAIRS[name]
    if load_recipe(name).data.unit == "morpheme" and importlib.util.find_spec("kiwipiepy") is None:
        pytest.skip("morphemes need kiwipiepy")
    result = start_run(over(name, tmp_path / "tiny.tsv", header + rows * 6), tmp_path / "run", silence)
    assert result is not None
    (_, dev), (_, test) = result.evaluations.items()
    assert dev.headline == test.headline
    model = load(tmp_path / "run")
    assert isinstance(model, PairClassifier)
    first, second, _ = rows.split("\n")[0].split("\t")
    found = model(first, second)
    assert model.gives_values == name.startswith("similarity")
    shown = gonie("classify", tmp_path / "run", first, second)
    assert shown.code == 0, shown.err
    assert (found.label or f"{found.value:.2f}") in shown.out


def classifier(name: str, folder: Path) -> TextRecipe:
    """Load the recipe of a classifier on a few texts; skip the test if its tokenizer is missing."""
    own = load_recipe(name).data
    assert isinstance(own, TextDataConfig)
    if own.unit == "morpheme" and importlib.util.find_spec("kiwipiepy") is None:
        pytest.skip("morphemes need kiwipiepy")
    # another training file resets them, so they must be set
    kept = (f"data.marks={json.dumps(own.marks)}", f"data.sentences={own.sentences}")
    texts = f"label\ttext\n{TINY_TEXTS.get(name, OPINIONS) * 6}"
    recipe = over(name, folder / "tiny.tsv", texts, *kept)
    assert isinstance(recipe, TextRecipe)
    return recipe


def test_reviews_han_reads_words_and_sentences(tmp_path: Path, silence: Any) -> None:
    assert start_run(classifier("reviews-han", tmp_path), tmp_path / "run", silence) is not None
    model = load(tmp_path / "run")
    (reading,) = model.read([model.passage(ASKED["reviews-han"])])
    assert len(reading.words) == len(reading.sentences) == 2
    assert reading.sentences.sum() == pytest.approx(1.0)
    assert all(words.sum() == pytest.approx(1.0) for words in reading.words)


def test_the_marks_of_a_relation_are_words_of_the_vocabulary(tmp_path: Path, silence: Any) -> None:
    """Without the marks, a model could not know which two words the relation is about."""
    assert start_run(classifier("relations", tmp_path), tmp_path / "run", silence) is not None
    model = load(tmp_path / "run")
    (sentence,) = model.passage(model.text(ASKED["relations"])).sentences
    assert sentence.words == ("The", "<e1>", "rain", "</e1>", "of", "a", "<e2>", "day", "</e2>", ".")
    assert all(model.encoding.words.word_id(mark) > 1 for mark in ("<e1>", "</e2>"))
