"""Fixed few-shot episodes in a JSON file, so that others can repeat a measurement.

An episode set names two files of tagged sentences, one for support and one for queries, with a checksum of
each, and the types to learn. Its episodes hold sentence numbers, counted from 0:

    {"version": 1, "sets": [{"name": "ai", "shots": 5, "seed": 1, "types": ["algorithm", "field"],
      "support": {"path": "ai/train.txt", "sha256": "…", "sentences": 100},
      "query": {"path": "ai/test.txt", "sha256": "…", "sentences": 431},
      "episodes": [{"types": ["algorithm", "field"], "support": [3, 17], "query": null}]}]}

``query`` null stands for all sentences of the query file. Types that an episode does not name count as O.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gonie.errors import InputError
from gonie.features.shots import ShotSampler
from gonie.formats.format import ReadOptions
from gonie.formats.tagged import TaggedSource, survey
from gonie.system.files import atomic_write
from gonie.text.schemes import Scheme, to_spans
from gonie.text.tokenizers import tokenizer
from gonie.text.types import Sentence

VERSION = 1


@dataclass(frozen=True)
class EpisodeFile:
    """A file of tagged sentences, relative to a data folder."""

    path: str
    sha256: str
    sentences: int


@dataclass(frozen=True)
class FixedEpisode:
    """The types of an episode, and the sentence numbers of its support and queries (None: all)."""

    types: tuple[str, ...]
    support: tuple[int, ...]
    query: tuple[int, ...] | None = None


@dataclass(frozen=True)
class EpisodeSet:
    """Episodes over the same files."""

    name: str
    shots: int
    seed: int
    types: tuple[str, ...]
    support: EpisodeFile
    query: EpisodeFile
    episodes: tuple[FixedEpisode, ...]


@dataclass(frozen=True)
class TaggedFile:
    """The sentences of a file with the tags of ``scheme``, and their checksum."""

    file: EpisodeFile
    scheme: Scheme
    sentences: Sequence[Sentence]

    @classmethod
    def read(cls, folder: Path, path: str) -> TaggedFile:
        """Read ``path`` of a data folder."""
        content = (folder / path).read_bytes()
        source = TaggedSource(folder / path, ReadOptions(tokenizer=tokenizer(language="en", unit="word")))
        scheme = survey(source).scheme
        sentences = list(source.with_scheme(scheme, "begin"))
        digest = hashlib.sha256(content).hexdigest()
        return cls(EpisodeFile(path, digest, len(sentences)), scheme, sentences)

    def mentions(self) -> list[dict[str, int]]:
        """Return the number of entities of each type in each sentence."""
        found: list[dict[str, int]] = []
        for sentence in self.sentences:
            own: dict[str, int] = {}
            for _, _, label in to_spans(sentence.tags or (), self.scheme):
                own[label] = own.get(label, 0) + 1
            found.append(own)
        return found

    def write(self, rows: Sequence[int], path: Path) -> None:
        """Write the sentences ``rows`` in CoNLL format, with their tags as they are."""
        blocks = (
            "".join(f"{word}\t{tag}\n" for word, tag in zip(each.words, each.tags or (), strict=True))
            for each in (self.sentences[row] for row in rows)
        )
        atomic_write(path, "\n".join(blocks))


def draw_support_sets(
    name: str,
    support: TaggedFile,
    query: TaggedFile,
    *,
    known: Collection[str],
    shots: int,
    number: int,
    seed: int,
) -> EpisodeSet:
    """Draw ``number`` support sets of all types of ``support`` but ``known``.

    All sentences of ``query`` are queries.
    """
    mentions = [
        {label: times for label, times in own.items() if label not in known} for own in support.mentions()
    ]
    sampler = ShotSampler(mentions)
    types = tuple(sorted(sampler.totals))
    if not types:
        raise InputError(f"no type besides {', '.join(sorted(known))}", path=support.file.path)
    drawn = [sampler.sample(types, shots, np.random.default_rng([seed, place])) for place in range(number)]
    episodes = tuple(FixedEpisode(types, tuple(rows)) for rows in drawn)
    return EpisodeSet(name, shots, seed, types, support.file, query.file, episodes)


def write_episodes(path: Path, sets: Sequence[EpisodeSet]) -> None:
    """Write episode sets as JSON, one episode per line."""
    content = json.dumps({"version": VERSION, "sets": [asdict(each) for each in sets]}, ensure_ascii=False)
    atomic_write(path, content.replace('{"types"', '\n{"types"').replace('{"name"', '\n{"name"') + "\n")


def read_episodes(path: Path) -> list[EpisodeSet]:
    """Read the output of ``write_episodes``."""
    try:
        values = json.loads(path.read_bytes())
        if values["version"] != VERSION:
            raise InputError(f"unknown version of episodes: {values['version']}", path=path)
        return [_episode_set(each) for each in values["sets"]]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"invalid episodes ({type(error).__name__}: {error})", path=path) from error


def check_file(wanted: EpisodeFile, found: EpisodeFile) -> None:
    """Raise an error unless ``found`` is the file that episodes were drawn from."""
    if wanted.sha256 != found.sha256:
        raise InputError(
            "the file is not the one of the episodes: its checksum differs",
            path=found.path,
            fix="Use the same release of the data, or draw new episodes",
        )


def _episode_set(values: dict[str, Any]) -> EpisodeSet:
    files = {key: EpisodeFile(**values[key]) for key in ("support", "query")}
    episodes = tuple(
        FixedEpisode(
            tuple(each["types"]),
            tuple(each["support"]),
            None if each["query"] is None else tuple(each["query"]),
        )
        for each in values["episodes"]
    )
    return EpisodeSet(**{**values, **files, "types": tuple(values["types"]), "episodes": episodes})
