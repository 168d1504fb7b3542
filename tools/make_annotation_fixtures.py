"""Make the files of tests/formats/files with the tools that write them.

    PYTHON tools/make_annotation_fixtures.py TOOL

PYTHON is that of an environment with the tool: ``labelstudio`` (label-studio, with a server: see below),
``doccano`` or ``spacy``. The files of ``brat`` and ``prodigy``, which cannot be installed by pip, are made by
hand from their specifications. tests/formats/files/README.md has the versions.

    label-studio start --no-browser --port 8765 --username a@example.org --password secret123 \\
        --user-token TOKEN        # with LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN=true
    LABEL_STUDIO_TOKEN=TOKEN PYTHON tools/make_annotation_fixtures.py labelstudio
"""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

FILES = Path(__file__).resolve().parents[1] / "tests" / "formats" / "files"
SPANS = (
    ("George lives in Seoul.", [(0, 6, "PER"), (16, 21, "LOC")]),
    ("김철수 씨가 😀 서울 역에 갔다.", [(0, 3, "PER"), (9, 11, "LOC")]),
    ("Nothing to see here.", []),
)
"""Texts with entities. Offsets are code points, before and after an emoji."""
LABELS = (
    ("what a film", ["positive"]),
    ("정말 지루하다 😴", ["negative"]),
    ("too long, but fun", ["positive"]),
)


def labelstudio() -> None:
    """Annotate texts through the API of a Label Studio server and export them, full and flat."""
    entities = '<View><Labels name="label" toName="text"><Label value="PER"/><Label value="LOC"/></Labels>'
    spans = (
        entities
        + '<Relations><Relation value="lives_in"/></Relations><Text name="text" value="$text"/></View>'
    )
    project = _project("entities", spans)
    for text, own in SPANS:
        task = _call(f"/api/projects/{project}/import", [{"data": {"text": text, "source": "news"}}], project)
        results: list[dict[str, Any]] = [
            {
                "id": f"r{number}",
                "from_name": "label",
                "to_name": "text",
                "type": "labels",
                "value": {"start": start, "end": end, "text": text[start:end], "labels": [label]},
            }
            for number, (start, end, label) in enumerate(own)
        ]
        if task == 1:
            results.append({"type": "relation", "from_id": "r0", "to_id": "r1", "direction": "right"})
        _call(f"/api/tasks/{task}/annotations", {"result": results, "lead_time": 1.5})
    first = _call(f"/api/projects/{project}/import", [{"data": {"text": "Skipped."}}], project)
    _call(f"/api/tasks/{first}/annotations", {"result": [], "was_cancelled": True})
    _call(f"/api/projects/{project}/import", [{"data": {"text": "Not annotated."}}], project)
    _export(project, "labelstudio-entities")

    choice = (
        '<View><Text name="text" value="$review"/><Choices name="sentiment" toName="text" choice="multiple">'
    )
    project = _project(
        "choices", choice + '<Choice value="positive"/><Choice value="negative"/></Choices></View>'
    )
    for text, labels in (*LABELS, ("fun and dull", ["positive", "negative"])):
        task = _call(f"/api/projects/{project}/import", [{"data": {"review": text}}], project)
        value = {"choices": labels}
        result = {"id": "c", "from_name": "sentiment", "to_name": "text", "type": "choices", "value": value}
        _call(f"/api/tasks/{task}/annotations", {"result": [result], "lead_time": 2.5})
    _export(project, "labelstudio-choices")


def _project(title: str, config: str) -> int:
    made: int = _request("/api/projects", {"title": title, "label_config": config})["id"]
    return made


def _call(path: str, body: Any, project: int | None = None) -> int:
    """Send a request and return the id of what it made: with a project, that of its last task."""
    answer = _request(path, body)
    if project is None:
        return int(answer["id"])
    tasks = _request(f"/api/tasks?project={project}&fields=all&page_size=100")["tasks"]
    return max(int(task["id"]) for task in tasks)


def _export(project: int, name: str) -> None:
    for kind, suffix in (("JSON", "json"), ("JSON_MIN", "min.json")):
        query = f"/api/projects/{project}/export?exportType={kind}&download_all_tasks=true"
        text = json.dumps(_request(query), ensure_ascii=False, indent=1)
        (FILES / f"{name}.{suffix}").write_text(text + "\n", "utf-8")


def _request(path: str, body: Any = None) -> Any:
    server = os.environ.get("LABEL_STUDIO_URL", "http://localhost:8765")
    headers = {
        "Authorization": f"Token {os.environ['LABEL_STUDIO_TOKEN']}",
        "Content-Type": "application/json",
    }
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(server + path, data, headers)) as answer:
        return json.load(answer)


