"""Distillation as a whole: a student learns more than its few labels show, and nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import gonie
from gonie.errors import InputError, OutputError, RecipeError, ResumeError
from gonie.experiments.distilled import DISTILLATION, compare_models
from gonie.metrics.evaluation import evaluate
from gonie.tasks.recipe import load_recipe
from gonie.tasks.run_files import TEACHER
from gonie.tasks.table import TASKS
from gonie.tasks.tagging.answers import TagAnswer, TagPath
from gonie.tasks.teacher import INDEX, Answers, AnswerSettings
from gonie.tasks.torch.checkpoint import read_tensors
from gonie.tasks.torch.trained import load_trained
from gonie.text.schemes import Scheme
from gonie.training.distill import WITHOUT_TEACHER, Distillation, Distilled, default_folder, distill
from gonie.training.run import start_run
from support.few_names import PEOPLE, PLACES, RECIPE, conll, entities, sentences
from support.language_model import ScriptedModel, refusal
from support.running_service import LETTERS, RunningService
from support.scripted_service import running


class Display:
    """Collects notes, and raises an error after some answers or steps if asked to."""

    def __init__(
        self, *, answers: int | None = None, steps: int | None = None, error: Any = RuntimeError
    ) -> None:
        self.notes: list[str] = []
        self.done: list[int] = []
        self._answers, self._steps, self._error = answers, steps, error

    def note(self, text: str) -> None:
        self.notes.append(text)

    def answered(self, done: int, total: int) -> None:
        self.done.append(done)
        if self._answers is not None and done >= self._answers:
            raise self._error

    def step(self, step: object) -> None:
        if self._steps is not None:
            self._steps -= 1
            if not self._steps:
                raise self._error

    def __getattr__(self, name: str) -> Any:
        return lambda *args: None


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the files of teacher and student, and train the teacher."""
    folder = tmp_path_factory.mktemp("distilled")
    for name, number, seed in (("many", 120, 1), ("few", 5, 2), ("dev", 30, 3), ("test", 60, 4)):
        (folder / f"{name}.conll").write_text(conll(sentences(number, seed)), "utf-8")
    texts = (" ".join(word for word, _ in block) for block in sentences(150, 5))
    (folder / "text.txt").write_text("\n".join(texts) + "\n", "utf-8")
    for train in ("many", "few"):
        (folder / f"{train}.toml").write_text(RECIPE.format(folder=folder, train=train), "utf-8")
    for seed in (1, 2):
        changes = ["train.epochs=4", f"train.seed={seed}"]
        recipe = load_recipe(folder / "many.toml", changes)
        assert start_run(recipe, folder / f"teacher{seed}", Display()) is not None
    return folder


OWN = ("teacher", "compare", "recipe", "loading")
"""Fields of a request that are not those of the answers."""


def request(corpus: Path, *changes: str, **settings: Any) -> Distillation:
    options = {name: settings.pop(name) for name in OWN if name in settings}
    answers = AnswerSettings(**{"files": (str(corpus / "text.txt"),), **settings})
    own: dict[str, Any] = {"teacher": [corpus / "teacher1"], "recipe": corpus / "few.toml", **options}
    return Distillation(changes=["data.answers_min_count=1", *changes], answers=answers, **own)


def taught(asked: Distillation, folder: Path, display: Display | None = None, **options: Any) -> Distilled:
    found = distill(asked, folder, display or Display(), **options)
    assert found is not None
    return found


def f1(folder: Path, file: Path) -> float:
    """Return the F1 of a model, computed from the words and tags of a file alone."""
    examples = list(gonie.read(file))
    tagger = gonie.load(folder)
    tags = [document.tags for document in tagger.tag_sentences(examples)]
    scheme = tagger.encoding.scheme
    gold = Scheme(kind="IOB2")
    from gonie.text.schemes import convert

    return float(
        evaluate(examples, [convert(own, scheme, gold) for own in tags], scheme=gold, bootstrap=0).headline[1]
    )


