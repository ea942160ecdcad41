"""The first body sent for a request is stored and repeated."""

from __future__ import annotations

from temporalio import activity

from activities.errors import reporting
from mem.domain.accepting import AcceptedBody
from mem.domain.answers import Answer
from mem.ports import Ledger, LedgerKey, Reach, Settlement
from mem.recall.look_up import OPERATION
from mem.recall.outcome import Unsettled


class SettleAnswer:
    """Stores answers in the ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    @activity.defn(name="settle_acceptance")
    @reporting
    async def settle_acceptance(self, accepted: AcceptedBody) -> Answer:
        """Store the body for (request id, wait), or return the one stored first."""
        key = LedgerKey(f"accept:{accepted.wait}", accepted.project, accepted.request_id)
        stored = await self._ledger.store(key, accepted.fingerprint, accepted.body.encode("utf-8"))
        return Answer(body=stored.decode("utf-8"), fingerprint=accepted.fingerprint)

    @activity.defn(name="settle_lookup")
    @reporting
    async def settle_lookup(self, unsettled: Unsettled) -> None:
        """Count and store an answer that went out while the ledger could not be written."""
        key = LedgerKey(OPERATION, unsettled.project, unsettled.request_id)
        reach = Reach(unsettled.project, unsettled.federated)
        settlement = Settlement(key, unsettled.fingerprint, tuple(unsettled.sightings), reach)
        await self._ledger.settle(settlement, lambda _: unsettled.body.encode("utf-8"))
