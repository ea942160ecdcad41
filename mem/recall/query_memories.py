"""The query use case: one question in, the nearest memories out, stored once and counted nowhere."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mem.domain.ids import SHARED, fingerprint_of
from mem.domain.lookup import Scores
from mem.domain.nodes import Parent
from mem.domain.query import OPERATION, QueryAnswer, QueryHit, QueryInput, check_question
from mem.parsing.names import refuse_secret_names
from mem.ports import Embedder, Ledger, LedgerKey, Memories, Reranker, Vector
from mem.recall.explaining import listed, reranked
from mem.recall.gather import embedded
from mem.recall.legs import LEG_SECONDS, TOTAL_SECONDS, Legs
from mem.recall.provenance import each_place_once, rests_on
from mem.recall.query_legs import Recalled, ranks_of, recall
from mem.recall.query_outcome import HitTrace, QueryOutcome, QueryTrace, UnsettledQuery
from mem.recall.question import Question, plain_question, read_question
from mem.recall.rank import Ranked, rank_hits
from mem.recall.shortlist import score_best
from mem.recall.trace import told_degraded


class Searched(NamedTuple):
    """What only the run knows that searched."""

    recalled: Recalled
    reranker: str


@dataclass(frozen=True)
class QueryPorts:
    """What a query needs from the outside."""

    memories: Memories
    ledger: Ledger
    embedder: Embedder
    reranker: Reranker


class QueryMemories:
    """Answers questions; a leg that fails makes the answer thinner, never an error."""

    def __init__(
        self, ports: QueryPorts, *, leg_seconds: float = LEG_SECONDS, total_seconds: float = TOTAL_SECONDS
    ) -> None:
        self._ports = ports
        self._leg_seconds = leg_seconds
        self._total_seconds = total_seconds

    async def __call__(self, request: QueryInput) -> QueryOutcome:
        """Answer a question, or return what was answered to it before.

        Raises:
            InvalidRequest: the question is blank, or a name in it looks like a secret.
            RequestConflict: the request id was answered before for another body.
        """
        check_question(request)
        refuse_secret_names(request_id=request.request_id, project=request.project)
        mark = fingerprint_of(request)
        key = LedgerKey(OPERATION, request.project, request.request_id)
        legs = Legs(leg_seconds=self._leg_seconds, total_seconds=self._total_seconds)
        stored, question = await asyncio.gather(
            legs.run("ledger", "answered before?", self._ports.ledger.find(key, mark), None),
            legs.run("signatures", "read", asyncio.to_thread(read_question, request), None),
        )
        if stored is not None:
            return _outcome(stored, mark, _trace(key, stored, legs))
        question = question or plain_question(request)
        recalled = await self._recall(question, legs)
        asked = question.asked
        scored = await score_best(self._ports.reranker, legs, lambda _: asked, recalled.candidates, wanted=request.k)
        ranked = rank_hits(*scored, request.project, request.k)
        provenance = await legs.run("text", "provenance", self._provenance(ranked, question), dict[str, list[Parent]]())
        answer = QueryAnswer(
            query_id=request.request_id,
            project=request.project,
            hits=[_hit(one, provenance, recalled) for one in ranked],
            degraded=legs.degraded,
            candidates=listed(recalled) if request.explain else None,
            reranked=reranked(recalled, question, scored, request.k) if request.explain else None,
        )
        return await self._store(key, mark, answer, recalled, legs)

    async def _recall(self, question: Question, legs: Legs) -> Recalled:
        embedding = embedded(self._ports.embedder, question.texts)
        vectors = await legs.run("embedding", "embed", embedding, list[Vector]())
        # No vectors at all where the embedder failed.
        return await recall(self._ports.memories, legs, question, dict(zip(question.texts, vectors, strict=False)))

    async def _provenance(self, ranked: Sequence[Ranked], question: Question) -> dict[str, list[Parent]]:
        """What each hit rests on, nearest first: its parents, and what those that are lessons rest on.

        Each once, and what was said at one place once, too, however many excerpts of it there are.
        """
        own: dict[str, list[Parent]] = {}
        lessons = []
        for node in (one.candidate.node for one in ranked):
            if node.level in {"L1", "L2"}:
                lessons.append(node.stored_sha)
            else:
                own[node.stored_sha] = [
                    Parent(level=node.level, sha=node.stored_sha, source=node.source, turn=node.turn)
                ]
        found = await rests_on(self._ports.memories, lessons, question.reach.told)
        return own | {sha: each_place_once(parents) for sha, parents in found.items()}

    async def _store(
        self, key: LedgerKey, mark: str, answer: QueryAnswer, recalled: Recalled, legs: Legs
    ) -> QueryOutcome:
        """Store; where that fails the answer goes out all the same, to be stored as it is later.

        Its bytes may have been committed even so, so that they say nothing of a failure to store them.
        """
        body = answer.model_dump_json().encode("utf-8")
        stored = await legs.run("ledger", "store", self._ports.ledger.store(key, mark, body), None)
        if stored is not None:
            return _outcome(stored, mark, _trace(key, stored, legs, Searched(recalled, self._ports.reranker.model_id)))
        unsettled = UnsettledQuery(
            project=key.scope, request_id=key.request_id, fingerprint=mark, body=body.decode("utf-8")
        )
        trace = _trace(key, body, legs, Searched(recalled, self._ports.reranker.model_id))
        return _outcome(body, mark, trace, unsettled)


def _hit(ranked: Ranked, provenance: Mapping[str, list[Parent]], recalled: Recalled) -> QueryHit:
    node = ranked.candidate.node
    return QueryHit(
        sha=node.stored_sha,
        level=node.level,
        project=None if node.project == SHARED else node.project,
        score=ranked.rerank,
        scores=Scores(recall=ranked.recall, rerank=ranked.rerank),
        text=node.text,
        provenance=provenance.get(node.stored_sha, []),
        supersedes=list(recalled.superseded.get(node.stored_sha, ())),
    )


def _trace(key: LedgerKey, body: bytes, legs: Legs, searched: Searched | None = None) -> QueryTrace:
    """The trace; without `searched` of an answer that was there already and is repeated."""
    answer = QueryAnswer.model_validate_json(body)
    ranks = {} if searched is None else ranks_of(searched.recalled, [hit.sha for hit in answer.hits])
    return QueryTrace(
        project=key.scope,
        request_id=key.request_id,
        milliseconds=legs.milliseconds,
        reranker=None if searched is None or not legs.ran("rerank") else searched.reranker,
        legs=list(legs.runs),
        hits=[
            HitTrace(
                sha=hit.sha,
                level=hit.level,
                project=hit.project,
                recall=hit.scores.recall,
                rerank=hit.scores.rerank,
                ranks=ranks.get(hit.sha, {}),
            )
            for hit in answer.hits
        ],
        degraded=told_degraded(answer.degraded, legs),
        replayed=searched is None,
    )


def _outcome(body: bytes, mark: str, trace: QueryTrace, unsettled: UnsettledQuery | None = None) -> QueryOutcome:
    return QueryOutcome(body=body.decode("utf-8"), fingerprint=mark, trace=trace, unsettled=unsettled)
