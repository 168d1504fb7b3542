"""External vectors stay with their tokens or texts, from the files of a recipe to the predictions."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest

import gonie as package
from gonie.errors import BundleError, GonieError, InputError, RecipeError
from gonie.formats.labelled import LabelledSource
from gonie.formats.tagged import TaggedSource
from gonie.tasks.recipe import load_recipe
from gonie.tasks.start import resolve_recipe
from gonie.tasks.tagging.torch.files import TagFiles
from gonie.tasks.torch.external import LoadedExternal
from gonie.tasks.torch.prepare import prepare
from gonie.text.types import Sentence

Gonie = Callable[..., Any]
SMALL = ("model.encoder.hidden=4", "model.words.width=4", "train.epochs=2", "train.device=cpu")
SPLITS = ("train", "dev", "test")


def code(text: str) -> list[float]:
    """Return the vector of a word or text in these tests."""
    return [crc32(text.lower().encode()) % 1000, len(text), 1]


def words_of(path: Path) -> Iterable[str]:
    return (word for sentence in TaggedSource(path) for word in sentence.words)


def check(sentences: Iterable[Sentence]) -> int:
    """Check that every word has its own vector, and return the number of words."""
    number = 0
    for sentence in sentences:
        assert sentence.vectors is not None
        assert sentence.vectors.tolist() == [code(word) for word in sentence.words]
        number += len(sentence)
    return number


@pytest.fixture
def corpus(toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy the toy corpus, with the code of each word as its vector."""
    monkeypatch.chdir(tmp_path)
    for split in SPLITS:
        path = tmp_path / f"{split}.conll"
        path.write_bytes((toy / path.name).read_bytes())
        np.savez(tmp_path / f"{split}.npz", x=np.array([code(word) for word in words_of(path)]))
    return tmp_path


def settings(*splits: str) -> list[str]:
    data = [f"data.{split}={split}.conll" for split in splits]
    return [*SMALL, *data, *(f"model.external.{split}={split}.npz" for split in splits)]


def tag_recipe(*changes: str, splits: tuple[str, ...] = SPLITS) -> Any:
    return load_recipe("bilstm-crf", [*settings(*splits), *changes])


def silent(note: str) -> None:
    pass


def encoded(recipe: Any) -> int:
    """Check the vectors of the encoded training sentences, and return the number of their tokens."""
    job: Any = prepare(recipe, silent)
    arrays, words = job.train.arrays, job.encoding.words
    rows = arrays["external"].reshape(-1, 3)[arrays["external_rows"]]
    forms = [words.string(int(word)) for word in arrays["form_words"]]
    for form, row in zip(arrays["forms"], rows, strict=True):
        assert row.tolist() == code(forms[form])
    return len(rows)


# --- reading ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [[], ["data.holdout=0.3"], ["data.max_tokens=3"], ["train.shots=3"], ['data.types=["PER"]']],
    ids=str,
)
def test_tokens_keep_their_vectors_in_every_split_and_sample(corpus: Path, changes: list[str]) -> None:
    alone = ("train",)
    recipe = tag_recipe(*changes, splits=alone)
    files = TagFiles(recipe)
    train, dev = files.train_and_dev(files.everything(), silent)
    assert check(train)
    assert check(dev)
    assert encoded(recipe)


def test_domains_and_the_one_that_is_left_out_have_their_own_files(corpus: Path) -> None:
    changes = ['data.train={a = "train.conll", b = "dev.conll"}', "data.leave_out=b", "data.holdout=0.2"]
    vectors = ['model.external.train={a = "train.npz", b = "dev.npz"}']
    recipe = load_recipe("bilstm-crf", [*SMALL, *changes, *vectors])
    job: Any = prepare(recipe, silent)
    assert check(job.examples("dev")) < len(list(words_of(corpus / "train.conll")))
    assert check(job.examples("test")) == len(list(words_of(corpus / "dev.conll")))


def test_a_cached_corpus_has_the_vectors(corpus: Path) -> None:
    recipe = tag_recipe("data.cache=cache", splits=("train", "dev"))
    assert encoded(recipe) == len(list(words_of(corpus / "train.conll")))


