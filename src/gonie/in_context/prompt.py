"""The messages that a language model gets: instructions, examples as turns, and the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gonie.in_context.answer_formats import FORMATS, NONE, AnswerFormat
from gonie.in_context.chat import Message
from gonie.in_context.examples import Example

TASKS = {
    ("tag", "en"): "Find every mention of these types in the text:",
    ("tag", "ko"): "다음 유형의 개체명을 글에서 모두 찾으세요.",
    ("classify", "en"): "Choose the label of the text. The labels are:",
    ("classify", "ko"): "글에 맞는 레이블을 하나 고르세요. 레이블은 다음과 같습니다.",
    ("several", "en"): "Choose every label that applies to the text, or none. The labels are:",
    ("several", "ko"): "글에 해당하는 레이블을 모두 고르세요. 없을 수도 있습니다. 레이블은 다음과 같습니다.",
}
"""The first sentence, by task and language."""
FORMS = {
    ("tag", "json", "en"): (
        'Answer with a JSON list that has an object {"text": …, "label": …} for each mention, in the order '
        "of the text. Copy each mention exactly. If there is none, answer []."
    ),
    ("tag", "json", "ko"): (
        '개체명마다 {"text": …, "label": …} 객체를 하나씩 담은 JSON 목록으로, 글에 나오는 순서대로 답하세요. '
        "개체명은 글에 있는 그대로 옮겨 적으세요. 하나도 없으면 []라고 답하세요."
    ),
    ("tag", "lines", "en"): (
        "Answer with one line per mention, in the order of the text: the type, a colon and the mention, "
        "copied exactly. If there is none, answer: {none}"
    ),
    ("tag", "lines", "ko"): (
        "개체명마다 한 줄씩, 글에 나오는 순서대로 유형, 쌍점, 개체명을 적으세요. 개체명은 글에 있는 그대로 "
        "옮겨 적으세요. 하나도 없으면 {none}이라고 답하세요."
    ),
    ("tag", "inline", "en"): (
        "Answer with the whole text, unchanged, with tags around each mention: <{label}>…</{label}>"
    ),
    ("tag", "inline", "ko"): (
        "글 전체를 바꾸지 말고 그대로 옮겨 적으면서 개체명마다 <{label}>…</{label}>처럼 태그를 붙이세요."
    ),
    ("classify", "json", "en"): 'Answer with a JSON object: {"label": …}',
    ("classify", "json", "ko"): '{"label": …} 형식의 JSON 객체로 답하세요.',
    ("several", "json", "en"): 'Answer with a JSON object: {"labels": […]}',
    ("several", "json", "ko"): '{"labels": […]} 형식의 JSON 객체로 답하세요.',
    ("classify", "lines", "en"): "Answer with the label alone.",
    ("classify", "lines", "ko"): "레이블만 답하세요.",
    ("several", "lines", "en"): "Answer with one label per line. If none applies, answer: {none}",
    ("several", "lines", "ko"): (
        "한 줄에 레이블을 하나씩 답하세요. 해당하는 것이 없으면 {none}이라고 답하세요."
    ),
}
"""How to answer, by task, form and language."""
ALONE = {"en": "Write nothing else.", "ko": "다른 말은 쓰지 마세요."}


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """What a language model is told about a task. ``descriptions`` describe labels, if given."""

    task: str
    labels: Sequence[str]
    format: str
    language: str
    multi_label: bool = False
    descriptions: Mapping[str, str] = field(default_factory=dict)

    @property
    def form(self) -> AnswerFormat:
        """The form of the answers."""
        return FORMATS[self.format]

    def instructions(self) -> str:
        """Return the message for the whole conversation."""
        task = "several" if self.multi_label else self.task
        labels = [
            f"- {label}: {self.descriptions[label]}" if self.descriptions.get(label) else f"- {label}"
            for label in self.labels
        ]
        form = FORMS[task, self.format, self.language]
        form = form.replace("{none}", NONE[self.language]).replace("{label}", self.labels[0])
        return "\n".join([TASKS[task, self.language], *labels, f"{form} {ALONE[self.language]}"])

    def messages(self, text: str, shots: Sequence[Example] = ()) -> list[Message]:
        """Return the messages for a text, after those of its shots."""
        found: list[Message] = [{"role": "system", "content": self.instructions()}]
        for shot in shots:
            answer = self.form.write(shot, self.language, several=self.multi_label)
            found.append({"role": "user", "content": shot.text})
            found.append({"role": "assistant", "content": answer})
        return [*found, {"role": "user", "content": text}]
