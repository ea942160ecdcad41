"""The legs of a query: always all of them, each in its own order, so that an answer can be explained."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

from mem.domain.ids import SHARED
from mem.domain.nodes import VectorKind
from mem.domain.query import QueryLeg
from mem.ports import Candidate, Memories, Vector, VectorHit, WordHit
from mem.recall.documentation import explain
from mem.recall.gather import Similar, unite
from mem.recall.legs import Legs
from mem.recall.question import Question

Hit = TypeVar("Hit", VectorHit, WordHit)


class Recalled(NamedTuple):
    """What the legs found: raw hits by leg, and the candidates made of them, each with the shas that it supersedes.

    `outside` are live nodes that stand for a hit but are of another level or project, `lost` the superseded hits that
    nothing which may be read stands for.
    """

    by_leg: Mapping[QueryLeg, Sequence[VectorHit | WordHit]]
    candidates: Sequence[Candidate] = ()
    superseded: Mapping[str, Sequence[str]] = {}
    outside: Sequence[Candidate] = ()
    lost: Sequence[str] = ()


async def recall(memories: Memories, legs: Legs, question: Question, vectors: Mapping[str, Vector]) -> Recalled:
    """Run the legs over a question.

    Args:
        vectors: by the text that they are of; a leg whose text has none, since the embedder failed, does not run.
    """
    (symptom, near, worded), explanations = await asyncio.gather(
        _run(memories, legs, question, vectors), explain(memories, legs, question, vectors)
    )
    text, found = _best([*near, *explanations.headline.near]), _best([*worded, *explanations.headline.worded])
    by_leg: dict[QueryLeg, Sequence[VectorHit | WordHit]] = {"symptom": symptom, "text": text, "lexical": found}
    similar = Similar(
        symptom={hit.sha: hit.similarity for hit in symptom},
        text={hit.sha: hit.similarity for hit in text},
        words={hit.sha: hit.own for hit in found},
        context={hit.sha: hit.context for hit in found},
        besides=explanations.besides,
    )
    gathered = await unite(memories, legs, [], similar, question.reach.told)
    if gathered is None:
        return Recalled(by_leg)
    candidates: list[Candidate] = []
    outside: list[Candidate] = []
    for _, one in sorted(gathered.candidates.items()):
        # A successor may be of another level or project than what it superseded.
        inside = one.node.level in question.levels and one.node.project in {question.reach.project, SHARED}
        (candidates if inside else outside).append(one)
    hits = {hit.sha for found in by_leg.values() for hit in found}
    lost = hits.difference(gathered.candidates, *gathered.superseded.values())
    return Recalled(by_leg, explanations.on(candidates), gathered.superseded, outside, sorted(lost))


def ranks_of(recalled: Recalled, shas: Sequence[str]) -> dict[str, dict[QueryLeg, int]]:
    """For each of some live nodes its best place, or that of what it supersedes, in each leg that found one of them."""
    places: dict[QueryLeg, dict[str, int]] = {}
    for leg, hits in recalled.by_leg.items():
        # Of several hits on one node the first counts.
        places[leg] = {hits[rank - 1].sha: rank for rank in range(len(hits), 0, -1)}

    def of(sha: str) -> dict[QueryLeg, int]:
        stands_for = (sha, *recalled.superseded.get(sha, ()))
        found = {leg: [ranks[one] for one in stands_for if one in ranks] for leg, ranks in places.items()}
        return {leg: min(ranks) for leg, ranks in found.items() if ranks}

    return {sha: of(sha) for sha in shas}


def _best(hits: Sequence[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: (-hit.similarity, hit.sha))


async def _run(
    memories: Memories, legs: Legs, question: Question, vectors: Mapping[str, Vector]
) -> tuple[list[VectorHit], list[VectorHit], list[WordHit]]:
    nothing: list[VectorHit] = []

    async def nearest(kind: VectorKind, text: str) -> list[VectorHit]:
        if text not in vectors:
            return nothing
        levels = question.lessons if kind == "symptom" else question.memories
        search = memories.nearest(kind, levels, vectors[text], question.reach, question.width)
        return await legs.run(kind, "search", search, nothing)

    if not question.memories:
        return [], [], []
    words = memories.words(question.terms, question.memories, question.reach, question.width)
    return await asyncio.gather(
        nearest("symptom", question.symptom),
        nearest("text", question.text),
        legs.run("lexical", "search", words, list[WordHit]()),
    )