def doccano() -> None:
    """Fill a database of doccano and export its projects with the code of its server."""
    import backend  # type: ignore[import-not-found]  # the package of doccano

    folder = tempfile.mkdtemp()
    os.environ["DATABASE_URL"] = f"sqlite:///{folder}/db.sqlite3"
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings.production"
    sys.path.insert(0, str(Path(backend.__path__[0])))
    import django  # type: ignore[import-not-found]
    from django.core.management import call_command  # type: ignore[import-not-found]

    django.setup()
    call_command("migrate", verbosity=0)
    from django.conf import settings  # type: ignore[import-not-found]

    settings.MEDIA_ROOT = folder
    _doccano_spans()
    _doccano_spans(relations=True)
    _doccano_labels()


def _doccano_spans(*, relations: bool = False) -> None:
    from django.contrib.auth import get_user_model  # type: ignore[import-not-found]
    from examples.models import Comment, Example  # type: ignore[import-not-found]
    from label_types.models import RelationType, SpanType  # type: ignore[import-not-found]
    from labels.models import Relation, Span  # type: ignore[import-not-found]
    from projects.models import SequenceLabelingProject  # type: ignore[import-not-found]

    user = get_user_model().objects.get_or_create(username="annotator")[0]
    project = SequenceLabelingProject.objects.create(
        name="spans", project_type="SequenceLabeling", use_relation=relations, collaborative_annotation=True
    )
    types = {name: SpanType.objects.create(project=project, text=name) for name in ("PER", "LOC")}
    lives = RelationType.objects.create(project=project, text="lives_in")
    for text, own in SPANS:
        example = Example.objects.create(project=project, text=text, meta={})
        made = [
            Span.objects.create(
                example=example, user=user, label=types[label], start_offset=start, end_offset=end
            )
            for start, end, label in own
        ]
        if relations and len(made) == 2:
            Relation.objects.create(example=example, user=user, from_id=made[0], to_id=made[1], type=lives)
        if not made:
            Comment.objects.create(example=example, user=user, text="nothing?")
    _doccano_export(project.id, "doccano-relations.jsonl" if relations else "doccano-entities.jsonl")


def _doccano_labels() -> None:
    from django.contrib.auth import get_user_model
    from examples.models import Example
    from label_types.models import CategoryType  # type: ignore[import-not-found]
    from labels.models import Category
    from projects.models import TextClassificationProject

    user = get_user_model().objects.get_or_create(username="annotator")[0]
    project = TextClassificationProject.objects.create(
        name="labels", project_type="DocumentClassification", collaborative_annotation=True
    )
    types = {n: CategoryType.objects.create(project=project, text=n) for n in ("positive", "negative")}
    for text, labels in LABELS:
        example = Example.objects.create(project=project, text=text, meta={"source": "web"})
        for label in labels:
            Category.objects.create(example=example, user=user, label=types[label])
    _doccano_export(project.id, "doccano-labels.jsonl")


def _doccano_export(project: int, name: str) -> None:
    from data_export.celery_tasks import export_dataset  # type: ignore[import-not-found]

    with zipfile.ZipFile(io.BytesIO(Path(export_dataset(project, "JSONL")).read_bytes())) as archive:
        (FILES / name).write_bytes(archive.read(archive.namelist()[0]))


def spacy() -> None:
    """Write documents with tokens, sentences, entities, parts of speech and categories."""
    import spacy as library  # type: ignore[import-not-found]
    from spacy.tokens import DocBin  # type: ignore[import-not-found]
    from spacy.training import docs_to_json  # type: ignore[import-not-found]

    english = library.blank("en")
    english.add_pipe("sentencizer")
    docs = []
    for text, spans in (
        (
            "George lives in Seoul.\n\nHe likes Mount Vernon.",
            [(0, 6, "PER"), (16, 21, "LOC"), (33, 45, "LOC")],
        ),
        *SPANS[1:],
    ):
        doc = english(text)
        doc.set_ents([doc.char_span(start, end, label) for start, end, label in spans])
        for token in doc:
            token.tag_, token.pos_ = (
                ("NN", "NOUN") if token.is_alpha else ("_SP" if token.is_space else ".", "PUNCT")
            )
        docs.append(doc)
    DocBin(docs=docs, attrs=["ENT_IOB", "ENT_TYPE", "TAG", "POS", "SENT_START"]).to_disk(
        FILES / "spacy-entities.spacy"
    )
    _dump(
        FILES / "spacy-entities.json", [docs_to_json([doc], doc_id=number) for number, doc in enumerate(docs)]
    )
    texts = []
    for text, labels in LABELS:
        doc = english(text)
        doc.cats = {name: float(name in labels) for name in ("positive", "negative")}
        texts.append(doc)
    DocBin(docs=texts).to_disk(FILES / "spacy-categories.spacy")
    _dump(
        FILES / "spacy-categories.json",
        [docs_to_json([doc], doc_id=number) for number, doc in enumerate(texts)],
    )
    pairs = [(text, {"entities": spans}) for text, spans in SPANS]
    _dump(FILES / "spacy-pairs.json", pairs)


def _dump(file: Path, value: Any) -> None:
    file.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    {"labelstudio": labelstudio, "doccano": doccano, "spacy": spacy}[sys.argv[1]]()
