"""One node with all that the store has on it: the showing port over Postgres, in statements that read alone."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

from psycopg.rows import class_row, dict_row

from mem.domain.accepting import Projection
from mem.domain.ids import SHARED
from mem.domain.shown import MAX_KIN, Acceptance, Kin, Named, ShownMemory, ShownSignature, Sighting
from mem.ports import ShowQuery
from mem.store.pool import Connection, Pool, on_connection
from mem.store.queries import sql
from mem.writing.entries import appended_request

TITLE_CHARACTERS = 500
"""So much of a text is read for a title, which is a line of it."""
_BEHIND_HEX = "g"
_FIELDS = ("sha", "level", "text", "visibility", "owner", "container", "source", "turn")
_IDENTITY = ("sig_sha", "sig_coarse", "algo", "tool", "rule", "code", "message")


class _Line(NamedTuple):
    """The nodes that stand in a node's place, the next one first, and those whose place it takes, the oldest first."""

    ahead: list[tuple[str, bool]]
    behind: list[str]


class PostgresShowing:
    """The showing port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def named(self, query: ShowQuery, limit: int) -> list[Named]:
        """The first nodes whose sha begins with the query's, by sha."""

        async def work(connection: Connection) -> list[Named]:
            cursor = connection.cursor(row_factory=class_row(Named))
            asked = {**_asked(query), "behind": query.sha + _BEHIND_HEX, "limit": limit}
            return await (await cursor.execute(sql("showing.named"), asked)).fetchall()

        return await on_connection(self._pool, work)

    async def shown(self, query: ShowQuery) -> ShownMemory | None:
        """The node of a whole sha; None where there is none that may be read."""
        return await on_connection(self._pool, lambda connection: _shown(connection, query))


async def _shown(connection: Connection, query: ShowQuery) -> ShownMemory | None:
    cursor = connection.cursor(row_factory=dict_row)
    row = await (await cursor.execute(sql("showing.node"), _asked(query))).fetchone()
    if row is None:
        return None
    kin = await _kin(connection, query)
    line = await _line(connection, query)
    return ShownMemory(
        **{name: row[name] for name in _FIELDS},
        project=None if row["project"] == SHARED else row["project"],
        live=row["superseded_by"] is None and not row["removed"],
        accepted=None if row["key"] is None else Acceptance(request_id=appended_request(row["key"]), at=row["time"]),
        superseded_by=next((sha for sha, _ in line.ahead), None),
        successor=next((sha for sha, live in line.ahead if live), None),
        supersedes=line.behind,
        projection=_projection(row),
        vectors=row["kinds"] or [],
        signatures=await _signatures(connection, query),
        **kin,
    )


def _projection(row: dict[str, Any]) -> Projection | None:
    if row["symptom"] is None:
        return None
    return Projection(text=row["symptom"], model_id=row["model_id"], prompt_sha=row["prompt_sha"])


async def _kin(connection: Connection, query: ShowQuery) -> dict[str, Any]:
    """The fields of a memory that tell of both ends of its edges."""
    asked = {**_asked(query), "characters": TITLE_CHARACTERS, "most": MAX_KIN}
    rows = await (await connection.execute(sql("showing.kin"), asked)).fetchall()
    found: dict[str, Any] = {"parents": [], "children": []}
    for is_parent, level, sha, source, turn, title, number in rows:
        end = "parents" if is_parent else "children"
        found[end].append(Kin(level=level, sha=sha, source=source, turn=turn, title=title))
        found[f"more_{end}"] = max(0, number - MAX_KIN)
    return found


async def _line(connection: Connection, query: ShowQuery) -> _Line:
    rows = await (await connection.execute(sql("showing.line"), _asked(query))).fetchall()
    ahead = [(sha, live) for steps, sha, live in rows if steps > 0]
    return _Line(ahead, [sha for steps, sha, _ in rows if steps < 0])


async def _signatures(connection: Connection, query: ShowQuery) -> list[ShownSignature]:
    cursor = connection.cursor(row_factory=dict_row)
    rows = await (await cursor.execute(sql("showing.signatures"), _asked(query))).fetchall()
    return [_signature(list(run)) for _, run in groupby(rows, lambda row: row["sig_sha"])]


def _signature(rows: Sequence[dict[str, Any]]) -> ShownSignature:
    sightings = [Sighting(seen_count=row["times"], **row) for row in rows if row["project"] is not None]
    return ShownSignature.of(sightings, **{name: rows[0][name] for name in _IDENTITY})


def _asked(query: ShowQuery) -> dict[str, Any]:
    readable = None if query.readable is None else [SHARED, *query.readable]
    return {"sha": query.sha, "readable": readable}
