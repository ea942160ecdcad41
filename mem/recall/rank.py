"""From candidates to lessons: rerank, floors, and the order of the answer."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from mem.domain.errors import Unavailable
from mem.domain.ids import SHARED
from mem.domain.lookup import Lesson, LessonSignature, MatchedKind, Scores, Tier
from mem.domain.nodes import Level, Parent, StoredNode
from mem.ports import Candidate, Reranker, RerankQuery
from mem.recall.floors import floors
from mem.recall.kinds import by_words, height, matched_kind
from mem.recall.legs import Legs
from mem.recall.misses import missed_lessons, missed_reference
from mem.recall.outcome import Miss

SCORE_DIGITS = 4
PROJECT_BOOST = 0.02
"""Added to the score of the caller's own project for ordering alone, so that it decides between near-equals."""
NEAR_MISS = 0.5
"""A candidate below its floor, but above this part of it, is a near miss."""
_PLACE: dict[Level, int] = {"L1": 0, "L2": 0, "L0": 1, "R": 2}
"""What somebody learned stands before what was seen, and both before what a manual says."""


class Ranked(NamedTuple):
    """A candidate with its place in the answer."""

    candidate: Candidate
    tier: Tier
    kind: MatchedKind
    recall: float | None
    rerank: float | None
    order: tuple[int, int, float, str]


class Ranking(NamedTuple):
    """What is over the floor, best first, how many were just below it, and the nearest of all that is left out."""

    kept: list[Ranked]
    near_misses: int
    misses: list[Miss]


async def score(
    reranker: Reranker, legs: Legs, asked: Sequence[RerankQuery], candidates: Sequence[Candidate]
) -> list[float] | None:
    """A probability for each candidate, rounded; None where the reranker failed, so that recall order stands.

    `asked` holds what each of them is scored for.

    One that failed for this answer is not asked for it again: that would take the time of the legs behind it.
    """
    if not candidates:
        return []
    if legs.failed("rerank"):
        return None
    scores = await legs.run("rerank", f"score, by {reranker.model_id}", _by_question(reranker, asked, candidates), None)
    return None if scores is None else [round(value, SCORE_DIGITS) for value in scores]


async def _by_question(
    reranker: Reranker, asked: Sequence[RerankQuery], candidates: Sequence[Candidate]
) -> list[float]:
    """Each question is put once, with all that it is asked of: a probability is of one candidate alone."""
    questions = list(dict.fromkeys(asked))
    pairs = list(zip(asked, candidates, strict=True))
    parts = [[candidate for one, candidate in pairs if one == question] for question in questions]
    found = await asyncio.gather(*map(partial(checked_scores, reranker), questions, parts))
    scores = {question: iter(part) for question, part in zip(questions, found, strict=True)}
    return [next(scores[one]) for one in asked]


async def checked_scores(reranker: Reranker, query: RerankQuery, candidates: Sequence[Candidate]) -> list[float]:
    """The score of each candidate, in their order.

    Raises:
        Unavailable: one has none, or one that is no number.
    """
    scores = await reranker.rerank(query, candidates)
    if len(scores) != len(candidates) or not all(math.isfinite(value) for value in scores):
        cause = f"The reranker {reranker.model_id} gave no score for some of {len(candidates)} candidates."
        raise Unavailable(cause, "Look at its log.")
    return scores


def rank_lessons(candidates: Sequence[Candidate], scores: Sequence[float] | None, project: str) -> Ranking:
    """Tier 1 whatever its score, then what is over the floors, best first and by sha."""
    rules = floors()
    kept: list[Ranked] = []
    near = 0
    for candidate, rerank in _scored(candidates, scores):
        if candidate.exact:
            kept.append(_ranked(candidate, 1, "signature", rerank, project))
            continue
        kind, reached = matched_kind(candidate, rules), height(candidate, rerank, rules)
        if kind is not None and reached >= 1.0:
            kept.append(_ranked(candidate, 2, kind, rerank, project))
        else:
            near += reached >= NEAR_MISS
    kept.sort(key=lambda each: each.order)
    first = [each for each in kept if each.tier == 1]
    similar = [each for each in kept if each.tier == 2]
    told = first + similar[: rules.keep_lessons]
    return Ranking(told, near, missed_lessons(candidates, scores, _shas(told), rules))


def rank_of_tool(candidates: Sequence[Candidate], project: str) -> Ranking:
    """Lessons that carry the tool that was asked for and nothing else: as they come, since a name ranks nothing."""
    ranked = [_ranked(candidate, 2, "text", None, project) for candidate in candidates]
    return Ranking(ranked[: floors().keep_lessons], 0, [])


def rank_hits(candidates: Sequence[Candidate], scores: Sequence[float] | None, project: str, k: int) -> list[Ranked]:
    """The best `k` that concern a question: lessons, then evidence, then reference, each best first and by sha."""
    return place_hits(candidates, scores, project, k)[:k]


def place_hits(candidates: Sequence[Candidate], scores: Sequence[float] | None, project: str, k: int) -> list[Ranked]:
    """The best `k` as `rank_hits` gives them, and behind them all others that concern the question.

    The floors of probability stay out of it: they are calibrated to failures, and a question may be about a decision.
    Scores of lessons, evidence and reference do not compare, so that each has a place among `k` by its share of the
    best score of its kind: many poor lessons do not keep out a page that fits.
    """
    ranked = [
        _ranked(candidate, 2, _nearer_kind(candidate), rerank, project)
        for candidate, rerank in _scored(candidates, scores)
        if _concerns_question(candidate)
    ]
    ordered = sorted(ranked, key=lambda each: each.order)
    shares = _shares(ordered)
    chosen = sorted(zip(shares, ordered, strict=True), key=lambda pair: -pair[0])
    told = [each for _, each in chosen]
    return sorted(told[:k], key=lambda each: each.order) + told[k:]


