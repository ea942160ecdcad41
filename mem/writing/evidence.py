"""What an acceptance brings to the memory that stands for it."""

from __future__ import annotations

from mem.domain.nodes import Node
from mem.ports import Memories
from mem.writing.candidate import Candidate


async def evidence_of(memories: Memories, candidate: Candidate, sha: str) -> list[Node]:
    """The L0 nodes that a candidate stands on, in order of source, turn and sha.

    Its own evidence and its L0 parents; through its L1 parents theirs, where it became the memory `sha` itself. What
    others brought to that memory is not among them, so the same acceptance gives the same whenever it is asked.
    """
    found = {each.sha: each for each in candidate.evidence}
    parents = await memories.nodes(candidate.parents) if candidate.parents else {}
    for parent, node in parents.items():
        if node.level == "L0":
            found[parent] = node
        elif sha == candidate.node.sha:
            found |= {each.stored_sha: each for each in await memories.evidence(parent)}
    return [node for _, node in sorted(found.items(), key=lambda pair: _place(*pair))]


def _place(sha: str, node: Node) -> tuple[bool, str, bool, int, str]:
    return node.source is not None, node.source or "", node.turn is not None, node.turn or 0, sha
