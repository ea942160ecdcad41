"""How a process is, for whoever watches it from outside: it tells in a file, and `python -m mem.health` reads and asks.

The command runs every few seconds beside each process, so it imports the standard library alone and takes 30 ms.

    python -m mem.health          exit 0 while the process can do its work: a worker polls its queues, a door is ready
    python -m mem.health --live   exit 0 while it is responsive, whether or not Temporal answers

One line on stdout says why not.
"""

from __future__ import annotations

import http.client
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FILE = "MEM_HEALTH_FILE"
FRESH_SECONDS = 60.0
"""A worker tells every ten seconds; so long it may be busy, or wait for a server that does not answer."""
ANSWER_SECONDS = 6.0

ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - addresses that are listened at, not ours to choose


def tell(file: Path, state: Mapping[str, Any]) -> None:
    """Put a state in the place of the last one; a reader finds the one or the other, whole.

    Raises:
        OSError: the file cannot be written.
    """
    new = file.with_name(f"{file.name}.{os.getpid()}")
    new.write_text(json.dumps(state), encoding="utf-8")
    new.replace(file)


def forget(file: Path) -> None:
    """Tell nothing any more."""
    file.unlink(missing_ok=True)


@contextmanager
def telling_door(file: Path | None, host: str, port: int, *, ready: str = "/readyz") -> Iterator[None]:
    """Tell meanwhile where this process answers; None: nobody asks.

    Args:
        file: see `tell`.
        host: the address that it listens at.
        port: likewise.
        ready: the path that answers 200 while it can do its work; `/healthz` does while it is responsive.

    Raises:
        OSError: the file cannot be written.
    """
    if file is None:
        yield
        return
    tell(file, {"host": ANYWHERE.get(host, host), "port": port, "ready": ready, "live": "/healthz"})
    try:
        yield
    finally:
        forget(file)


def fault(file: Path, *, live: bool = False) -> str | None:
    """What is wrong with the process that tells in a file; None: nothing.

    Args:
        file: see `tell`.
        live: ask whether it is responsive, not whether it can do its work.
    """
    try:
        state = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return f"{file} is not there: the process has not come so far yet, or has ended"
    except (OSError, ValueError) as error:
        return f"{file} cannot be read: {error}"
    try:
        return _fault_of_door(state, live=live) if "port" in state else _fault_of_worker(state, live=live)
    except (AttributeError, KeyError, TypeError, ValueError):
        return f"{file} holds no state of a process"


def _fault_of_door(state: Mapping[str, Any], *, live: bool) -> str | None:
    path = str(state["live" if live else "ready"])
    connection = http.client.HTTPConnection(str(state["host"]), int(state["port"]), timeout=ANSWER_SECONDS)
    try:
        connection.request("GET", path)
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        return f"{path} does not answer: {error}"
    finally:
        connection.close()
    return None if status == 200 else f"{path} answers with status {status}"


def _fault_of_worker(state: Mapping[str, Any], *, live: bool) -> str | None:
    age = time.monotonic() - float(state["told"])
    if age < 0:
        return "the worker told of itself before this machine was started"
    if age > FRESH_SECONDS:
        return f"the worker last told of itself {age:.0f} s ago"
    if live:
        return None
    return next((f"task queue {queue}: {told}" for queue, told in sorted(state["queues"].items()) if told), None)


def main() -> int:
    """Tell how the process is; 0: well, 1: not, 2: it was not told where to look."""
    given = os.environ.get(FILE, "").strip()
    if not given:
        sys.stdout.write(f"{FILE} is not set: set it for the process and for this command.\n")
        return 2
    found = fault(Path(given), live="--live" in sys.argv[1:])
    sys.stdout.write(f"{found or 'well'}\n")
    return 0 if found is None else 1


if __name__ == "__main__":
    sys.exit(main())
