"""What the fakes know of lessons that say the same, and of those that supersede each other."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from mem.domain.errors import NotFound
from mem.domain.nodes import Node, StoredNode
from mem.parsing.likeness import bands, same
from mem.ports import Alike, Superseded
from mem.testing.state import FakeState
from mem.writing import entries
from mem.writing.entries import plain_sha
from mem.writing.superseding import LESSONS, check_supersession


def alike(state: FakeState, node: Node, excluded: Sequence[str]) -> Alike | None:
    """The lesson that says the same as `node`; live ones first, then equal ones, then those that share most."""
    scope = [sha for sha, other in state.nodes.items() if _scope(other) == _scope(node) and sha not in excluded]
    live = [sha for sha in scope if sha not in state.superseded_by]
    equal = [sha for sha in live if plain_sha(state.nodes[sha].text) == plain_sha(node.text)]
    if equal:
        return Alike(min(equal), equal=True)
    near = _near(state, node, scope)
    if (found := next((sha for sha in near if sha in live), None)) is not None:
        return Alike(found, equal=False)
    for sha in dict.fromkeys([node.sha, *near]):
        newest = newest_of(state, sha)
        if newest is not None and (sha == node.sha or newest not in excluded):
            return Alike(sha, equal=sha == node.sha, successor=newest)
    return None


def returned_alike(state: FakeState, node: Node, readable: Collection[str] | None) -> StoredNode | None:
    """The lesson of another project that says the same and that a lookup returned to the project of `node`."""
    returned = [sha for project, sha in state.returned if project == node.project]
    near = _near(state, node, [sha for sha in returned if readable is None or state.nodes[sha].project in readable])
    return state.stored(near[0]) if near else None


def supersede(state: FakeState, old: str, new: str) -> Superseded:
    """Make `new` the successor of `old`, or return what was done before."""
    for sha in (old, new):
        if sha not in state.nodes:
            raise NotFound(f"No node {sha}.", "Check the sha.")
    recorded = state.by_key.get(entries.superseded_key(old))
    if state.superseded_by.get(old) == new or (recorded is not None and recorded.data["new"] == new):
        return Superseded(old, new)
    newest = {sha: one for sha in (old, new) if (one := newest_of(state, sha)) is not None}
    check_supersession(state.stored(old), state.stored(new), newest)
    state.supersede([old], new)
    state.append(entries.superseded(old, new, state.nodes[old].project))
    return Superseded(old, new)


def newest_of(state: FakeState, sha: str) -> str | None:
    """The live node at the end of the successors of a superseded one."""
    if sha not in state.superseded_by:
        return None
    while sha in state.superseded_by:
        sha = state.superseded_by[sha]
    return sha


def _near(state: FakeState, node: Node, shas: Iterable[str]) -> list[str]:
    mine = set(bands(node.text))
    shared = {sha: len(mine & set(bands(state.nodes[sha].text))) for sha in shas}
    best = sorted((sha for sha in shared if shared[sha]), key=lambda sha: (-shared[sha], sha))
    return [sha for sha in best if same(node.text, state.nodes[sha].text)]


def _scope(node: Node) -> tuple[object, ...]:
    return node.level in LESSONS, node.project, node.visibility, node.owner, node.container
