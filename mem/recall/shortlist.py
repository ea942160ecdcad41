"""Which candidates a reranker is given that has time for some of them alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from mem.ports import Candidate, Reranker, RerankQuery
from mem.recall.kinds import by_words
from mem.recall.legs import Legs
from mem.recall.rank import score


class Scored(NamedTuple):
    """Candidates to rank, and a probability for each; None where the reranker failed, so that recall order stands."""

    candidates: list[Candidate]
    scores: list[float] | None


async def score_best(
    reranker: Reranker,
    legs: Legs,
    asked: Callable[[Candidate], RerankQuery],
    candidates: Sequence[Candidate],
    *,
    wanted: int = 0,
) -> Scored:
    """Score the best of the candidates in recall order, at least as many as are wanted; the others stand back.

    Each is scored for what was `asked` of it.

    What was not scored is not ranked either: a similarity is no probability, and the two on one scale would put the
    less certain above the better. Where nothing could be scored, all are ranked by recall alone.
    """
    best = shortlist(candidates, None if reranker.most is None else max(reranker.most, wanted))
    scores = await score(reranker, legs, [asked(each) for each in best], best)
    return Scored(list(candidates), None) if scores is None else Scored(best, scores)


def shortlist(candidates: Sequence[Candidate], most: int | None) -> list[Candidate]:
    """At most that many, in their order: first all that have the very signature, whatever their number."""
    if most is None or len(candidates) <= most:
        return list(candidates)
    places = sorted(range(len(candidates)), key=lambda place: _recall_order(candidates[place]))
    exact = sum(candidate.exact for candidate in candidates)
    return [candidates[place] for place in sorted(places[: max(most, exact)])]


def _recall_order(candidate: Candidate) -> tuple[bool, bool, float, str]:
    found = (
        candidate.symptom_similarity, candidate.text_similarity, candidate.lexical_similarity, by_words(candidate)
    )  # fmt: skip
    nearest = max((value for value in found if value is not None), default=0.0)
    return (not candidate.exact, not candidate.coarse, -nearest, candidate.node.stored_sha)
