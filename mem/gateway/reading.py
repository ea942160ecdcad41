"""The gateway's way to the store, which it can do without: what the worker answers needs no database here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import TYPE_CHECKING, Self

from mem.domain.errors import Unavailable
from mem.domain.faults import not_installed
from mem.domain.gaps import GapsAnswer, GapsRequest
from mem.domain.shown import ShownMemory
from mem.ports.watching import Spans

if TYPE_CHECKING:
    from mem.reading import Reader


class Reading:
    """Opens the database when it is first asked for; where that fails, again at the next request."""

    def __init__(self, database_url: str | None, *, spans: Spans | None = None) -> None:
        self._url = database_url
        self._spans = spans
        self._opened = AsyncExitStack()
        self._opening: asyncio.Task[Reader] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.wait([self._opening])
        await self._opened.aclose()

    @property
    def configured(self) -> bool:
        """Whether there is a database here to read from."""
        return self._url is not None

    async def check(self) -> None:
        """Return if the database answers.

        Raises:
            ConfigurationError: it is not migrated.
            Unavailable: there is none here, or it does not answer.
        """
        await (await self._reader()).check()

    async def gaps(self, request: GapsRequest, *, readable: Collection[str] | None = None) -> GapsAnswer:
        """The failures that no memory explains, in the readable projects; None: in all.

        Raises:
            ConfigurationError: the database is not migrated.
            Unavailable: there is no database here, or it does not answer.
        """
        return await (await self._reader()).gaps(request, readable=readable)

    async def show(self, sha: str, *, readable: Collection[str] | None = None) -> ShownMemory:
        """One memory of the readable projects, None for all, by its sha or an unambiguous prefix of it.

        Raises:
            InvalidRequest: `sha` is no hex of 4 to 64 digits.
            NotFound: no memory that everybody may read begins with it, or several do.
            ConfigurationError: the database is not migrated.
            Unavailable: there is no database here, or it does not answer.
        """
        return await (await self._reader()).show(sha, readable=readable)

    async def _reader(self) -> Reader:
        """The open database; all who ask at once wait for one attempt."""
        if self._opening is None or (self._opening.done() and self._opening.exception() is not None):
            self._opening = asyncio.create_task(self._open())
        return await asyncio.shield(self._opening)

    async def _open(self) -> Reader:
        if self._url is None:
            raise Unavailable(
                "This gateway knows no database, and what is asked is read from there.",
                "Set MEM_DATABASE_URL where the gateway runs, and start it again.",
            )
        open_reader = await asyncio.to_thread(_imported)
        return await self._opened.enter_async_context(open_reader(self._url, spans=self._spans))


def _imported() -> Callable[..., AbstractAsyncContextManager[Reader]]:
    """What opens the store: half a second to import, and only with the extra `worker`."""
    try:
        from mem.reading import open_reader  # noqa: PLC0415 - a gateway without a database needs none of it
    except ModuleNotFoundError as error:
        missing = not_installed(error, "worker")
        raise Unavailable(f"This gateway cannot read the database: {missing.cause}", missing.remedy) from error
    return open_reader