def test_a_wrong_number_of_rows_is_refused_in_training(corpus: Path, gonie: Gonie) -> None:
    np.savez(corpus / "train.npz", x=np.zeros((17, 3)))
    changes = [part for change in settings("train", "dev") for part in ("--set", change)]
    ended = gonie("train", "bilstm-crf", *changes, "--out", "run")
    assert ended.refused("train.npz: 17 vectors, but", "train.conll needs more, one for each token")
    assert not (corpus / "run" / "bundle").exists()


def test_other_vectors_of_any_split_are_noticed_by_a_resumed_run(corpus: Path) -> None:
    prints = [prepare(tag_recipe(), silent).fingerprint()]
    for split in SPLITS:
        with np.load(f"{split}.npz") as saved:
            changed = saved["x"].copy()
        changed[-1, -1] += 1
        np.savez(f"{split}.npz", x=changed)
        prints.append(prepare(tag_recipe(), silent).fingerprint())
    assert len(set(prints)) == 4


def test_auxiliary_heads_are_refused(corpus: Path) -> None:
    with pytest.raises(RecipeError, match=r"heads\.pos: cannot be combined with model\.external"):
        prepare(tag_recipe("heads.pos.train=train.conll"), silent)


# --- a trained tagger ------------------------------------------------------------------------------------


def trained(gonie: Gonie, *changes: str, out: str = "run", recipe: str = "bilstm-crf") -> Path:
    sets = [part for change in changes for part in ("--set", change)]
    ended = gonie("train", recipe, *sets, "--out", out)
    assert ended.code == 0, ended.err
    return Path(out)


VECTORS_ALONE = (
    *("model.words=none", "model.chars=none", "model.features=none", "model.encoder.kind=none"),
    *(
        "model.head.kind=softmax",
        "model.head.direct=[]",
        "model.external.projection=6",
        "model.external.normalize=true",
    ),
)


def test_a_long_sentence_in_windows_has_the_vector_of_each_token(corpus: Path, gonie: Gonie) -> None:
    """The scores of a model without an encoder depend on nothing but the token's own vector."""
    run = trained(gonie, *settings(*SPLITS), *VECTORS_ALONE)
    tagger = package.load(run)
    words = [word for _ in range(6) for word in words_of(corpus / "train.conll")][:2300]
    vectors = np.array([code(word) for word in words], dtype=np.float32)
    (scores,) = tagger.emissions([Sentence(tuple(words), vectors=vectors)])
    singles = tagger.emissions(
        [Sentence((word,), vectors=row[None]) for word, row in zip(words, vectors, strict=True)]
    )
    assert len(words) == 2300
    np.testing.assert_allclose(scores, np.concatenate(singles), atol=1e-5)
    (document,) = tagger.tag_tokens([words], vectors=[vectors])
    assert [note for note in document.notes if "window" in note]
    chunks = tagger.tag_tokens(
        [words[at : at + 1] for at in range(50)], vectors=[vectors[at] for at in range(50)]
    )
    assert [token.tag for chunk in chunks for token in chunk.tokens] == [t.tag for t in document.tokens[:50]]


