"""What became of all that the legs of a query found, for who asks why."""

from __future__ import annotations

from collections.abc import Sequence

from mem.domain.query import QueryCandidate, QueryCut, QueryReranked
from mem.ports import Candidate
from mem.recall.kinds import similarities
from mem.recall.query_legs import Recalled
from mem.recall.question import Question
from mem.recall.rank import Ranked, place_hits
from mem.recall.shortlist import Scored

LISTED = 50
DISTANCE_DIGITS = 6


def listed(recalled: Recalled) -> list[QueryCandidate]:
    """Each leg's order before rerank, to 50."""
    return [
        QueryCandidate(sha=hit.sha, leg=leg, rank=rank, distance=round(1.0 - hit.similarity, DISTANCE_DIGITS))
        for leg, hits in recalled.by_leg.items()
        for rank, hit in enumerate(hits[:LISTED], 1)
    ]


def reranked(recalled: Recalled, question: Question, scored: Scored, k: int) -> list[QueryReranked]:
    """The hits, then what was left out: by its place after rerank, the one before it, how near it is, and its sha.

    As far as the places are listed, and of the further ones what the legs are listed with.
    """
    project = question.reach.project
    before = _places(place_hits(recalled.candidates, None, project, k))
    after = _places(place_hits(*scored, project, k))
    scores = {one.node.stored_sha: score for one, score in zip(scored.candidates, scored.scores or (), strict=False)}

    def told(sha: str, cut: QueryCut | None) -> QueryReranked:
        instead_of = list(recalled.superseded.get(sha, ()))
        place = (before.get(sha), after.get(sha))
        return QueryReranked(
            sha=sha, supersedes=instead_of, score=scores.get(sha), before=place[0], after=place[1], cut=cut
        )

    def cut_of(sha: str) -> QueryCut | None:
        if sha not in before:
            return "floor"
        if sha not in after:
            return "unscored"
        return None if after[sha] <= k else "k"

    found = [told(one.node.stored_sha, cut_of(one.node.stored_sha)) for one in recalled.candidates]
    found += [
        told(one.node.stored_sha, "project" if one.node.level in question.levels else "level")
        for one in recalled.outside
    ]
    found += [told(sha, "superseded") for sha in recalled.lost]
    shown = {one.sha for one in listed(recalled)}
    kept = [one for one in found if _is_shown(one, shown)]
    near = {one.node.stored_sha: _nearest(one) for one in (*recalled.candidates, *recalled.outside)}
    return sorted(
        kept,
        key=lambda one: (*_last_without(one.after), *_last_without(one.before), -near.get(one.sha, 0.0), one.sha),
    )


def _places(ranked: Sequence[Ranked]) -> dict[str, int]:
    return {one.candidate.node.stored_sha: place for place, one in enumerate(ranked, 1)}


def _nearest(candidate: Candidate) -> float:
    return max(similarities(candidate).values(), default=0.0)


def _is_shown(one: QueryReranked, shown: set[str]) -> bool:
    near = any(place is not None and place <= LISTED for place in (one.before, one.after))
    return near or not shown.isdisjoint({one.sha, *one.supersedes})


def _last_without(place: int | None) -> tuple[bool, int]:
    return place is None, place or 0
