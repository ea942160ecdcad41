"""Digests of tables, and what differs between two of one shape."""

from __future__ import annotations

import asyncio
import time
from typing import NamedTuple

from psycopg import sql as compose

from mem.domain.pacing import rest_after
from mem.domain.replaying import MAX_DIFFERENCES, Difference, TableReport
from mem.store.pool import Connection
from mem.store.queries import sql
from mem.store.shadow import PROJECTIONS, tables_of

_COUNTS = {
    "lexical_frequency": compose.SQL("nodes <> 0"),
    "lexical_total": compose.SQL("nodes <> 0"),
    "vector_count": compose.SQL("live <> 0"),
}
"""Rows that count, where not all do: that there is none left of a kind is no difference from never having had one."""


class _Columns(NamedTuple):
    """The columns of a table, and those of its primary key, as expressions whose texts tell any two values apart."""

    all: compose.Composed
    key: compose.Composed
    named: compose.Composed


async def hold(connection: Connection) -> None:
    """Begin a transaction that sees one moment, of tables that stay in their place until it ends."""
    await connection.execute(sql("digests.one_moment"))
    await connection.execute(compose.SQL(sql("digests.hold_live")).format(tables=tables_of("mem")))


async def compare_all(connection: Connection, schema: str) -> list[TableReport]:
    """Each live table beside the one of `schema`, with a rest behind each."""
    reports = []
    for table in PROJECTIONS:
        began = time.monotonic()
        reports.append(await _compare(connection, table, schema))
        await asyncio.sleep(rest_after(time.monotonic() - began))
    return reports


async def _compare(connection: Connection, table: str, schema: str) -> TableReport:
    columns = await _columns(connection, table)
    rows, digest = await _digest(connection, compose.Identifier("mem", table), columns, _counts(table))
    other_rows, other = await _digest(connection, compose.Identifier(schema, table), columns, _counts(table))
    report = TableReport(table=table, rows=rows, digest=digest, replayed_rows=other_rows, replayed_digest=other)
    if digest == other:
        return report
    statement = compose.SQL(sql("digests.differences")).format(
        live=compose.Identifier("mem", table),
        replayed=compose.Identifier(schema, table),
        key=columns.key,
        names=columns.named,
        columns=columns.all,
        counts=_counts(table),
        limit=compose.Literal(MAX_DIFFERENCES),
    )
    found = await (await connection.execute(statement)).fetchall()
    differences = [Difference(key=key, what=what) for key, what, _ in found]
    return report.model_copy(update={"differing": found[0][2], "differences": differences})


async def _digest(
    connection: Connection, table: compose.Identifier, columns: _Columns, counts: compose.Composable
) -> tuple[int, str]:
    statement = compose.SQL(sql("digests.digest")).format(
        table=table, key=columns.key, columns=columns.all, counts=counts
    )
    row = await (await connection.execute(statement)).fetchone()
    return row or (0, "")


async def _columns(connection: Connection, table: str) -> _Columns:
    found = await (await connection.execute(sql("digests.columns"), {"table": f"mem.{table}"})).fetchall()
    listed = [_exact(name, type_) for name, type_, _ in found]
    key = [compose.Identifier(name) for name, _, keyed in found if keyed]
    texts = [compose.SQL("{}::text").format(name) for name in key]
    comma = compose.SQL(", ")
    return _Columns(comma.join(listed), comma.join(key), comma.join(texts))


def _exact(name: str, type_: str) -> compose.Composable:
    """A column by its bytes where a text is long and slow to make."""
    column = compose.Identifier(name)
    return compose.SQL("halfvec_send({})").format(column) if type_ == "halfvec" else column


def _counts(table: str) -> compose.SQL:
    return _COUNTS.get(table, compose.SQL("true"))
