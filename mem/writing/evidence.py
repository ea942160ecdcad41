"""What an acceptance brings to the memory that stands for it."""

from __future__ import annotations

from mem.domain.nodes import StoredNode
from mem.ports import Memories
from mem.writing.candidate import Candidate


async def evidence_of(memories: Memories, candidate: Candidate, sha: str) -> list[StoredNode]:
    """The L0 nodes that a candidate stands on, in order of source, turn and sha.

    Its own evidence and its L0 parents; through its L1 parents theirs, where it became the memory `sha` itself. What
    others brought to that memory is not among them, so the same acceptance gives the same whenever it is asked.
    """
    shas = [each.sha for each in candidate.evidence]
    parents = await memories.nodes(candidate.parents)
    shas += [parent for parent, node in parents.items() if node.level == "L0"]
    found = dict(await memories.nodes(shas))
    if sha == candidate.node.sha:
        for parent, node in parents.items():
            if node.level != "L0":
                found |= {each.stored_sha: each for each in await memories.evidence(parent)}
    return sorted(found.values(), key=_place)


def _place(node: StoredNode) -> tuple[bool, str, bool, int, str]:
    return node.source is not None, node.source or "", node.turn is not None, node.turn or 0, node.stored_sha
