"""The one Temporal runtime of a process: what the SDK's core logs and counts, and where that goes."""

from __future__ import annotations

import logging
from typing import NamedTuple

from temporalio.runtime import (
    LogForwardingConfig,
    LoggingConfig,
    PrometheusConfig,
    Runtime,
    TelemetryConfig,
    TelemetryFilter,
)

from mem.domain.errors import ConfigurationError

CORE_LOGGER = "temporalio.core"
"""What the core logs comes out here, by Python's logging; a program that configures none hears nothing of it."""


SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
BUCKETS = {"mem_worker_answer_seconds": SECONDS, "mem_model_seconds": SECONDS}
"""Bounds of what is measured beside the SDK's own histograms."""


class _Made(NamedTuple):
    runtime: Runtime
    metrics: str | None


_made: list[_Made] = []


def start_runtime(metrics_address: str | None) -> Runtime:
    """Make the runtime of this process, before its first connection; another one is none.

    Args:
        metrics_address: host and port where Prometheus finds what the SDK and this process count; None: nothing is.

    Raises:
        ConfigurationError: it is no such address, or it is taken; or the process has connected without metrics.
    """
    if not _made:
        _made.append(_Made(make_runtime(metrics_address), metrics_address))
    if _made[0].metrics != metrics_address:
        raise ConfigurationError(
            "This process has connected to Temporal without serving metrics.", "Start the runtime before connecting."
        )
    return _made[0].runtime


def process_runtime() -> Runtime:
    """The runtime of this process; made without metrics where it was not started."""
    return _made[0].runtime if _made else start_runtime(None)


def make_runtime(metrics_address: str | None) -> Runtime:
    """A runtime that logs to Python's logging alone, and serves metrics there; a process should have one.

    Raises:
        ConfigurationError: it is no such address, or it is taken.
    """
    metrics = _exposed(metrics_address)
    try:
        return Runtime(telemetry=TelemetryConfig(logging=_forwarded(), metrics=metrics, attach_service_name=False))
    except ValueError as error:
        raise ConfigurationError(
            f"Metrics cannot be served at MEM_METRICS_ADDRESS {metrics_address!r}: {error}.",
            "Set it to an IP address of this machine and a free port, such as 127.0.0.1:9464; `mem up` gives the next "
            "port to its writer.",
        ) from error


def _forwarded() -> LoggingConfig:
    """Never to stdout, which is where the core itself would write."""
    logger = logging.getLogger(CORE_LOGGER)
    # Else Python writes what nobody asked for to stderr.
    logger.addHandler(logging.NullHandler())
    return LoggingConfig(
        filter=TelemetryFilter(core_level="WARN", other_level="ERROR"),
        forwarding=LogForwardingConfig(logger, append_target_to_name=False, prepend_target_on_message=False),
    )


def _exposed(address: str | None) -> PrometheusConfig | None:
    if address is None:
        return None
    return PrometheusConfig(
        bind_address=address,
        counters_total_suffix=True,
        unit_suffix=True,
        durations_as_seconds=True,
        histogram_bucket_overrides=BUCKETS,
    )
