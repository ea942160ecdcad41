"""The log of the gateway: one line of JSON for each event, on a logger of its own."""

from __future__ import annotations

from typing import TextIO, cast

import structlog

from mem.gateway.observing import Log


def log_to(stream: TextIO) -> Log:
    """A log that writes to `stream`; line feeds in values are escaped, so an event is one line whatever it holds."""
    logger = structlog.wrap_logger(
        structlog.PrintLogger(stream),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ],
    )
    return cast("Log", logger)
