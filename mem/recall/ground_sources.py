"""The sources of a turn: each asked by itself, each allowed to fail alone, and what they found united."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple

from mem.domain.grounding import Source
from mem.domain.nodes import VectorKind
from mem.parsing.terms import distinct_terms
from mem.ports import Audience, Embedder, SnapshotEntry, Users, Vector, VectorHit, WordHit
from mem.recall.gather import embedded
from mem.recall.ground_modes import Mode
from mem.recall.ground_turn import Turn, TurnFailure, read_turn_failure
from mem.recall.legs import Running

GroundLeg = Literal[
    "ledger",
    "user",
    "failure",
    "embedding",
    "snapshot",
    "vector",
    "metadata",
    "graph",
    "memories",
    "rerank",
    "enhancer",
]
GroundLegs = Running[GroundLeg]

SOURCES: tuple[Source, ...] = ("snapshot", "vector", "metadata", "graph")
_FUSION = 20
"""Of reciprocal ranks: so many places weigh a good deal less than being found by another source."""
_MOST_OF = 0.7
"""Of a message: failure lines that are so much of it say nothing that all of it does not."""

_SHORT = 1_000
"""Characters of a message that is read at once."""
_REMEMBERED = 32_768


class Asked(NamedTuple):
    """One turn as the sources are asked for it; each gives at most `width` hits."""

    turn: Turn
    audience: Audience
    mode: Mode
    width: int


@dataclass
class Hits:
    """What was found: the places by source and sha, from 0, and what was measured on the way.

    `exact` are the lessons that a signature of the message's own failure points at.
    """

    places: dict[Source, dict[str, int]] = field(default_factory=lambda: {source: {} for source in SOURCES})
    text: dict[str, float] = field(default_factory=dict)
    symptom: dict[str, float] = field(default_factory=dict)
    words: dict[str, WordHit] = field(default_factory=dict)
    exact: set[str] = field(default_factory=set)
    failure: TurnFailure = field(default_factory=TurnFailure)

    def found(self, source: Source, shas: Sequence[str]) -> None:
        """A source found these, in this order; a place that it gave before stands."""
        places = self.places[source]
        for sha in shas:
            places.setdefault(sha, len(places))

    def best(self, most: int) -> list[str]:
        """The shas that stand highest over all sources, by reciprocal rank, then by sha."""
        worth: dict[str, float] = {}
        for places in self.places.values():
            for sha, place in places.items():
                worth[sha] = worth.get(sha, 0.0) + 1.0 / (_FUSION + place)
        return sorted(worth, key=lambda sha: (sha not in self.exact, -round(worth[sha], 12), sha))[:most]

    def sources_of(self, sha: str) -> list[Source]:
        """The sources that found it."""
        return [source for source in SOURCES if sha in self.places[source]]

    @property
    def counts(self) -> Mapping[Source, int]:
        """How many each source found, relevant or not."""
        return {source: len(places) for source, places in self.places.items()}


class Reading:
    """What is read of the message alone, begun at once and waited for where it is needed."""

    def __init__(self, embedder: Embedder, legs: GroundLegs, turn: Turn, mode: Mode) -> None:
        self._embedder = embedder
        self._legs = legs
        texts = list(dict.fromkeys((turn.text, *turn.sentences))) if "vector" in mode.sources else []
        self.failure = asyncio.ensure_future(self._failure(turn))
        self.vectors = asyncio.ensure_future(self.embedded(texts))

    async def embedded(self, texts: Sequence[str]) -> list[Vector]:
        """A vector for each text, or none at all."""
        if not texts:
            return []
        vectors = await self._legs.run("embedding", "embed", embedded(self._embedder, texts), list[Vector]())
        if self._legs.failed("embedding"):
            self._legs.degrade("vector", f"the message was not embedded: {self._legs.failures['embedding']}")
        return vectors

    def drop(self) -> None:
        """Nobody waits for it any more."""
        self.failure.cancel()
        self.vectors.cancel()

    async def _failure(self, turn: Turn) -> TurnFailure:
        return await self._legs.run("failure", "read", _failure_of(turn.message), TurnFailure())


async def _failure_of(message: str) -> TurnFailure:
    # A short one is read in less than it takes to wake a thread beside others that work.
    if len(message) <= _SHORT:
        return read_turn_failure(message)
    return await asyncio.to_thread(read_turn_failure, message)


async def search(users: Users, legs: GroundLegs, asked: Asked, reading: Reading) -> Hits:
    """Ask the sources of the mode, but for the graph, which begins at what the others found."""
    hits = Hits()
    sources = asked.mode.sources
    searches = [_signed(users, legs, asked, reading, hits)]
    if "snapshot" in sources:
        searches.append(_snapshot(users, legs, asked, hits))
    if "metadata" in sources:
        searches.append(_metadata(users, legs, asked, hits))
    if "vector" in sources:
        searches.append(_vector(users, legs, asked, reading, hits))
    await asyncio.gather(*searches)
    return hits


async def follow(users: Users, legs: GroundLegs, asked: Asked, hits: Hits) -> None:
    """Go along the edges and shared signatures of the best so far, as many times as the mode says."""
    done: set[str] = set()
    for hop in range(1, asked.mode.hops + 1):
        seeds = [sha for sha in hits.best(len(done) + asked.mode.seeds) if sha not in done][: asked.mode.seeds]
        if not seeds or legs.failed("graph"):
            return
        done.update(seeds)
        neighbours = users.neighbours(seeds, asked.audience, asked.width)
        found = await legs.run("graph", f"neighbours, hop {hop}", neighbours, [])
        # What the best is tied to comes first.
        place = {sha: number for number, sha in enumerate(seeds)}
        hits.found("graph", [each.sha for each in sorted(found, key=lambda one: (place[one.of], one.by, one.sha))])


async def _signed(users: Users, legs: GroundLegs, asked: Asked, reading: Reading, hits: Hits) -> None:
    """The failure that the message holds, and the lessons that its very signature points at."""
    hits.failure = await reading.failure
    keys = [key for signature in hits.failure.signatures for key in signature.keys]
    if keys and "graph" in asked.mode.sources:
        shas = await legs.run("graph", "signatures", users.signed(keys, asked.audience, asked.width), list[str]())
        hits.exact.update(shas)
        hits.found("graph", shas)


async def _snapshot(users: Users, legs: GroundLegs, asked: Asked, hits: Hits) -> None:
    entries = await legs.run("snapshot", "read", users.snapshot(asked.audience), list[SnapshotEntry]())
    wanted = set(asked.turn.terms)
    shared = [len(wanted & _words_of(entry.line)) for entry in entries]
    # The newest first among those that share as many words; all of a short summary, since its words may differ.
    order = sorted(range(len(entries)), key=lambda place: (-shared[place], place))
    hits.found("snapshot", [entries[place].sha for place in order[: asked.width]])


async def _metadata(users: Users, legs: GroundLegs, asked: Asked, hits: Hits) -> None:
    turn = asked.turn
    worded, labelled = await asyncio.gather(
        legs.run("metadata", "words", users.words(turn.terms, asked.audience, asked.width), list[WordHit]()),
        legs.run("metadata", "labels", users.labelled(turn.labels, asked.audience, asked.width), list[str]()),
    )
    hits.words.update({hit.sha: hit for hit in worded})
    hits.found("metadata", _alternating([hit.sha for hit in worded], labelled))


async def _vector(users: Users, legs: GroundLegs, asked: Asked, reading: Reading, hits: Hits) -> None:
    vectors = await reading.vectors
    lines = (await reading.failure).lines
    failing: list[Vector] = []
    if lines is not None and len(lines) < _MOST_OF * len(asked.turn.message) and vectors:
        failing = await reading.embedded([lines])
    kinds: tuple[VectorKind, ...] = ("text", "symptom") if asked.mode.symptoms else ("text",)

    async def nearest(kind: VectorKind, vector: Vector) -> list[VectorHit]:
        searching = users.nearest(kind, vector, asked.audience, asked.width)
        return await legs.run("vector", kind, searching, list[VectorHit]())

    pairs = [(kind, vector) for kind in kinds for vector in (*vectors, *failing)]
    found = await asyncio.gather(*(nearest(kind, vector) for kind, vector in pairs))
    best: dict[str, float] = {}
    for (kind, _), near in zip(pairs, found, strict=True):
        measured = hits.text if kind == "text" else hits.symptom
        for hit in near:
            measured[hit.sha] = max(measured.get(hit.sha, hit.similarity), hit.similarity)
            best[hit.sha] = max(best.get(hit.sha, hit.similarity), hit.similarity)
    hits.found("vector", sorted(best, key=lambda sha: (-best[sha], sha)))


@lru_cache(_REMEMBERED)
def _words_of(line: str) -> frozenset[str]:
    """The terms of a line of a summary, which is read at every turn of its user."""
    return distinct_terms(line)


def _alternating(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """Both in turns, each sha once."""
    longest = max(len(one), len(other))
    return list(
        dict.fromkeys(sha for place in range(longest) for part in (one, other) for sha in part[place : place + 1])
    )
