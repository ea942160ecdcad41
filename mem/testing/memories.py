"""The fake memories."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from mem.domain.accepting import MadeProjection, Projection
from mem.domain.canonical import sha256_hex
from mem.domain.errors import AmbiguousPrefix, InvalidRequest, ModelMismatch, NotFound
from mem.domain.nodes import Level, Node, Parent, StoredNode, VectorKind
from mem.ports import (
    Alike,
    Appended,
    AppendPlan,
    Embedder,
    Lineage,
    Reach,
    Superseded,
    Vector,
    VectorHit,
    WordHit,
)
from mem.testing import alike, lexical
from mem.testing.embeddings import activate, remember
from mem.testing.models import words
from mem.testing.state import FakeState, within
from mem.writing import entries


class FakeMemories:
    """The memories port. The first model that stores a vector is the active one."""

    def __init__(self, state: FakeState) -> None:
        self._state = state

    async def resolve(self, prefix: str) -> str:
        """The full sha that begins with `prefix`."""
        prefix = prefix.lower()
        if not re.fullmatch(r"[0-9a-f]{4,64}", prefix):
            raise InvalidRequest(f"{prefix[:80]!r} is no sha.", "Give 4 to 64 hex digits.")
        found = [sha for sha in self._state.nodes if sha.startswith(prefix)]
        if not found:
            raise NotFound(f"No node begins with {prefix}.", "Check the sha.")
        if len(found) > 1:
            raise AmbiguousPrefix(f"Several nodes begin with {prefix}.", "Give more digits.")
        return found[0]

    async def nodes(self, shas: Sequence[str]) -> dict[str, StoredNode]:
        """The nodes that exist among `shas`."""
        return {sha: self._state.stored(sha) for sha in shas if sha in self._state.nodes}

    async def alike(self, node: Node, excluded: Sequence[str] = ()) -> Alike | None:
        """The lesson of the same project, visibility, owner and container that says the same as `node`."""
        return alike.alike(self._state, node, excluded)

    async def returned_alike(self, node: Node, readable: Collection[str] | None = None) -> StoredNode | None:
        """The lesson of another project that says the same as `node` and that a lookup returned to its project."""
        return alike.returned_alike(self._state, node, readable)

    async def supersede(self, old: str, new: str) -> Superseded:
        """Make `new` the successor of `old`, with its journal record; again it returns the same."""
        async with self._state.lock:
            return alike.supersede(self._state, old, new)

    async def successor(self, sha: str) -> str | None:
        """The newest live successor of a superseded node."""
        lineage = self._lineage(sha)
        return lineage.node.stored_sha if lineage and lineage.supersedes else None

    async def append(self, plan: AppendPlan) -> Appended:
        """Append nodes, edges, supersessions and the journal record, or return what was appended first."""
        async with self._state.lock:
            recorded = self._state.by_key.get(plan.key)
            if recorded is None:
                standing = self._standing(plan)
                overtaken = None if standing else self._overtaken(plan)
                parents = [] if overtaken else self._write(plan, standing)
                recorded = self._state.append(entries.appended(plan, standing, overtaken, parents))
        data = recorded.data
        evidence = tuple(Node(**node).sha for node in data["evidence"])
        return Appended(data["sha"], evidence, data["duplicate_of"], data["overtaken_by"])

    async def put_projection(self, sha: str, projection: MadeProjection) -> Projection:
        """Record a projection once per (sha, prompt sha, model id); the first of a node stands."""
        entry = entries.projection(sha, projection)
        async with self._state.lock:
            if entry.key not in self._state.by_key:
                self._state.require([sha])
                self._state.projections.setdefault(sha, Projection.model_validate(projection.model_dump()))
            recorded = self._state.append(entry)
        return Projection.model_validate(recorded.data)

    async def projection(self, sha: str) -> Projection | None:
        """The projection of a node, which may be empty; None where none was made yet."""
        return self._state.projections.get(sha)

    async def put_vectors(self, kind: VectorKind, texts: Mapping[str, str], embedder: Embedder) -> None:
        """Embed the text given for each node sha and store the vectors, replaying recorded embeddings."""
        async with self._state.lock:
            activate(self._state, embedder)
            self._state.require(texts)
            await remember(self._state, embedder, sorted(set(texts.values())))
            for sha, text in texts.items():
                vector = self._state.embeddings[embedder.model_id, sha256_hex(text)]
                if sha not in self._state.removed:
                    self._state.vectors.setdefault((sha, kind, 0), vector)

    async def vector_kinds(self, sha: str) -> list[VectorKind]:
        """Which vectors a node has, `text` first."""
        kinds: tuple[VectorKind, ...] = ("text", "symptom")
        return [kind for kind in kinds if (sha, kind, 0) in self._state.vectors]

    async def evidence(self, sha: str) -> list[StoredNode]:
        """The L0 nodes below a node, in order of source, turn and sha."""
        found, open_ = set[str](), [sha]
        while open_:
            new = self._state.edges.get(open_.pop(), set()) - found
            found |= new
            open_ += new
        below = [self._state.stored(one) for one in found if self._state.nodes[one].level == "L0"]
        return sorted(below, key=lambda node: in_place(node.source, node.turn, node.stored_sha))

    async def lessons(self, after: str, limit: int) -> list[str]:
        """The shas of L1 and L2 behind `after`, in their order."""
        found = [sha for sha, node in self._state.nodes.items() if node.level in {"L1", "L2"} and sha > after]
        return sorted(found)[:limit]

    async def projects(self) -> list[str]:
        """The projects of which anything is known that all may read, by name; `*` where something is shared."""
        there = {sha: node for sha, node in self._state.nodes.items() if sha not in self._state.removed}
        return sorted({node.project for node in there.values() if node.visibility == "global"})

    async def parents(self, shas: Sequence[str], told: Collection[str] | None = None) -> dict[str, list[Parent]]:
        """The parents of each node and of the L1 among these, by child, in order of level, source, turn and sha."""
        direct = {sha: self._parents(sha, told) for sha in shas}
        between = {parent.sha for parents in direct.values() for parent in parents if parent.level == "L1"}
        return {sha: found for sha in between if (found := self._parents(sha, told))} | direct

    async def lineages(self, shas: Sequence[str], told: Collection[str] | None = None) -> dict[str, Lineage]:
        """For each sha the live node that stands for it; one without is left out."""
        return {sha: lineage for sha in shas if (lineage := self._lineage(sha, told))}

    async def nearest(
        self, kind: VectorKind, levels: Sequence[Level], vector: Vector, reach: Reach, limit: int
    ) -> list[VectorHit]:
        """The nearest nodes by cosine, best first, superseded ones included, ties by sha."""
        if self._state.model and len(vector) != self._state.model[1]:
            raise ModelMismatch("The query vector does not fit the vectors.", "Use the model that made them.")
        best: dict[str, float] = {}
        for (sha, of_kind, _), stored in self._state.vectors.items():
            if of_kind == kind and self._readable(sha, levels, reach):
                similarity = sum(one * other for one, other in zip(vector, stored, strict=True))
                best[sha] = max(best.get(sha, similarity), similarity)
        return _best([VectorHit(sha, similarity) for sha, similarity in best.items()], limit)

    async def lexical(self, text: str, levels: Sequence[Level], reach: Reach, limit: int) -> list[VectorHit]:
        """The nodes that hold most of the query's trigrams: Postgres also asks that they stand together."""
        asked = _trigrams(text)
        hits = []
        for sha, node in self._state.nodes.items():
            if asked and self._readable(sha, levels, reach):
                projection = self._state.projections.get(sha)
                held = _trigrams(node.text + "\n" + (projection.text if projection else ""))
                hits.append(VectorHit(sha, len(asked & held) / len(asked)))
        return _best([hit for hit in hits if hit.similarity >= 0.3], limit)

    async def words(self, terms: Sequence[str], levels: Sequence[Level], reach: Reach, limit: int) -> list[WordHit]:
        """The nodes that fit the terms of a question best, by own words and context together, ties by sha."""
        return lexical.search(self._state, terms, levels, reach, limit)

    async def by_tool(self, tool: str, reach: Reach, limit: int) -> list[str]:
        """Lessons whose signatures carry the tool: the own project first, then by occurrences, then by sha."""
        state, times = self._state, dict[str, int]()
        for sig_sha, sha in state.links:
            if state.signatures[sig_sha].tool == tool:
                seen = [one for one in state.occurrences if one.sig_sha == sig_sha]
                near = [one for one in seen if reach.counted is None or one.project in reach.counted]
                times[sha] = times.get(sha, 0) + len(near)
        found = [sha for sha in times if self._readable(sha, ("L1", "L2"), reach)]
        found.sort(key=lambda sha: (state.nodes[sha].project != reach.project, -times[sha], sha))
        return found[:limit]

    def _readable(self, sha: str, levels: Sequence[Level], reach: Reach) -> bool:
        node = self._state.nodes[sha]
        there = sha not in self._state.removed
        return there and node.level in levels and node.visibility == "global" and within(node.project, reach)

    def _standing(self, plan: AppendPlan) -> str | None:
        sha = plan.duplicate_of
        if sha is not None:
            self._state.require([sha])
            return alike.newest_of(self._state, sha) or sha
        found = alike.alike(self._state, plan.node, [one for one in plan.supersedes if one != plan.node.sha])
        if found is None or (plan.overruled and not found.equal):
            return None
        return found.successor or found.sha

    def _overtaken(self, plan: AppendPlan) -> str | None:
        by = (self._state.superseded_by.get(one) for one in sorted(plan.supersedes))
        return next((sha for sha in by if sha is not None), None)

    def _write(self, plan: AppendPlan, standing: str | None) -> list[str]:
        """Write a new node, or the evidence for the one that stands; returns the parents named by the candidate."""
        state = self._state
        state.require([*plan.parents, *(plan.supersedes if standing is None else ())])
        parents = sorted({one for one in plan.parents if standing is None or state.nodes[one].level == "L0"})
        for node in (*plan.evidence, *([plan.node] if standing is None else [])):
            state.nodes.setdefault(node.sha, node)
        sha = standing or plan.node.sha
        state.edges[sha] = (state.edges.get(sha, set()) | {*parents, *(node.sha for node in plan.evidence)}) - {sha}
        if standing is None:
            state.supersede(plan.supersedes, sha)
        return parents

    def _told(self, sha: str, told: Collection[str] | None) -> bool:
        return told is None or self._state.nodes[sha].project in told

    def _parents(self, sha: str, told: Collection[str] | None) -> list[Parent]:
        nodes = [(self._state.nodes[one], one) for one in self._state.edges.get(sha, set()) if self._told(one, told)]
        nodes.sort(key=lambda pair: (pair[0].level, *in_place(pair[0].source, pair[0].turn, pair[1])))
        return [Parent(level=node.level, sha=one, source=node.source, turn=node.turn) for node, one in nodes]

    def _lineage(self, sha: str, told: Collection[str] | None = None) -> Lineage | None:
        path: list[str] = []
        while sha in self._state.superseded_by and sha not in path:
            path.append(sha)
            sha = self._state.superseded_by[sha]
        if sha not in self._state.nodes or sha in path or sha in self._state.removed or not self._told(sha, told):
            return None
        projection = self._state.projections.get(sha)
        passed = tuple(one for one in path if self._told(one, told))
        return Lineage(self._state.stored(sha), passed, "" if projection is None else projection.text)


def in_place(source: str | None, turn: int | None, sha: str) -> tuple[str, int, str]:
    """What orders nodes of a level: by source, turn and sha; those without come first."""
    return source or "", -1 if turn is None else turn, sha


def _best(hits: list[VectorHit], limit: int) -> list[VectorHit]:
    return sorted(hits, key=lambda hit: (-hit.similarity, hit.sha))[:limit]


def _trigrams(text: str) -> set[str]:
    return {padded[at : at + 3] for word in words(text) for padded in [f"  {word} "] for at in range(len(word) + 1)}
