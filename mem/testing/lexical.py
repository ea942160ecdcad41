"""The search by words over the fakes' state: every node is taken apart anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from mem.domain.nodes import Level, Node
from mem.parsing.terms import Terms, terms
from mem.ports import Reach, WordHit
from mem.recall.bm25 import Document, Matched, Totals, best, score, weighed
from mem.testing.state import FakeState

_LESSONS: frozenset[Level] = frozenset({"L1", "L2"})
_GROUPS: tuple[frozenset[Level], ...] = (_LESSONS, frozenset({"L0"}), frozenset({"R"}))


def search(state: FakeState, asked: Sequence[str], levels: Sequence[Level], reach: Reach, limit: int) -> list[WordHit]:
    """The nodes that fit the terms best."""
    hits = [hit for group in _GROUPS for hit in _search(state, asked, group, levels, reach, limit)]
    return best(hits, limit)


def lessons_among(state: FakeState, asked: Sequence[str], within: Mapping[str, Node]) -> list[WordHit]:
    """All lessons among these that hold a term, scored by what there is among these alone."""
    lessons = {sha: node for sha, node in within.items() if node.level in _LESSONS}
    return _score(state, asked, lessons, _LESSONS)


def _search(
    state: FakeState, asked: Sequence[str], group: frozenset[Level], levels: Sequence[Level], reach: Reach, limit: int
) -> list[WordHit]:
    within = {sha: node for sha, node in state.nodes.items() if node.level in group and state.visible(sha, reach)}
    return best(_score(state, asked, within, [level for level in levels if level in group]), limit)


def _score(
    state: FakeState, asked: Sequence[str], within: Mapping[str, Node], levels: Collection[Level]
) -> list[WordHit]:
    """Hits on the nodes of these levels, counted among all that are given, which are of one group."""
    entries = {sha: _terms(state, sha, node) for sha, node in within.items()}
    documents = Counter[Document]()
    for sha, node in within.items():
        documents[node.project, _source(node) or ""] += entries[sha].length
    count = len(documents) if "R" in levels else len({node.project for node in within.values()})
    totals = Totals(len(within), documents.total(), count)
    frequencies = Counter(term for entry in entries.values() for term in entry.times)
    weights = weighed(asked, frequencies, totals.nodes)
    rows = [
        Matched(sha, node.level, node.project, _source(node), node.turn, entry.length, times)
        for sha, node in within.items()
        for entry in [entries[sha]]
        if node.level in levels and any(times := [entry.times.get(term, 0) for term in weights.terms])
    ]
    scored = score(weights, rows, totals, documents)
    taken = {row.sha for row in rows}
    beside = [
        WordHit(sha, 0.0, scored.beside[place])
        for sha, node in within.items()
        if sha not in taken and (place := (node.project, node.source or "", node.turn or 0)) in scored.beside
    ]
    return [*scored.hits, *beside]


def _terms(state: FakeState, sha: str, node: Node) -> Terms:
    projection = state.projections.get(sha)
    return terms(f"{node.text}\n{projection.text}" if projection and projection.text else node.text)


def _source(node: Node) -> str | None:
    match node.level:
        case "L0":
            return node.source
        case "R":
            return None if node.source is None else node.source.partition("#")[0]
        case _:
            return None
