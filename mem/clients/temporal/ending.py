"""How a process ends that has used Temporal."""

from __future__ import annotations

import os
import sys
from typing import NoReturn


def end(code: int) -> NoReturn:
    """End this process with an exit code, its output written.

    The Temporal core's threads can abort the interpreter while it shuts down, which would change the code: so it does
    not shut down. What waits to be called at exit is not.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
