"""A receiver of OTLP over HTTP on loopback, which keeps the spans that it is sent."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span


class Collector:
    """The spans that came, and every byte of them."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self.spans: list[Span] = []
        self.services: set[str] = set()
        self.received = b""

    def take(self, body: bytes) -> None:
        self.received += body
        for group in ExportTraceServiceRequest.FromString(body).resource_spans:
            names = {pair.key: pair.value.string_value for pair in group.resource.attributes}
            self.services.add(names["service.name"])
            self.spans += [span for scope in group.scope_spans for span in scope.spans]

    def named(self, name: str) -> list[Span]:
        return [span for span in self.spans if span.name == name]

    def way_up(self, span: Span) -> list[str]:
        """The names from a span up to its root."""
        by_id = {one.span_id: one for one in self.spans}
        names = [span.name]
        while (parent := by_id.get(span.parent_span_id)) is not None:
            span = parent
            names.append(span.name)
        return names


@contextmanager
def collecting() -> Iterator[Collector]:
    """Serve until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            collector.take(self.rfile.read(int(self.headers["Content-Length"])))
            body = ExportTraceServiceResponse().SerializeToString()
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector = Collector(f"http://127.0.0.1:{server.server_port}")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
