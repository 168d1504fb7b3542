"""Tests the messages: instructions in two languages, shots as turns, and the text last."""

from __future__ import annotations

import re

import pytest

from gonie.in_context.answer_formats import FORMATS, LABEL_FORMATS
from gonie.in_context.examples import Example
from gonie.in_context.prompt import FORMS, TASKS, Prompt

HANGUL = re.compile("[가-힣]")


def test_the_messages_in_full() -> None:
    prompt = Prompt(
        task="tag", labels=("PER", "LOC"), format="lines", language="en", descriptions={"PER": "persons"}
    )
    shots = [Example("It rains."), Example("Ann left.", ((0, 3, "PER"),))]
    assert prompt.messages("Bo left.", shots) == [
        {
            "role": "system",
            "content": "Find every mention of these types in the text:\n- PER: persons\n- LOC\n"
            "Answer with one line per mention, in the order of the text: the type, a colon and the mention, "
            "copied exactly. If there is none, answer: none Write nothing else.",
        },
        {"role": "user", "content": "It rains."},
        {"role": "assistant", "content": "none"},
        {"role": "user", "content": "Ann left."},
        {"role": "assistant", "content": "PER: Ann"},
        {"role": "user", "content": "Bo left."},
    ]


@pytest.mark.parametrize("task", ["tag", "classify", "several"])
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("language", ["en", "ko"])
def test_every_task_has_instructions_in_both_languages(task: str, form: str, language: str) -> None:
    if task != "tag" and form not in LABEL_FORMATS:
        return
    prompt = Prompt(
        task="classify" if task == "several" else task,
        labels=("A", "B"),
        format=form,
        language=language,
        multi_label=task == "several",
    )
    said = prompt.instructions()
    assert bool(HANGUL.search(said)) == (language == "ko")
    assert "- A\n- B\n" in said
    assert "{none}" not in said
    assert "{label}" not in said


def test_no_text_is_unused() -> None:
    assert {task for task, _ in TASKS} == {task for task, _, _ in FORMS}
    assert {form for _, form, _ in FORMS} == set(FORMATS)
