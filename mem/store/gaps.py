"""The failures that no memory explains, in one statement that reads alone."""

from __future__ import annotations

from psycopg.rows import dict_row

from mem.domain.gaps import Gap
from mem.ports import GapQuery, GapsFound
from mem.store.pool import Connection
from mem.store.queries import sql


async def find(connection: Connection, query: GapQuery) -> GapsFound:
    """The gaps, those seen most first, and how many there are."""
    lists = {
        name: None if projects is None else list(projects)
        for name, projects in (("counted", query.counted), ("readable", query.readable))
    }
    cursor = connection.cursor(row_factory=dict_row)
    rows = await (await cursor.execute(sql("gaps.find"), {**query._asdict(), **lists})).fetchall()
    total = rows[0]["total"] if rows else 0
    return GapsFound([Gap.model_validate(row) for row in rows], total)