def _shares(ordered: Sequence[Ranked]) -> list[float]:
    """Of the best score of its kind, for each; none has more than one of its kind that stands before it."""
    best: dict[int, float] = {}
    for each in ordered:
        best[each.order[1]] = max(best.get(each.order[1], 0.0), _worth(each))
    least = dict.fromkeys(best, 1.0)
    shares = []
    for each in ordered:
        kind = each.order[1]
        share = max(_worth(each), 0.0) / best[kind] if best[kind] else 0.0
        least[kind] = min(least[kind], share)
        shares.append(least[kind])
    return shares


def _worth(ranked: Ranked) -> float:
    return ranked.rerank if ranked.rerank is not None else ranked.recall or 0.0


def rank_reference(candidates: Sequence[Candidate], scores: Sequence[float] | None, project: str) -> Ranking:
    """Reference chunks over their floor, best first and by sha."""
    rules = floors()
    kept: list[Ranked] = []
    near = 0
    for candidate, rerank in _scored(candidates, scores):
        near_in_text = (candidate.text_similarity or 0.0) >= rules.reference_text
        near_in_words = (candidate.lexical_similarity or 0.0) >= rules.reference_lexical
        if (near_in_text or near_in_words) and (rerank is None or rerank >= rules.reference):
            kept.append(_ranked(candidate, 3, "text", rerank, project))
        elif _is_near(candidate, rerank, rules.reference):
            near += 1
    kept.sort(key=lambda each: each.order)
    told = kept[: rules.keep_reference]
    return Ranking(told, near, missed_reference(candidates, scores, _shas(told), rules))


def as_lesson(
    ranked: Ranked,
    *,
    signature: LessonSignature | None,
    first_seen: str | None,
    parents: Mapping[str, list[Parent]],
    superseded: Sequence[str],
) -> Lesson:
    """The lesson as the contract shows it; counts come later, from the transaction that makes them."""
    node = ranked.candidate.node
    return Lesson(
        tier=ranked.tier,
        level=node.level,
        sha=node.stored_sha,
        project=None if node.project == SHARED else node.project,
        text=node.text,
        matched_kind=ranked.kind,
        first_seen=first_seen,
        signature=signature,
        score=ranked.rerank,
        scores=Scores(recall=ranked.recall, rerank=ranked.rerank),
        parents=parents.get(node.stored_sha, []) if node.level != "R" else [_of_document(node)],
        supersedes=list(superseded),
    )


def _of_document(node: StoredNode) -> Parent:
    """A chunk comes from its document: source and anchor stand where those of a lesson's evidence do."""
    return Parent(level="R", sha=node.stored_sha, source=node.source)


def _scored(candidates: Sequence[Candidate], scores: Sequence[float] | None) -> list[tuple[Candidate, float | None]]:
    return list(zip(candidates, scores if scores is not None else [None] * len(candidates), strict=True))


def _ranked(candidate: Candidate, tier: Tier, kind: MatchedKind, rerank: float | None, project: str) -> Ranked:
    recall = _recall(candidate, kind)
    value = rerank if rerank is not None else (recall or 0.0)
    boost = PROJECT_BOOST if candidate.node.project == project else 0.0
    order = (tier, _PLACE[candidate.node.level], -round(value + boost, SCORE_DIGITS), candidate.node.stored_sha)
    return Ranked(candidate, tier, kind, recall, rerank, order)


def _recall(candidate: Candidate, kind: MatchedKind) -> float | None:
    by_kind = {"symptom": candidate.symptom_similarity, "text": candidate.text_similarity}
    found = by_kind.get(kind)
    if found is None:
        measured = (
            candidate.symptom_similarity, candidate.text_similarity, candidate.lexical_similarity, by_words(candidate)
        )  # fmt: skip
        found = max((value for value in measured if value is not None), default=None)
    return None if found is None else round(found, SCORE_DIGITS)


def _nearer_kind(candidate: Candidate) -> MatchedKind:
    return "symptom" if (candidate.symptom_similarity or 0.0) > (candidate.text_similarity or 0.0) else "text"


def _concerns_question(candidate: Candidate) -> bool:
    besides = [fit.text for fit in (candidate.notes, candidate.excerpt) if fit is not None]
    nearest = max(candidate.symptom_similarity or 0.0, candidate.text_similarity or 0.0, *besides)
    if nearest >= floors().question:
        return True
    if candidate.node.level == "L0":
        # An answer may hold no word of the question itself.
        return max(candidate.words or 0.0, candidate.context or 0.0) >= floors().question_evidence
    return (by_words(candidate) or 0.0) >= floors().question_words


def _shas(ranked: Sequence[Ranked]) -> set[str]:
    return {each.candidate.node.stored_sha for each in ranked}


def _is_near(candidate: Candidate, rerank: float | None, floor: float) -> bool:
    value = rerank if rerank is not None else max(candidate.symptom_similarity or 0.0, candidate.text_similarity or 0.0)
    return NEAR_MISS * floor <= value
