"""The fake users."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar, assert_never

from mem.domain.errors import ModelMismatch, NotFound
from mem.domain.ids import SHARED
from mem.domain.nodes import Node, VectorKind
from mem.domain.signatures import ALGO
from mem.ports import Audience, KnownUser, Neighbour, Remembered, SnapshotEntry, Vector, VectorHit, WordHit
from mem.testing import lexical
from mem.testing.alike import newest_of
from mem.testing.state import FakeState
from mem.writing.snapshot import ENTRIES
from mem.writing.superseding import LESSONS

HitT = TypeVar("HitT", VectorHit, WordHit)


class FakeUsers:
    """The users port."""

    def __init__(self, state: FakeState, *, algo: int = ALGO) -> None:
        self._state = state
        self._algo = algo

    async def known(self, audience: Audience) -> KnownUser:
        """What is known of a user; the containers asked for count whatever the scope is, in the order asked for."""
        own = [node for node in self._state.nodes.values() if node.owner == audience.user and node.level in LESSONS]
        own = [node for node in own if _in_projects(node, audience)]
        carried = {node.container for node in own}
        return KnownUser(bool(own), tuple(one for one in audience.containers if one in carried))

    async def snapshot(self, audience: Audience) -> list[SnapshotEntry]:
        """The newest of the user's own lessons that the audience may read, a line for each, newest first."""
        state = self._state
        lines = {
            sha: told
            for sha, told in state.snapshots.items()
            if state.nodes[sha].owner == audience.user and self._readable(sha, audience)
        }
        newest = sorted(lines, key=lambda sha: (-lines[sha].seq, sha))
        return [SnapshotEntry(sha, lines[sha].line) for sha in newest[:ENTRIES]]

    async def refresh_snapshot(self, sha: str) -> int:
        """Bring the rolling summary of a memory's owner up to date; how many entries it has."""
        state = self._state
        async with state.lock:
            if sha not in state.nodes:
                raise NotFound(f"No node {sha}.", "Accept it first, or name another.")
            owner = state.nodes[sha].owner
            if owner is None:
                return 0
            for record in reversed(state.records):
                if record.kind == "appended" and self._is_own(record.data["sha"], owner):
                    state.note(record.data["sha"], record.seq)
            return sum(self._is_own(one, owner) for one in state.snapshots)

    async def nearest(self, kind: VectorKind, vector: Vector, audience: Audience, limit: int) -> list[VectorHit]:
        """The nearest readable lessons by cosine, best first, ties by sha."""
        if self._state.model and len(vector) != self._state.model[1]:
            raise ModelMismatch("The query vector does not fit the vectors.", "Use the model that made them.")
        hits = [
            VectorHit(sha, sum(one * other for one, other in zip(vector, stored, strict=True)))
            for (sha, of_kind, _), stored in self._state.vectors.items()
            if of_kind == kind and self._is_lesson(sha) and self._readable(sha, audience)
        ]
        return self._best(hits, audience, limit)

    async def words(self, terms: Sequence[str], audience: Audience, limit: int) -> list[WordHit]:
        """The readable lessons that fit the terms best (BM25, as `Memories.words`), ties by sha."""
        within = {sha: node for sha, node in self._state.nodes.items() if self._readable(sha, audience)}
        hits = lexical.lessons_among(self._state, terms, within)
        return self._best(hits, audience, limit)

    async def labelled(self, labels: Sequence[str], audience: Audience, limit: int) -> list[str]:
        """The readable lessons that carry one of the labels: a tool of their signatures, a project, a container."""
        hits = [
            VectorHit(sha, len(held) + (0.5 if node.owner == audience.user else 0.0))
            for sha, node in self._state.nodes.items()
            if (held := self._labels(sha, audience).intersection(labels))
        ]
        return [hit.sha for hit in self._best(hits, audience, limit)]

    async def neighbours(self, shas: Sequence[str], audience: Audience, limit: int) -> list[Neighbour]:
        """The readable lessons that an edge or a shared signature ties to another one, which is among `shas`."""
        found: list[Neighbour] = []
        for of in sorted(set(shas)):
            if self._is_lesson(of) and self._readable(of, audience):
                tied = {
                    Neighbour(standing, of, tie.by)
                    for sha in self._behind(of)
                    if self._readable(sha, audience)
                    for tie in (*self._by_edges(sha, audience), *self._by_signatures(sha))
                    if (standing := self._standing(tie.sha, audience)) is not None and standing != of
                }
                found += sorted(tied, key=lambda one: (one.by, one.sha))[:limit]
        return found

    async def signed(self, keys: Sequence[str], audience: Audience, limit: int) -> list[str]:
        """The readable lessons that a signature with one of these exact keys points at, by sha."""
        found = {self._standing(sha, audience) for sig_sha, sha in self._state.links if sig_sha in keys}
        return sorted(sha for sha in found if sha is not None)[:limit]

    async def remembered(self, shas: Sequence[str], audience: Audience) -> dict[str, Remembered]:
        """Those of `shas` that are readable lessons, whoever found them."""
        live = [sha for sha in shas if sha in self._state.nodes and self._standing(sha, audience) == sha]
        return {sha: self._remembered(sha) for sha in live}

    def _remembered(self, sha: str) -> Remembered:
        state = self._state
        tools = sorted(state.signatures[sig_sha].tool for sig_sha, of in state.links if of == sha)
        times = [one.time for one in state.records if one.kind == "appended" and one.data["sha"] == sha]
        held = state.projections.get(sha)
        day = times[0][:10] if times else None
        return Remembered(state.stored(sha), held.text if held else "", tools[0] if tools else None, day)

    def _by_edges(self, sha: str, audience: Audience) -> Iterator[Neighbour]:
        edges = self._state.edges
        parents = edges.get(sha, set())
        for child, others in edges.items():
            if sha in others or any(self._readable(parent, audience) for parent in parents & others):
                yield Neighbour(child, sha, "edge")
        for parent in parents:
            yield Neighbour(parent, sha, "edge")

    def _by_signatures(self, sha: str) -> Iterator[Neighbour]:
        state = self._state
        current = {node for sig_sha, node in state.links if state.signatures[sig_sha].algo == self._algo}
        mine = {sig_sha for sig_sha, node in state.links if node == sha}
        for sig_sha, other in state.links:
            both = sha in current and other in current
            if sig_sha in mine and (not both or state.signatures[sig_sha].algo == self._algo):
                yield Neighbour(other, sha, "signature")

    def _behind(self, sha: str) -> list[str]:
        """A lesson, and those that it stands for."""
        return [sha, *(one for one in self._state.superseded_by if self._on_the_way(one, sha))]

    def _on_the_way(self, sha: str, to: str) -> bool:
        while sha in self._state.superseded_by:
            sha = self._state.superseded_by[sha]
            if sha == to:
                return True
        return False

    def _labels(self, sha: str, audience: Audience) -> set[str]:
        node = self._state.nodes[sha]
        tools = {self._state.signatures[sig_sha].tool for sig_sha, of in self._state.links if of == sha}
        of_own = {node.container} if node.owner == audience.user and node.container is not None else set()
        return {*tools, node.project, *of_own}

    def _best(self, hits: Iterable[HitT], audience: Audience, limit: int) -> list[HitT]:
        best: dict[str, HitT] = {}
        for hit in hits:
            sha = self._standing(hit.sha, audience)
            if sha is not None and (sha not in best or best[sha].similarity < hit.similarity):
                best[sha] = hit._replace(sha=sha)
        return sorted(best.values(), key=lambda hit: (-hit.similarity, hit.sha))[:limit]

    def _standing(self, sha: str, audience: Audience) -> str | None:
        """The live lesson that stands for one; both have to be readable."""
        newest = newest_of(self._state, sha) or sha
        readable = all(self._is_lesson(one) and self._readable(one, audience) for one in (sha, newest))
        return newest if readable else None

    def _is_own(self, sha: str, owner: str) -> bool:
        return self._is_lesson(sha) and self._state.nodes[sha].owner == owner

    def _is_lesson(self, sha: str) -> bool:
        return sha in self._state.nodes and self._state.nodes[sha].level in LESSONS

    def _readable(self, sha: str, audience: Audience) -> bool:
        node = self._state.nodes[sha]
        own = node.owner == audience.user
        if not _in_projects(node, audience):
            return False
        match node.visibility:
            case "global":
                return own or audience.scope != "user"
            case "user":
                return own
            case "container":
                return own and audience.scope == "user_global_container" and node.container in audience.containers
            case _:
                assert_never(node.visibility)


def _in_projects(node: Node, audience: Audience) -> bool:
    return audience.readable is None or node.project in {SHARED, *audience.readable}
