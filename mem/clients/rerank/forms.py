"""The forms in which servers want to be asked for scores, and the scores in their answers.

| form | servers |
|---|---|
| texts | Text Embeddings Inference |
| documents, with a cut | vLLM, which refuses longer texts than its model reads unless it is told to cut them |
| documents | Jina, Cohere (v1 and v2, which refuse fields that they do not know), llama.cpp, Infinity |
| documents, bare | Voyage, which refuses `top_n` |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

import pydantic_core
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

Form = Callable[[str, Sequence[str]], dict[str, Any]]
"""From a query and documents to a request's body."""

_VERSION = re.compile(r"v\d+")


class UnreadableScoresError(Exception):
    """What came is no list with one score for each document; says what it is."""


def forms_for(address: str, model: str | None, *, logits: bool) -> tuple[Form, ...]:
    """The forms to try at an address, the likeliest first.

    A server of many models has to be told which, and has a version in its path; the one that wants `texts` has neither.
    """
    named: dict[str, Any] = {} if model is None else {"model": model}

    def texts(query: str, documents: Sequence[str]) -> dict[str, Any]:
        return {"query": query, "texts": list(documents), "truncate": True, "raw_scores": logits}

    def bare(query: str, documents: Sequence[str]) -> dict[str, Any]:
        return {**named, "query": query, "documents": list(documents)}

    def plain(query: str, documents: Sequence[str]) -> dict[str, Any]:
        return {**bare(query, documents), "top_n": len(documents)}

    def cut(query: str, documents: Sequence[str]) -> dict[str, Any]:
        return {**plain(query, documents), "truncate_prompt_tokens": -1}

    many = model is not None or any(_VERSION.fullmatch(part) for part in urlsplit(address).path.split("/"))
    return (cut, plain, bare, texts) if many else (texts, cut, plain, bare)


def read_scores(body: bytes, count: int) -> list[float]:
    """The scores of an answer in the order of the documents: `[{index, score}]`, bare or as `results` or `data`.

    Raises:
        UnreadableScoresError: it is none, or some document has no score or two.
    """
    try:
        value = pydantic_core.from_json(body)
    except ValueError:
        raise UnreadableScoresError("sent something that is no JSON") from None
    if isinstance(value, dict):
        value = value.get("results", value.get("data"))
    try:
        rows = _ROWS.validate_python(value)
    except ValidationError:
        raise UnreadableScoresError("sent something that is no list of scores") from None
    scores = {row.index: row.score for row in rows}
    if len(rows) != count or scores.keys() != set(range(count)):
        raise UnreadableScoresError(f"sent no single score for each of {count} documents")
    return [scores[index] for index in range(count)]


class _Row(BaseModel):
    model_config = ConfigDict(strict=True)

    index: int
    score: float = Field(validation_alias=AliasChoices("relevance_score", "score"), allow_inf_nan=False)


_ROWS = TypeAdapter(list[_Row])
