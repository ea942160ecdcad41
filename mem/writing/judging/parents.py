"""Whether a candidate stands on something, and on what it may stand on."""

from __future__ import annotations

from collections.abc import Mapping

from mem.domain.accepting import Verdict
from mem.domain.nodes import Node, StoredNode, Visibility
from mem.writing.candidate import Candidate
from mem.writing.judging.verdicts import reject, short

_RANK: Mapping[Visibility, int] = {"global": 0, "user": 1, "container": 2}
"""From what everybody may read to what one conversation may."""


def no_evidence(candidate: Candidate) -> Verdict | None:
    """Object to a lesson that nothing shows, and to a synthesis of nothing."""
    if candidate.node.level == "L2":
        if candidate.parents:
            return None
        return reject("no-evidence", "A synthesis (L2) needs the lessons (L1) that it is drawn from, as `parents`.")
    if candidate.parents or any(each.text.strip() for each in candidate.evidence):
        return None
    return reject("no-evidence", "A lesson needs evidence: the log or transcript that shows it, or L0 parents.")


def bad_parents(candidate: Candidate, found: Mapping[str, StoredNode]) -> Verdict | None:
    """Object to parents, and to memories to supersede, that are not there for this candidate.

    Args:
        found: the nodes that exist among them, by sha.
    """
    wanted = "L0" if candidate.node.level == "L1" else "L1"
    for sha in candidate.parents:
        if (fault := _fault(candidate, found.get(sha), wanted)) is not None:
            return reject("bad-parents", f"Parent {short(sha)} {fault}.")
    for sha in candidate.supersedes:
        if sha == candidate.node.sha:
            return reject("bad-parents", f"The memory to supersede, {short(sha)}, is the candidate itself.")
        if (fault := _fault(candidate, found.get(sha), None)) is not None:
            return reject("bad-parents", f"The memory to supersede, {short(sha)}, {fault}.")
    return None


def _fault(candidate: Candidate, node: StoredNode | None, level: str | None) -> str | None:
    """Why `node` cannot be a parent (of that level) of the candidate; an unreadable node is told as a missing one."""
    if node is None or not readable(node, candidate.node):
        return f"does not exist in project {candidate.node.project}"
    if level is not None and node.level != level:
        return f"is {node.level}, not {level}"
    if level is None and node.level not in ("L1", "L2"):
        return f"is {node.level}, not a lesson"
    if node.superseded_by is not None:
        return f"was superseded by {short(node.superseded_by)}; name that one"
    return unlike_readers(candidate.node, node, parent=level is not None)


def unlike_readers(mine: Node, other: Node, *, parent: bool) -> str | None:
    """A parent is shown to whoever reads the child, and a superseded memory is replaced for whoever could read it."""
    if parent and _RANK[mine.visibility] < _RANK[other.visibility]:
        return f"has visibility {other.visibility}, its child would be {mine.visibility}"
    if not parent and _RANK[mine.visibility] > _RANK[other.visibility]:
        return f"has visibility {other.visibility}, its successor would be {mine.visibility} only"
    return None


def readable(node: Node, reader: Node) -> bool:
    """Whether who reads one memory may read the other."""
    if node.project != reader.project:
        return False
    if node.visibility == "global":
        return True
    return node.owner == reader.owner and (node.visibility == "user" or node.container == reader.container)
