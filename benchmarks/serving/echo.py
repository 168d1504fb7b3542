"""A FastAPI endpoint that does nothing: the latency that HTTP itself costs. Run with uvicorn."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel

DELAY = float(os.environ.get("ECHO_DELAY", "0"))  # seconds, to check the generator

app = FastAPI()


class TagRequest(BaseModel):
    """The body of a request."""

    texts: list[str]


@app.post("/v1/tag")
async def tag(request: TagRequest) -> dict[str, Any]:
    """Return the texts."""
    if DELAY:
        await asyncio.sleep(DELAY)
    return {"documents": request.texts}


@app.get("/health/ready")
async def ready() -> dict[str, str]:
    """Answer the question whether the service is up."""
    return {"status": "ready"}