def test_a_tagger_predicts_alike_on_every_way_and_without_torch(corpus: Path, gonie: Gonie) -> None:
    run = trained(gonie, *settings(*SPLITS), "model.external.at=both", "model.external.projection=5")
    tagger = package.load(run)
    assert tagger.vector_width == 3
    sentences = [sentence.words for sentence in TaggedSource(corpus / "test.conll")]
    vectors = [np.array([code(word) for word in words]) for words in sentences]
    together = tagger.tag_tokens(sentences, vectors=vectors)
    for words, own, document in zip(sentences, vectors, together, strict=True):
        (alone,) = tagger.tag_tokens([words], vectors=[own])
        assert alone.tags == document.tags
        assert [t.score for t in alone.tokens] == pytest.approx([t.score for t in document.tokens], abs=1e-5)
    lines = gonie("tag", run, "--file", "test.conll", "--vectors", "test.npz", "--output", "jsonl").out
    shown = [tuple(token["tag"] for token in json.loads(line)["tokens"]) for line in lines.splitlines()]
    assert shown == [document.tags for document in together]
    text = "Anna lives in Seoul ."
    given = np.array([code(word) for word in text.split()])
    assert tagger(text, vectors=given).tags == tagger.tag_tokens([text.split()], vectors=[given])[0].tags
    script = (
        "import sys, json; sys.modules['torch'] = None; import gonie; "
        f"t = gonie.load({str(run)!r}); print(json.dumps(t({text!r}, vectors={given.tolist()}).tags))"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert tuple(json.loads(ended.stdout)) == tagger(text, vectors=given).tags


def test_evaluate_needs_the_vectors_and_gives_the_score_of_training(corpus: Path, gonie: Gonie) -> None:
    run = trained(gonie, *settings(*SPLITS))
    saved = json.loads((run / "evaluation.json").read_text("utf-8"))["test"]
    scores = package.evaluate(run, "test.conll", vectors="test.npz")
    assert scores.f1 == pytest.approx(saved["f1"])
    assert gonie("evaluate", run, "test.conll", "--vectors", "test.npz").code == 0
    files = ("a=test.conll", "b=dev.conll", "--vectors", "b=dev.npz", "--vectors", "a=test.npz")
    assert gonie("evaluate", run, *files, "--json", "s.json").code == 0
    assert json.loads(Path("s.json").read_text())["domains"]["a"]["f1"] == pytest.approx(saved["f1"])
    assert gonie("evaluate", run, "test.conll").refused(
        "external vectors, and this text has none", "--vectors"
    )
    assert gonie("evaluate", run, "test.conll", "--vectors", "dev.npz").refused("dev.npz: ", "row")
    assert gonie("evaluate", run, *files[:4]).refused("expected the vectors of 2 files, got 1 file")
    with pytest.raises(InputError, match="different names: data, x"):
        package.evaluate(run, "test.conll", vectors={"x": "test.npz"})


def test_nothing_is_written_with_the_vectors_of_another_file(corpus: Path, gonie: Gonie) -> None:
    """The predictions before the row where it shows would be wrong."""
    run = trained(gonie, *settings("train", "dev"))
    for file, vectors in (("train.conll", "dev.npz"), ("dev.conll", "train.npz")):
        ended = gonie("tag", run, "--file", file, "--vectors", vectors)
        assert ended.code == 2
        assert ended.out == ""


def test_what_cannot_pass_vectors_on_is_refused(corpus: Path, gonie: Gonie) -> None:
    run = trained(gonie, *settings("train", "dev"))
    assert gonie("tag", run, "Anna lives here").refused("this text has none", "--vectors FILE")
    assert gonie("tag", run, "--vectors", "dev.npz", stdin=b"Anna").refused(
        "cannot be combined with a stream"
    )
    assert gonie("tag", run, "--file", "dev.conll", "--out", "parts").refused("--out cannot pass on")
    bulk = ("--file", "dev.conll", "--vectors", "dev.npz", "--out", "parts")
    assert gonie("tag", run, *bulk).refused("--vectors cannot be combined with --out")
    assert gonie("explain", run, "Anna").refused("reads external vectors, and explanations")
    assert gonie("serve", run, "--port", "0").refused("reads external vectors, which requests cannot have")
    assert gonie("export", run, "--out", "b", "--data", "dev.conll").refused("--data has no external vectors")
    exported = gonie("export", run, "--out", "b", "--onnx", "whole.onnx")
    assert exported.code == 0, exported.err
    words = trained(gonie, *SMALL, "data.train=train.conll", out="plain")
    assert gonie("tag", words, "--file", "dev.conll", "--vectors", "dev.npz").refused(
        "reads no external vectors"
    )
    with pytest.raises(InputError, match="reads no external vectors"):
        package.load(words).tag_tokens([["Anna"]], vectors=[[1, 2, 3]])
    with pytest.raises(InputError, match="expected the vectors of 1 sentence, got 2"):
        package.load(run).tag_tokens([["Anna"]], vectors=[[1, 2, 3], [1, 2, 3]])
    rows = [Sentence(("Anna",), ("B-PER",), vectors=np.zeros(3))]
    with pytest.raises(GonieError, match="external vectors of examples in memory are not read"):
        package.evaluate(run, rows)


def test_a_run_starts_from_another_with_its_own_files_and_replays_with_theirs(
    corpus: Path, gonie: Gonie
) -> None:
    trained(gonie, *settings("train", "dev"), "model.external.projection=5", out="first")
    changes = [*SMALL, "data.train=test.conll", "data.dev=dev.conll", "train.start=first"]
    with pytest.raises(RecipeError, match=r"reads vectors from files.* set model\.external\.train=FILE"):
        resolve_recipe(load_recipe("bilstm-crf", changes), silent)
    files = ["model.external.train=test.npz", "model.external.dev=dev.npz"]
    recipe: Any = resolve_recipe(load_recipe("bilstm-crf", [*changes, *files, "train.replay=20"]), silent)
    assert (recipe.model.external.train, recipe.model.external.projection) == ("test.npz", 5)
    assert resolve_recipe(recipe, silent) == recipe
    own = len(list(words_of(corpus / "test.conll")))
    assert encoded(recipe) > own
    trained(gonie, *changes, *files, "train.replay=20", out="second")


def test_texts_of_several_sentences_have_their_rows_by_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gonie: Gonie
) -> None:
    """The texts of a file and of the input are in another order than their rows, and have two sentences."""
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(1)
    signs, order = generator.choice([-1, 1], 60), generator.permutation(60)
    texts = [f"Look {n}. Here is Fox today." for n in range(60)]
    with Path("train.jsonl").open("w", encoding="utf-8") as file:
        for number in generator.permutation(60):
            start = texts[number].index("Fox")
            label = "ORG" if signs[number] > 0 else "THING"
            record = {"id": int(number), "text": texts[number], "spans": [[start, start + 3, label]]}
            file.write(json.dumps(record) + "\n")
    np.savez("v.npz", v=signs[order][:, None] * np.ones(4), id=order)
    vectors = ("model.external.train=v.npz", "model.external.per=text", "model.external.ids=id")
    run = trained(gonie, *SMALL, *vectors, "train.epochs=15", "data.train=train.jsonl", "data.holdout=0.2")
    rows = [json.dumps({"id": int(n), "text": texts[n]}) for n in generator.permutation(60)]
    Path("new.jsonl").write_text("\n".join(rows), "utf-8")
    ended = gonie("tag", run, "--file", "new.jsonl", "--vectors", "v.npz", "--output", "jsonl")
    assert ended.code == 0, ended.err
    found = [json.loads(line) for line in ended.out.splitlines()]
    wrong = [
        each
        for each in found
        if [s["label"] for s in each["spans"]] != ["ORG" if signs[each["id"]] > 0 else "THING"]
    ]
    assert len(found) == 60
    assert len(wrong) <= 1
    Path("other.jsonl").write_text('{"id": 99, "text": "Fox"}\n', "utf-8")
    ended = gonie("tag", run, "--file", "other.jsonl", "--vectors", "v.npz")
    assert ended.refused("no row for the id '99' of other.jsonl, line 1")


