"""Candidates and queries for tests of rerankers."""

from __future__ import annotations

from typing import Any

from mem.domain.nodes import StoredNode
from mem.ports import Candidate, RerankQuery

QUERY = RerankQuery("curl error 413 request entity too large", "curl")
RELATED = "the proxy refused the upload: curl error 413 request entity too large"
UNRELATED = "npm pin react as peer"


def candidate(text: str = UNRELATED, *, level: str = "L1", **found: Any) -> Candidate:
    """A candidate of which no leg measured anything but what is given."""
    node = StoredNode(level=level, project="p", text=text, stored_sha=text)
    empty = {"symptom": "", "symptom_similarity": None, "text_similarity": None, "lexical_similarity": None}
    return Candidate(**{"node": node, **empty, "exact": False, "coarse": False, "same_tool": False, **found})
