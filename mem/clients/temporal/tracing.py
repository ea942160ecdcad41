"""Whether this process traces: by OpenTelemetry's own environment variables, and not unless they name an exporter."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from mem.domain.errors import ConfigurationError
from mem.domain.faults import not_installed

if TYPE_CHECKING:
    from mem.clients.temporal.spans import Tracing

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")


@asynccontextmanager
async def open_tracing(service: str, environment: Mapping[str, str]) -> AsyncIterator[Tracing | None]:
    """What traces, until it has sent what it has; None where nothing shall be traced.

    Args:
        service: names this process where OTEL_SERVICE_NAME does not.

    Raises:
        ConfigurationError: the environment names an exporter that there is none of, or the extra is not installed.
    """
    if not _wanted(environment):
        yield None
        return
    try:
        from mem.clients.temporal.spans import exporting  # noqa: PLC0415 - only with the extra `telemetry`
    except ModuleNotFoundError as error:
        raise not_installed(error, "telemetry") from error
    tracing = exporting(environment.get("OTEL_SERVICE_NAME") or service)
    try:
        yield tracing
    finally:
        await tracing.close()


def _wanted(environment: Mapping[str, str]) -> bool:
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    exporter = environment.get("OTEL_TRACES_EXPORTER", "").strip().lower()
    if exporter not in {"", "none", "otlp"}:
        raise ConfigurationError(f"OTEL_TRACES_EXPORTER is {exporter!r}.", "Set it to otlp or none, or unset it.")
    if exporter == "none" or not (exporter or any(environment.get(name) for name in ENDPOINTS)):
        return False
    protocol = next((found for name in PROTOCOLS if (found := environment.get(name))), "http/protobuf")
    if protocol != "http/protobuf":
        raise ConfigurationError(
            f"Spans are sent by http/protobuf alone, and the environment asks for {protocol!r}.",
            "Unset OTEL_EXPORTER_OTLP_PROTOCOL, and name the collector's port for HTTP, by default 4318.",
        )
    return True
