"""The process of a door: its log, its one clear line where it cannot start, and its end."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn

from pydantic import ValidationError

from mem.clients.temporal.ending import end
from mem.domain.errors import MemError
from mem.domain.faults import told


def run_door(serve: Callable[[], Coroutine[Any, Any, None]]) -> NoReturn:
    """Run what serves until it ends, and end the process with it; `serve` is called in here, and may read settings."""
    logging.basicConfig(
        level=logging.WARNING, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s %(message)s"
    )
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
