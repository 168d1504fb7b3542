"""The folder of a teacher's answers: if these break, answers are lost, or those of another teacher."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gonie.errors import InputError, ResumeError
from gonie.tasks import teacher as module
from gonie.tasks.teacher import (
    BLOCK,
    CONFIDENCES,
    Answers,
    AnswerSettings,
    Request,
    check_labels,
    write_answers,
)

NUMBERS = [float(n) for n in range(2 * BLOCK + 40)]


class Doubling:
    """Doubles numbers, and stops with an error after some of them."""

    name = "doubling"
    labels = ("A",)

    def __init__(self, *, fails_after: int | None = None, error: type[BaseException] = RuntimeError) -> None:
        self.digest = "v1"
        self.asked: list[float] = []
        self._left = fails_after
        self._error = error

    def answers(self, examples: Sequence[float]) -> Iterator[float]:
        for number in examples:
            if self._left == 0:
                raise self._error
            if self._left is not None:
                self._left -= 1
            self.asked.append(number)
            yield 2 * number


def packed(examples: Sequence[float], answers: Sequence[float]) -> dict[str, Any]:
    return {
        CONFIDENCES: np.full(len(answers), 0.5, dtype=np.float32),
        "doubles": np.array(answers, dtype=np.float32),
    }


def request(teacher: Doubling, **changes: Any) -> Request:
    values: dict[str, Any] = {
        "task": "tag",
        "teacher": teacher,
        "examples": NUMBERS,
        "digest": "text",
        "labels": ("A",),
        "settings": AnswerSettings(files=("a.txt",)),
        "pack": packed,
    }
    return Request(**{**values, **changes})


def silent(done: int, total: int) -> None:
    """Show nothing."""


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("after", [7, BLOCK, BLOCK + 3])
def test_an_interrupted_teacher_answers_only_what_is_missing(
    after: int, error: type[BaseException], tmp_path: Path
) -> None:
    first = Doubling(fails_after=after, error=error)
    with pytest.raises(error):
        write_answers(request(first), tmp_path / "answers", silent)
    half = Answers.open(tmp_path / "answers")
    assert len(half) == after
    assert not half.complete
    with pytest.raises(InputError, match=rf"has answered {after:,} of {len(NUMBERS):,} examples.*--resume"):
        Answers.complete_in(tmp_path / "answers", task="tag")
    shown: list[tuple[int, int]] = []
    second = Doubling()
    write_answers(request(second), tmp_path / "answers", lambda done, total: shown.append((done, total)))
    assert second.asked == NUMBERS[after:]
    write_answers(request(Doubling()), tmp_path / "whole", silent)
    for file in (tmp_path / "whole").iterdir():
        assert file.read_bytes() == (tmp_path / "answers" / file.name).read_bytes(), file.name
    found = Answers.complete_in(tmp_path / "answers", task="tag")
    np.testing.assert_array_equal(found.arrays["doubles"], 2 * np.array(NUMBERS))
    assert shown[0] == (after, len(NUMBERS))
    assert shown[-1] == (len(NUMBERS), len(NUMBERS))


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_teacher_that_fails_at_its_first_answer_leaves_no_folder(
    error: type[BaseException], tmp_path: Path
) -> None:
    """It would look like a run to resume."""
    with pytest.raises(error):
        write_answers(request(Doubling(fails_after=0, error=error)), tmp_path / "answers", silent)
    assert not (tmp_path / "answers").exists()


def test_what_was_written_after_the_index_is_cut_off(tmp_path: Path) -> None:
    """A process that is killed between two files leaves a part of a block."""
    with pytest.raises(RuntimeError):
        write_answers(request(Doubling(fails_after=BLOCK)), tmp_path, silent)
    with (tmp_path / "doubles.bin").open("ab") as file:
        file.write(b"half of a block")
    found = write_answers(request(Doubling()), tmp_path, silent)
    np.testing.assert_array_equal(found.arrays["doubles"], 2 * np.array(NUMBERS))


def test_slow_answers_are_saved_before_their_block_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SAVED_EVERY", 0.05)
    seen: list[int] = []

    class Slow(Doubling):
        def answers(self, examples: Sequence[float]) -> Iterator[float]:
            for number in examples:
                time.sleep(0.02)
                yield number

    write_answers(request(Slow(), examples=NUMBERS[:20]), tmp_path, lambda done, total: seen.append(done))
    assert len(seen) > 3
    assert seen == sorted(seen)


def test_complete_answers_are_not_asked_again(tmp_path: Path) -> None:
    write_answers(request(Doubling()), tmp_path, silent)
    again = Doubling()
    write_answers(request(again), tmp_path, silent)
    assert again.asked == []


@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"digest": "other text"}, "the text"),
        ({"settings": AnswerSettings(files=("a.txt",), temperature=2.0)}, "the settings of the answers"),
        ({"labels": ("A", "B")}, "the labels of the training file"),
        ({}, "the teacher"),
    ],
)
def test_answers_to_something_else_are_refused(
    changes: dict[str, Any], told: str, complete: bool, tmp_path: Path
) -> None:
    first = Doubling(fails_after=None if complete else 5)
    if complete:
        write_answers(request(first), tmp_path, silent)
    else:
        with pytest.raises(RuntimeError):
            write_answers(request(first), tmp_path, silent)
    other = Doubling()
    if not changes:
        other.digest = "v2"
    with pytest.raises(ResumeError, match=f"changed since the teacher began to answer: {told}"):
        write_answers(request(other, **changes), tmp_path, silent)
    assert other.asked == []


@pytest.mark.parametrize("complete", [False, True])
def test_a_text_may_move(complete: bool, tmp_path: Path) -> None:
    """Its content counts, and it is read again at its new place. A changed text is named alone."""
    if complete:
        before = write_answers(request(Doubling()), tmp_path, silent).key()
    else:
        with pytest.raises(RuntimeError):
            write_answers(request(Doubling(fails_after=5)), tmp_path, silent)
        before = Answers.open(tmp_path).key()
    moved = AnswerSettings(files=("moved/a.txt",))
    with pytest.raises(ResumeError, match=r"began to answer: the text\. Undo"):
        write_answers(request(Doubling(), settings=moved, digest="other text"), tmp_path, silent)
    again = Doubling()
    found = write_answers(request(again, settings=moved), tmp_path, silent)
    assert again.asked == ([] if complete else NUMBERS[5:])
    assert found.settings.files == ("moved/a.txt",)
    assert found.key() == before
    np.testing.assert_array_equal(found.arrays["doubles"], 2 * np.array(NUMBERS))


def test_answers_of_another_task_and_of_a_changed_text_are_refused(tmp_path: Path) -> None:
    found = write_answers(request(Doubling()), tmp_path, silent)
    with pytest.raises(InputError, match="those of the task 'tag', not of 'classify'"):
        Answers.complete_in(tmp_path, task="classify")
    found.check_examples("text")
    with pytest.raises(InputError, match=r"the text has changed since the teacher answered it: a\.txt"):
        found.check_examples("changed")
    with pytest.raises(InputError, match=r"gonie distill"):
        Answers.open(tmp_path / "nothing")


def test_the_key_of_answers_changes_with_everything_they_depend_on(tmp_path: Path) -> None:
    keys = set()
    settings = AnswerSettings(files=("a.txt",), nbest=9)
    for number, changes in enumerate(({}, {"digest": "b"}, {"settings": settings})):
        keys.add(write_answers(request(Doubling(), **changes), tmp_path / str(number), silent).key())
    assert len(keys) == 3


@pytest.mark.parametrize(
    ("teacher", "student", "rules", "droppable", "fix"),
    [
        (
            ("PER", "PROD"),
            ("PER", "PRODUCT"),
            {},
            True,
            "Rename them with --map PROD=PRODUCT or drop them with --map PROD=O",
        ),
        (
            ("person", "MISC", "LOC"),
            ("LOC", "PERSON"),
            {"LOC": "LOC"},
            True,
            "Rename them with --map person=PERSON or drop them with --map person=O --map MISC=O",
        ),
        (("PER", "MISC"), ("PER",), {}, True, "Drop them with --map MISC=O"),
        (("good", "bad"), ("positive", "bad"), {}, False, "Rename them with --map good=positive"),
        (("good", "bad"), ("bad",), {}, False, "Rename them with --map OLD=NEW"),
        (
            ("PER", "LOC"),
            ("PERS", "LOC"),
            {"PER": "PERSON"},
            True,
            "Rename them with --map PER=PERS or drop them with --map PER=O",
        ),
        (("a b",), ("a c",), {}, True, "Rename them with --map 'a b=a c' or drop them with --map 'a b=O'"),
    ],
)
def test_labels_that_the_student_lacks_are_renamed_to_those_that_the_teacher_lacks(
    teacher: tuple[str, ...], student: tuple[str, ...], rules: dict[str, str], droppable: bool, fix: str
) -> None:
    """Dropping a label that only has another name would lose it. Each name is suggested once."""
    with pytest.raises(InputError, match="does not have these labels of the teacher") as error:
        check_labels(teacher, student, rules, droppable=droppable)
    assert str(error.value).endswith(f". {fix}")
