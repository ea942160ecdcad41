"""What a cross-encoder reads of a query and of a candidate."""

from __future__ import annotations

from mem.ports import Candidate, RerankQuery

QUERY_CHARACTERS = 1000
"""All failure lines of a query, and the beginning of a task."""

SYMPTOM_CHARACTERS = 800
DOCUMENT_CHARACTERS = 2000
"""About the five hundred tokens that the usual cross-encoder reads, and little enough to send fifty of them."""

NOTHING = "failure"
"""Asked for where a query has neither words nor a tool, since servers refuse an empty text."""


def query_text(query: RerankQuery) -> str:
    """What is asked, or the tool that it concerns; never empty."""
    for text in (query.message or query.text, query.tool or ""):
        if text.strip():
            return _clean(text.strip()[:QUERY_CHARACTERS])
    return NOTHING


def document_text(candidate: Candidate) -> str:
    """The symptom projection, then the memory's text, cut at the end; never empty.

    The projection stands first: it is short, and it is what a failure looks like. A model with a short window so loses
    the end of the text, never the part that a query resembles.
    """
    parts = (candidate.symptom.strip()[:SYMPTOM_CHARACTERS], candidate.node.text.strip())
    return _clean("\n".join(part for part in parts if part)[:DOCUMENT_CHARACTERS]) or NOTHING


def _clean(text: str) -> str:
    """Without halves of characters, which are no text to a server or a tokenizer."""
    return text.encode("utf-8", "replace").decode("utf-8")
