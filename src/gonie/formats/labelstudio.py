"""The JSON exports of Label Studio: the full one, and the flat one that it calls JSON-MIN.

    [{"data": {"text": "George is happy"}, "annotations": [{"result": [{"from_name": "label",
      "to_name": "text", "type": "labels", "value": {"start": 0, "end": 6, "text": "George",
      "labels": ["PER"]}}]}]}]
    [{"text": "George is happy", "label": [{"start": 0, "end": 6, "text": "George", "labels": ["PER"]}],
      "annotation_id": 7}]

Results of type ``labels`` are entities, those of type ``choices`` are labels of the text. A file with only
other results is refused. Offsets are code points. Versions before 1.5 counted UTF-16 units, in which an emoji
has two: such spans are recognised by their text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from gonie.errors import InputError
from gonie.formats.content import ID, Content, FileHead, id_of
from gonie.formats.format import LabelledFormat, TaggedFormat
from gonie.formats.json_list import write_objects
from gonie.formats.labelled_rows import TEXTS
from gonie.formats.meta import row_meta
from gonie.formats.spans import AnnotatedText, annotated_texts, check_span, tagged_sentences
from gonie.formats.tagged_rows import row_text
from gonie.text.alignment import CharSpan
from gonie.text.labelled_text import LabelledRow, LabelledText, TextOptions, check_unlabelled
from gonie.text.marks import with_marks
from gonie.text.report import Report, count_of
from gonie.text.schemes import Scheme
from gonie.text.types import Sentence

TEXT, LABEL = "text", "label"
LABELS, CHOICES = "labels", "choices"
"""The types of results that are read."""
ANNOTATIONS = ("annotations", "completions")
"""The key of the annotations of a task; the second is that of versions before 1.0."""
_OWN = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time")
"""Keys that the flat form adds to the data and the results of a task."""
_PLACES = ("start", "end", "startOffset", "endOffset", "globalOffsets", TEXT)
"""Keys of a value that say where it is."""
_NAMES = {LABELS: "labelled spans", CHOICES: "choices", "relation": "relations"}
_UNITS = "spans with offsets in UTF-16 units (converted)"


class _Result(NamedTuple):
    """One result of an annotator: the control that made it, the object it is about, its type and value."""

    control: str
    object: str
    type: str
    value: Mapping[str, Any]


class _Task(NamedTuple):
    """A task with the annotation that is used. ``number`` counts from 1."""

    number: int
    data: Mapping[str, Any]
    results: Sequence[_Result]
    id: str | int | None = None


# --- tasks -----------------------------------------------------------------------------------------------


def _tasks(content: Content, report: Report) -> Iterator[_Task]:
    """Yield the annotated tasks of an export. Other tasks and further annotations are counted."""
    values = _listed(content.head.document)
    if values is None:
        raise InputError(
            "not a Label Studio export", path=report.path, fix="Export the project as JSON or JSON-MIN"
        )
    seen: set[str] = set()
    for number, value in enumerate(values, 1):
        if not isinstance(value, dict):
            raise InputError(f"task {number} is not a JSON object", path=report.path, line=number)
        if isinstance(value.get("data"), dict):
            task = _full(number, value, report)
        else:
            task = _minimal(number, value, seen, report)
        if task is not None:
            yield task


def _listed(document: Any) -> list[Any] | None:
    """Return the tasks of a document, or None if it is no export of Label Studio."""
    values = [document] if isinstance(document, dict) else document
    if not isinstance(values, list) or not values or not isinstance(values[0], dict):
        return None
    first = values[0]
    annotated = any(isinstance(first.get(key), list) for key in ANNOTATIONS)
    full = annotated and isinstance(first.get("data"), dict)
    minimal = {"annotation_id", "lead_time"} <= first.keys()
    return values if full or minimal else None


def _full(number: int, task: Mapping[str, Any], report: Report) -> _Task | None:
    """Return a task of the full form with its first annotation, or its ground truth."""
    given: list[Any] = next((task[key] for key in ANNOTATIONS if isinstance(task.get(key), list)), [])
    if not all(isinstance(each, dict) for each in given):
        raise InputError(f"task {number}: invalid annotations", path=report.path, line=number)
    predictions = task.get("predictions")
    if isinstance(predictions, list) and predictions:
        report.skipped["predictions of models"] += len(predictions)
    valid = [each for each in given if not (each.get("was_cancelled") or each.get("skipped"))]
    if not valid:
        report.skipped["cancelled tasks" if given else "tasks without an annotation"] += 1
        return None
    if len(valid) < len(given):
        report.skipped["cancelled annotations of tasks with another one"] += len(given) - len(valid)
    if len(valid) > 1:
        report.skipped["further annotations of the same task"] += len(valid) - 1
    chosen = next((each for each in valid if each.get("ground_truth")), valid[0])
    results = chosen.get("result") or []
    if not isinstance(results, list) or not all(isinstance(each, dict) for each in results):
        raise InputError(f"task {number}: invalid results", path=report.path, line=number)
    return _Task(number, task["data"], [_result(each) for each in results], id_of(task))


def _result(result: Mapping[str, Any]) -> _Result:
    value = result.get("value")
    value = value if isinstance(value, dict) else {}
    return _Result(
        str(result.get("from_name", "")),
        str(result.get("to_name", "")),
        _type(str(result.get("type") or "unknown"), value),
        value,
    )


def _flat_type(value: Mapping[str, Any]) -> str:
    """Return the type of a value of the flat form: the key of what was annotated."""
    names = [name for name in value if name not in _PLACES] or ["unknown"]
    return LABELS if LABELS in names else names[0]


def _type(name: str, value: Mapping[str, Any]) -> str:
    """Return the type of a result, with other names for labels and choices that are not about a text."""
    if name == LABELS and ("start" not in value or "startOffset" in value):
        return "labels in HTML, dialogues or images"
    return "choices for single spans" if name == CHOICES and "start" in value else name


def _minimal(number: int, record: Mapping[str, Any], seen: set[str], report: Report) -> _Task | None:
    """Return a task of the flat form. Columns of strings stay in its data."""
    if record.get("annotation_id", record.get("annotator")) is None:
        report.skipped["tasks without an annotation"] += 1
        return None
    task = repr(record.get("id", number))
    if task in seen:
        report.skipped["further annotations of the same task"] += 1
        return None
    seen.add(task)
    data, results = {}, []
    for key, value in record.items():
        if key in _OWN:
            continue
        if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
            results += [_Result(key, "", _type(_flat_type(each), each), each) for each in value]
        elif isinstance(value, dict) and isinstance(value.get(CHOICES), list):
            results.append(_Result(key, "", CHOICES, value))
        else:
            data[key] = value
    return _Task(number, data, results, id_of(record))


def _text_key(task: _Task, wanted: str, path: str) -> str:
    """Return the key of the annotated text: as named, by the object of the results, or the one that fits."""
    strings = [key for key, value in task.data.items() if isinstance(value, str)]
    for name in (wanted, *(result.object for result in task.results)):
        if name in strings:
            return name
    spans = [result.value for result in task.results if result.type == LABELS]
    fitting = [key for key in strings if all(_offsets(value, task.data[key])[0] for value in spans)]
    found = fitting if spans else strings
    if len(found) != 1:
        keys = ", ".join(map(repr, task.data)) or "none"
        raise InputError(
            f"task {task.number}: no key {wanted!r} in its data, and not one other text; the keys are {keys}",
            path=path,
            line=task.number,
            fix=f"Name the key of the text {wanted!r}, or give the Text tag of the labelling config its name",
        )
    return found[0]


# --- entities --------------------------------------------------------------------------------------------


def _annotated(content: Content, names: Collection[str], report: Report) -> Iterator[AnnotatedText]:
    tasks = list(_tasks(content, report))
    types = {result.type for task in tasks for result in task.results}
    if types and LABELS not in types:
        raise _unreadable(tasks, "no task has an entity", report)
    for task in tasks:
        text = row_text(task.data, _text_key(task, TEXT, report.path), report.path, task.number)
        spans: list[CharSpan] = []
        for result in task.results:
            if result.type == LABELS:
                spans += _spans(result.value, text, task.number, report)
            else:
                report.skipped[_named(result.type)] += 1
        meta = row_meta(task.data, names, report)
        yield AnnotatedText(text=text, spans=spans, line=task.number, id=task.id, meta=meta)


def _named(type: str) -> str:
    return _NAMES.get(type, f"results of type {type}")


def _unreadable(tasks: Iterable[_Task], problem: str, report: Report) -> InputError:
    """Return the error for tasks without results that can be learned, which names those they have."""
    found = Counter(_named(result.type) for task in tasks for result in task.results)
    others = ", ".join(count_of(number, what) for what, number in found.most_common())
    return InputError(
        f"{problem}; the export has {others}" if others else problem,
        path=report.path,
        fix="gonie learns entities from the tag Labels for plain text (gonie train ner), and labels of texts "
        "from the tag Choices (gonie train classify)",
    )


def _spans(value: Mapping[str, Any], text: str, number: int, report: Report) -> Iterator[CharSpan]:
    """Yield the span of a result once for each of its labels."""
    labels = value.get(LABELS) or []
    if not isinstance(labels, list) or not all(isinstance(label, str) and label for label in labels):
        raise InputError(f"task {number}: invalid labels {labels!r}", path=report.path, line=number)
    if not labels:
        report.skipped["spans without a label"] += 1
    offsets, units = _offsets(value, text)
    if offsets is None:
        start, end = check_span(value["start"], value.get("end"), text, path=report.path, line=number)
        raise InputError(
            f"task {number}: the span {start} to {end} is {text[start:end]!r} in the text, "
            f"but its annotation has {value.get('text')!r}",
            path=report.path,
            line=number,
            fix="Export the project again, or correct the offsets",
        )
    if units:
        report.noticed[_UNITS] += 1
    start, end = check_span(*offsets, text, path=report.path, line=number)
    yield from ((start, end, label) for label in labels)


def _offsets(value: Mapping[str, Any], text: str) -> tuple[tuple[Any, Any] | None, bool]:
    """Return the offsets of a span in code points, and whether they were UTF-16 units.

    They are None if the text at neither of the two is the text of the span.
    """
    start, end, said = value.get("start"), value.get("end"), value.get("text")
    if not isinstance(said, str) or type(start) is not int or type(end) is not int:
        return (start, end), False
    wanted = (said, said.replace("\\n", "\n"))  # early versions escaped line ends
    if text[start:end] in wanted:
        return (start, end), False
    encoded = text.encode("utf-16-le")
    if encoded[2 * start : 2 * end].decode("utf-16-le", "replace") in wanted:
        first, last = (len(encoded[: 2 * at].decode("utf-16-le", "replace")) for at in (start, end))
        return (first, last), True
    return None, False


# --- labels of texts -------------------------------------------------------------------------------------


def _labelled(content: Content, options: TextOptions, report: Report) -> Iterator[LabelledRow]:
    tasks = list(_tasks(content, report))
    keys = [_labelled_text_key(task, options, report.path) for task in tasks]
    choices = [_choices(task, key) for task, key in zip(tasks, keys, strict=True)]
    control = None
    if options.label_column is not None:
        names = list(dict.fromkeys(name for each in choices for name in each))
        if not names:
            raise _unreadable(tasks, "no task has a choice", report)
        control = _control(names, options, report)
    for task, key, own in zip(tasks, keys, choices, strict=True):
        text = row_text(task.data, key, report.path, task.number)
        labels: tuple[str, ...] | None = ()
        if control is not None:
            labels = own.get(control)
            if labels is None:
                check_unlabelled(options, path=report.path, line=task.number)
        for result in task.results:
            if result.type != CHOICES:
                report.skipped[_named(result.type)] += 1
        meta = row_meta(task.data, options.meta, report, (key,))
        yield LabelledRow(task.number, text, labels, task.id, meta)


def _labelled_text_key(task: _Task, options: TextOptions, path: str) -> str:
    usual = TEXTS if options.text_column == TEXT else ()
    wanted = next((key for key in (options.text_column, *usual) if key in task.data), options.text_column)
    return _text_key(task, wanted, path)


def _choices(task: _Task, text_key: str) -> dict[str, tuple[str, ...]]:
    """Return the choices of a task by control. In the flat form, a single choice is a string."""
    found: dict[str, tuple[str, ...]] = {}
    for result in task.results:
        values = result.value.get(CHOICES)
        if result.type == CHOICES and isinstance(values, list):
            found[result.control] = tuple(dict.fromkeys(map(str, values)))
    flat = not any(result.object for result in task.results)
    strings = {key: value for key, value in task.data.items() if isinstance(value, str) and key != text_key}
    return {key: (value,) for key, value in strings.items() if flat} | found


def _control(names: Sequence[str], options: TextOptions, report: Report) -> str:
    """Return which of several controls has the labels."""
    if options.label_column in names:
        return str(options.label_column)
    if len(names) == 1:
        report.choose("label column", names[0], "the only choice of the tasks")
        return names[0]
    raise InputError(
        f"the tasks have several choices: {', '.join(names)}",
        path=report.path,
        fix="Name the one to learn: --label NAME",
    )


# --- recognition and writing -----------------------------------------------------------------------------


def _types(head: FileHead) -> set[str]:
    """Return the types of results in a file, or "none" if it is an export without any."""
    values = _listed(head.document)
    if values is None:
        return set()
    report = Report(path=head.path)
    found: set[str] = set()
    strings = 0
    for number, value in enumerate(values, 1):
        if not isinstance(value, dict):
            continue
        full = isinstance(value.get("data"), dict)
        task = None
        with suppress(InputError):  # reading it says what is wrong
            task = _full(number, value, report) if full else _minimal(number, value, set(), report)
        if task is not None:
            found.update(result.type for result in task.results)
            strings = max(strings, 0 if full else sum(isinstance(each, str) for each in task.data.values()))
    if strings > 1 and LABELS not in found:  # a single choice of the flat form
        found.add(CHOICES)
    return found or {"none"}


def _recognise_tagged(head: FileHead) -> str | None:
    types = _types(head)
    return "tasks of Label Studio" if LABELS in types or (types and CHOICES not in types) else None


def _recognise_labelled(head: FileHead) -> str | None:
    types = _types(head)
    if types and types.isdisjoint((LABELS, CHOICES)):  # both kinds refuse it, and say what it has
        return "tasks of Label Studio"
    return "tasks of Label Studio with choices" if CHOICES in types else None


def _write_tagged(sentences: Iterable[Sentence], scheme: Scheme) -> Iterator[str]:
    texts = annotated_texts(sentences, scheme, format="Label Studio")
    numbered = enumerate(texts, 1)
    return write_objects(_task(number if each.id is None else each.id, each) for number, each in numbered)


def _task(number: str | int, each: AnnotatedText) -> dict[str, Any]:
    if each.spans is None:
        return {"id": number, "data": {TEXT: each.text}, "annotations": []}
    results = [
        {
            "id": f"{number}-{index}",
            "from_name": LABEL,
            "to_name": TEXT,
            "type": LABELS,
            "value": {"start": start, "end": end, "text": each.text[start:end], LABELS: [label]},
        }
        for index, (start, end, label) in enumerate(each.spans, 1)
    ]
    return {"id": number, "data": {TEXT: each.text}, "annotations": [{"result": results}]}


def _write_labelled(texts: Iterable[LabelledText]) -> Iterator[str]:
    return write_objects(
        {
            ID: number if each.id is None else each.id,
            "data": {TEXT: with_marks(each.text, each.marks)},
            "annotations": [{"result": [_choice(number, each.labels)]}],
        }
        for number, each in enumerate(texts, 1)
    )


def _choice(number: int, labels: Sequence[str]) -> dict[str, Any]:
    value = {CHOICES: list(labels)}
    return {"id": f"{number}-1", "from_name": LABEL, "to_name": TEXT, "type": CHOICES, "value": value}


TAGGED = TaggedFormat(
    name="labelstudio",
    description="Label Studio's JSON or JSON-MIN",
    read=lambda content, options, report: tagged_sentences(
        _annotated(content, options.meta, report), options.tokenizer, report
    ),
    write=_write_tagged,
    recognise=_recognise_tagged,
    has_ids=True,
    keeps_ids=True,
    stores_texts=True,
)

LABELLED = (
    LabelledFormat(
        name="labelstudio",
        description="Label Studio's JSON or JSON-MIN, with choices",
        read=_labelled,
        write=_write_labelled,
        recognise=_recognise_labelled,
        has_ids=True,
        keeps_ids=True,
    ),
)
