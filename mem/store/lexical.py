"""The index of words: entries of nodes with their counts, and searches in it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import LiteralString, NamedTuple

from psycopg import sql as compose

from mem.domain.nodes import Level, Node
from mem.parsing.terms import Terms, rules_sha, terms
from mem.ports import Reach, WordHit
from mem.recall.bm25 import Asked, Document, Matched, Place, Totals, best, score, weighed
from mem.store import journal
from mem.store.pool import Connection, Pool, in_transaction, on_connection
from mem.store.queries import sql
from mem.store.reaching import within

EXACT_LIMIT = 1_000
"""Among so many nodes every one that holds a term is scored."""

_ROWS = 500
"""Among more, about so many, or twice what is wanted: those that hold the rarest terms."""
RARE = 1_000
"""A term that more nodes hold chooses none by itself."""
_PAGE = 500
_IN_THREAD = 20_000
"""Longer texts are taken apart beside other work."""

_GROUPS: tuple[tuple[str, frozenset[Level]], ...] = (
    ("lesson", frozenset({"L1", "L2"})),
    ("L0", frozenset({"L0"})),
    ("R", frozenset({"R"})),
)


class Counts(NamedTuple):
    """What there is of one group of levels within reach, and in which projects."""

    totals: Totals
    frequencies: Mapping[str, int]
    projects: Sequence[str]


async def add(connection: Connection, shas: Sequence[str]) -> None:
    """Make the entries of those nodes that have none, of text and projection as they are stored."""
    await _put(connection, sql("lexical.add"), await _texts(connection, sql("lexical.unread"), shas))


async def add_new(connection: Connection, added: Sequence[Node]) -> None:
    """The same for nodes without projection whose texts are at hand; an entry that is there stays."""
    await _put(connection, sql("lexical.add"), {node.sha: node.text for node in added})


async def remove(connection: Connection, shas: Sequence[str]) -> None:
    """Take nodes out of the index."""
    await connection.execute(sql("lexical.remove"), {"shas": list(shas)})


async def change(connection: Connection, shas: Sequence[str]) -> None:
    """Make the entries of nodes anew, where they have one; whoever changes what they are of has the nodes locked."""
    await _put(connection, sql("lexical.change"), await _texts(connection, sql("lexical.texts"), shas))


async def change_texts(connection: Connection, changed: Iterable[tuple[str, str, str]]) -> None:
    """The same for nodes whose shas, texts and projections are at hand."""
    await _put(connection, sql("lexical.change"), _united(changed))


async def fill_words(pool: Pool) -> int:
    """Make the entries that are missing, or of other rules than those of this version; returns how many they were.

    Page by page, each in a transaction of its own, beside all other work; to be repeated at any time.
    """
    done, after = 0, ""
    while shas := await on_connection(pool, lambda c, after=after: _outdated(c, after)):  # type: ignore[misc]
        await in_transaction(pool, lambda c, shas=shas: _renew_locked(c, shas))  # type: ignore[misc]
        done, after = done + len(shas), shas[-1]
    return done


async def search(
    connection: Connection,
    asked: Sequence[str],
    levels: Sequence[Level],
    reach: Reach,
    limit: int,
    exact_limit: int = EXACT_LIMIT,
) -> list[WordHit]:
    """The nodes that fit the terms best; each group of levels is counted by itself, so each is a search of its own."""
    groups = {group: tuple(sorted(members.intersection(levels))) for group, members in _GROUPS}
    groups = {group: wanted for group, wanted in groups.items() if wanted}
    if not asked or not groups:
        return []
    hits: list[WordHit] = []
    for group, counts in (await counts_of(connection, asked, list(groups), reach)).items():
        hits += await _search(connection, asked, groups[group], counts, reach, limit, exact_limit)
    return best(hits, limit)


async def _search(
    connection: Connection,
    terms: Sequence[str],
    levels: tuple[Level, ...],
    counts: Counts,
    reach: Reach,
    limit: int,
    exact_limit: int,
) -> list[WordHit]:
    asked = weighed(terms, counts.frequencies, counts.totals.nodes)
    most = None if counts.totals.nodes <= exact_limit else max(_ROWS, 2 * limit)
    rows = await _matching(connection, asked, levels, counts, reach, most)
    scored = score(asked, rows, counts.totals, await _documents(connection, rows))
    return best([*scored.hits, *await _beside(connection, scored.beside, limit)], limit)


async def _matching(
    connection: Connection, asked: Asked, levels: tuple[Level, ...], counts: Counts, reach: Reach, most: int | None
) -> list[Matched]:
    if not asked.terms:
        return []
    chosen = rarest(asked, counts, most)
    block = sql("lexical.matching" if chosen else "lexical.holding_all")
    statement = _statement(block, levels, len(asked.terms))
    parameters = {
        "chosen": chosen or together(asked, counts),
        "limit": RARE,
        **term_parameters(asked.terms),
    }
    rows: list[Matched] = []
    for project in [None] if reach.seen is None else counts.projects:
        cursor = await connection.execute(statement, {**parameters, "project": project})
        rows += [Matched(*row) for row in await cursor.fetchall()]
    return rows


@cache
def _statement(block: LiteralString, levels: tuple[Level, ...], terms: int) -> bytes:
    """A column for each term: to loop over them for each row takes half as long again.

    As bytes, which the driver remembers; of anything else it would write and read it again each time.
    """
    listed = compose.SQL(", ").join(compose.Literal(level) for level in levels)
    return compose.SQL(block).format(levels=listed, times=times_of(terms)).as_bytes()


def times_of(terms: int) -> compose.Composed:
    """How often an entry holds each term, as columns."""
    each = compose.SQL("coalesce((times -> {})::integer, 0)")
    return compose.SQL(", ").join(each.format(compose.Placeholder(f"term{place}")) for place in range(terms))


def term_parameters(terms: Sequence[str]) -> dict[str, str]:
    """The terms of these columns."""
    return {f"term{place}": term for place, term in enumerate(terms)}


def rarest(asked: Asked, counts: Counts, most: int | None) -> list[str]:
    """The terms by which nodes are chosen: all among few nodes, else the rarest; none where all are frequent."""
    if most is None:
        return list(asked.terms)
    chosen: list[str] = []
    rows = 0
    for term in asked.terms:
        frequency = counts.frequencies[term]
        rows += frequency
        if frequency > RARE or (chosen and rows > most):
            break
        chosen.append(term)
    return chosen


def together(asked: Asked, counts: Counts) -> list[str]:
    """So many of the rarest terms that few nodes should hold them all, if they came independently."""
    chosen: list[str] = []
    expected = float(counts.totals.nodes)
    for term in asked.terms:
        chosen.append(term)
        expected *= counts.frequencies[term] / counts.totals.nodes
        if expected <= RARE:
            break
    return chosen


async def counts_of(
    connection: Connection, terms: Sequence[str], groups: Sequence[str], reach: Reach
) -> dict[str, Counts]:
    """What there is of groups of levels within reach; a group of which there is nothing is left out."""
    parameters = {"terms": list(terms), "groups": list(groups), **within(reach)}
    rows = await (await connection.execute(sql("lexical.counts"), parameters)).fetchall()
    totals: dict[str, Totals] = {}
    projects: dict[str, list[str]] = {}
    frequencies: dict[str, dict[str, int]] = {}
    for group, project, term, count, length, documents in rows:
        if term is None:
            projects.setdefault(group, []).append(project)
            before = totals.get(group, Totals(0, 0, 0))
            totals[group] = Totals(before.nodes + count, before.length + length, before.documents + documents)
        else:
            held = frequencies.setdefault(group, {})
            held[term] = held.get(term, 0) + count
    return {
        group: Counts(totals[group], frequencies.get(group, {}), sorted(projects[group]))
        for group in groups
        if group in totals
    }


async def _documents(connection: Connection, rows: Sequence[Matched]) -> dict[Document, int]:
    wanted = sorted({(row.project, row.source) for row in rows if row.level == "R" and row.source is not None})
    if not wanted:
        return {}
    parameters = {"projects": [project for project, _ in wanted], "documents": [document for _, document in wanted]}
    found = await (await connection.execute(sql("lexical.documents"), parameters)).fetchall()
    return {(project, document): length for project, document, length in found}


async def _beside(connection: Connection, places: Mapping[Place, float], limit: int) -> list[WordHit]:
    """The turns at the best of the places that hold no term themselves."""
    wanted = sorted(places, key=lambda place: (-places[place], place))[:limit]
    if not wanted:
        return []
    projects, sources, turns = zip(*wanted, strict=True)
    parameters = {"projects": list(projects), "sources": list(sources), "turns": list(turns)}
    rows = await (await connection.execute(sql("lexical.at"), parameters)).fetchall()
    return [WordHit(sha, 0.0, places[project, source, turn]) for sha, project, source, turn in rows]


def _taken_apart(texts: Iterable[str]) -> list[Terms]:
    return [terms(text) for text in texts]


async def _outdated(connection: Connection, after: str) -> list[str]:
    parameters = {"after": after, "terms_by": rules_sha(), "limit": _PAGE}
    return [sha for (sha,) in await (await connection.execute(sql("lexical.outdated"), parameters)).fetchall()]


async def _renew_locked(connection: Connection, shas: Sequence[str]) -> None:
    await journal.lock(connection, [])  # tables are not exchanged meanwhile
    await connection.execute(sql("nodes.lock_for_change"), {"shas": list(shas)})
    await change(connection, shas)
    await add(connection, shas)


async def _texts(connection: Connection, statement: LiteralString, shas: Sequence[str]) -> dict[str, str]:
    return _united(await (await connection.execute(statement, {"shas": list(shas)})).fetchall())


def _united(rows: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    return {sha: f"{text}\n{projected}" if projected else text for sha, text, projected in rows}


async def _put(connection: Connection, statement: LiteralString, texts: Mapping[str, str]) -> None:
    if not texts:
        return
    long = sum(map(len, texts.values())) > _IN_THREAD
    made = await asyncio.to_thread(_taken_apart, texts.values()) if long else _taken_apart(texts.values())
    parameters = {
        "shas": list(texts),
        "lengths": [each.length for each in made],
        "times": [json.dumps(each.times, ensure_ascii=False) for each in made],
        "terms_by": rules_sha(),
    }
    await connection.execute(statement, parameters)
