"""How a process ends that has used Temporal."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable
from datetime import timedelta
from typing import NoReturn

log = logging.getLogger(__name__)


def end(code: int) -> NoReturn:
    """End this process with an exit code, its output written.

    The Temporal core's threads can abort the interpreter while it shuts down, which would change the code: so it does
    not shut down. What waits to be called at exit is not.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            # Nobody reads it any more.
            continue
    os._exit(code)


def end_with(work: Callable[[], int | None]) -> NoReturn:
    """Do the work of this process and end it with the exit code that comes of it: 1 where it breaks, its trace told."""
    try:
        code = work() or 0
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else int(left.code is not None)
    except KeyboardInterrupt:
        code = 130
    except BaseException as error:  # noqa: BLE001 - whatever it is, the interpreter must not end by itself
        sys.excepthook(type(error), error, error.__traceback__)
        code = 1
    end(code)


def stopped_by_signals(longest: timedelta) -> asyncio.Event:
    """Is set by SIGTERM or SIGINT; a second one ends the process at once, with the code of a signal.

    Args:
        longest: so long what serves may take to end then. A server that has fallen silent holds up the closing of every
            connection to it; after this the process ends with code 1.
    """
    stop, loop = asyncio.Event(), asyncio.get_running_loop()

    def received(number: int) -> None:
        if stop.is_set():
            end(128 + number)
        stop.set()
        loop.call_later(longest.total_seconds(), _overdue, longest)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, received, number)
    return stop


def _overdue(longest: timedelta) -> None:
    log.error("ended without closing all after %.1f s", longest.total_seconds())
    end(1)
