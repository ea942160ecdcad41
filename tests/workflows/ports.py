"""Ports that fail, wait or lose the answer, in front of real ones."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from mem.domain.errors import ConfigurationError, ControllerRefused, Unavailable


class Wrapped:
    """Passes everything on to a real port, but for the methods that a test replaces."""

    def __init__(self, real: Any, **replaced: Callable[..., Any]) -> None:
        self._real = real
        self._replaced = replaced

    def __getattr__(self, name: str) -> Any:
        return self._replaced.get(name) or getattr(self._real, name)


class Switch:
    """A method that fails while it is `on`; counts the calls that failed."""

    def __init__(self, real: Callable[..., Any], *, times: int | None = None) -> None:
        self._real = real
        self._left = times
        self.on = True
        self.failed = 0

    async def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.on and self._left != 0:
            self._left = None if self._left is None else self._left - 1
            await self.precede(*args, **kwargs)
            self.failed += 1
            return await self.fail(*args, **kwargs)
        return await self._real(*args, **kwargs)

    async def precede(self, *args: Any, **kwargs: Any) -> None:
        """What is done before the failure, and is done for good once the call counts as failed."""

    async def fail(self, *args: Any, **kwargs: Any) -> Any:
        raise Unavailable("The database is away.", "Wait for it.")


class Slow(Switch):
    """A method that answers too late for anybody."""

    async def fail(self, *args: Any, **kwargs: Any) -> Any:
        await asyncio.sleep(60)


class Refusing(Switch):
    """A method that asks a model which will not answer."""

    async def fail(self, *args: Any, **kwargs: Any) -> Any:
        raise ControllerRefused("The model declined.", "Ask again.")


class Misconfigured(Switch):
    """A method that cannot work until somebody mends the configuration."""

    async def fail(self, *args: Any, **kwargs: Any) -> Any:
        raise ConfigurationError("The database was not migrated.", "Run `mem migrate`.")


class LostAcknowledgement(Switch):
    """A method that does its work, and whose answer is lost: it never comes, or an error comes instead."""

    hangs = True

    async def precede(self, *args: Any, **kwargs: Any) -> None:
        await self._real(*args, **kwargs)

    async def fail(self, *args: Any, **kwargs: Any) -> Any:
        if self.hangs:
            await asyncio.sleep(60)
        raise Unavailable("The connection was lost.", "Ask again.")


class Gate:
    """A method that waits, until it is opened, before it does its work."""

    def __init__(self, real: Callable[..., Any]) -> None:
        self._real = real
        self.entered = asyncio.Event()
        self.opened = asyncio.Event()
        self.calls = 0

    async def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        self.entered.set()
        await self.opened.wait()
        return await self._real(*args, **kwargs)
