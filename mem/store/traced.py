"""Statements as spans, named as the SQL is; no parameter and no row is in one."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Self

from psycopg import AsyncCursor
from psycopg.abc import Params, Query
from psycopg.rows import TupleRow
from psycopg.sql import Composable

from mem.ports.watching import Spans
from mem.store.queries import name_of

COMPOSED = "composed"
"""What a statement is called that is none of the named ones."""


def traced_cursor(spans: Spans) -> type[AsyncCursor[TupleRow]]:
    """The class of cursors whose statements are spans."""

    class Traced(AsyncCursor[TupleRow]):
        async def execute(self, query: Query, params: Params | None = None, **options: Any) -> Self:
            name = _name(query)
            with spans.span(f"SQL {name}", _attributes(name)):
                # One of its overloads takes a template, which brings its parameters along.
                return await super().execute(query, params, **options)  # type: ignore[arg-type]

        async def executemany(self, query: Query, params_seq: Iterable[Params], **options: Any) -> None:
            rows, name = list(params_seq), _name(query)
            with spans.span(f"SQL {name}", {**_attributes(name), "db.operation.batch.size": len(rows)}):
                await super().executemany(query, rows, **options)

    return Traced


def _name(query: Query) -> str:
    match query:
        case str():
            return _named(query)
        case bytes():
            return _named(query.decode("utf-8"))
        case Composable():
            return _named(query.as_string())
        case _:
            return COMPOSED


@lru_cache(maxsize=1024)
def _named(statement: str) -> str:
    return name_of(statement) or COMPOSED


def _attributes(name: str) -> dict[str, str | int]:
    return {"db.system.name": "postgresql", "db.query.summary": name}
