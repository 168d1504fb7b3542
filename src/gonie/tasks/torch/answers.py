"""What tasks share of reading unlabelled examples for a teacher."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import ceil

from gonie.errors import InputError
from gonie.tasks.data_warnings import Example, ExampleKind
from gonie.tasks.sections import CorpusRecipe
from gonie.tasks.teacher import Answers, AnswerSettings
from gonie.tasks.torch.example_batches import RepeatedBatches, batch_size
from gonie.tasks.torch.training_setup import TrainingSetup
from gonie.tasks.torch.word_data import Note
from gonie.text.report import count


def most_of(
    kind: ExampleKind[Example], examples: Iterable[Example], settings: AnswerSettings, note: Note
) -> list[Example]:
    """Return the different examples, at most as many as the settings ask for, evenly spaced over the text.

    ``note`` receives how many are repeats, and how many are left out.
    """
    distinct: dict[object, Example] = {}
    read = 0
    for example in examples:
        read += 1
        distinct.setdefault(kind.key(example), example)
    found = list(distinct.values())
    if not found:
        raise InputError(
            f"no unlabelled {kind.noun}s: {', '.join(settings.files)}", fix="Pass files with text"
        )
    if repeats := read - len(found):
        note(f"{count(repeats, f'repeated unlabelled {kind.noun}')} left out")
    most = settings.most
    if most is None or len(found) <= most:
        return found
    note(f"{most:,} of {count(len(found), f'unlabelled {kind.noun}')} used")
    return [found[at * len(found) // most] for at in range(most)]


def with_whole_text(setup: TrainingSetup, answers: Answers | None, recipe: CorpusRecipe) -> TrainingSetup:
    """Return a setup whose epochs are as long as a pass over the unlabelled text of a teacher.

    The training examples are repeated in an epoch. Otherwise few of them would make few steps, in which most
    of the text is not seen.
    """
    size = int(recipe.loss.get("teacher", {}).get("batch", 0))
    if answers is None or "teacher" not in recipe.loss:
        return setup
    steps = ceil(len(answers) / (size or batch_size(recipe.train, len(answers))))
    passes = ceil(steps / setup.batches.size(0))
    if passes < 2:
        return setup
    summary = [*setup.summary, ("epoch", f"{passes} passes over the training examples, 1 over the text")]
    return replace(setup, batches=RepeatedBatches(setup.batches, passes), summary=summary)


def note_held_out(
    kind: ExampleKind[Example],
    examples: Sequence[Example],
    held: Mapping[str, Sequence[Example]],
    note: Note,
) -> None:
    """Warn about unlabelled examples that are also in a held-out split."""
    keys = {kind.key(example) for example in examples}
    for split, own in held.items():
        if shared := sum(kind.key(example) in keys for example in own):
            noun = kind.noun if shared == 1 else f"{kind.noun}s"
            verb = "is" if shared == 1 else "are"
            note(
                f"warning: {shared:,} {split} {noun} of {len(own):,} {verb} also in the unlabelled text, so "
                f"the {split} score may be too high"
            )
