"""The log of a process: one line of JSON for each event, of whatever library it comes, in one shape."""

from __future__ import annotations

import logging
import sys
import traceback
from typing import Any, TextIO

import structlog
from structlog.typing import EventDict, Processor

MAX_TOLD = 500
"""Characters of what a library says, which may quote what it was given."""

FRAMES = 12
"""So many places of a fault are named, the innermost last."""


def log_to(stream: TextIO) -> None:
    """Write each event of this process to `stream`, those of Python's own logging too.

    Line feeds are escaped, so that an event is one line whatever it holds. A fault is told by its kind, its place and
    the first line of what it says, redacted: the lines below it quote rows and inputs.
    """
    structlog.configure(
        processors=[*_shared(), structlog.processors.JSONRenderer()],
        logger_factory=structlog.PrintLoggerFactory(stream),
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, _quoted, *_shared()],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(),
            ],
        )
    )
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    # Python would write them to stderr past all this, each on two lines.
    logging.captureWarnings(capture=True)


def _shared() -> list[Processor]:
    return [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _traced,
        _fault,
    ]


def _quoted(_: Any, __: str, event: EventDict) -> EventDict:
    """What another library says, bounded and redacted."""
    event["event"] = told(str(event["event"]))
    return event


def told(text: str) -> str:
    """A text of somebody else as it may stand in a log."""
    from mem.parsing.redact import redact_beginning  # noqa: PLC0415 - half a second to import, and most processes quote nothing

    return redact_beginning(text)[:MAX_TOLD]


def _fault(_: Any, __: str, event: EventDict) -> EventDict:
    """A fault without the texts that it carries."""
    given = event.pop("exc_info", None)
    error = given[1] if isinstance(given, tuple) else sys.exc_info()[1] if given is True else given
    if isinstance(error, BaseException):
        lines = str(error).splitlines() or [""]
        frames = traceback.extract_tb(error.__traceback__)[-FRAMES:]
        event["kind"] = type(error).__name__
        event["told"] = told(lines[0])
        event["at"] = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    return event


def _traced(_: Any, __: str, event: EventDict) -> EventDict:
    """The trace that the event belongs to, where this process traces; only then the package is loaded."""
    api: Any = sys.modules.get("opentelemetry.trace")
    context = None if api is None else api.get_current_span().get_span_context()
    if context is not None and context.is_valid:
        event["trace_id"] = f"{context.trace_id:032x}"
        event["span_id"] = f"{context.span_id:016x}"
    return event
