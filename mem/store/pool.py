"""Connections to Postgres: opened, set up for vector search, and forgiving of a blip."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, LiteralString, TypeVar

import psycopg
from pgvector.psycopg import register_vector_async
from psycopg import AsyncConnection, conninfo
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, PoolTimeout
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_delay, wait_random_exponential

from mem.domain.errors import ConfigurationError, InvalidRequest, Unavailable
from mem.ports.watching import Spans
from mem.store.queries import sql
from mem.store.traced import traced_cursor

Connection = AsyncConnection[TupleRow]
Pool = AsyncConnectionPool[Connection]
Outcome = TypeVar("Outcome")

_CONNECT_SECONDS = 5
_CHECKOUT_SECONDS = 5.0
_RETRY_SECONDS = 1.0

_BLIPS = frozenset(
    {
        "40001",  # serialization failure: another transaction was first
        "40P01",  # deadlock: one of the two was chosen to start again
        "57P01",  # the server is shutting down and will be back
        "57P02",  # another backend crashed and took this one along
        "57P03",  # the server is starting
    }
)


_CALLERS_CHARACTERS = frozenset(
    {
        None,  # psycopg itself refuses a NUL
        "22021",  # not in the database's character set
        "22P05",  # has no equivalent there
    }
)


async def open_pool(
    url: str,
    *,
    size: int = 8,
    statement_timeout_ms: int | None = None,
    read_only: bool = False,
    keep_plans: bool = False,
    spans: Spans | None = None,
) -> Pool:
    """Open a pool of up to `size` connections; a statement that takes longer than the timeout is ended.

    With `read_only` the database refuses whatever would change anything. With `keep_plans` a statement is planned once
    on a connection, whatever its parameters are: for those that take longer to plan than to run. With `spans` each
    statement is one.

    Raises:
        ConfigurationError: `url` is no connection string, or the database was not migrated.
        Unavailable: the database does not answer.
    """

    async def configure(connection: Connection) -> None:
        await connection.execute(sql("session.settings"))
        if statement_timeout_ms is not None:
            await connection.execute(sql("session.statement_timeout"), {"milliseconds": str(statement_timeout_ms)})
        if keep_plans:
            await connection.execute(sql("session.keep_plans"))
        if read_only:
            await connection.execute(sql("session.read_only"))
        await register_vector_async(connection)

    await _probe(url, configure)
    pool: Pool = AsyncConnectionPool(
        url,
        connection_class=AsyncConnection[TupleRow],
        kwargs={"autocommit": True, "connect_timeout": _CONNECT_SECONDS, **_traced(spans)},
        min_size=1,
        max_size=size,
        timeout=_CHECKOUT_SECONDS,
        configure=configure,
        open=False,
    )
    try:
        await pool.open(wait=True, timeout=_CONNECT_SECONDS)
    except PoolTimeout as error:
        await pool.close()
        raise unavailable(url, "it stopped answering") from error
    return pool


def _traced(spans: Spans | None) -> dict[str, Any]:
    return {} if spans is None else {"cursor_factory": traced_cursor(spans)}


async def connect(url: str) -> Connection:
    """Open one connection without the session settings, which need a migrated database.

    Raises:
        ConfigurationError: `url` is no connection string.
        Unavailable: the database does not answer.
    """
    address(url)
    try:
        return await AsyncConnection.connect(url, autocommit=True, connect_timeout=_CONNECT_SECONDS)
    except psycopg.OperationalError as error:
        raise unavailable(url, _first_line(error)) from error


async def on_connection(pool: Pool, work: Callable[[Connection], Awaitable[Outcome]]) -> Outcome:
    """Run `work` on a connection in autocommit mode, again after a blip.

    Raises:
        Unavailable: the database does not answer, or not in time.
        InvalidRequest: a value cannot be stored.
    """

    async def attempt() -> Outcome:
        async with pool.connection() as connection:
            return await work(connection)

    try:
        try:
            return await attempt()
        except psycopg.Error as error:
            # Only now: to set retrying up takes as long as the shorter statements do.
            if not is_blip(error):
                raise
            await _replace_lost_connections(pool, error)
        return await _retrying(pool)(attempt)
    except psycopg.Error as error:
        raise _translated(error, str(pool.conninfo)) from error


def _retrying(pool: Pool) -> AsyncRetrying:
    async def before_sleep(state: RetryCallState) -> None:
        await _replace_lost_connections(pool, None if state.outcome is None else state.outcome.exception())

    return AsyncRetrying(
        retry=retry_if_exception(is_blip),
        stop=stop_after_delay(_RETRY_SECONDS),
        wait=wait_random_exponential(multiplier=0.02, max=0.2),
        before_sleep=before_sleep,
        reraise=True,
    )


async def _replace_lost_connections(pool: Pool, error: BaseException | None) -> None:
    if not isinstance(error, psycopg.errors.TransactionRollback):
        await pool.check()


async def check(pool: Pool) -> None:
    """Return if the database answers.

    Raises:
        Unavailable: it does not, or not in time.
    """

    async def ask(connection: Connection) -> None:
        await connection.execute(sql("session.answers"))

    await on_connection(pool, ask)


async def in_transaction(pool: Pool, work: Callable[[Connection], Awaitable[Outcome]]) -> Outcome:
    """Run `work` in one transaction; after a blip the whole of it again, so it must be safe to repeat.

    Raises:
        Unavailable: the database does not answer, or not in time.
        InvalidRequest: a value cannot be stored.
    """

    async def attempt(connection: Connection) -> Outcome:
        async with connection.transaction():
            return await work(connection)

    return await on_connection(pool, attempt)


async def execute_each(connection: Connection, statement: LiteralString, rows: Sequence[Mapping[str, Any]]) -> None:
    """Execute a statement for each row; one row alone needs no pipeline, which takes turns of its own."""
    if len(rows) == 1:
        await connection.execute(statement, rows[0])
    elif rows:
        async with connection.cursor() as cursor:
            await cursor.executemany(statement, rows)


def is_blip(error: BaseException) -> bool:
    """Whether a database error is likely gone within a second."""
    if not isinstance(error, psycopg.Error) or isinstance(error, PoolTimeout):
        return False
    if error.sqlstate is None:
        return isinstance(error, psycopg.OperationalError)
    return error.sqlstate in _BLIPS or error.sqlstate.startswith("08")


def address(url: str) -> str:
    """Host and port of a connection string, without user and password.

    Raises:
        ConfigurationError: `url` is no connection string.
    """
    try:
        parts = conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        # Its message would quote the string, with the password in it.
        raise ConfigurationError(
            "The database URL is no connection string.", "Write it as postgresql://USER:PASSWORD@HOST:PORT/NAME."
        ) from None
    return f"{parts.get('host') or parts.get('hostaddr') or 'the local socket'}:{parts.get('port') or 5432}"


def unavailable(url: str, reason: str) -> Unavailable:
    """The error for a database that does not answer."""
    return Unavailable(
        f"Postgres at {address(url)} does not answer: {reason.rstrip('.')}.",
        "Start it, or set MEM_DATABASE_URL to the database to use.",
    )


def _first_line(error: psycopg.Error) -> str:
    """What happened; the lines below it ask questions."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), "connection lost")


