"""BM25 of nodes by their own words and by those around them, as a share of the highest that a question can reach."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from mem.domain.nodes import Level
from mem.ports import WordHit

DIGITS = 9
"""Scores are rounded, so that the order of a sum decides no order of hits."""

Place = tuple[str, str, int]
"""Project, source and turn."""
Document = tuple[str, str]
"""Project and source of a document."""


class Matched(NamedTuple):
    """A node that holds terms of the question: how often each, in their order; `source` of a chunk is its document."""

    sha: str
    level: Level
    project: str
    source: str | None
    turn: int | None
    length: int
    times: Sequence[int]


class Totals(NamedTuple):
    """What is within reach: nodes, the terms in all of them, and the documents that they are of."""

    nodes: int
    length: int
    documents: int


class Asked(NamedTuple):
    """The terms of a question, rarest first, each with its weight; `mass` is that of all, unscored ones included."""

    terms: tuple[str, ...]
    weights: tuple[float, ...]
    mass: float


class Scored(NamedTuple):
    """Hits on the nodes that hold terms, and places beside them whose nodes hold none, each with its context."""

    hits: list[WordHit]
    beside: dict[Place, float]


class _Rules(NamedTuple):
    repeat: float
    length: float
    turns: int
    scored: int


def weighed(terms: Sequence[str], frequencies: Mapping[str, int], nodes: int) -> Asked:
    """Weigh the terms of a question by how few nodes hold them.

    One that no node holds counts as if one did: a question full of strange words is not answered by the last familiar
    one.
    """
    weights = {term: _weight(max(frequencies.get(term, 0), 1), nodes) for term in dict.fromkeys(terms)}
    known = sorted((term for term in weights if frequencies.get(term)), key=lambda term: (-weights[term], term))
    chosen = known[: _rules().scored]
    return Asked(tuple(chosen), tuple(weights[term] for term in chosen), math.fsum(weights.values()))


def score(asked: Asked, rows: Sequence[Matched], totals: Totals, documents: Mapping[Document, int]) -> Scored:
    """Score the nodes that hold terms of a question, and the places beside them.

    Args:
        documents: how many terms each document has.
    """
    own = {row.sha: _share(asked, row.times, row.length * totals.nodes / max(totals.length, 1)) for row in rows}
    talk = [row for row in rows if row.level == "L0" and row.source is not None and row.turn is not None]
    places = _windows(asked, talk, totals)
    context = {row.sha: places[_place(row)] for row in talk} | _documents(asked, rows, totals, documents)
    hits = [WordHit(sha, value, context.get(sha, value)) for sha, value in own.items()]
    taken = {_place(row) for row in talk}
    return Scored(hits, {place: value for place, value in places.items() if place not in taken})


def best(hits: Sequence[WordHit], limit: int) -> list[WordHit]:
    """The best hits by the sum of both scores, ties by sha."""
    return sorted(hits, key=lambda hit: (-round(hit.own + hit.context, DIGITS), hit.sha))[:limit]


def _windows(asked: Asked, talk: Sequence[Matched], totals: Totals) -> dict[Place, float]:
    """The context of each place near turns that hold terms; a turn without any counts as one of middling length."""
    reach = _rules().turns
    middling = totals.length / max(totals.nodes, 1)
    around: dict[Place, list[Matched]] = {}
    for row in talk:
        project, source, turn = _place(row)
        for other in range(turn - reach, turn + reach + 1):
            around.setdefault((project, source, other), []).append(row)
    found: dict[Place, float] = {}
    size = 2 * reach + 1
    for place, rows in around.items():
        length = sum(row.length for row in rows) + middling * max(size - len(rows), 0)
        times = rows[0].times if len(rows) == 1 else list(map(sum, zip(*[row.times for row in rows], strict=True)))
        found[place] = _share(asked, times, length / max(middling * size, 1.0))
    return found


def _documents(
    asked: Asked, rows: Sequence[Matched], totals: Totals, documents: Mapping[Document, int]
) -> dict[str, float]:
    """The context of chunks: the whole document."""
    of: dict[Document, list[Matched]] = {}
    for row in rows:
        if row.level == "R" and row.source is not None:
            of.setdefault((row.project, row.source), []).append(row)
    middling = totals.length / max(totals.documents, 1)
    found: dict[str, float] = {}
    for document, chunks in of.items():
        times = [sum(each) for each in zip(*(row.times for row in chunks), strict=True)]
        value = _share(asked, times, documents.get(document, 0) / max(middling, 1.0))
        found |= {row.sha: value for row in chunks}
    return found


def _share(asked: Asked, times: Sequence[int], longer: float) -> float:
    """The share of the highest score; `longer` is the length as a multiple of the middling one."""
    rules = _rules()
    slow = rules.repeat * (1.0 - rules.length + rules.length * longer)
    found = sum([weight * often / (often + slow) for weight, often in zip(asked.weights, times, strict=True) if often])
    return round(min(found / asked.mass, 1.0), DIGITS) if found else 0.0


def _place(row: Matched) -> Place:
    return row.project, row.source or "", row.turn or 0


def _weight(frequency: int, nodes: int) -> float:
    return math.log1p((max(nodes - frequency, 0) + 0.5) / (frequency + 0.5))


@cache
def _rules() -> _Rules:
    return _Rules(**tomllib.loads(files(__package__).joinpath("bm25.toml").read_text(encoding="utf-8")))
