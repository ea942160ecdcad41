"""The relevance gate: what the sources found is scored for the message, and nothing irrelevant passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mem.ports import Candidate, Remembered, Reranker, RerankQuery, Users
from mem.recall.enhancement import Relevant
from mem.recall.floors import floors
from mem.recall.ground_sources import Asked, GroundLegs, Hits, follow
from mem.recall.rank import SCORE_DIGITS, checked_scores
from mem.recall.shortlist import shortlist
from mem.recall.strength import survivors


class Gated(NamedTuple):
    """What passed, best first; `scored` candidates were looked at, and `read` says whether they could be."""

    relevant: tuple[Relevant, ...]
    owners: tuple[str | None, ...] = ()
    scored: int = 0
    read: bool = True


async def gate(users: Users, reranker: Reranker, legs: GroundLegs, asked: Asked, hits: Hits, *, most: int) -> Gated:
    """Score at most so many of the candidates, the graph's among them, and let through what is over the floor."""
    remembered = await _remember(users, legs, asked, hits, most)
    if remembered is None:
        return Gated((), read=False)
    user = asked.audience.user
    candidates = [_candidate(remembered[sha], hits, user) for sha in hits.best(most) if sha in remembered]
    passed = await _passed(reranker, legs, asked, hits, candidates)
    relevant = [_relevant(remembered[one.node.stored_sha], score) for one, score in passed]
    return Gated(tuple(relevant), tuple(one.node.owner for one, _ in passed), len(candidates))


async def _remember(
    users: Users, legs: GroundLegs, asked: Asked, hits: Hits, most: int
) -> Mapping[str, Remembered] | None:
    """The candidates, once the graph was asked, so that all are read at once."""
    await follow(users, legs, asked, hits)
    shas = hits.best(most)
    if not shas:
        return {}
    return await legs.run("memories", "read", users.remembered(shas, asked.audience), None)


async def _passed(
    reranker: Reranker, legs: GroundLegs, asked: Asked, hits: Hits, candidates: Sequence[Candidate]
) -> list[tuple[Candidate, float]]:
    if not candidates:
        return []
    turn = asked.turn
    query = RerankQuery(turn.text, hits.failure.tool, hits.failure.lines, message=turn.text)
    best = shortlist(candidates, reranker.most)
    scoring = checked_scores(reranker, query, best)
    scores = await legs.run("rerank", f"score, by {reranker.model_id}", scoring, None)
    if scores is None:
        return _near(candidates)
    return survivors(best, [round(score, SCORE_DIGITS) for score in scores])


def _near(candidates: Sequence[Candidate]) -> list[tuple[Candidate, float]]:
    """Where nothing scored them: what is as near as a similarity has to be that holds alone."""
    rules = floors()
    near = []
    for one in candidates:
        text, symptom = one.text_similarity or 0.0, one.symptom_similarity or 0.0
        if text >= rules.text or symptom >= rules.symptom:
            near.append((one, round(max(text, symptom), SCORE_DIGITS)))
    return sorted(near, key=lambda pair: (-pair[1], pair[0].node.stored_sha))


def _candidate(remembered: Remembered, hits: Hits, user: str) -> Candidate:
    sha = remembered.node.stored_sha
    words = hits.words.get(sha)
    return Candidate(
        node=remembered.node,
        symptom=remembered.symptom,
        symptom_similarity=hits.symptom.get(sha),
        text_similarity=hits.text.get(sha),
        lexical_similarity=None,
        exact=sha in hits.exact,
        coarse=False,
        same_tool=hits.failure.tool is not None and remembered.tool == hits.failure.tool,
        words=None if words is None else words.own,
        context=None if words is None else words.context,
        foreign=remembered.node.owner != user,
    )


def _relevant(remembered: Remembered, score: float) -> Relevant:
    node = remembered.node
    return Relevant(node.stored_sha, node.level, node.project, node.text, score, remembered.tool, remembered.day)