def _translated(error: psycopg.Error, url: str) -> Exception:
    if isinstance(error, psycopg.errors.QueryCanceled):
        return Unavailable(
            f"Postgres at {address(url)} did not answer in time.", "Try again; if it persists, look at its load."
        )
    if isinstance(error, (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn)):
        return ConfigurationError(f"The database at {address(url)} was not migrated.", "Run `mem migrate`.")
    if isinstance(error, psycopg.DataError) and error.sqlstate in _CALLERS_CHARACTERS:
        return InvalidRequest(f"A value cannot be stored: {str(error).splitlines()[0]}.", "Leave out such characters.")
    if isinstance(error, PoolTimeout):
        return unavailable(url, "no connection became free in time")
    if is_blip(error):
        return unavailable(url, _first_line(error))
    return error


async def _probe(url: str, configure: Callable[[Connection], Awaitable[None]]) -> None:
    """Connect once outside the pool, which would only report that it waited in vain."""
    async with await connect(url) as connection:
        try:
            await configure(connection)
        except psycopg.errors.InsufficientPrivilege as error:
            raise ConfigurationError(
                f"The role may not use schema mem of the database at {address(url)}.", "Grant it what its owner has."
            ) from error
        except psycopg.ProgrammingError as error:
            raise ConfigurationError(
                f"The database at {address(url)} was not migrated: {str(error).splitlines()[0]}.", "Run `mem migrate`."
            ) from error