@pytest.mark.parametrize("width", [4, 2, 0])
def test_a_bundle_whose_width_does_not_fit_its_graph_is_refused(
    corpus: Path, gonie: Gonie, width: int
) -> None:
    run = trained(gonie, *settings("train", "dev"), "train.epochs=1")
    index = run / "bundle" / "bundle.json"
    changed = index.read_text("utf-8").replace('"external":3', f'"external":{width}')
    assert changed != index.read_text("utf-8")
    index.write_text(changed, "utf-8")
    with pytest.raises(BundleError):
        package.load(run)


def test_runs_with_other_projections_are_compared(corpus: Path, gonie: Gonie) -> None:
    changes = [part for change in settings("train", "dev") for part in ("--set", change)]
    projections = ("--set", "model.external.projection=0,4")
    ended = gonie("compare", "bilstm-crf", *changes, *projections, "--seeds", "1", "--out", "table")
    assert ended.code == 0, ended.err


def test_a_synthetic_source_is_small_and_a_damaged_width_is_refused(tmp_path: Path) -> None:
    source = LoadedExternal(7)
    for name, content in source.files().items():
        (tmp_path / name).write_text(content)
    assert LoadedExternal.restore(tmp_path) == source
    for damaged in ("{", '{"width": 0}', '{"width": "7"}', "{}", '{"width": 99999999}'):
        (tmp_path / "external.json").write_text(damaged)
        with pytest.raises(BundleError, match=r"external\.json: damaged file"):
            LoadedExternal.restore(tmp_path)
    (tmp_path / "external.json").unlink()
    with pytest.raises(BundleError, match="No such file"):
        LoadedExternal.restore(tmp_path)
    assert LoadedExternal.synthetic().given == 3


