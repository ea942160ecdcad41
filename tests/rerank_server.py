"""A reranking server on loopback, as strict as the servers it stands for, with a score that a test can foretell."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, Literal

from tests.scripted_server import Reply, ScriptedServer, Seen, as_json

Kind = Literal["tei", "vllm", "jina", "cohere", "voyage", "llama.cpp"]

_WORD = re.compile(r"\w+")
_FIELDS: dict[str, tuple[set[str], set[str]]] = {
    "tei": ({"query", "texts"}, {"truncate", "raw_scores", "return_text", "truncation_direction"}),
    "vllm": ({"query", "documents"}, {"model", "top_n", "truncate_prompt_tokens", "priority", "user"}),
    "jina": ({"model", "query", "documents"}, {"top_n", "return_documents", "truncate_prompt_tokens"}),
    "cohere": ({"model", "query", "documents"}, {"top_n", "max_tokens_per_doc"}),
    "voyage": ({"model", "query", "documents"}, {"top_k", "truncation", "return_documents"}),
    "llama.cpp": ({"query", "documents"}, {"model", "top_n", "truncate_prompt_tokens"}),
}
"""What each wants, and what it takes besides."""

WINDOW = 1500
"""Characters of a document that the model behind vLLM reads."""


class RerankServer(ScriptedServer):
    """Scores by the share of the query's words in the document, best first; a script says otherwise."""

    def __init__(self, kind: Kind = "tei", *, path: str = "/rerank", limit: int = 32, key: str | None = None) -> None:
        super().__init__()
        self.kind = kind
        self._path = path
        self._limit = limit
        self._key = key
        self._script: list[Reply] = []

    def script(self, *replies: Reply) -> None:
        """What to send; the last one repeats."""
        self._script = list(replies)

    @property
    def documents(self) -> list[list[str]]:
        """The documents of each request."""
        return [seen.body.get("texts", seen.body.get("documents")) for seen in self.requests]

    def reply_to(self, seen: Seen) -> Reply:
        """The scores, or what is wrong with the request."""
        if self._script:
            return self._script.pop(0) if len(self._script) > 1 else self._script[0]
        if seen.path.split("?")[0] != self._path:
            return _error(404)
        if self._key is not None and seen.headers.get("authorization") != f"Bearer {self._key}":
            return _error(401)
        wanted, taken = _FIELDS[self.kind]
        if not wanted <= seen.body.keys():
            return _error(422)
        if self.kind in ("cohere", "voyage") and not seen.body.keys() <= wanted | taken:
            return _error(422 if self.kind == "cohere" else 400)
        texts = seen.body["texts" if self.kind == "tei" else "documents"]
        if len(texts) > self._limit or not all(texts) or not seen.body["query"]:
            return _error(413 if self.kind == "tei" else 400)
        if self.kind == "vllm" and "truncate_prompt_tokens" not in seen.body and max(map(len, texts)) > WINDOW:
            return _error(400)
        logits = self.kind == "llama.cpp" or bool(seen.body.get("raw_scores"))
        return answer(self.kind, [score_of(seen.body["query"], text, logit=logits) for text in texts])


def score_of(query: str, document: str, *, logit: bool = False) -> float:
    """8 * share - 4, and where no logit is asked for its probability."""
    asked = set(_WORD.findall(query.casefold()))
    share = len(asked & set(_WORD.findall(document.casefold()))) / len(asked) if asked else 0.0
    odds = 8 * share - 4
    return odds if logit else 1 / (1 + math.exp(-odds))


def answer(kind: Kind, scores: Sequence[float]) -> Reply:
    """The scores as such a server sends them: the best first."""
    best = sorted(range(len(scores)), key=lambda index: -scores[index])
    if kind == "tei":
        return as_json(200, [{"index": index, "score": scores[index]} for index in best], {})
    rows = [{"index": index, "relevance_score": scores[index]} for index in best]
    if kind == "vllm":
        rows = [{**row, "document": {"text": "as it was sent"}} for row in rows]
    return as_json(200, {"id": "1", "model": "m", "data" if kind == "voyage" else "results": rows}, {})


def rows(*given: Any) -> Reply:
    """A list of scores as TEI sends it, with whatever rows."""
    return as_json(200, list(given), {})


def _error(status: int) -> Reply:
    return as_json(status, {"error": "as the test says", "key": "never shown"}, {})
