"""What a process writes as its log, configured as in production, and as it was before afterwards."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from mem.logs import log_to


@contextmanager
def written_logs() -> Iterator[io.StringIO]:
    before, handlers, level = structlog.get_config(), logging.root.handlers[:], logging.root.level
    written = io.StringIO()
    log_to(written)
    try:
        yield written
    finally:
        logging.captureWarnings(capture=False)
        structlog.configure(**before)
        logging.basicConfig(handlers=handlers, level=level, force=True)
