"""What the fakes tell of one node."""

from __future__ import annotations

from datetime import date

from mem.domain.shown import MAX_KIN, Acceptance, Kin, Named, ShownMemory, ShownSignature, Sighting
from mem.ports import ShowQuery
from mem.testing.memories import FakeMemories, in_place
from mem.testing.state import FakeState
from mem.writing.entries import appended_request


class FakeShowing:
    """The showing port."""

    def __init__(self, state: FakeState) -> None:
        self._state = state

    async def named(self, query: ShowQuery, limit: int) -> list[Named]:
        """The first nodes whose sha begins with the query's, by sha."""
        found = sorted(sha for sha in self._state.nodes if sha.startswith(query.sha) and self._readable(sha, query))
        return [Named(sha=sha, level=self._state.nodes[sha].level) for sha in found[:limit]]

    async def shown(self, query: ShowQuery) -> ShownMemory | None:
        """The node of a whole sha; None where there is none that may be read."""
        state, sha = self._state, query.sha
        if sha not in state.nodes or not self._readable(sha, query):
            return None
        node = state.nodes[sha]
        parents = self._kin(state.edges.get(sha, set()), query)
        children = self._kin({child for child, below in state.edges.items() if sha in below}, query)
        ahead = [one for one in self._ahead(sha) if self._readable(one, query)]
        direct = state.superseded_by.get(sha)
        return ShownMemory(
            **node.model_dump(exclude={"project"}),
            sha=sha,
            project=None if node.project == "*" else node.project,
            live=direct is None and sha not in state.removed,
            accepted=self._accepted(sha),
            superseded_by=next(iter(ahead), None),
            successor=next((one for one in ahead if one not in state.superseded_by), None),
            supersedes=[one for one in self._behind(sha) if self._readable(one, query)],
            projection=state.projections.get(sha),
            vectors=await FakeMemories(state).vector_kinds(sha),
            signatures=[self._signature(sig_sha, query) for sig_sha, of in sorted(state.links) if of == sha],
            parents=parents[:MAX_KIN],
            children=children[:MAX_KIN],
            more_parents=max(0, len(parents) - MAX_KIN),
            more_children=max(0, len(children) - MAX_KIN),
        )

    def _readable(self, sha: str, query: ShowQuery) -> bool:
        node = self._state.nodes[sha]
        return node.visibility == "global" and (query.readable is None or node.project in {"*", *query.readable})

    def _ahead(self, sha: str) -> list[str]:
        """The nodes that stand in a node's place, the next one first."""
        path = [sha]
        while (sha := self._state.superseded_by.get(sha, path[0])) not in path:
            path.append(sha)
        return path[1:]

    def _behind(self, sha: str) -> list[str]:
        """The nodes whose place a node takes, the furthest first."""
        ways = {one: self._ahead(one) for one in self._state.superseded_by}
        found = [one for one, way in ways.items() if sha in way and one != sha]
        return sorted(found, key=lambda one: (-ways[one].index(sha), one))

    def _accepted(self, sha: str) -> Acceptance | None:
        for record in self._state.records:
            if record.kind == "appended" and record.data["sha"] == sha:
                return Acceptance(request_id=appended_request(record.key), at=record.time)
        return None

    def _kin(self, shas: set[str], query: ShowQuery) -> list[Kin]:
        readable = [(sha, self._state.nodes[sha]) for sha in shas if self._readable(sha, query)]
        readable.sort(key=lambda pair: (pair[1].level, *in_place(pair[1].source, pair[1].turn, pair[0])))
        return [
            Kin(level=node.level, sha=sha, source=node.source, turn=node.turn, title=node.text[:500])
            for sha, node in readable
        ]

    def _signature(self, sig_sha: str, query: ShowQuery) -> ShownSignature:
        days: dict[str, list[date]] = {}
        for one, day in self._state.occurrences.items():
            if one.sig_sha == sig_sha and (query.readable is None or one.project in query.readable):
                days.setdefault(one.project, []).append(day)
        sightings = [
            Sighting(project=project, seen_count=len(seen), first_seen=min(seen), last_seen=max(seen))
            for project, seen in days.items()
        ]
        identity = self._state.signatures[sig_sha].model_dump(
            include={"sig_sha", "sig_coarse", "algo", "tool", "rule", "code", "message"}
        )
        return ShownSignature.of(sorted(sightings, key=lambda one: (-one.seen_count, one.project)), **identity)
