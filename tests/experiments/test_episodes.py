"""Fixed episodes: written, read and checked against the files that they were drawn from."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonie.errors import InputError
from gonie.experiments.episodes import (
    TaggedFile,
    check_file,
    draw_support_sets,
    read_episodes,
    write_episodes,
)


def test_episodes_are_the_same_after_a_file(toy: Path, tmp_path: Path) -> None:
    train, test = (TaggedFile.read(toy, f"{part}.conll") for part in ("train", "test"))
    drawn = draw_support_sets("toy", train, test, known=["LOC"], shots=3, number=4, seed=1)
    assert drawn.types == ("PER",)
    assert len(drawn.episodes) == 4
    mentions = train.mentions()
    for episode in drawn.episodes:
        assert sum(mentions[row].get("PER", 0) for row in episode.support) >= 3
    write_episodes(tmp_path / "episodes.json", [drawn])
    assert read_episodes(tmp_path / "episodes.json") == [drawn]


def test_support_sentences_are_written_with_their_tags(toy: Path, tmp_path: Path) -> None:
    train = TaggedFile.read(toy, "train.conll")
    train.write([5, 0], tmp_path / "support.conll")
    again = TaggedFile.read(tmp_path, "support.conll")
    wanted = [train.sentences[row] for row in (5, 0)]
    assert [(s.words, s.tags) for s in again.sentences] == [(s.words, s.tags) for s in wanted]


def test_another_release_of_a_file_is_refused(toy: Path) -> None:
    """The sentence numbers would mean other sentences."""
    train, dev = (TaggedFile.read(toy, f"{part}.conll") for part in ("train", "dev"))
    check_file(train.file, train.file)
    with pytest.raises(InputError, match="checksum"):
        check_file(train.file, dev.file)


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "episodes.json").write_text('{"version": 1}', "utf-8")
    with pytest.raises(InputError, match="invalid episodes"):
        read_episodes(tmp_path / "episodes.json")
