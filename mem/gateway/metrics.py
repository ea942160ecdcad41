"""What the gateway counts, for Prometheus. Every label has few values, none of which a caller chooses."""

from __future__ import annotations

from collections.abc import Sequence

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

from mem.domain.accepting import AcceptAnswer
from mem.domain.grounding import GroundAnswer, SourceBreakdown
from mem.domain.lookup import ContextAnswer
from mem.domain.query import QueryAnswer

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 100.0)
CONTENT_TYPE = CONTENT_TYPE_LATEST


class Metrics:
    """The counters of one gateway, in a registry of its own."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry
        ProcessCollector(registry=registry)

        def counter(name: str, told: str, *labels: str) -> Counter:
            return Counter(name, told, labels, registry=registry)

        self._requests = counter("mem_http_requests", "Requests that ended", "method", "route", "status")
        self._seconds = Histogram(
            "mem_http_request_seconds",
            "From the head of a request to the end of its answer",
            ["route"],
            registry=registry,
            buckets=SECONDS,
        )
        self._in_flight = Gauge("mem_http_requests_in_flight", "Requests that are worked on", registry=registry)
        self._held = Gauge("mem_http_body_bytes_in_flight", "Bytes of bodies let in", registry=registry)
        self._shed = counter("mem_http_shed", "Requests refused with 503 under load", "reason")
        self._refused = counter("mem_http_refused_connections", "What was refused before it was a request", "status")
        self._received = counter("mem_http_received_bytes", "Bytes of request bodies")
        self._sent = counter("mem_http_sent_bytes", "Bytes of answers")
        self._gone = counter("mem_http_gone", "Callers who left before their answer")
        self._conflicts = counter("mem_request_conflicts", "Request ids used again with another body")
        self._lookups = counter("mem_lookups", "Answered lookups by their best tier", "tier")
        self._abstentions = counter("mem_abstentions", "Answers without any memory", "operation")
        self._degraded = counter("mem_degraded_legs", "Legs that could not contribute to an answer", "operation", "leg")
        self._acceptances = counter("mem_acceptances", "Answered candidates by outcome", "outcome")

    def begun(self) -> None:
        """A request came."""
        self._in_flight.inc()

    def ended(self, method: str, route: str, status: int | None, seconds: float, received: int, sent: int) -> None:
        """A request ended; without a status where nobody waited for it any more."""
        self._in_flight.dec()
        known = method if method in METHODS else "other"
        self._requests.labels(known, route, "none" if status is None else str(status)).inc()
        self._seconds.labels(route).observe(seconds)
        self._received.inc(received)
        self._sent.inc(sent)
        if status is None:
            self._gone.inc()
        if status == 409:
            self._conflicts.inc()

    def shed(self, reason: str) -> None:
        """A request was refused since there are too many, or too many bytes of them."""
        self._shed.labels(reason).inc()

    def held(self, held: int) -> None:
        """How many bytes of bodies are let in now."""
        self._held.set(held)

    def refused(self, status: int) -> None:
        """A connection was refused, or what came on it."""
        self._refused.labels(str(status)).inc()

    def answered(self, answer: object) -> None:
        """What an answer says; one that is sent again counts again."""
        match answer:
            case ContextAnswer():
                self._lookups.labels("none" if answer.tier is None else str(answer.tier)).inc()
                self._told("context", abstained=answer.tier is None, legs=[one.leg for one in answer.degraded])
            case QueryAnswer():
                self._told("query", abstained=not answer.hits, legs=[one.leg for one in answer.degraded])
            case GroundAnswer():
                self._told("ground", abstained=not answer.has_usable_context, legs=_unread(answer.diagnostics.warnings))
            case AcceptAnswer():
                self._acceptances.labels(answer.status).inc()
            case _:
                pass

    def _told(self, operation: str, *, abstained: bool, legs: Sequence[str]) -> None:
        if abstained:
            self._abstentions.labels(operation).inc()
        for leg in legs:
            self._degraded.labels(operation, leg).inc()

    def text(self) -> bytes:
        """All of it in Prometheus' text format."""
        return generate_latest(self._registry)


def _unread(warnings: Sequence[str]) -> list[str]:
    """The sources that a context is made without."""
    named = [warning.partition(" could not be read: ") for warning in warnings]
    return [source for source, told, _ in named if told and source in SourceBreakdown.model_fields]
