"""A Postgres of its own for a measurement: the embedded server alone, without Temporal."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

from mem.domain.errors import Unavailable
from mem.local import StackHome
from mem.local.place import Placement, place, unprivileged_user, wheel_package
from mem.local.ports import choose
from mem.local.postgres import check, make_cluster, server, url
from mem.local.processes import POLL_SECONDS, RunAs, end_child, failure, spawn


@asynccontextmanager
async def running_postgres() -> AsyncIterator[str]:
    """The address of an empty database, which is gone afterwards.

    Raises:
        StackError: the server did not start.
    """
    with tempfile.TemporaryDirectory(prefix="mem-bench-") as folder:
        home, user = StackHome.at(Path(folder) / "home"), unprivileged_user()
        placement = _placed(Path(folder), home, user)
        password, port = await make_cluster(home, placement, user), choose("--postgres-port", None, set())
        launch = server(home, placement, user, port)
        launch = replace(launch, argv=(*launch.argv, "-c", "fsync=off", "-c", "synchronous_commit=off"))
        process = await spawn(launch)
        try:
            address = url(password, port)
            await _until_it_answers(address, process)
            if process.returncode is not None:
                raise failure(launch, "ended")
            yield address
        finally:
            await end_child(process, launch.stop_signal, launch.grace)


def _placed(folder: Path, home: StackHome, user: RunAs | None) -> Placement:
    folder.chmod(0o711)
    home.make()
    return place(home, wheel_package(), folder / "state", user)


async def _until_it_answers(address: str, process: asyncio.subprocess.Process) -> None:
    """Wait for the server, or for its end."""
    while process.returncode is None:
        with suppress(Unavailable):
            return await check(address)
        await asyncio.sleep(POLL_SECONDS)
    return None
