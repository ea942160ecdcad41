"""How tracing ends."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from mem.clients.temporal import spans
from mem.clients.temporal.spans import tracing_to


class Silent(SpanExporter):
    """A collector that takes the connection and never answers."""

    def __init__(self) -> None:
        self.released = threading.Event()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        del spans
        self.released.wait()
        return SpanExportResult.FAILURE


def test_a_collector_that_never_answers_holds_up_no_end(monkeypatch):
    """Neither the closing nor the event loop, which waits for the threads that it has lent, takes its time."""
    monkeypatch.setattr(spans, "CLOSE_SECONDS", 0.1)
    silent = Silent()
    tracing = tracing_to(BatchSpanProcessor(silent), "test")
    with tracing.serving("GET", {}):
        pass
    ending = threading.Thread(target=lambda: asyncio.run(tracing.close()), daemon=True)
    ending.start()
    ending.join(10)
    held_up = ending.is_alive()
    silent.released.set()
    assert not held_up
