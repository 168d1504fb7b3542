"""A FastAPI endpoint around a bundle, without batching. Run with uvicorn and ``GONIE_BUNDLE``."""

from __future__ import annotations

import os
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel

import gonie

app = FastAPI()
tagger = gonie.load(os.environ["GONIE_BUNDLE"], threads=1, task="tag")


class TagRequest(BaseModel):
    """The body of a request."""

    texts: list[str]


@app.post("/v1/tag")
def tag(request: TagRequest) -> dict[str, Any]:
    """Tag the texts in a thread of FastAPI's pool. The runtime of gonie may be called from many threads."""
    return {"documents": [document.to_dict() for document in tagger.pipe(request.texts)]}


@app.get("/health/ready")
async def ready() -> dict[str, str]:
    """Answer the question whether the service is up."""
    return {"status": "ready"}
