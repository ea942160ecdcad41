"""Reads within an audience: what decides what it may read, and which live lessons stand for what is found."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache
from typing import Any, Generic, LiteralString, NamedTuple, TypeVar

from psycopg import sql as compose

from mem.domain.ids import SHARED
from mem.domain.nodes import Level
from mem.ports import Audience, Reach, VectorHit, WordHit
from mem.store import nodes
from mem.store.pool import Connection
from mem.store.queries import sql

HitT = TypeVar("HitT", VectorHit, WordHit)

LESSONS: tuple[Level, ...] = ("L1", "L2")

FIRST = 100
"""Of a label that more lessons for everybody carry, so many are looked at: the others are as good as these."""

_SLACK = 16
"""So many more hits are read than are wanted, since some may stand for the same lesson, or for none."""
_MOST = 10_000


class Found(NamedTuple, Generic[HitT]):
    """The best readable hits, those of them that are superseded, and the similarity from which on there may be more."""

    hits: Sequence[HitT]
    superseded: Sequence[str]
    left: float | None


Fetch = Callable[[int], Awaitable[Found[HitT]]]
"""What is found, at most so many of a kind."""


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
    """A statement with what an audience may read, as bytes, which the driver remembers; `kind` of its vectors."""
    filled: dict[str, compose.Composable] = {
        "may_read": compose.SQL(sql("users.may_read")),
        "live": compose.SQL(sql("users.live")),
        "kind": compose.Literal(kind),
        "first": compose.Literal(FIRST),
    }
    if name == "users.nearest":
        filled["own"] = compose.SQL(sql("users.nearest_own")).format(**filled)
        common = sql("vectors.nearest")
        filled["common"] = nodes.with_literals(common, levels=LESSONS, kind=kind, level_group="lesson")
    return compose.SQL(sql(name)).format(**filled).as_bytes()


async def best_standing(connection: Connection, audience: Audience, fetch: Fetch[HitT], limit: int) -> list[HitT]:
    """The best live lessons among hits, those of superseded ones in the name of what stands for them; ties by sha."""
    wanted = limit + _SLACK
    while True:
        hits, superseded, left = await fetch(wanted)
        found = _best(hits, await _standing(connection, audience, superseded))
        # Equal ones come by their own shas, so that those behind the last one are behind it, but for superseded ones.
        enough = left is None or limit == 0 or (len(found) >= limit and found[limit - 1].similarity >= left)
        if enough or wanted >= _MOST:
            return found[:limit]
        wanted *= 4


async def _standing(connection: Connection, audience: Audience, superseded: Sequence[str]) -> dict[str, str | None]:
    """What stands for each of those that are superseded, if it may be read."""
    if not superseded:
        return {}
    asked = {"shas": list(superseded), **parameters(audience)}
    rows = await (await connection.execute(statement("users.standing"), asked)).fetchall()
    return {**dict.fromkeys(superseded), **dict(rows)}


def _best(hits: Sequence[HitT], standing: Mapping[str, str | None]) -> list[HitT]:
    best: dict[str, HitT] = {}
    for hit in hits:
        sha = standing.get(hit.sha, hit.sha)
        if sha is not None and (sha not in best or best[sha].similarity < hit.similarity):
            best[sha] = hit._replace(sha=sha)
    return sorted(best.values(), key=lambda hit: (-hit.similarity, hit.sha))
