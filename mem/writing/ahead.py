"""What the later steps of an acceptance will need, computed while the first ones wait for Temporal and the database."""

from __future__ import annotations

import asyncio

import structlog

from mem.ports import Embedder, EvidenceText, Projector
from mem.writing.candidate import Candidate
from mem.writing.links import signatures_of

log = structlog.get_logger()


class Ahead:
    """Starts pure computations early; their results are remembered where they are made, in this process alone.

    A step that finds nothing remembered, on another worker or after a restart, computes it itself: only time is won
    here, and nothing is written.

    Args:
        projector: deterministic and without cost; None where a projection asks a model.
        embedder: likewise.
    """

    def __init__(self, projector: Projector | None, embedder: Embedder | None) -> None:
        self._projector = projector
        self._embedder = embedder
        self._running: set[asyncio.Task[None]] = set()

    def begin(self, candidate: Candidate) -> None:
        """Begin, and return at once; a failure is the step's to meet again, and to tell."""
        task = asyncio.create_task(self._compute(candidate))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _compute(self, candidate: Candidate) -> None:
        evidence = [EvidenceText(each.sha, each.text) for each in candidate.evidence]
        try:
            if self._embedder is not None:
                await self._embedder.embed([candidate.node.text])
            await asyncio.to_thread(signatures_of, [each.text for each in evidence])
            if self._projector is not None:
                made = await self._projector.project(candidate.node.text, evidence)
                if self._embedder is not None and made.text:
                    await self._embedder.embed([made.text])
        except Exception:
            log.exception("nothing prepared ahead")
