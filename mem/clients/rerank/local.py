"""A reranker in this process, over a cross-encoder."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from mem.clients.rerank.calibration import Calibration
from mem.clients.rerank.cross_encoder import CrossEncoder, quiet
from mem.clients.rerank.texts import document_text, query_text
from mem.domain.errors import Unavailable
from mem.ports import Candidate, RerankQuery

MOST = 20
"""How many candidates a small model scores on two cores within the usual deadline."""

TURNS = 1
"""How many pairs run at once, in all lookups of a process: one has all cores."""


class LocalReranker:
    """Scores pair by pair, off the event loop, and stops where the deadline is."""

    def __init__(
        self, model: CrossEncoder, calibration: Calibration, *, seconds: float, most: int | None = None
    ) -> None:
        self._model = model
        self._calibration = calibration
        self._seconds = seconds
        self._most = most or MOST
        self._turn = asyncio.Semaphore(TURNS)

    @property
    def model_id(self) -> str:
        """Model, file and runtime."""
        return self._model.model_id

    @property
    def most(self) -> int | None:
        """How many candidates of a lookup are scored."""
        return self._most

    async def rerank(self, query: RerankQuery, candidates: Sequence[Candidate]) -> list[float]:
        """A probability for each candidate, in their order.

        Raises:
            Unavailable: there was no time for all of them, or a score is no number.
        """
        who = f"The reranker {self.model_id}"
        asked = query_text(query)
        run = quiet()
        logits = []
        try:
            async with asyncio.timeout(self._seconds):
                for candidate in candidates:
                    async with self._turn:
                        logits.append(await asyncio.to_thread(self._model.logit, asked, document_text(candidate), run))
        except TimeoutError:
            raise Unavailable(
                f"{who} did not score {len(candidates)} candidates within {self._seconds:g} s.",
                f"If it never does, lower MEM_RERANK_MOST, which is {self._most}, or give it a smaller model.",
            ) from None
        finally:
            # Ends what a thread still runs although nobody waits for it any more.
            run.terminate = True
        return self._calibration.probabilities(logits, who)
