"""The run folder: what training leaves, enough to resume it, to use it and to make it again.

Every run has

    recipe.toml         as resolved, every key
    metrics.jsonl       a line for every epoch
    last.safetensors    where training stands (see state.py)
    best.safetensors    weights of the best epoch on dev

A task adds its own (``Task.run_files``). Runs over labelled examples have

    encoding.json       vocabularies, labels, features
    network.json        the shape of the network that the recipe does not say: that of its word vectors
    bilm.json           of a model with ELMo: the shape of its language model
    seen.json           of a tagger: the mentions met in training, by which recall is split
    samples.jsonl       of a classifier: held-out texts, on which explanations are measured
    faithfulness.json   how explanations did on them, once they were asked for
    bundle/             the exported model; all that `gonie tag` and `gonie classify` need
    evaluation.json     scores of the best epoch
    beside.json         scores of baselines and variants, where the recipe names some
    variants/NAME/      the runs of the recipe's variants
    report.html         the same, to read

and those of language models

    text/               the tokenised text, unless the recipe keeps it elsewhere (data.cache)
    bilm/               the language model; all that embeddings need

Each file is written whole or not at all, in an order that a kill at any moment leaves a run that can be
resumed.
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
from gonie.tasks.run_files import ENCODING, EXAMPLE_RUN, FAITHFULNESS, RECIPE, SAMPLES, VARIANTS

LONGEST_NAME = 48


class RunFolder:
    """Paths of a run, and the few rules about making and reopening it.

    ``files`` are the names of what its task writes there, besides what every run has.
    """

    def __init__(self, root: Path, files: Sequence[str] = EXAMPLE_RUN) -> None:
        self.root = root
        self.recipe = root / RECIPE
        self.metrics = root / "metrics.jsonl"
        self.last = root / "last.safetensors"
        self.best = root / "best.safetensors"
        self.encoding = root / ENCODING
        self.samples = root / SAMPLES
        self.faithfulness = root / FAITHFULNESS
        self._files = files

    def variant(self, name: str) -> RunFolder:
        """The run of a variant of the recipe."""
        return RunFolder(self.root / VARIANTS / file_name(name), self._files)

    def create(self) -> bool:
        """Make the folder for a new run; true if it was not there before.

        One that holds a run, or a file that the run would write over, is refused, so nothing is lost.
        """
        if self.recipe.exists():
            raise OutputError(
                f"{self.root} already holds a run. Resume it (--resume), or write elsewhere (--out DIR)."
            )
        if not is_utf8(str(self.root.absolute())):  # safetensors opens no other
            raise OutputError(f"{self.root}: the folder's name is not UTF-8. Write elsewhere (--out DIR).")
        if self.root.exists() and not self.root.is_dir():
            raise OutputError(f"{self.root} is a file, not a folder. Write elsewhere (--out DIR).")
        if taken := [path.name for path in self._outputs() if path.exists()]:
            raise OutputError(
                f"{self.root} has files that the run would overwrite: {', '.join(taken)}. "
                "Write elsewhere (--out DIR)."
            )
        made = not self.root.exists()
        make_folder(self.root)
        return made

    def reopen(self) -> None:
        """Check that there is a run to resume."""
        if not self.recipe.is_file():
            raise ResumeError(
                f"{self.root} is not a run folder: it has no recipe.toml. Start a run without --resume."
            )

    def clear_leftovers(self) -> None:
        """Delete what a kill in the middle of a write left; only while the folder is ``held``."""
        remove_leftovers(self.root)

    def remove(self) -> None:
        """Delete the run, and nothing else that lies in its folder."""
        for path in (self.recipe, *self._outputs()):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

    def held(self) -> AbstractContextManager[None]:
        """Within the block no other process trains in this folder; the hold ends with the process."""
        return held(self.root)

    def _outputs(self) -> tuple[Path, ...]:
        own = (self.root / name for name in self._files)
        return (self.metrics, self.last, self.best, *own)

    def history(self, before_epoch: int | None = None) -> list[dict[str, Any]]:
        """Records of the epochs so far, up to ``before_epoch`` if given; a torn last line is left out."""
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
        """Write the records of all epochs so far, whole or not at all."""
        atomic_write(self.metrics, "".join(json.dumps(record) + "\n" for record in records))


def file_name(name: str) -> str:
    """A name as one of a file: its letters and digits, of a long one the first; empty if it has none."""
    return re.sub(r"[^\w-]+", "-", name).strip("-")[:LONGEST_NAME]


def held(folder: Path) -> AbstractContextManager[None]:
    """Within the block no other process trains in ``folder``; the hold ends with the process."""
    refusal = ResumeError(f"another process is training in {folder}. Wait for it, or stop it first.")
    return folder_lock(folder, refusal=refusal)


def next_folder(name: str, *, mark: str, resume: bool = False) -> Path:
    """runs/NAME, or the next name without a file ``mark`` in it; to resume, the latest that has one."""
    folder, latest = Path("runs") / name, Path("runs") / name
    number = 1
    while (folder / mark).exists():
        number += 1
        latest, folder = folder, Path("runs") / f"{name}-{number}"
    return latest if resume else folder