@pytest.mark.parametrize("changes", [(), ("loss.teacher.weight=0", "loss.teacher.paths=1")])
def test_a_student_learns_what_its_few_labels_do_not_show(
    corpus: Path, changes: tuple[str, ...], tmp_path: Path
) -> None:
    """It knows names that only the teacher has seen, from marginals and from best tag sequences alike."""
    distilled = taught(request(corpus, *changes, compare=True), tmp_path / "student")
    compared = compare_models(distilled)
    teacher, student, alone = compared.models
    assert [each.name for each in compared.models] == ["teacher", "student", "student without teacher"]
    assert student.score > alone.score + 0.1
    assert student.score > teacher.score - 0.1
    folders = [corpus / "teacher1", tmp_path / "student"]
    folders.append(tmp_path / "student" / "variants" / "without-teacher")
    for model, folder in zip(compared.models, folders, strict=True):
        assert model.score == pytest.approx(f1(folder, corpus / "test.conll"))
        size = sum(file.stat().st_size for file in (folder / "bundle").iterdir())
        assert model.megabytes == pytest.approx(size / 1e6)
        assert model.tokens_per_second > 0
        assert model.milliseconds > 0
    assert (tmp_path / "student" / DISTILLATION).is_file()
    assert compared.split == "test"
    assert compared.examples == 60


def test_a_killed_distillation_resumes_to_the_same_bytes(corpus: Path, tmp_path: Path) -> None:
    """It is killed while the teacher answers, and again in training."""
    settings = ("train.checkpoint_seconds=1e-9", "train.epochs=3")
    taught(request(corpus, *settings), tmp_path / "whole")
    with pytest.raises(RuntimeError):
        distill(request(corpus, *settings), tmp_path / "broken", Display(answers=1))
    assert not (tmp_path / "broken" / "recipe.toml").exists()
    with pytest.raises(RuntimeError):
        distill(request(corpus, *settings), tmp_path / "broken", Display(steps=4), resume=True)
    taught(request(corpus, *settings), tmp_path / "broken", resume=True)
    for file in ("best.safetensors", "bundle/model.onnx", f"{TEACHER}/tags.chances.bin"):
        whole, broken = (tmp_path / name / file for name in ("whole", "broken"))
        assert whole.read_bytes() == broken.read_bytes(), file
    states = [read_tensors(tmp_path / name / "last.safetensors")[0] for name in ("whole", "broken")]
    assert states[0].keys() == states[1].keys()  # their metadata have the paths of the answers
    assert all(torch.equal(tensor, states[1][name]) for name, tensor in states[0].items())
    assert states[0]["loss.teacher.passes"] > 0


