"""Answers of a query, made by hand."""

from __future__ import annotations

from typing import Any

from mem.domain.lookup import Scores
from mem.domain.nodes import Parent
from mem.domain.query import QueryAnswer, QueryCandidate, QueryHit, QueryReranked


def hit(sha: str = "a" * 64, **fields: Any) -> QueryHit:
    given = {
        "sha": sha,
        "level": "L1",
        "project": "homelab",
        "score": 0.5,
        "scores": Scores(recall=0.4, rerank=0.5),
        "text": "What is known about it. " * 10,
        "provenance": [Parent(level="L0", sha="c" * 64, source="ci:1", turn=12), Parent(level="L1", sha="d" * 64)],
        "supersedes": [],
    }
    return QueryHit.model_validate({**given, **fields})


def candidate(sha: str = "a" * 64, leg: str = "text", rank: int = 1, distance: float = 0.25) -> QueryCandidate:
    return QueryCandidate.model_validate({"sha": sha, "leg": leg, "rank": rank, "distance": distance})


def fate(sha: str = "a" * 64, **fields: Any) -> QueryReranked:
    given = {"sha": sha, "supersedes": [], "score": None, "before": None, "after": None, "cut": None}
    return QueryReranked.model_validate({**given, **fields})


def queried(*hits: QueryHit, **fields: Any) -> QueryAnswer:
    return QueryAnswer.model_validate({"query_id": "r", "project": "p", "hits": hits, "degraded": [], **fields})
