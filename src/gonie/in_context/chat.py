"""What a language model is asked and what it replies, wherever it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

Message = Mapping[str, str]
"""A message of a conversation: its ``role`` (system, user or assistant) and its ``content``."""
SHOWN = 120
"""Characters of an answer in a message."""
CUT_OFF = "length"
"""Why an answer ended that reached the limit of its tokens."""


@dataclass(frozen=True, slots=True)
class ChatReply:
    """The answer of a language model.

    ``finish`` says why it ended. Tokens are 0 if they are not known. ``seconds`` is the time of the
    successful try, and ``retries`` the number of failed ones before it.
    """

    content: str
    finish: str = "stop"
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    retries: int = 0


class FailedRequestError(Exception):
    """A request without an answer. ``fatal`` means that every other request would fail, too."""

    def __init__(self, reason: str, *, retries: int = 0, fatal: bool = False) -> None:
        super().__init__(reason)
        self.retries = retries
        self.fatal = fatal


class Chat(Protocol):
    """A language model that answers conversations. Threads may share it."""

    @property
    def name(self) -> str:
        """The name of the model, for messages."""
        ...

    @property
    def identity(self) -> Mapping[str, Any]:
        """All that its answers depend on, besides the messages, for a cache."""
        ...

    @property
    def at_once(self) -> int:
        """How many requests it may get at once."""
        ...

    def ask(self, messages: Sequence[Message]) -> ChatReply:
        """Return the answer, or raise ``FailedRequestError``."""
        ...

    def close(self) -> None:
        """Stop. Running requests may fail."""
        ...


class PromptShown(Exception):  # noqa: N818 (it is no error)
    """Raised with the messages of the first request of a ``SilentChat``."""

    def __init__(self, messages: Sequence[Message]) -> None:
        super().__init__()
        self.messages = messages


class SilentChat:
    """Sends nothing. The first request raises ``PromptShown``."""

    name = ""
    identity: Mapping[str, Any] = {}
    at_once = 1

    def ask(self, messages: Sequence[Message]) -> ChatReply:
        """Raise ``PromptShown``."""
        raise PromptShown(messages)

    def close(self) -> None:
        """Do nothing."""


def reply_of(answer: Any, *, seconds: float, retries: int = 0) -> ChatReply:
    """Return the reply in the JSON object of a chat completion, or raise ``FailedRequestError``."""
    try:
        choice, usage = answer["choices"][0], answer.get("usage") or {}
        content, finish = choice["message"]["content"], choice.get("finish_reason") or "stop"
        tokens = usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        shown = str(answer)[:SHOWN]
        raise FailedRequestError(f"the answer cannot be read: {shown!r}", retries=retries) from error
    if not isinstance(content, str) or not all(isinstance(number, int) for number in tokens):
        raise FailedRequestError(f"the answer has no text: {str(choice)[:SHOWN]!r}", retries=retries)
    return ChatReply(content, str(finish), *tokens, seconds, retries)
