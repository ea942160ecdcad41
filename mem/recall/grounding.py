"""The context of a user's next turn: a message in, prompt-safe context out, stored once and counted nowhere."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol

from mem.domain.grounding import OPERATION, GroundAnswer, GroundInput, ScopeLevel, check_message
from mem.domain.ids import fingerprint_of, user_scope
from mem.parsing.names import refuse_secret_names
from mem.parsing.orders import prepare_orders
from mem.ports import Embedder, Ledger, LedgerKey, Reranker, TokenCounter, Users
from mem.recall.enhancement import Enhancement, Relevant
from mem.recall.enhancer import extract
from mem.recall.ground_answer import (
    answer_of,
    failure_told,
    found_of,
    nothing_relevant,
    stood_in,
    unenhanced,
    unknown_user,
    warned,
)
from mem.recall.ground_gate import Gated, gate
from mem.recall.ground_modes import MODES, hits_of
from mem.recall.ground_outcome import EnhancedFound, GroundFound, GroundOutcome, UnsettledGround
from mem.recall.ground_sources import Asked, GroundLegs, Hits, Reading, search
from mem.recall.ground_trace import ended, paused, repeated
from mem.recall.ground_turn import audience_of, read_turn
from mem.recall.legs import LEG_SECONDS, TOTAL_SECONDS

EXTRACTIVE = "extractive"
"""What the enhancer is called that asks no model."""
ASKED_CHARACTERS = 100_000
"""So much of the relevant memories, best first, is what a controller is asked about: it travels through a history."""


class Enhancer(Protocol):
    """A controller that puts what was found into words."""

    @property
    def model_id(self) -> str:
        """Names the model."""
        ...

    async def enhance(
        self, message: str, memories: Sequence[Relevant], limit: int, *, scope: ScopeLevel
    ) -> Enhancement | None:
        """What it made of the memories, in a block of at most `limit` tokens; None where they do not bear it out.

        Raises:
            Unavailable: it does not answer.
            ControllerRefused: it will not answer, or not in a form that can be read.
        """
        ...


@dataclass(frozen=True)
class GroundPorts:
    """What a turn needs from the outside; `controlled` where a controller is to make the context."""

    users: Users
    ledger: Ledger
    embedder: Embedder
    reranker: Reranker
    tokens: TokenCounter
    controlled: bool = False


class GroundTurns:
    """Grounds turns; a source that fails makes the context thinner, never an error."""

    def __init__(
        self, ports: GroundPorts, *, leg_seconds: float = LEG_SECONDS, total_seconds: float = TOTAL_SECONDS
    ) -> None:
        self._ports = ports
        self._leg_seconds = leg_seconds
        self._total_seconds = total_seconds

    async def prepare(self) -> None:
        """Load the rules by which a text may stand in a prompt, which takes longer than most answers do."""
        await asyncio.to_thread(prepare_orders)

    async def __call__(self, request: GroundInput) -> GroundOutcome | GroundFound:
        """Answer a turn, or return what was answered to it before, or what a controller is to be asked about.

        Raises:
            InvalidRequest: the message is blank, or a name in it looks like a secret.
            RequestConflict: the request id was answered before for another body.
        """
        check_message(request)
        refuse_secret_names(request_id=request.request_id, user_id=request.user_id)
        for container in request.containers:
            refuse_secret_names(container=container.id)
        mark = fingerprint_of(request)
        key = LedgerKey(OPERATION, user_scope(request.user_id, request.readable), request.request_id)
        legs = self._legs()
        mode = MODES[request.read_mode]
        asked = Asked(
            turn=read_turn(request, mode),
            audience=audience_of(request),
            mode=mode,
            width=hits_of(mode, request.budgets.max_candidate_memories),
        )
        # What needs no database goes on beside the question whether there is anything to do.
        reading = Reading(self._ports.embedder, legs, asked.turn, mode)
        try:
            stored = await legs.run("ledger", "answered before?", self._ports.ledger.find(key, mark), None)
            if stored is not None:
                return _repeated(key, mark, stored, legs)
            return await self._answer(request, asked, legs, reading)
        finally:
            reading.drop()

    async def finish(self, enhanced: EnhancedFound) -> GroundOutcome:
        """Answer with what a controller made of what was found, or, where it made nothing, without it.

        Raises:
            RequestConflict: the request id was answered before for another body.
        """
        legs = self._legs()
        found, made = enhanced.found, enhanced.made
        if made.enhancement is None:
            return await self._extracted(warned(found, stood_in(made.failure)), legs)
        return await self._store(found, answer_of(found, made.enhancement), legs, made.enhancement, made.model_id)

    def _legs(self) -> GroundLegs:
        return GroundLegs(leg_seconds=self._leg_seconds, total_seconds=self._total_seconds)

    async def _answer(
        self, request: GroundInput, asked: Asked, legs: GroundLegs, reading: Reading
    ) -> GroundOutcome | GroundFound:
        users = self._ports.users
        known, hits = await asyncio.gather(
            legs.run("user", "known?", users.known(asked.audience), None), search(users, legs, asked, reading)
        )
        message = asked.turn.message
        if known is not None and not known.found:
            found = found_of(request, message, known, Gated(()), Hits(), legs)
            return await self._store(found, unknown_user(found), legs)
        reranker = self._ports.reranker
        gated = await gate(users, reranker, legs, asked, hits, most=request.budgets.max_candidate_memories)
        scored_by = reranker.model_id if legs.ran("rerank") else None
        found = found_of(request, message, known, gated, hits, legs, reranker=scored_by)
        if not gated.relevant:
            answer = nothing_relevant(found, read=gated.read and not _blind(asked, legs))
            return await self._store(found, answer, legs)
        if self._ports.controlled:
            return _to_be_enhanced(found, legs)
        return await self._extracted(found, legs)

    async def _extracted(self, found: GroundFound, legs: GroundLegs) -> GroundOutcome:
        """The answer with sentences of the memories themselves."""
        tokens, scope = self._ports.tokens, found.diagnostics.scope_applied
        extracting = asyncio.to_thread(extract, found.message, found.relevant, found.limit, tokens, scope=scope)
        enhancement = await legs.run("enhancer", "extract", extracting, None)
        if legs.failed("enhancer"):
            failed = warned(found, failure_told("enhancer", legs.failures["enhancer"]))
            return await self._store(failed, unenhanced(failed), legs)
        return await self._store(found, answer_of(found, enhancement), legs, enhancement, EXTRACTIVE)

    async def _store(
        self,
        found: GroundFound,
        answer: GroundAnswer,
        legs: GroundLegs,
        enhancement: Enhancement | None = None,
        enhancer: str | None = None,
    ) -> GroundOutcome:
        """Store; where that fails the answer goes out all the same, to be stored as it is later.

        Its bytes may have been committed even so, so that they say nothing of a failure to store them.
        """
        key = LedgerKey(OPERATION, found.scope, found.request_id)
        mark = found.fingerprint
        body = answer.model_dump_json().encode("utf-8")
        stored = await legs.run("ledger", "store", self._ports.ledger.store(key, mark, body), None)
        if stored is not None and stored != body:
            return _repeated(key, mark, stored, legs)
        unsettled = None
        if stored is None:
            unsettled = UnsettledGround(
                scope=key.scope, request_id=key.request_id, fingerprint=mark, body=body.decode()
            )
        trace = ended(found.trace, answer, legs, enhancement, enhancer)
        return GroundOutcome(body=body.decode(), fingerprint=mark, trace=trace, unsettled=unsettled)


def _blind(asked: Asked, legs: GroundLegs) -> bool:
    """Whether no source could be read; the graph is asked only where another one found something."""
    return all(legs.failed(source) for source in asked.mode.sources if source != "graph")


def _to_be_enhanced(found: GroundFound, legs: GroundLegs) -> GroundFound:
    """What a controller is asked about: the best of the memories, as far as they travel well."""
    lengths = accumulate(len(one.text) for one in found.relevant)
    few = [one for one, length in zip(found.relevant, lengths, strict=True) if length <= ASKED_CHARACTERS]
    return found.model_copy(update={"relevant": few, "trace": paused(found.trace, legs)})


def _repeated(key: LedgerKey, mark: str, stored: bytes, legs: GroundLegs) -> GroundOutcome:
    return GroundOutcome(body=stored.decode(), fingerprint=mark, trace=repeated(key, stored, legs))
