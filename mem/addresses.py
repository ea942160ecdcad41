"""Where the parts are: what the environment says, else what the embedded stack wrote into its stack.json."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from mem.domain.errors import ConfigurationError
from mem.settings import Settings


class Addresses(NamedTuple):
    """The addresses that are known; None where neither environment nor stack names one."""

    home: Path
    database_url: str | None
    temporal: str | None
    namespace: str | None
    http: str | None
    ui: str | None
    task_queue: str

    def need_database(self) -> str:
        """The database URL.

        Raises:
            ConfigurationError: none is known.
        """
        if self.database_url is None:
            raise ConfigurationError(
                f"No database is known: MEM_DATABASE_URL is not set and no stack runs in {self.home}.",
                "Start one with `mem up`, or set MEM_DATABASE_URL.",
            )
        return self.database_url

    def need_temporal(self) -> str | None:
        """The Temporal address; None where Temporal's own profile file names it.

        Raises:
            ConfigurationError: none is known.
        """
        if self.temporal is None and "TEMPORAL_CONFIG_FILE" not in os.environ and "TEMPORAL_PROFILE" not in os.environ:
            raise ConfigurationError(
                f"No Temporal server is known: TEMPORAL_ADDRESS is not set and no stack runs in {self.home}.",
                "Start one with `mem up`, or set TEMPORAL_ADDRESS.",
            )
        return self.temporal


def find_addresses(settings: Settings) -> Addresses:
    """Look them up; nothing is contacted."""
    home = settings.home.expanduser().resolve()
    stack = _stack_file(home)
    temporal = stack.get("temporal", {})
    return Addresses(
        home=home,
        database_url=settings.database_url or stack.get("database_url"),
        temporal=settings.temporal_address or temporal.get("address"),
        namespace=settings.temporal_namespace or (None if settings.temporal_address else temporal.get("namespace")),
        http=stack.get("http"),
        ui=None if _elsewhere(settings, stack) else stack.get("ui"),
        task_queue=_task_queue(settings, stack),
    )


def _task_queue(settings: Settings, stack: dict[str, Any]) -> str:
    """The one that is named, else that of the stack's worker, unless another Temporal than the stack's is meant."""
    if "task_queue" in settings.model_fields_set or _elsewhere(settings, stack):
        return settings.task_queue
    return str(stack.get("task_queue") or settings.task_queue)


def _elsewhere(settings: Settings, stack: dict[str, Any]) -> bool:
    """Whether another Temporal than the stack's is meant."""
    return settings.temporal_address not in (None, stack.get("temporal", {}).get("address"))


def _stack_file(home: Path) -> dict[str, Any]:
    try:
        data = json.loads((home / "stack.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}
