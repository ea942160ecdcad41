"""Tracing by OpenTelemetry: spans of this process and of its Temporal calls, without the texts of any of them."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from temporalio.contrib.opentelemetry import TracingInterceptor

from mem.parsing.redact import redact

SCOPE = "mem"
CLOSE_SECONDS = 3.0
"""So long a process that ends waits for its last spans to be taken."""

_REMOTE = TraceContextTextMapPropagator()
"""Not the baggage that comes with it: a caller would put any text into our histories."""


class Served:
    """The span of a request that is being answered."""

    def __init__(self, span: trace.Span, method: str) -> None:
        self._span = span
        self._method = method

    def ended(self, route: str, status: int | None) -> None:
        """Name the span by its route, and tell what became of the request; without a status the caller left."""
        self._span.update_name(f"{self._method} {route}")
        self._span.set_attribute("http.route", route)
        if status is not None:
            self._span.set_attribute("http.response.status_code", status)
        if status is not None and status >= 500:
            self._span.set_status(Status(StatusCode.ERROR))


class Tracing:
    """Makes spans, and has the SDK of Temporal make its own."""

    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer(SCOPE)
        self.interceptors = (TracingInterceptor(self._tracer),)
        """Of a client, and by it of its workers. What a replay repeats is no span again."""

    @contextmanager
    def span(self, name: str, attributes: Mapping[str, str | int]) -> Iterator[None]:
        """A span below the current one; none where there is none, since housekeeping belongs to nobody's request."""
        if not trace.get_current_span().get_span_context().is_valid:
            yield
            return
        with self._tracer.start_as_current_span(name, kind=SpanKind.CLIENT, attributes=dict(attributes)):
            yield

    @contextmanager
    def serving(self, method: str, headers: Mapping[str, str]) -> Iterator[Served]:
        """The span of a request, below that of the caller where `traceparent` names one."""
        context = _REMOTE.extract(headers)
        attributes = {"http.request.method": method}
        with self._tracer.start_as_current_span(
            method, context=context, kind=SpanKind.SERVER, attributes=attributes
        ) as span:
            yield Served(span, method)

    async def close(self) -> None:
        """Send what there is left, as far as somebody takes it in time."""
        loop, closed = asyncio.get_running_loop(), asyncio.Event()

        def shut() -> None:
            self._provider.shutdown()
            with suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(closed.set)

        # No thread of the loop's own: it would wait for that one when it ends.
        threading.Thread(target=shut, daemon=True).start()
        with suppress(TimeoutError):
            await asyncio.wait_for(closed.wait(), CLOSE_SECONDS)


def exporting(service: str) -> Tracing:
    """Tracing that sends its spans to where OpenTelemetry's environment variables say."""
    return tracing_to(BatchSpanProcessor(Discreet(OTLPSpanExporter())), service)


def tracing_to(processor: BatchSpanProcessor, service: str) -> Tracing:
    """Tracing that hands its spans to a processor."""
    provider = TracerProvider(resource=Resource.create({"service.name": service}), shutdown_on_exit=False)
    provider.add_span_processor(processor)
    return Tracing(provider)


class Discreet(SpanExporter):
    """An exporter that is told no texts: of a fault its kind alone, and names as they may stand in a log."""

    def __init__(self, to: SpanExporter) -> None:
        self._to = to

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Pass the spans on without what they must not carry."""
        return self._to.export([_without_texts(span) for span in spans])

    def shutdown(self) -> None:
        """Stop."""
        self._to.shutdown()

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        """Send what is held back."""
        return self._to.force_flush(timeout_millis)


def _without_texts(span: ReadableSpan) -> ReadableSpan:
    described = span.status.description
    return ReadableSpan(
        name=span.name,
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes={
            name: _redacted(value) if isinstance(value, str) else value
            for name, value in (span.attributes or {}).items()
        },
        events=[_without_message(event) for event in span.events],
        links=span.links,
        kind=span.kind,
        status=Status(span.status.status_code, described.split(":", 1)[0] if described else None),
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def _without_message(event: Event) -> Event:
    kept = {name: value for name, value in (event.attributes or {}).items() if name == "exception.type"}
    return Event(event.name, kept, event.timestamp)


@functools.lru_cache(maxsize=4096)
def _redacted(value: str) -> str:
    return redact(value).text
