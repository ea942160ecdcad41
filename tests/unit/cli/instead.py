"""What commands reach in these tests, instead of a worker and a database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest


def connect(monkeypatch: pytest.MonkeyPatch, command: str, client: Any) -> None:
    """Have the commands of a module reach this client; an error is what connecting ends with."""

    async def connected() -> Any:
        if isinstance(client, Exception):
            raise client
        return client

    monkeypatch.setattr(f"mem.cli.{command}.connected", connected)


def open_ports(monkeypatch: pytest.MonkeyPatch, **ports: Any) -> None:
    """Have commands open these ports, however they open a store."""

    @asynccontextmanager
    async def opened(*_: Any) -> AsyncIterator[SimpleNamespace]:
        yield SimpleNamespace(**ports)

    monkeypatch.setattr("mem.wiring.open_ports", opened)
    monkeypatch.setattr("mem.wiring.open_store", opened)


def open_reader(monkeypatch: pytest.MonkeyPatch, **reads: Any) -> list[str]:
    """Have commands read by these functions; the addresses of the databases that they open."""
    urls: list[str] = []

    @asynccontextmanager
    async def opened(url: str) -> AsyncIterator[SimpleNamespace]:
        urls.append(url)
        yield SimpleNamespace(**reads)

    monkeypatch.setenv("MEM_DATABASE_URL", "postgresql://db/mem")
    monkeypatch.setattr("mem.reading.open_reader", opened)
    return urls