# --- classifiers -----------------------------------------------------------------------------------------


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write texts that say nothing about their labels, and vectors that do."""
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(3)
    for split, number in zip(SPLITS, (120, 30, 30), strict=True):
        signs = generator.choice([-1, 1], number)
        nouns = generator.choice(["cat", "house", "tree"], number)
        rows = [
            f"{'good' if s > 0 else 'bad'}\ta {noun} {n}"
            for n, (s, noun) in enumerate(zip(signs, nouns, strict=True))
        ]
        Path(f"{split}.tsv").write_text("\n".join(["label\ttext", *rows]) + "\n", "utf-8")
        noise = generator.normal(scale=0.3, size=(number, 3))
        np.savez(f"{split}.npz", pictures=noise + signs[:, None])
    return tmp_path


TEXTS = [
    *(f"data.{split}={split}.tsv" for split in SPLITS),
    *(f"model.external.{split}={split}.npz" for split in SPLITS),
    *("model.encoder.hidden=6", "model.words.width=6", "train.epochs=6", "train.device=cpu", "train.lr=0.02"),
]


@pytest.mark.parametrize("folds", [0, 3])
def test_texts_keep_their_vectors_in_folds_and_holdouts(texts: Path, folds: int) -> None:
    """The sign of a vector is the label of its text."""
    changes = ["data.train=train.tsv", "model.external.train=train.npz", f"data.folds={folds}", "data.fold=1"]
    job: Any = prepare(load_recipe("classify", changes), silent)
    examples = [*job.examples("dev"), *job.examples("test")]
    assert examples
    for text in examples:
        assert (text.vectors.mean() > 0) == (text.labels == ("good",))
    batch = job.train.batch(np.arange(len(job.train)))
    means = np.array([batch["external"][row][batch["mask"][row]].mean() for row in batch["places"][:, 0]])
    assert np.array_equal(means > 0, batch["labels"] == list(job.encoding.labels).index("good"))


def test_a_classifier_learns_from_vectors_what_the_text_does_not_say(texts: Path, gonie: Gonie) -> None:
    run = trained(gonie, *TEXTS, recipe="classify")
    found = json.loads((run / "evaluation.json").read_text("utf-8"))["test"]["accuracy"]
    assert found > 0.9
    assert package.evaluate(run, "test.tsv", vectors="test.npz").accuracy == pytest.approx(found)
    classifier = package.load(run)
    with np.load("test.npz") as saved:
        vectors = saved["pictures"]
    gold = list(LabelledSource("test.tsv"))
    single = [classifier(text.text, vectors=own) for text, own in zip(gold, vectors, strict=True)]
    lines = gonie("classify", run, "--file", "test.tsv", "--vectors", "test.npz", "--output", "jsonl").out
    assert [json.loads(line)["label"] for line in lines.splitlines()] == [each.label for each in single]
    assert classifier("a cat", vectors=[1, 1, 1]).label != classifier("a cat", vectors=[-1, -1, -1]).label
    assert classifier("", vectors=[1, 1, 1]).label == "good"
    assert gonie("classify", run, "a cat").refused("this text has none")
    assert gonie("evaluate", run, "test.tsv", "--vectors", "test.npz", "--html", "r.html").code == 0
    other = trained(gonie, *TEXTS, "train.seed=2", out="second", recipe="classify")
    ensemble = ("evaluate", run, "test.tsv", "--vectors", "test.npz", "--ensemble", other)
    assert gonie(*ensemble).code == 0
    assert gonie("evaluate", run, "test.tsv", "--vectors", "test.npz", "--mc-dropout", "2").code == 0


def test_gradients_of_models_with_external_vectors_are_right(tmp_path: Path, gonie: Gonie) -> None:
    changes = ("--set", "model.external.train=x.npz", "--set", "model.external.projection=4")
    for recipe in ("bilstm-crf", "classify"):
        assert gonie("check-gradients", recipe, *changes).code == 0
