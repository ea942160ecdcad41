"""A process of ours that runs for long: its log, its one clear line where it cannot start, and its end."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn

from pydantic import ValidationError

from mem.clients.temporal.ending import end
from mem.domain.errors import MemError
from mem.domain.faults import told
from mem.logs import log_to


def run_process(serve: Callable[[], Coroutine[Any, Any, None]]) -> NoReturn:
    """Run what serves until it ends, and end the process with it; `serve` is called in here, and may read settings."""
    log_to(sys.stderr)
    code = 0
    try:
        asyncio.run(serve())
    except MemError as error:
        sys.stderr.write(f"error: {error}\n")
        code = 1
    except ValidationError as error:
        sys.stderr.write(f"error: the environment: {told(error)}\n")
        code = 2
    end(code)
