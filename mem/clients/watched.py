"""Models, each call of which is a span and is counted; a process that does neither leaves them as they are."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext

from mem.ports import Candidate, Controller, Embedder, Prompt, Reranker, RerankQuery
from mem.ports.watching import CallOutcome, ModelCalls, ModelKind, Spans

OPERATIONS: dict[ModelKind, str] = {"embedder": "embeddings", "controller": "chat", "reranker": "rerank"}
"""As the semantic conventions of OpenTelemetry name them, as far as they do."""


class Watch:
    """What is told of each call: either may be None."""

    def __init__(self, spans: Spans | None = None, calls: ModelCalls | None = None) -> None:
        self._spans = spans
        self._calls = calls

    def embedder(self, embedder: Embedder) -> Embedder:
        """An embedder, watched."""
        return _Embedder(embedder, self) if self._watches else embedder

    def reranker(self, reranker: Reranker) -> Reranker:
        """A reranker, watched."""
        return _Reranker(reranker, self) if self._watches else reranker

    def controller(self, controller: Controller) -> Controller:
        """A controller, watched."""
        return _Controller(controller, self) if self._watches else controller

    @property
    def _watches(self) -> bool:
        return self._spans is not None or self._calls is not None

    @contextmanager
    def call(self, kind: ModelKind, model_id: str) -> Iterator[None]:
        """One call of a model."""
        began = time.perf_counter()
        attributes = {"gen_ai.operation.name": OPERATIONS[kind], "gen_ai.request.model": model_id}
        span = nullcontext() if self._spans is None else self._spans.span(f"{OPERATIONS[kind]} {model_id}", attributes)
        told: CallOutcome = "failed"
        try:
            with span:
                yield
            told = "answered"
        except asyncio.CancelledError:
            told = "given up"
            raise
        finally:
            if self._calls is not None:
                self._calls.called(kind, told, time.perf_counter() - began)


class _Embedder:
    def __init__(self, real: Embedder, watch: Watch) -> None:
        self._real = real
        self._watch = watch

    @property
    def model_id(self) -> str:
        return self._real.model_id

    @property
    def dimensions(self) -> int:
        return self._real.dimensions

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        with self._watch.call("embedder", self.model_id):
            return await self._real.embed(texts)


class _Reranker:
    def __init__(self, real: Reranker, watch: Watch) -> None:
        self._real = real
        self._watch = watch

    @property
    def model_id(self) -> str:
        return self._real.model_id

    @property
    def most(self) -> int | None:
        return self._real.most

    async def rerank(self, query: RerankQuery, candidates: Sequence[Candidate]) -> list[float]:
        with self._watch.call("reranker", self.model_id):
            return await self._real.rerank(query, candidates)


class _Controller:
    def __init__(self, real: Controller, watch: Watch) -> None:
        self._real = real
        self._watch = watch

    @property
    def model_id(self) -> str:
        return self._real.model_id

    async def answer(self, prompt: Prompt) -> str:
        with self._watch.call("controller", self.model_id):
            return await self._real.answer(prompt)
