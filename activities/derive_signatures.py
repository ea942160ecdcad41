"""One batch of a rebuild: what a memory's evidence is linked by, derived anew under the current algorithm."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from temporalio import activity

from activities.errors import reporting
from mem.domain.errors import Unavailable
from mem.domain.pacing import rest_after
from mem.domain.rebuild import Compared, DerivedBatch, DeriveStep, RebuildReport
from mem.parsing import current_algo
from mem.ports import Failures, Memories
from mem.writing.links import signatures_of

BATCH_SECONDS = 10.0
"""A batch ends early after so long, since the evidence of one memory can be a line or a megabyte."""


class DeriveSignatures:
    """Extracts the signatures of the L0 parents again, as an acceptance does, and stores what is missing."""

    def __init__(
        self, memories: Memories, failures: Failures, *, rest: Callable[[float], Awaitable[object]] = asyncio.sleep
    ) -> None:
        self._memories = memories
        self._failures = failures
        self._rest = rest

    @activity.defn(name="derive_signatures")
    @reporting
    async def derive_signatures(self, step: DeriveStep) -> DerivedBatch:
        """Derive and store, or compare only, a batch of memories; each is one transaction, safe to repeat, and a rest.

        Raises:
            Unavailable: this worker is of another release than the caller, and would derive another version.
        """
        algo = current_algo()
        if step.algo not in (None, algo):
            raise Unavailable(
                f"This worker derives version {algo} of the algorithm, and version {step.algo} is asked for.",
                "Let only workers of the caller's release run.",
            )
        shas = await self._memories.lessons(step.after, step.page)
        report = RebuildReport(check=step.check, algo=algo)
        ends = time.monotonic() + BATCH_SECONDS
        for sha in shas:
            began = time.monotonic()
            found = await self._derive(sha, check=step.check)
            await self._rest(rest_after(time.monotonic() - began))
            differs = [sha] if found.new or found.changed else []
            report = report.plus(RebuildReport(algo=algo, memories=1, differing=differs, **found._asdict()))
            if time.monotonic() > ends:
                break
        whole = report.memories == len(shas) < step.page
        return DerivedBatch(report=report, after=None if whole else shas[report.memories - 1])

    async def _derive(self, sha: str, *, check: bool) -> Compared:
        evidence = [each.text for each in await self._memories.evidence(sha)]
        signatures = await asyncio.to_thread(signatures_of, evidence)
        return await (self._failures.compare if check else self._failures.relink)(sha, signatures)
