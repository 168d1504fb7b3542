"""Read the training data of a tagger: encoded sentences, word vectors, and notes about the files."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gonie.errors import InputError, RecipeError
from gonie.features.corpus import Corpus, FolderSink, MemorySink
from gonie.features.encoding import Encoding
from gonie.features.vectors import PretrainedVectors
from gonie.formats.tagged import TaggedSource
from gonie.metrics.novelty import SeenMentions
from gonie.tasks.data_warnings import (
    SENTENCES,
    SharedExamples,
    Watched,
    count_types,
    name_new_tags,
    warn_new_labels,
    warn_rare_labels,
)
from gonie.tasks.external import RecipeVectors
from gonie.tasks.run_files import SEEN
from gonie.tasks.tagging.heads import head_recipe
from gonie.tasks.tagging.recipe import TagRecipe
from gonie.tasks.tagging.torch.answers import UnlabelledSentences, read_answered
from gonie.tasks.tagging.torch.augment import augmented_sentences
from gonie.tasks.tagging.torch.files import TagFiles, read_tag_train
from gonie.tasks.tagging.torch.noisy_copies import noisy_copies
from gonie.tasks.tagging.torch.shots import count_mentions
from gonie.tasks.tagging.torch.streams import Chained, Pieces, TagStream, Untagged, WithWords
from gonie.tasks.torch.contextual import Sources, digest_sources, load_sources, sources_key
from gonie.tasks.torch.replay import MemoryReader, annotated, replayed, warn_learned_before
from gonie.tasks.torch.start import Start, label_names
from gonie.tasks.torch.word_data import (
    Note,
    build_extractors,
    fit_encoding,
    note_corrections,
    pretrained_table,
    sampled,
    tell,
    vectors_of,
)
from gonie.text import schemes
from gonie.text.label_map import nearest, similar_label
from gonie.text.partial_tags import OpenOutside, PartialStream, TagSets
from gonie.text.rules import Allowed, allowed, first_violation
from gonie.text.schemes import Scheme
from gonie.text.tokenizers import Tokenizer
from gonie.text.types import Sentence

MOST_TAGS = 4000
"""Maximum number of tags. More are usually words or line numbers, read as tags by mistake."""


@dataclass(frozen=True)
class TagData:
    """The training data, which training does not change."""

    encoding: Encoding
    tokenizer: Tokenizer
    train: Corpus
    dev: list[Sentence]
    test: list[Sentence] | None
    pretrained: PretrainedVectors | None
    """A vector for every word, if the recipe has pretrained vectors."""
    seen: SeenMentions
    labels: Counter[str]
    """How often each tag is trained on, in the training files and in replayed sentences."""
    sources: Sources = field(default_factory=dict)
    """The contextual sources of the recipe."""
    start: Start | None = None
    """The model that the recipe starts from."""
    given_scheme: Scheme | None = None
    """The tag scheme of the training file."""
    options: NDArray[np.bool_] | None = None
    """(S, K): the tags that each tag id in ``train`` stands for, if there are partial tags or open O."""
    types: frozenset[str] = frozenset()
    """The types that the training files are annotated for."""
    sentences: Iterable[Sentence] = ()
    """The fully tagged training sentences, which can be iterated several times."""
    dev_is_held_out: bool = True
    """Whether the dev sentences are others than those of training."""
    labelled: int = 0
    """The number of tagged training sentences, without partial tags, changed copies and kept sentences."""
    sample: tuple[Sentence, ...] = ()
    """Training sentences to score after each epoch (``train.score_train``)."""
    answered: UnlabelledSentences | None = None
    """The sentences that a teacher has answered, if the recipe names its answers."""
    heads: Mapping[str, TagData] = field(default_factory=dict)
    """The data of auxiliary heads, by name, with the same vocabularies and other labels."""

    def fingerprint(self, recipe: TagRecipe) -> str:
        """Return a digest of the recipe and its data. A resumed run must have the same."""
        digest = hashlib.sha256(recipe.model_dump_json().encode())
        digest.update(json.dumps(self.encoding.to_json()).encode())
        for sentence in chain(self.dev, self.test or ()):  # dev selects the best epoch, and test is scored
            read = [sentence.words, sentence.tags, dict(sentence.columns)]
            others = [sentence.unreachable] if sentence.unreachable else []
            digest.update(json.dumps([*read, *others]).encode())
        arrays = [self.train.arrays[name] for name in sorted(self.train.arrays)]
        arrays += [self.pretrained.matrix] if self.pretrained else []
        arrays += [] if self.options is None else [self.options]
        for array in arrays:
            digest.update(np.ascontiguousarray(array).data)
        digest.update(digest_sources(self.sources))
        digest.update(self.start.digest.encode() if self.start else b"")
        digest.update(self.answered.answers.key().encode() if self.answered else b"")
        for name, head in self.heads.items():
            digest.update(head.fingerprint(head_recipe(recipe, name)).encode())
        return digest.hexdigest()


@dataclass(frozen=True, kw_only=True)
class _TaskFiles:
    """The sentences of one head, before they are encoded. ``section`` is its section of the recipe."""

    recipe: TagRecipe
    section: str
    files: TagFiles
    streams: list[TagStream]
    train: Iterable[Sentence]
    dev: list[Sentence]
    test: list[Sentence] | None
    dev_is_train: bool
    part: TaggedSource | None
    held: dict[str, list[Sentence]]
    """The sentences that are not trained on, by split."""
    shared: SharedExamples[Sentence]

    def texts(self) -> Iterable[Sentence]:
        """Return the sentences that vocabularies are fitted to."""
        watched = Watched(self.train, self.shared)
        return watched if self.part is None else Chained(watched, Untagged(self.part))


def read_tag_data(recipe: TagRecipe, note: Note, start: Start | None = None) -> TagData:
    """Read and encode the data of the recipe and of its auxiliary heads. ``note`` receives what was found.

    The vocabularies are those of all training files together. ``start`` is the model that the recipe starts
    from, if any.
    """
    main = _open_files(recipe, "data", note)
    others = {name: _open_head(recipe, name, note) for name in recipe.heads}
    answered = read_answered(recipe, main.files.splitter, main.held, note)
    vectors = vectors_of(recipe.data, start)
    sources = load_sources(recipe, note)
    encoding, labels = fit_encoding(
        recipe,
        Chained(main.texts(), *(Untagged(other.texts()) for other in others.values())),
        main.files.target,
        vectors,
        build_extractors(recipe),
        sources=sources,
        start=start,
        answered=() if answered is None else answered.sentences,
    )
    data = dataclasses.replace(
        _encode(main, encoding, labels, note, start),
        pretrained=pretrained_table(vectors, encoding, recipe.train.seed, note, start),
        sources=sources,
        start=start,
        answered=answered,
    )
    return dataclasses.replace(
        data, heads={name: _encode_head(other, data, note) for name, other in others.items()}
    )


def _open_head(recipe: TagRecipe, name: str, note: Note) -> _TaskFiles:
    """Open the files of an auxiliary head, which must have the columns that context features use."""
    own, section = head_recipe(recipe, name), f"heads.{name}"
    if RecipeVectors(recipe):
        raise RecipeError(
            [f"{section}: cannot be combined with model.external, because its files have no vectors"]
        )
    if set(own.data.columns) != set(recipe.data.columns):
        wanted = ", ".join(recipe.data.columns) or "none"
        raise RecipeError([f"{section}.columns: the names must be those of data.columns: {wanted}"])
    return _open_files(own, section, note)


def _open_files(recipe: TagRecipe, section: str, note: Note) -> _TaskFiles:
    """Open the files of one head: detect their formats and read the dev and test sentences."""
    data = recipe.data
    files = TagFiles(recipe, section)
    streams = files.train_streams()
    everything = streams[0] if len(streams) == 1 else Chained(*streams)
    train, dev = files.train_and_dev(everything, note)
    test = files.read("test", note) if data.files("test") else None
    dev_is_train = not data.files("dev") and (train is everything or train is dev)
    held = {"dev": [] if dev_is_train else dev, "test": test or []}
    return _TaskFiles(
        recipe=recipe,
        section=section,
        files=files,
        streams=streams,
        train=WithWords(train),
        dev=dev,
        test=test,
        dev_is_train=dev_is_train,
        part=None if data.partial is None else files.source(data.partial).with_scheme(schemes.PLAIN, "error"),
        held=held,
        shared=SharedExamples(SENTENCES, held),
    )


def _encode_head(files: _TaskFiles, main: TagData, note: Note) -> TagData:
    """Encode the sentences of an auxiliary head, with its labels and the vocabularies of the recipe."""
    labels = Counter(_tags(files.train))
    encoding = main.encoding.with_labels(labels, files.files.target)
    return dataclasses.replace(
        _encode(files, encoding, labels, note), pretrained=main.pretrained, sources=main.sources
    )


def _encode(
    opened: _TaskFiles, encoding: Encoding, labels: Counter[str], note: Note, start: Start | None = None
) -> TagData:
    """Encode the sentences of one head, and note what was found in its files.

    ``start`` is the model that the head starts from, whose training sentences may be replayed.
    """
    recipe, files, train, part = opened.recipe, opened.files, opened.train, opened.part
    data, target = recipe.data, opened.files.target
    _check_tags(opened, labels, encoding)
    for path, warning in files.warnings:
        note(f"{path}: {warning}")
    for doubt in files.doubts():
        note(f"{data.train_name}: {doubt}")
    files.tell_train(opened.streams, note)
    types = annotated(recipe, count_types(labels, target))
    kept = label_names(encoding) - types if target.has_spans else frozenset()
    _note_types(opened, types, kept, start, note)
    reader = _memory_reader(target, encoding)
    memories = replayed(recipe, start, reader, note)
    kept_sentences = [sentence for memory in memories for sentence in memory.examples]
    sets = TagSets(encoding.labels)
    rules = _checked_rules(recipe, train, encoding, opened=bool(kept), note=note)
    partial = PartialStream(
        part or (), scheme=files.found.scheme, target=target, sets=sets, rules=rules, labels=files.labels
    )
    copies = _changed_copies(opened, note)
    tagged: list[tuple[str, Iterable[Sentence], frozenset[str]]] = [
        (data.train_name, train, types),
        ("changed copies", copies, types),
        (str(data.partial), partial, types),
        *(("kept sentences", memory.examples, memory.known) for memory in memories),
    ]
    outside = [OpenOutside(each, sets=sets, scheme=target, known=known) for _, each, known in tagged]
    pieces = [Pieces(each, data.max_tokens, sets=sets, rules=rules) for each in outside]
    sink = FolderSink(Path(data.cache)) if data.cache else MemorySink()
    # All streams are read here. The tag sets (``sets``), the report of partial tags (``part``) and the
    # numbers of split sentences (``pieces``) are complete only afterwards.
    corpus = encoding.encode(Chained(*pieces), sink, sets.ids, files.domains)
    if part is not None:
        tell(str(data.partial), part.report, note)
    _note_cut([name for name, *_ in tagged], pieces, data.max_tokens, note)
    note_corrections(encoding, opened.dev, note)
    opened.shared.compare(kept_sentences)
    opened.shared.warn(note)
    warn_learned_before(recipe, start, reader, opened.held, note)
    counts = count_types(labels, target)
    warn_rare_labels(data.train_name, counts, note)
    held = opened.held.items()
    named = {name: name_new_tags(_tags(split), target, {*counts, *kept}) for name, split in held}
    warn_new_labels(named, encoding.label_ids, note)
    return TagData(
        encoding=encoding,
        tokenizer=files.splitter,
        train=corpus,
        dev=opened.dev,
        test=opened.test,
        pretrained=None,
        seen=_seen(Chained(train, kept_sentences), target, start),
        labels=labels + Counter(_tags(kept_sentences)),
        given_scheme=files.found.scheme,
        options=sets.table() if part is not None or any(each.changes for each in outside) else None,
        types=types,
        sentences=train,
        labelled=pieces[0].read,
        dev_is_held_out=not (opened.dev_is_train or data.dev_is_trained_on),
        sample=sampled(train, recipe.train.score_train),
    )


def _changed_copies(opened: _TaskFiles, note: Note) -> Iterable[Sentence]:
    """Return the copies of training sentences with noise and with other words."""
    recipe, files = opened.recipe, opened.files
    data, seed = recipe.data, recipe.train.seed
    noisy = noisy_copies(
        opened.train, data.noise, scheme=files.target, tokenizer=files.splitter, seed=seed, note=note
    )
    return noisy + augmented_sentences(
        opened.train, data, scheme=files.target, tokenizer=files.splitter, seed=seed, note=note
    )


def _note_types(
    opened: _TaskFiles, types: Collection[str], kept: Collection[str], start: Start | None, note: Note
) -> None:
    """Note types of the model that the training file is not annotated for.

    Also note names of types that are probably meant to be those of the start, and suggest how to rename them.
    """
    if kept:
        name = opened.recipe.data.train_name
        note(f"{name} says nothing about the kept types {', '.join(sorted(kept))}: its O may be any of them")
    if start is not None and opened.files.target.has_spans:
        old = label_names(start.encoding)
        _doubt_new_names(opened.recipe, types, old, note)
        if not opened.recipe.train.keep_labels:  # renaming would lose a type that is to be added
            _suggest_names(types, old, note)


def _note_cut(names: Sequence[str], pieces: Sequence[Pieces], longest: int, note: Note) -> None:
    """Note how many sentences were split, by the names of their sources."""
    cut: Counter[str] = Counter()
    for name, each in zip(names, pieces, strict=True):
        cut[name] += each.cut
    for name, number in cut.items():
        if number:
            note(f"{name}: {number} sentences longer than {longest} tokens were split")


def _doubt_new_names(recipe: TagRecipe, types: Collection[str], old: Collection[str], note: Note) -> None:
    """Warn about new names of ``data.map`` that the start does not have, and suggest its similar ones.

    If the labels of the start are kept, a name with the same meaning may well be a new type.
    """
    renamed = {new: name for name, new in reversed(recipe.data.map.items())}
    for new in sorted(renamed.keys() & set(types) - set(old)):
        if meant := similar_label(new, old, meaning=not recipe.train.keep_labels):
            note(
                f"warning: data.map renames {renamed[new]} to {new}, which train.start does not have. "
                f"Did you mean {meant}?"
            )


def _suggest_names(types: Iterable[str], old: Collection[str], note: Note) -> None:
    """Suggest to rename types that mean the same as types of the start, if the two share no name."""
    named = set(types)
    same = nearest(named, old)
    if same and not named & set(old):
        rules = (shlex.quote(f"data.map.{name}={new}") for name, new in same.items())
        settings = " ".join(f"--set {rule}" for rule in rules)
        note(
            f"no type of the training file has the name of one of the start: {', '.join(sorted(old))}. To "
            f"copy the weights of types that mean the same, rename them: {settings}"
        )


def _seen(sentences: Iterable[Sentence], scheme: Scheme, start: Start | None) -> SeenMentions:
    """Return the mentions of the training sentences, and those that the start has seen."""
    own = SeenMentions.from_sentences(sentences, scheme)
    path = None if start is None else start.folder / SEEN
    if path is None or not path.is_file():
        return own
    return own.merged(SeenMentions.from_json(json.loads(path.read_text("utf-8"))))


def _memory_reader(target: Scheme, encoding: Encoding) -> MemoryReader[Sentence]:
    """Return the reader of the training sentences of earlier runs, with tags in ``target``."""
    return MemoryReader(
        kind=SENTENCES,
        training=lambda recipe: read_tag_train(recipe, target),
        texts=lambda recipe: TagFiles(recipe).training_part(),
        mentions=lambda sentence: count_mentions(sentence.tags or (), target),
        labels=label_names(encoding),
    )


def _check_tags(opened: _TaskFiles, tags: Mapping[str, int], encoding: Encoding) -> None:
    """Refuse sentences without entities, or with one plain tag, from which nothing can be learned.

    Also refuse more than ``MOST_TAGS``.
    """
    path, section, scheme = opened.recipe.data.train_name, opened.section, opened.files.target
    column = f"Set the tag column: --set {section}.tag_column=N"
    if len(tags) == 1 and (schemes.OUTSIDE in tags or not scheme.has_spans):
        choose = "Choose the column of the tags with --tag-column N (in a recipe data.tag_column)"
        raise InputError(
            f"every token has the tag {next(iter(tags))}",
            path=path,
            fix=choose if section == "data" else column,
        )
    if len(encoding.labels) > MOST_TAGS:
        raise InputError(
            f"more than {MOST_TAGS:,} different tags: {len(encoding.labels):,}, such as "
            f"{', '.join(encoding.labels[:3])}",
            path=path,
            fix=column,
        )


def _checked_rules(
    recipe: TagRecipe, train: Iterable[Sentence], encoding: Encoding, *, opened: bool, note: Note
) -> Allowed:
    """Return the valid sequences of the model. Note training sentences that violate ``model.head.forbidden``.

    They raise an error if their likelihood would be 0: with ``constrain_training``, and with partial tags or
    ``opened`` O, whose likelihood sums over valid sequences only (``CRF.partial_log_likelihood``).
    """
    head = recipe.model.head
    rules = allowed(
        encoding.labels,
        encoding.scheme,
        constrained=head.constrained or head.constrain_training,
        forbidden=head.forbidden,
    )
    if not head.forbidden:
        return rules
    found = [
        (sentence, move)
        for sentence in train
        if (move := first_violation(sentence.tags or (), encoding.labels, rules))
    ]
    if not found:
        return rules
    sentence, move = found[0]
    text = f"{len(found):,} training sentences violate model.head.forbidden, the first by {move!r}"
    partial = recipe.data.partial is not None and head.kind == "crf"
    if head.constrain_training or partial or (opened and head.kind == "crf"):
        cause = "data.partial" if partial else "train.keep_labels"
        cause = "model.head.constrain_training" if head.constrain_training else cause
        raise InputError(
            text,
            path=sentence.path,
            line=sentence.line,
            fix=f"Correct them, or remove {cause}",
        )
    note(f"{recipe.data.train_name}: {text}")
    return rules


def _tags(sentences: Iterable[Sentence]) -> Iterator[str]:
    return (tag for sentence in sentences for tag in sentence.tags or ())


def tag_data_key(recipe: TagRecipe) -> str:
    """Return the part of a recipe that ``read_tag_data`` depends on. Equal strings give equal data.

    It includes the seed if sentences are held out or sampled, if words without a pretrained vector get a
    random one, or if there are changed copies.
    """
    data, model, head = recipe.data, recipe.model, recipe.model.head
    read = {
        "data": data.model_dump(mode="json"),
        "groups": model.groups,
        "jamo": bool(model.chars and model.chars.jamo),
        "sources": sources_key(model),
        "rules": [head.constrained, head.forbidden, head.constrain_training],
        "kind": head.kind if data.partial or recipe.train.keep_labels else None,
        "sample": recipe.train.score_train,
        "start": [recipe.train.start, recipe.train.keep_labels, recipe.train.replay],
        "adapted": model.adapter is not None,
        "shots": recipe.train.shots,
        "seed": recipe.train.seed if _is_drawn(recipe) else None,
        "heads": {name: tag_data_key(head_recipe(recipe, name)) for name in recipe.heads},
    }
    return json.dumps(read)


def _is_drawn(recipe: TagRecipe) -> bool:
    """Return whether the data depends on the seed: sentences, vectors or copies are drawn at random."""
    data = recipe.data
    drawn = recipe.train.shots or recipe.train.replay or data.size
    return not data.files("dev") or bool(data.vectors or data.copies or drawn)
