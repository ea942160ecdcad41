"""The first body sent for a request is stored and repeated."""

from __future__ import annotations

import asyncio

import structlog
from temporalio import activity

from activities.counting import count_acceptance
from activities.errors import reporting
from mem.domain import grounding, lookup, query
from mem.domain.accepting import AcceptAnswer, AcceptedBody, SettledBodies, Wait
from mem.domain.signatures import Signature
from mem.ports import Ledger, LedgerKey, Reach, Settlement
from mem.recall.ground_outcome import UnsettledGround
from mem.recall.outcome import Unsettled
from mem.recall.query import read_failure
from mem.recall.query_outcome import UnsettledQuery

log = structlog.get_logger()

READ_SECONDS = 20.0
"""Within the limit of a step; a log takes a fraction of a second on a machine that has time."""


class SettleAnswer:
    """Stores answers in the ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    @activity.defn(name="settle_acceptance")
    @reporting
    async def settle_acceptance(self, accepted: AcceptedBody) -> SettledBodies:
        """Store the body for each (request id, wait), or return the one stored first."""
        bodies: dict[Wait, str] = {}
        for wait in accepted.waits:
            key = LedgerKey(f"accept:{wait}", accepted.project, accepted.request_id)
            stored = await self._ledger.store(key, accepted.fingerprint, accepted.body.encode("utf-8"))
            bodies[wait] = stored.decode("utf-8")
        if "all" in accepted.waits:
            # Of a run's two bodies this one is stored once, whoever waited.
            count_acceptance(AcceptAnswer.model_validate_json(bodies["all"]))
        return SettledBodies(bodies=bodies)

    @activity.defn(name="settle_lookup")
    @reporting
    async def settle_lookup(self, unsettled: Unsettled) -> None:
        """Count and store an answer that went out while the ledger could not be written."""
        key = LedgerKey(lookup.OPERATION, unsettled.project, unsettled.request_id)
        reach = Reach(unsettled.project, unsettled.federated, unsettled.readable)
        sightings, returned = await _sightings(unsettled), tuple(unsettled.returned)
        settlement = Settlement(key, unsettled.fingerprint, sightings, reach, returned)
        await self._ledger.settle(settlement, lambda _: unsettled.body.encode("utf-8"))

    @activity.defn(name="settle_query")
    @reporting
    async def settle_query(self, unsettled: UnsettledQuery) -> None:
        """Store an answer that went out while the ledger could not be written; a query counts nothing."""
        key = LedgerKey(query.OPERATION, unsettled.project, unsettled.request_id)
        await self._ledger.store(key, unsettled.fingerprint, unsettled.body.encode("utf-8"))

    @activity.defn(name="settle_ground")
    @reporting
    async def settle_ground(self, unsettled: UnsettledGround) -> None:
        """Store a context that went out while the ledger could not be written; a turn counts nothing."""
        key = LedgerKey(grounding.OPERATION, unsettled.scope, unsettled.request_id)
        await self._ledger.store(key, unsettled.fingerprint, unsettled.body.encode("utf-8"))


async def _sightings(unsettled: Unsettled) -> tuple[Signature, ...]:
    """What is counted; a log that still cannot be read counts nothing, and keeps no answer from being stored."""
    if unsettled.unread is None:
        return tuple(unsettled.sightings)
    try:
        async with asyncio.timeout(READ_SECONDS):
            return (await asyncio.to_thread(read_failure, unsettled.unread)).signatures
    except Exception:
        log.exception("log not read", project=unsettled.project, request_id=unsettled.request_id)
        return ()
