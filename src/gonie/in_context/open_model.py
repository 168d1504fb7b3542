"""Opens an in-context model: its language model, its examples, its prompt and its cache."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from gonie.errors import BundleError, InputError
from gonie.in_context.address import ModelAddress
from gonie.in_context.answer_formats import LABEL_FORMATS
from gonie.in_context.answerer import Advance, Answerer
from gonie.in_context.cache import AnswerCache, user_cache
from gonie.in_context.chat import Chat, SilentChat
from gonie.in_context.classifier import InContextClassifier
from gonie.in_context.endpoint import EndpointChat, api_key
from gonie.in_context.examples import (
    ExampleFile,
    detected_task,
    language_tokenizer,
    read_labelled,
    read_tagged,
)
from gonie.in_context.gguf import GgufChat
from gonie.in_context.prompt import Prompt
from gonie.in_context.settings import InContextSettings
from gonie.in_context.shots import ShotFinder
from gonie.in_context.tagger import InContextTagger
from gonie.in_context.usage import Prices, Usage
from gonie.text.report import count

READERS = {"tag": read_tagged, "classify": read_labelled}
"""Reads the examples of a task."""
CACHE_OFF, CACHE_AUTO = "off", "auto"


def open_model(
    place: str | PathLike[str],
    *,
    task: str | None = None,
    show_prompt: bool = False,
    advance: Advance | None = None,
    again: str | None = None,
    **values: Any,
) -> InContextTagger | InContextClassifier:
    """Return the in-context model of a task at an address. ``values`` are its ``InContextSettings``.

    With ``show_prompt``, nothing is sent: the first text raises ``PromptShown``. ``advance`` receives how
    many texts are answered. ``again`` says how to resume after a failure, by default with the same command.
    """
    address = ModelAddress.parse(place)
    settings = InContextSettings.of(values)
    name = task or detected_task(settings)
    _check_task(name, address)
    known = _examples(name, settings)
    _check_format(name, settings)
    chat: Chat = SilentChat() if show_prompt else _chat(address, settings)
    prompt = Prompt(
        task=name,
        labels=known.labels,
        format=settings.format,
        language=known.language,
        multi_label=known.multi_label,
        descriptions=settings.describe,
    )
    answerer = Answerer(
        chat=chat,
        prompt=prompt,
        usage=Usage(name=chat.name, prices=_prices(settings), notes=_shot_notes(known, settings)),
        finder=ShotFinder(known.examples) if settings.shots and known.examples else None,
        shots=settings.shots,
        cache=None if show_prompt else _cache(settings),
        advance=advance,
        again=again,
    )
    if known.tokenizer is None:
        return InContextClassifier(answerer=answerer, recipe=settings.recipe())
    return InContextTagger(answerer=answerer, tokenizer=known.tokenizer, recipe=settings.recipe())


def try_model(place: str | PathLike[str], *, task: str, **values: Any) -> None:
    """Check the address and the settings of a model that is needed later, without asking about a text.

    An endpoint must answer. A file must be a GGUF file, but it is not loaded.
    """
    address = ModelAddress.parse(place)
    settings = InContextSettings.of(values)
    _check_task(task, address)
    _check_format(task, settings)
    chat = _chat(address, settings)
    try:
        if isinstance(chat, EndpointChat):
            chat.connect()
    finally:
        chat.close()


def _check_task(name: str, address: ModelAddress) -> None:
    if name not in READERS:
        raise BundleError(f"{address} tags or classifies texts, but the task here is {name!r}")


def _check_format(task: str, settings: InContextSettings) -> None:
    if task == "classify" and settings.format not in LABEL_FORMATS:
        raise InputError(
            f"the answer format {settings.format} does not apply to classifiers",
            fix="Use --llm format=json or format=lines",
        )


def _chat(address: ModelAddress, settings: InContextSettings) -> Chat:
    if address.file is not None:
        return GgufChat(address.file, settings)
    return EndpointChat(str(address.url), settings, key=api_key())


def _examples(task: str, settings: InContextSettings) -> ExampleFile:
    """Return the examples and labels of the file, or the described labels alone."""
    if settings.shots_from is not None:
        known = READERS[task](settings.shots_from, settings)
        if unknown := [label for label in settings.describe if label not in known.labels]:
            raise InputError(
                f"a description for {unknown[0]!r}, which is not a label of {settings.shots_from}",
                fix=f"Its labels are {', '.join(known.labels)}",
            )
        return known
    if not settings.describe:
        raise InputError(
            "the labels are not known",
            fix="Pass a labelled file with --shots-from FILE (in Python shots_from=), or name each label "
            "with --llm describe.LABEL=DESCRIPTION",
        )
    language = settings.language or "en"
    splitter = language_tokenizer(language, settings.unit) if task == "tag" else None
    several = bool(settings.label_separator)
    return ExampleFile((), tuple(settings.describe), language, splitter, multi_label=several)


def _shot_notes(known: ExampleFile, settings: InContextSettings) -> list[str]:
    """Return a note if more shots are asked for than there are examples."""
    number = len(known.examples)
    if not number or settings.shots <= number:
        return []
    return [f"shots: {settings.shots:,} asked for, all {count(number, 'example')} of the file are shown"]


def _cache(settings: InContextSettings) -> AnswerCache | None:
    if settings.cache == CACHE_OFF:
        return None
    return AnswerCache(user_cache() if settings.cache == CACHE_AUTO else Path(settings.cache))


def _prices(settings: InContextSettings) -> Prices | None:
    if settings.prompt_price is None and settings.completion_price is None:
        return None
    return Prices(settings.prompt_price or 0.0, settings.completion_price or 0.0)