def test_ctrl_c_keeps_the_answers_and_a_finished_teacher_is_not_asked_again(
    corpus: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        distill(request(corpus), folder, Display(answers=100, error=KeyboardInterrupt))
    assert len(Answers.open(folder / TEACHER)) > 0
    before = {file.name: file.read_bytes() for file in (folder / TEACHER).iterdir()}
    taught(request(corpus), folder, resume=True)
    assert before == {file.name: file.read_bytes() for file in (folder / TEACHER).iterdir()}


@pytest.mark.parametrize("what", ["teacher", "text", "temperature"])
def test_a_change_is_refused_and_named(corpus: Path, what: str, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_bytes((corpus / "text.txt").read_bytes())
    files = (str(text),)
    with pytest.raises(RuntimeError):
        distill(request(corpus, files=files), tmp_path / "run", Display(answers=1))
    changes: dict[str, Any] = {"files": files}
    if what == "teacher":
        changes["teacher"] = [corpus / "teacher2"]
    elif what == "text":
        text.write_text("Anna lives in Rome .\n" + text.read_text("utf-8"), "utf-8")
    else:
        changes["temperature"] = 3.0
    noun = "the settings of the answers" if what == "temperature" else f"the {what}"
    with pytest.raises(ResumeError, match=f"changed since the teacher began to answer: {noun}"):
        distill(request(corpus, **changes), tmp_path / "run", Display(), resume=True)


def test_a_moved_text_is_the_same_text(corpus: Path, tmp_path: Path) -> None:
    """While the teacher answers, and in training."""
    text, moved = tmp_path / "text.txt", tmp_path / "moved.txt"
    text.write_bytes((corpus / "text.txt").read_bytes())
    with pytest.raises(RuntimeError):
        distill(request(corpus, files=(str(text),)), tmp_path / "run", Display(answers=1))
    text.rename(moved)
    with pytest.raises(RuntimeError):
        distill(request(corpus, files=(str(moved),)), tmp_path / "run", Display(steps=4), resume=True)
    moved.rename(text)
    taught(request(corpus, files=(str(text),)), tmp_path / "run", resume=True)


def test_a_run_is_not_resumed_with_a_changed_text(corpus: Path, tmp_path: Path) -> None:
    """Also with gonie train, which reads the answers of a run as data."""
    text = tmp_path / "text.txt"
    text.write_bytes((corpus / "text.txt").read_bytes())
    taught(request(corpus, "train.epochs=1", files=(str(text),)), tmp_path / "run")
    text.write_text("Anna lives in Rome .\n", "utf-8")
    changes = [f"data.answers={tmp_path / 'run' / TEACHER}", "loss.teacher.weight=1"]
    with pytest.raises(InputError, match="the text has changed since the teacher answered it"):
        start_run(load_recipe(corpus / "few.toml", changes), tmp_path / "again", Display())


def test_an_ensemble_teaches_the_mean_of_its_members(corpus: Path, tmp_path: Path) -> None:
    both = [corpus / "teacher1", corpus / "teacher2"]
    distilled = taught(request(corpus, "train.epochs=2", teacher=both), tmp_path / "run")
    compared = compare_models(distilled)
    single = taught(request(corpus, "train.epochs=2"), tmp_path / "single")
    assert compared.models[0].megabytes == pytest.approx(
        2 * (compare_models(single).models[0].megabytes or 0), rel=0.01
    )
    chances = [
        Answers.open(tmp_path / name / TEACHER).arrays["tags.chances"].astype(float).sum()
        for name in ("run", "single")
    ]
    assert chances[0] != chances[1]


def test_text_is_read_once_and_what_is_left_out_is_counted(corpus: Path, tmp_path: Path) -> None:
    """Repeats, sentences beyond the limit, and sentences that are also in the test file."""
    text = tmp_path / "text.txt"
    own = [" ".join(word for word, _ in block) for block in sentences(60, 4)]  # the test sentences
    lines = [*own, *own, "Nobody knows Rome , says Anna in Cairo ."]
    text.write_text("\n".join(lines) + "\n", "utf-8")
    display = Display()
    distinct = len(dict.fromkeys(lines))
    asked = request(corpus, "train.epochs=1", files=(str(text),), most=distinct - 3)
    taught(asked, tmp_path / "run", display)
    assert len(Answers.open(tmp_path / "run" / TEACHER)) == distinct - 3
    assert len(display.notes) == len(set(display.notes)), "the text is read twice, and each note shown once"
    told = "\n".join(display.notes)
    assert f"{len(lines) - distinct} repeated unlabelled sentences left out" in told
    assert f"{distinct - 3} of {distinct} unlabelled sentences used" in told
    assert "also in the unlabelled text, so the test score may be too high" in told


def test_teachers_and_recipes_that_do_not_fit_are_refused(
    corpus: Path, text_toy: Path, pair_toy: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"

    def refused(error: type[Exception], told: str, *changes: str, **options: Any) -> None:
        with pytest.raises(error, match=told):
            distill(request(corpus, *changes, **options), out, Display())
        assert not out.exists()

    refused(
        InputError, "does not know these labels of the training file: LOC, PER", map={"PER": "O", "LOC": "O"}
    )
    refused(InputError, "tags in BIOES.*--set data.model_scheme=BIOES", "data.model_scheme=IOB2")
    refused(InputError, "is in the ensemble twice", teacher=[corpus / "teacher1"] * 2)
    refused(InputError, "is a tagger, and the recipe trains a classifier", recipe=text_toy / "texts.toml")
    pairs = replace(request(corpus), recipe=pair_toy / "labels.toml", changes=())
    with pytest.raises(
        RecipeError, match="works with taggers and text classifiers, not with pair classifiers"
    ):
        distill(pairs, out, Display())
    refused(RecipeError, "train.start", f"train.start={corpus / 'teacher1'}")
    refused(RecipeError, "data.answers: gonie distill writes", f"data.answers={corpus}")
    refused(InputError, "file not found: .*none.txt", files=(str(tmp_path / "none.txt"),))
    (tmp_path / "blank.txt").write_text("\n\n")
    refused(InputError, "no unlabelled sentences", files=(str(tmp_path / "blank.txt"),))


class Dictionary:
    """A teacher of another kind: it tags the names that it knows, and gives no probabilities."""

    name, digest = "dictionary", "1"
    labels = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
    scheme = Scheme(kind="IOB2")
    has_marginals = False

    def answers(self, examples: Any) -> Any:
        for sentence in examples:
            kinds = ("B-PER" if w in PEOPLE else "B-LOC" if w in PLACES else "O" for w in sentence.words)
            yield TagAnswer([TagPath(tuple(kinds), 1.0)])


class Broken(Dictionary):
    """Fails at its first answer."""

    def answers(self, examples: Any) -> Any:
        raise InputError("no answer today")
        yield


@pytest.mark.parametrize("empty", [False, True])
def test_a_teacher_that_never_answers_does_not_block_the_next_try(
    corpus: Path, empty: bool, tmp_path: Path
) -> None:
    """Its folder is deleted, unless it was there before."""
    out = tmp_path / "run"
    if empty:
        out.mkdir()
    with pytest.raises(InputError, match="no answer today"):
        distill(request(corpus, teacher=Broken()), out, Display())
    assert out.exists() == empty
    taught(request(corpus, "train.epochs=1", teacher=Dictionary()), out)


def test_a_teacher_with_external_vectors_is_refused_before_any_folder_exists(
    corpus: Path, tmp_path: Path
) -> None:
    """Unlabelled text has none."""
    words = (corpus / "few.conll").read_text("utf-8")
    tokens = sum(bool(line) for line in words.splitlines())
    np.savez(tmp_path / "few.npz", vectors=np.ones((tokens, 2), dtype=np.float32))
    changes = ["train.epochs=1", f"model.external.train={tmp_path / 'few.npz'}", "data.dev=none"]
    recipe = load_recipe(corpus / "few.toml", [*changes, "data.test=none"])
    assert start_run(recipe, tmp_path / "teacher", Display()) is not None
    display = Display()
    with pytest.raises(InputError, match="teacher reads external vectors, which unlabelled text"):
        distill(request(corpus, teacher=[tmp_path / "teacher"]), tmp_path / "run", display)
    assert display.notes == display.done == []
    assert not (tmp_path / "run").exists()


def test_folders_are_not_mixed_up(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(gonie.GonieError, match="has no answers of a teacher to resume from"):
        distill(request(corpus), tmp_path / "new", Display(), resume=True)
    with pytest.raises(OutputError, match="already contains a run"):
        distill(request(corpus), corpus / "teacher1", Display())
    taught(request(corpus, "train.epochs=1"), tmp_path / "run")
    with pytest.raises(OutputError, match="already contains the answers of a teacher"):
        distill(request(corpus, "train.epochs=1"), tmp_path / "run", Display())
    with pytest.raises(ResumeError, match="was started without --compare"):
        distill(request(corpus, "train.epochs=1", compare=True), tmp_path / "run", Display(), resume=True)
    monkeypatch.chdir(tmp_path)
    assert default_folder("ner") == Path("runs/distill-ner")
    (tmp_path / "runs" / "distill-ner" / TEACHER).mkdir(parents=True)
    (tmp_path / "runs" / "distill-ner" / TEACHER / INDEX).touch()
    assert default_folder("ner.toml") == Path("runs/distill-ner-2")
    assert default_folder("ner", resume=True) == Path("runs/distill-ner")


def test_words_of_the_text_are_known_if_they_are_frequent(corpus: Path, tmp_path: Path) -> None:
    """Words of the training file are known in any case. Rare words of the text cost space."""
    text = tmp_path / "text.txt"
    text.write_text("\n".join(f"{n} Zorro Zorro met Unika{n} ." for n in range(3)) + "\n", "utf-8")
    distilled = taught(
        request(corpus, "train.epochs=1", "data.answers_min_count=6", files=(str(text),)), tmp_path / "run"
    )
    words = gonie.load(distilled.result.folder).encoding.words
    assert "zorro" in words.strings
    assert "met" not in words.strings
    few = {word.lower() for block in sentences(5, 2) for word, _ in block}
    assert few <= set(words.strings)


def test_variants_may_remove_a_key(corpus: Path, tmp_path: Path) -> None:
    """The control of --compare has neither the answers nor the words of the text."""
    distilled = taught(request(corpus, "train.epochs=1", compare=True), tmp_path / "run")
    assert WITHOUT_TEACHER in distilled.result.baselines
    alone = load_recipe(tmp_path / "run" / "variants" / "without-teacher" / "recipe.toml")
    assert alone.data.answers is None
    assert "teacher" not in alone.loss


def test_networks_answer_as_their_bundles(corpus: Path) -> None:
    """On a GPU, the network of a run folder stands for its bundle."""
    recipe = load_recipe(corpus / "few.toml")
    half: Any = TASKS["tag"].torch()
    folder = corpus / "teacher1"
    answers = AnswerSettings(files=(str(corpus / "text.txt"),))
    network = load_trained(folder).model
    ours, theirs = (
        half.teacher_of([gonie.load(folder)], networks, recipe, answers) for networks in ({}, {0: network})
    )
    examples = half.answer_request(recipe, ours, answers, lambda text: None).examples
    for own, other in zip(ours.answers(examples), theirs.answers(examples), strict=True):
        np.testing.assert_allclose(own.marginals, other.marginals, atol=1e-4)
        assert own.paths[0].tags == other.paths[0].tags
    assert ours.digest == theirs.digest


def test_python_takes_rows_and_returns_the_table(corpus: Path, tmp_path: Path) -> None:
    few = [([word for word, _ in block], [tag for _, tag in block]) for block in sentences(5, 2)]
    run = gonie.distill(
        corpus / "teacher1",
        corpus / "few.toml",
        corpus / "text.txt",
        train=few,
        test=corpus / "test.conll",
        set={"train.epochs": 3, "data.answers_min_count": 1},
        out=tmp_path / "run",
        progress=False,
    )
    assert [model.name for model in run.compared.models] == ["teacher", "student"]
    assert run.compared.models[1].score == pytest.approx(run.scores["test"].f1)
    assert run.to_dict()["compared"]["split"] == "test"
    assert run.model("Anna lives in Rome .").text
    with pytest.raises(InputError, match="not a teacher: 3"):
        gonie.distill(3, "ner", corpus / "text.txt")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="not files of text"):
        gonie.distill(corpus / "teacher1", corpus / "few.toml", [])


def test_any_source_of_answers_can_teach(corpus: Path, tmp_path: Path) -> None:
    distilled = taught(request(corpus, teacher=Dictionary(), compare=True), tmp_path / "run")
    teacher, student, alone = compare_models(distilled).models
    assert teacher.score == 1.0
    assert teacher.megabytes is None
    assert student.score > alone.score + 0.1


def test_a_classifier_teaches_the_probabilities_of_labels(text_toy: Path, tmp_path: Path) -> None:
    """A classifier with few labels, and one with a temperature above 1."""
    teacher = start_run(load_recipe(text_toy / "texts.toml"), tmp_path / "teacher", Display())
    assert teacher is not None
    asked = Distillation(
        teacher=[tmp_path / "teacher"],
        recipe=text_toy / "texts.toml",
        changes=["data.answers_min_count=1", "loss.teacher.gold=0"],
        answers=AnswerSettings(files=(str(text_toy / "train.tsv"),), temperature=2.0),
    )
    teacher_figures, student = compare_models(taught(asked, tmp_path / "run")).models
    assert student.score > teacher_figures.score - 0.1


UNREADABLE = "Quito"
"""A place in texts that the language model answers with something else than JSON."""


@pytest.fixture
def endpoint() -> Iterator[ScriptedModel]:
    """Run a language model that knows all names, but cannot answer texts with ``UNREADABLE``."""

    def write(messages: list[dict[str, str]]) -> str:
        text = messages[-1]["content"]
        return "I am sorry." if UNREADABLE in text else entities(text)

    with running(ScriptedModel(write)) as model:  # type: ignore[arg-type]
        yield model


def in_context(corpus: Path, endpoint: ScriptedModel, *changes: str, **loading: Any) -> Distillation:
    """Return the request of an in-context model as the teacher."""
    own = {"shots_from": corpus / "few.conll", "shots": 1, "cache": "off", "concurrency": 1, **loading}
    return request(corpus, *changes, teacher=[f"llm:{endpoint.url}/v1"], loading=own)


def test_an_in_context_model_teaches_all_but_what_it_cannot_answer(
    corpus: Path, endpoint: ScriptedModel, tmp_path: Path
) -> None:
    """A failed request, and answers that cannot be read, do not teach that there are no names."""
    endpoint.script = [refusal(400, "too long")]
    display = Display()
    asked = replace(in_context(corpus, endpoint), compare=True)
    distilled = taught(asked, tmp_path / "run", display)
    texts = list(dict.fromkeys((corpus / "text.txt").read_text("utf-8").splitlines()))
    lost = [row for row, text in enumerate(texts) if not row or UNREADABLE in text]
    assert len(lost) > 1
    answers = Answers.open(tmp_path / "run" / TEACHER)
    assert answers.missing().tolist() == lost
    told = "\n".join(display.notes)
    assert (
        f"{len(lost)} unlabelled examples of {len(texts)} without an answer, left out: {texts[0]!r}; " in told
    )
    assert f"loss.teacher: {len(lost)} of {len(texts)} unlabelled sentences left out" in told
    teacher, student, alone = compare_models(distilled).models
    assert teacher.megabytes is None
    assert student.score > alone.score + 0.1
    usage = distilled.teacher.usage
    assert usage.texts == len(texts) + 60, "the unlabelled texts and the test file"
    assert len(usage.failed) == 1


def test_answers_of_another_prompt_are_refused(corpus: Path, endpoint: ScriptedModel, tmp_path: Path) -> None:
    """Its answers depend on the language model, the settings and the examples that it is shown."""
    with pytest.raises(RuntimeError):
        distill(in_context(corpus, endpoint), tmp_path / "run", Display(answers=1))
    for change in ({"shots": 2}, {"shots_from": corpus / "many.conll"}, {"temperature": 0.5}):
        with pytest.raises(ResumeError, match="changed since the teacher began to answer: the teacher"):
            distill(in_context(corpus, endpoint, **change), tmp_path / "run", Display(), resume=True)
    asked = len(endpoint.asked)
    taught(in_context(corpus, endpoint, "train.epochs=1", timeout=9), tmp_path / "run", resume=True)
    assert len(endpoint.asked) == asked, "all was answered"


def test_an_in_context_model_teaches_alone(corpus: Path, endpoint: ScriptedModel, tmp_path: Path) -> None:
    place = f"llm:{endpoint.url}/v1"
    both = replace(in_context(corpus, endpoint), teacher=[corpus / "teacher1", place])
    with pytest.raises(InputError, match=f"--ensemble needs probabilities, which {place} does not give"):
        distill(both, tmp_path / "run", Display())
    assert endpoint.seen == []
    assert not (tmp_path / "run").exists()


def test_a_service_cannot_teach(corpus: Path, tmp_path: Path) -> None:
    """It does not give all that a student learns."""
    with RunningService(LETTERS) as service:
        url = f"http://127.0.0.1:{service.port}"
        with pytest.raises(InputError, match=f"the teacher {url} is a service"):
            distill(request(corpus, teacher=[url]), tmp_path / "run", Display())
    assert not (tmp_path / "run").exists()


def test_a_student_needs_at_least_one_answer(corpus: Path, endpoint: ScriptedModel, tmp_path: Path) -> None:
    endpoint.write = lambda messages: "I am sorry."
    with pytest.raises(RecipeError, match="the teacher could not answer any of the"):
        distill(in_context(corpus, endpoint), tmp_path / "run", Display())


def test_python_takes_a_loaded_in_context_model(
    text_toy: Path, endpoint: ScriptedModel, tmp_path: Path
) -> None:
    """Of texts. An answer that is no label is not learned."""
    lines = [line.split("\t") for line in (text_toy / "train.tsv").read_text("utf-8").splitlines()[1:]]
    labels = {text: label for label, text in lines}
    unknown = next(iter(labels))
    endpoint.write = lambda messages: (
        "none of them" if messages[-1]["content"] == unknown else labels.get(messages[-1]["content"], "")
    )
    own = {"shots_from": text_toy / "train.tsv", "format": "lines", "cache": "off"}
    teacher = gonie.load(f"llm:{endpoint.url}/v1", task="classify", **own)
    run = gonie.distill(
        teacher,
        text_toy / "texts.toml",
        text_toy / "train.tsv",
        set={"data.answers_min_count": 1, "train.epochs": 1},
        out=tmp_path / "run",
        progress=False,
    )
    answers = Answers.open(tmp_path / "run" / TEACHER)
    assert answers.missing().tolist() == [0]
    table = answers.arrays["chances"].reshape(len(answers), -1)
    given = [answers.labels[at] for at in table[1:].argmax(1)]
    assert given == [labels[text] for text in list(labels)[1:]]
    assert run.compared.models[0].tokens_per_second > 0
