"""The search by words within an audience: what terms weigh is counted among what it may read, and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import LiteralString, NamedTuple

from psycopg import sql as compose

from mem.ports import Audience, WordHit
from mem.recall.bm25 import Asked, Matched, Totals, best, score, weighed
from mem.store import lexical
from mem.store.audience import Found, best_standing, parameters, statement
from mem.store.pool import Connection
from mem.store.queries import sql

_ROWS = 200
"""Fewer than a lookup reads of what many hold, since a turn waits for less."""


class _Held(NamedTuple):
    """What lessons hold of the terms: how many lessons there are, how long, and how many hold each."""

    nodes: int
    length: int
    frequencies: Mapping[str, int]


class _Own(NamedTuple):
    """The user's own lessons that hold a term, each with how often each; private ones and those for everybody.

    `common` is what all that is for everybody holds, whoever owns it.
    """

    rows: Sequence[Matched]
    private: _Held
    shared: _Held
    common: _Held
    superseded: frozenset[str]


async def search(
    connection: Connection, asked: Sequence[str], audience: Audience, limit: int, exact_limit: int
) -> list[WordHit]:
    """The lessons that fit the terms best."""
    terms = list(dict.fromkeys(asked))
    if not terms:
        return []
    own = await _own(connection, terms, audience)
    others = audience.scope != "user"
    # What others may read of the user's own is among what is for everybody.
    shared = own.common if others else own.shared
    nodes = own.private.nodes + shared.nodes
    frequencies = Counter(own.private.frequencies) + Counter(shared.frequencies)
    weights = weighed(terms, frequencies, nodes)
    places = [terms.index(term) for term in weights.terms]
    rows = {row.sha: row._replace(times=[row.times[place] for place in places]) for row in own.rows}
    superseded = own.superseded
    if others and weights.terms:
        common, gone = await _matching(connection, weights, shared, audience, limit, exact_limit)
        rows |= {row.sha: row for row in common}
        superseded |= gone
    matched = [row for row in rows.values() if any(row.times)]
    scored = score(weights, matched, Totals(nodes, own.private.length + shared.length, 0), {})
    ordered = best(scored.hits, len(scored.hits))

    async def fetch(wanted: int) -> Found[WordHit]:
        hits = ordered[:wanted]
        left = ordered[wanted].similarity if wanted < len(ordered) else None
        return Found(hits, [hit.sha for hit in hits if hit.sha in superseded], left)

    return await best_standing(connection, audience, fetch, limit)


async def _own(connection: Connection, terms: Sequence[str], audience: Audience) -> _Own:
    asked = {"terms": terms, **parameters(audience)}
    found = await (await connection.execute(statement("users.own_words"), asked)).fetchall()
    sizes = {shared: (times[0], length)
             for sha, _, _, shared, length, times, _ in found if sha is None and shared is not None}  # fmt: skip
    held = [(shared, Matched(sha, level, project, None, None, length, times))
            for sha, level, project, shared, length, times, _ in found if sha is not None]  # fmt: skip
    counted = {
        shared: _Held(*sizes.get(shared, (0, 0)), _frequencies(terms, [row for of, row in held if of is shared]))
        for shared in (False, True)
    }
    _, common_length, (nodes, *common) = next((row[3:6] for row in found if row[3] is None), (None, 0, (0,)))
    common_held = _Held(nodes, common_length, dict(zip(terms, common, strict=False)))
    superseded = frozenset(sha for sha, *_, live in found if sha is not None and not live)
    return _Own([row for _, row in held], counted[False], counted[True], common_held, superseded)


def _frequencies(terms: Sequence[str], rows: Sequence[Matched]) -> dict[str, int]:
    return {term: sum(row.times[place] > 0 for row in rows) for place, term in enumerate(terms)}


async def _matching(
    connection: Connection, asked: Asked, held: _Held, audience: Audience, limit: int, exact_limit: int
) -> tuple[list[Matched], frozenset[str]]:
    """As `lexical.search` finds them: all among few lessons, else by the rarest terms, or by several together.

    With those of them that are superseded.
    """
    known = {term: held.frequencies.get(term, 0) for term in asked.terms}
    counts = lexical.Counts(Totals(held.nodes, held.length, 0), known, ())
    chosen = lexical.rarest(asked, counts, None if held.nodes <= exact_limit else max(_ROWS, 2 * limit))
    given = {
        "chosen": chosen or lexical.together(asked, counts),
        "most": lexical.RARE,
        **lexical.term_parameters(asked.terms),
        **parameters(audience),
    }
    block = _statement("users.matching" if chosen else "users.holding_all", len(asked.terms))
    rows = await (await connection.execute(block, given)).fetchall()
    return [Matched(*row) for *row, _ in rows], frozenset(sha for sha, *_, live in rows if not live)


@cache
def _statement(name: LiteralString, terms: int) -> bytes:
    return compose.SQL(sql(name)).format(times=lexical.times_of(terms), live=compose.SQL(sql("users.live"))).as_bytes()
