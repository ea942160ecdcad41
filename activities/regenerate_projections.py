"""The steps of a regeneration: what the projector says of each memory today, and, where asked for, its recording."""

from __future__ import annotations

import time

from temporalio import activity

from activities.errors import reporting
from mem.domain.errors import ControllerRefused
from mem.domain.nodes import StoredNode
from mem.domain.regenerating import Proposal, RegeneratedBatch, RegenerateReport, RegenerateStep
from mem.ports import Embedder, EvidenceText, Memories, Projector, Proposals

BATCH_SECONDS = 10.0
"""A batch ends early after so long, since a model may take seconds for one memory."""


class RegenerateProjections:
    """Asks the projector again, keeps what it says, and applies it."""

    def __init__(self, memories: Memories, proposals: Proposals, projector: Projector, embedder: Embedder) -> None:
        self._memories = memories
        self._proposals = proposals
        self._projector = projector
        self._embedder = embedder

    @activity.defn(name="begin_regeneration")
    @reporting
    async def begin_regeneration(self, step: RegenerateStep) -> RegenerateReport:
        """Make room for what the projector will say; what was shown before and not applied is kept to be applied."""
        key = self._projector.key()
        await self._proposals.begin(step.run, key, keep=step.apply)
        return RegenerateReport(apply=step.apply, model_id=key.model_id, prompt_sha=key.prompt_sha)

    @activity.defn(name="propose_projections")
    @reporting
    async def propose_projections(self, step: RegenerateStep) -> RegeneratedBatch:
        """Ask for the projections of a batch of live memories; each answer is kept at once, and asked for once."""
        shas = await self._memories.lessons(step.after, step.page)
        nodes = await self._memories.nodes(shas)
        made = await self._proposals.made(shas)
        ends = time.monotonic() + BATCH_SECONDS
        after = step.after
        for sha in shas:
            if sha not in made and nodes[sha].superseded_by is None:
                await self._proposals.put(step.run, await self._propose(nodes[sha]))
            after = sha
            if time.monotonic() > ends:
                break
        last = len(shas) < step.page and (not shas or after == shas[-1])
        return RegeneratedBatch(report=step.report, after=None if last else after)

    @activity.defn(name="settle_proposals")
    @reporting
    async def settle_proposals(self, step: RegenerateStep) -> RegeneratedBatch:
        """Count what was proposed, batch by batch, and record it where that was asked for."""
        page = await self._proposals.page(step.after, step.page)
        report = step.report
        for proposal in page:
            report = report.plus(proposal)
            if step.apply and proposal.replaces:
                await self._proposals.apply(step.run, proposal.sha, self._embedder)
                report = report.model_copy(update={"applied": report.applied + 1})
        last = len(page) < step.page
        if last and step.apply:
            await self._proposals.close(step.run)
        return RegeneratedBatch(report=report, after=None if last else page[-1].sha)

    async def _propose(self, node: StoredNode) -> Proposal:
        sha = node.stored_sha
        recorded = await self._memories.projection(sha)
        evidence = [EvidenceText(each.stored_sha, each.text) for each in await self._memories.evidence(sha)]
        try:
            made = await self._projector.project(node.text, evidence)
        except ControllerRefused as error:
            return Proposal(sha=sha, recorded=recorded, proposed=None, refused=str(error))
        return Proposal(sha=sha, recorded=recorded, proposed=made)
