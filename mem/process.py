"""A process of ours that runs for long: its log, its one clear line where it cannot start, and its end."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn

from pydantic import ValidationError

from mem.clients.temporal.ending import end_with
from mem.domain.errors import MemError
from mem.domain.faults import told
from mem.logs import log_to


def run_process(serve: Callable[[], Coroutine[Any, Any, None]]) -> NoReturn:
    """Run what serves until it ends, and end the process with it; `serve` is called in here, and may read settings."""
    log_to(sys.stderr)
    end_with(lambda: _served(serve))


def _served(serve: Callable[[], Coroutine[Any, Any, None]]) -> int:
    try:
        asyncio.run(serve())
    except MemError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    except ValidationError as error:
        sys.stderr.write(f"error: the environment: {told(error)}\n")
        return 2
    return 0
