"""The run folder: the files that training writes, which allow to resume, use and reproduce a run.

Every run has

    recipe.toml         the resolved recipe with every key
    metrics.jsonl       one line per epoch
    last.safetensors    the last checkpoint (see state.py)
    best.safetensors    the weights of the best epoch on dev
    cost.json           time, memory and energy that the run cost so far

A task adds its own (``Task.run_files``). Runs on labelled examples have

    encoding.json       vocabularies, labels, features
    network.json        the part of the network's shape that the recipe does not have: its word vectors
    bilm.json           with contextual embeddings of a language model: its shape
    external.json       with external vectors: their width
    seen.json           taggers: the mentions in the training data, for recall of seen and unseen mentions
    samples.jsonl       classifiers: held-out texts to measure faithfulness on
    faithfulness.json   cached faithfulness of explanation methods
    bundle/             the exported model, for `gonie tag` and `gonie classify`
    evaluation.json     scores of the best epoch
    baselines.json      scores of baselines and variants, if the recipe has any
    forgetting.json     with train.start: scores on the held-out data of the start, before and after
    variants/NAME/      the runs of the recipe's variants
    heads/NAME/         taggers: each auxiliary head as a tagger of its own, with weights, bundle and scores
    report.html         a report of the scores
    teacher/            the answers of a teacher that the run learns (`gonie distill`)
    distillation.json   scores, speed and size of teacher and student (`gonie distill`)

and those of language models

    text/               the tokenised text, unless data.cache is set
    bilm/               the language model, for contextual embeddings

Each file is written atomically. The order of the writes leaves a resumable run if the process is killed at
any moment.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from gonie.errors import OutputError, ResumeError
from gonie.system.files import atomic_write, is_utf8, make_folder, remove_leftovers
from gonie.system.folder_lock import folder_lock
from gonie.tasks.run_files import ENCODING, EXAMPLE_RUN, FAITHFULNESS, HEADS, RECIPE, RUNS, SAMPLES, VARIANTS

COST = "cost.json"
LONGEST_NAME = 48


class RunFolder:
    """The paths of a run folder, and how to create, reopen and lock it.

    ``files`` are the names of files that its task writes.
    """

    def __init__(self, root: Path, files: Sequence[str] = EXAMPLE_RUN) -> None:
        self.root = root
        self.recipe = root / RECIPE
        self.metrics = root / "metrics.jsonl"
        self.last = root / "last.safetensors"
        self.best = root / "best.safetensors"
        self.cost = root / COST
        self.encoding = root / ENCODING
        self.samples = root / SAMPLES
        self.faithfulness = root / FAITHFULNESS
        self._files = files

    def variant(self, name: str) -> RunFolder:
        """Return the run folder of a variant of the recipe."""
        return RunFolder(self.root / VARIANTS / file_name(name), self._files)

    def create(self) -> bool:
        """Create the folder for a new run, unless ``check_free`` refuses it.

        Return whether it did not exist before.
        """
        self.check_free()
        created = not self.root.exists()
        make_folder(self.root)
        return created

    def check_free(self) -> None:
        """Refuse a folder with a run, or with a file that a new run would overwrite."""
        if self.recipe.exists():
            raise OutputError(
                f"{self.root} already contains a run. Resume it with --resume, or choose another --out."
            )
        if not is_utf8(str(self.root.absolute())):  # required by safetensors
            raise OutputError(f"{self.root}: the folder name is not UTF-8. Choose another --out.")
        if self.root.exists() and not self.root.is_dir():
            raise OutputError(f"{self.root} is a file, not a folder. Choose another --out.")
        if taken := [path.name for path in self._outputs() if path.exists()]:
            raise OutputError(
                f"{self.root} has files that the run would overwrite: {', '.join(taken)}. "
                "Choose another --out."
            )

    def reopen(self) -> None:
        """Check that the folder has a run to resume."""
        if not self.recipe.is_file():
            raise ResumeError(
                f"{self.root} is not a run folder: it has no recipe.toml. Start a run without --resume."
            )
        heads = self.root.absolute().parent
        if heads.name == HEADS and (heads.parent / RECIPE).is_file():
            raise ResumeError(f"{self.root} is a head of the run {heads.parent}. Resume that run instead.")

    def clear_leftovers(self) -> None:
        """Delete temporary files of interrupted writes. The folder must be ``locked``."""
        remove_leftovers(self.root)

    def remove(self) -> None:
        """Delete the files of the run, and nothing else in its folder."""
        for path in (self.recipe, *self._outputs()):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

    def locked(self) -> AbstractContextManager[None]:
        """Lock the folder against other processes during the block."""
        return lock_run(self.root)

    def _outputs(self) -> tuple[Path, ...]:
        own = (self.root / name for name in self._files)
        return (self.metrics, self.last, self.best, self.cost, *own)

    def history(self, before_epoch: int | None = None) -> list[dict[str, Any]]:
        """Return the records of the epochs, up to ``before_epoch`` if given. Damaged lines are skipped."""
        records = []
        text = self.metrics.read_text("utf-8") if self.metrics.exists() else ""
        for line in text.splitlines():
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if before_epoch is None or record["epoch"] <= before_epoch:
                records.append(record)
        return records

    def write_history(self, records: list[dict[str, Any]]) -> None:
        """Write the records of all epochs so far, atomically."""
        atomic_write(self.metrics, "".join(json.dumps(record) + "\n" for record in records))


def file_name(name: str) -> str:
    """Return a short file name from the letters and digits of ``name``. It is empty if there are none."""
    return re.sub(r"[^\w-]+", "-", name).strip("-")[:LONGEST_NAME]


def lock_run(folder: Path) -> AbstractContextManager[None]:
    """Lock ``folder`` against other training processes during the block, or until this process ends."""
    refusal = ResumeError(f"another process is using {folder}. Wait for it, or stop it first.")
    return folder_lock(folder, refusal=refusal)


def next_folder(name: str, *, mark: str, resume: bool = False) -> Path:
    """Return runs/NAME, or the next free name. To resume, return the latest one that is taken.

    A folder is taken if it has a file ``mark``.
    """
    folder, latest = RUNS / name, RUNS / name
    number = 1
    while (folder / mark).exists():
        number += 1
        latest, folder = folder, RUNS / f"{name}-{number}"
    return latest if resume else folder
