"""The lookup use case: one request in, one answer out, counted and stored in one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mem.domain.errors import Unavailable
from mem.domain.ids import fingerprint_of
from mem.domain.lookup import OPERATION, Lesson, LessonSignature, LookUpInput, SkillHit, check_inputs
from mem.domain.nodes import Parent
from mem.parsing.names import refuse_secret_names
from mem.ports import (
    Candidate,
    Embedder,
    Failures,
    Ledger,
    LedgerKey,
    Memories,
    Reranker,
    Seen,
    Settlement,
    Skill,
    Skills,
    TokenCounter,
    Vector,
)
from mem.recall.budget import fit, leaves_room
from mem.recall.floors import floors
from mem.recall.gather import WIDTH, Gathered, best_of, embedded, gather, sign
from mem.recall.legs import LEG_SECONDS, TOTAL_SECONDS, Legs
from mem.recall.misses import nearest
from mem.recall.outcome import LookUpOutcome, Unsettled
from mem.recall.provenance import rests_on
from mem.recall.query import Query, read_failure, read_query
from mem.recall.rank import Ranking, as_lesson, rank_lessons, rank_of_tool, rank_reference
from mem.recall.render import Found, render_body
from mem.recall.shortlist import score_best
from mem.recall.trace import Searched, trace_of

_SAMPLE = "error: exit status 1\n"


@dataclass(frozen=True)
class LookUpPorts:
    """What a lookup needs from the outside."""

    memories: Memories
    failures: Failures
    ledger: Ledger
    skills: Skills
    embedder: Embedder
    reranker: Reranker
    tokens: TokenCounter


class LookUp:
    """Answers context requests; a leg that fails makes the answer thinner, never an error."""

    def __init__(
        self, ports: LookUpPorts, *, leg_seconds: float = LEG_SECONDS, total_seconds: float = TOTAL_SECONDS
    ) -> None:
        self._ports = ports
        self._leg_seconds = leg_seconds
        self._total_seconds = total_seconds

    async def prepare(self) -> None:
        """Load the rules that signatures are found by, which may take longer than the leg of a first answer would."""
        await asyncio.to_thread(read_failure, _SAMPLE)

    async def __call__(self, request: LookUpInput) -> LookUpOutcome:
        """Answer a request, or return what was answered to it before.

        Raises:
            InvalidRequest: the request gives nothing to look up, or a name in it looks like a secret.
            RequestConflict: the request id was answered before for another body.
        """
        check_inputs(request)
        refuse_secret_names(request_id=request.request_id, project=request.project)
        mark = fingerprint_of(request)
        key = LedgerKey(OPERATION, request.project, request.request_id)
        legs = Legs(leg_seconds=self._leg_seconds, total_seconds=self._total_seconds)
        stored = await legs.run("ledger", "answered before?", self._ports.ledger.find(key, mark), None)
        if stored is not None:
            trace = trace_of(key.scope, key.request_id, stored, legs, None)
            return LookUpOutcome(body=stored.decode("utf-8"), fingerprint=mark, trace=trace)
        read = await legs.run("signatures", "extract", asyncio.to_thread(read_query, request), None)
        # Without it the log is lost to this answer; what else was asked is not.
        query = read or read_query(request, extracting=False)
        found = await self._find(request, query, legs)
        if read is None:
            body = render_body(found, {}, legs)
            return self._owing(key, mark, found, legs, body, unread=request.signature_source)
        return await self._settle(key, mark, found, legs)

    async def _find(self, request: LookUpInput, query: Query, legs: Legs) -> Found:
        ports = self._ports
        embedding = embedded(ports.embedder, [probe.text for probe in query.probes])
        signed, vectors = await asyncio.gather(
            sign(ports.memories, ports.failures, legs, query),
            legs.run("embedding", "embed", embedding, list[Vector]()),
        )
        sure = [vector for vector, probe in zip(vectors, query.probes, strict=False) if probe in query.sure_probes]
        gathered, skills = await asyncio.gather(
            gather(ports.memories, legs, query, vectors, signed),
            legs.run("skills", "search", self._skills(query, sure), list[SkillHit]()),
        )
        ranking = await self._rank(request, query, legs, gathered)
        lessons = await self._lessons(legs, query, gathered, ranking)
        near, misses = ranking.near_misses, ranking.misses
        if query.sure_probes and (not lessons or leaves_room(lessons, skills, request.budget, ports.tokens)):
            reference = await self._reference(request, query, legs, sure)
            lessons += await self._lessons(legs, query, gathered, reference)
            near += reference.near_misses
            misses = nearest([*misses, *reference.misses])
        fitted = fit(lessons, skills, request.budget, ports.tokens)
        return Found(query, fitted, gathered.known, near, misses)

    async def _rank(self, request: LookUpInput, query: Query, legs: Legs, gathered: Gathered) -> Ranking:
        if gathered.of_tool:
            return rank_of_tool([gathered.candidates[sha] for sha in gathered.of_tool], request.project)
        candidates = [gathered.candidates[sha] for sha in sorted(gathered.candidates)]
        scored = await score_best(self._ports.reranker, legs, query.asked_of, candidates)
        return rank_lessons(*scored, request.project)

    async def _skills(self, query: Query, vectors: Sequence[Vector]) -> list[SkillHit]:
        best: dict[str, tuple[Skill, float]] = {}
        for vector in vectors:
            for skill, similarity in await self._ports.skills.nearest(vector, query.shared, floors().keep_skills):
                if similarity > best.get(skill.name, (skill, floors().skill))[1]:
                    best[skill.name] = (skill, similarity)
        hits = [SkillHit(name=name, score=round(similarity, 4)) for name, (_, similarity) in best.items()]
        return sorted(hits, key=lambda hit: (-hit.score, hit.name))[: floors().keep_skills]

    async def _reference(self, request: LookUpInput, query: Query, legs: Legs, vectors: Sequence[Vector]) -> Ranking:
        candidates = await legs.run(
            "reference", "search", self._reference_candidates(query, vectors), list[Candidate]()
        )
        scored = await score_best(self._ports.reranker, legs, query.asked_of, candidates)
        return rank_reference(*scored, request.project)

    async def _reference_candidates(self, query: Query, vectors: Sequence[Vector]) -> list[Candidate]:
        """Chunks near in meaning; without vectors those that share words."""
        memories = self._ports.memories
        if vectors:
            found = [await memories.nearest("text", ("R",), vector, query.shared, WIDTH) for vector in vectors]
        else:
            found = [await memories.lexical(probe.text, ("R",), query.shared, WIDTH) for probe in query.sure_probes]
        best = best_of([hit for hits in found for hit in hits])
        nodes = await memories.nodes(sorted(best))
        return [
            Candidate(
                node=nodes[sha],
                symptom="",
                symptom_similarity=None,
                text_similarity=best[sha] if vectors else None,
                lexical_similarity=None if vectors else best[sha],
                exact=False,
                coarse=False,
                same_tool=False,
            )
            for sha in sorted(nodes)
            if not nodes[sha].removed
        ]

    async def _lessons(self, legs: Legs, query: Query, gathered: Gathered, ranking: Ranking) -> list[Lesson]:
        shas = [one.candidate.node.stored_sha for one in ranking.kept if one.candidate.node.level != "R"]
        parents: dict[str, list[Parent]] = {}
        if shas:
            parents = await legs.run("text", "parents", rests_on(self._ports.memories, shas, query.reach.told), parents)
        lessons = []
        for ranked in ranking.kept:
            sha = ranked.candidate.node.stored_sha
            signature = _matching(query, gathered, sha) if ranked.tier == 1 else None
            first_seen = None if signature is None else gathered.first_seen.get(signature.sig_sha)
            superseded = gathered.superseded.get(sha, [])
            lessons.append(
                as_lesson(ranked, signature=signature, first_seen=first_seen, parents=parents, superseded=superseded)
            )
        return lessons

    async def _settle(self, key: LedgerKey, mark: str, found: Found, legs: Legs) -> LookUpOutcome:
        """Count and store; where that fails the answer goes out all the same, to be stored as it is later.

        Once rendered, the bytes may have been committed even if the acknowledgement was lost, so they are never changed
        after that.
        """
        query = found.query
        settlement = Settlement(key, mark, query.signatures, query.reach, found.returned)
        rendered: list[bytes] = []
        given_up = False

        def render(seen: Mapping[str, Seen]) -> bytes:
            if given_up:
                raise Unavailable("The answer went out before it could be counted.", "It is stored as it went out.")
            rendered.append(render_body(found, seen, legs))
            return rendered[-1]

        stored = await legs.run("ledger", "count and store", self._ports.ledger.settle(settlement, render), None)
        if stored is not None:
            return self._outcome(key, mark, stored, found, legs)
        # Work that was given up may go on for a while: what it would render now is not what goes out.
        given_up = True
        body = rendered[-1] if rendered else await self._unstored_body(found, legs)
        return self._owing(key, mark, found, legs, body)

    def _owing(
        self, key: LedgerKey, mark: str, found: Found, legs: Legs, body: bytes, *, unread: str | None = None
    ) -> LookUpOutcome:
        """An answer that goes out before it is counted and stored."""
        unsettled = Unsettled(
            project=key.scope,
            request_id=key.request_id,
            fingerprint=mark,
            federated=found.query.reach.federated,
            readable=found.query.reach.readable,
            sightings=list(found.query.signatures),
            body=body.decode("utf-8"),
            returned=list(found.returned),
            unread=unread,
        )
        return self._outcome(key, mark, body, found, legs, unsettled)

    def _outcome(
        self, key: LedgerKey, mark: str, body: bytes, found: Found, legs: Legs, unsettled: Unsettled | None = None
    ) -> LookUpOutcome:
        searched = Searched(found.query.tool, self._ports.reranker.model_id, found.misses)
        trace = trace_of(key.scope, key.request_id, body, legs, searched)
        return LookUpOutcome(body=body.decode("utf-8"), fingerprint=mark, trace=trace, unsettled=unsettled)

    async def _unstored_body(self, found: Found, legs: Legs) -> bytes:
        signatures = found.query.signatures
        keys = [key for signature in signatures for key in signature.keys]
        before = await legs.run("ledger", "read counts", self._ports.failures.seen(keys, found.query.reach), None)
        this = {signature.sig_sha for signature in signatures}
        counted = None if before is None else {key: Seen(n + (key in this), last) for key, (n, last) in before.items()}
        return render_body(found, counted, legs)


def _matching(query: Query, gathered: Gathered, sha: str) -> LessonSignature | None:
    for signature in query.signatures:
        if sha in (gathered.known or {}).get(signature.sig_sha, ()):
            return LessonSignature(sig_sha=signature.sig_sha, tool=signature.tool, rule=signature.rule)
    return None
