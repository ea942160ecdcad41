"""How a process ends that has used Temporal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import NoReturn


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
