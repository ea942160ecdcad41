"""The message in which an answer travels: exact bytes, never rendered again on the way."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Answer(BaseModel):
    """The response body as text, and the fingerprint of the request that it answers."""

    model_config = ConfigDict(frozen=True)

    body: str
    fingerprint: str
