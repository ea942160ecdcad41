"""Reads within an audience: what decides what it may read, and which live lessons stand for what is found."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from typing import Any, LiteralString, TypeVar

from psycopg import sql as compose

from mem.domain.ids import SHARED
from mem.ports import Audience, Reach, VectorHit, WordHit
from mem.store.pool import Connection
from mem.store.queries import sql

HitT = TypeVar("HitT", VectorHit, WordHit)

_SLACK = 16
"""So many more hits are read than are wanted, since some may stand for the same lesson, or for none."""
_MOST = 10_000

Fetch = Callable[[int], Awaitable[tuple[Sequence[HitT], float | None]]]
"""The best hits, at most so many of a kind, and the similarity of the last one where there are more."""


def parameters(audience: Audience) -> dict[str, Any]:
    """An audience as the parameters of `users.may_read`."""
    containers = audience.containers if audience.scope == "user_global_container" else ()
    readable = None if audience.readable is None else [SHARED, *audience.readable]
    return {
        "user": audience.user,
        "others": audience.scope != "user",
        "containers": list(containers),
        "readable": readable,
    }


def common(audience: Audience) -> Reach:
    """What is for everybody, as an audience may read it."""
    return Reach(SHARED, federated=True, readable=audience.readable)


@cache
def statement(name: LiteralString, kind: str | None = None) -> bytes:
    """A statement with what an audience may read; as bytes, which the driver remembers."""
    filled = {"may_read": compose.SQL(sql("users.may_read")), "kind": compose.Literal(kind)}
    return compose.SQL(sql(name)).format(**filled).as_bytes()


async def best_standing(connection: Connection, audience: Audience, fetch: Fetch[HitT], limit: int) -> list[HitT]:
    """The best live lessons among hits, those of superseded ones in the name of what stands for them; ties by sha."""
    wanted = limit + _SLACK
    while True:
        hits, left = await fetch(wanted)
        found = await _standing(connection, audience, hits)
        # Equal ones come by their own shas, so that those behind the last one are behind it, but for superseded ones.
        enough = left is None or limit == 0 or (len(found) >= limit and found[limit - 1].similarity >= left)
        if enough or wanted >= _MOST:
            return found[:limit]
        wanted *= 4


async def _standing(connection: Connection, audience: Audience, hits: Sequence[HitT]) -> list[HitT]:
    if not hits:
        return []
    asked = {"shas": [hit.sha for hit in hits], **parameters(audience)}
    rows = await (await connection.execute(statement("users.standing"), asked)).fetchall()
    live: dict[str, str] = dict(rows)
    best: dict[str, HitT] = {}
    for hit in hits:
        sha = live.get(hit.sha)
        if sha is not None and (sha not in best or best[sha].similarity < hit.similarity):
            best[sha] = hit._replace(sha=sha)
    return sorted(best.values(), key=lambda hit: (-hit.similarity, hit.sha))
