"""A candidate that says what is known: a duplicate in its own project, self-feedback from another one."""

from __future__ import annotations

from collections.abc import Collection

from mem.domain.accepting import Verdict
from mem.ports import Memories
from mem.writing.candidate import Candidate
from mem.writing.judging.verdicts import reject, short


async def duplicate(memories: Memories, candidate: Candidate) -> Verdict | None:
    """Object to what a memory says already, be it in other words, and to what was superseded."""
    excluded = [sha for sha in candidate.supersedes if sha != candidate.node.sha]
    found = await memories.alike(candidate.node, excluded)
    if found is None:
        return None
    if found.successor is not None:
        return reject("duplicate", f"This lesson was superseded; its successor is {found.successor}.")
    told = "says the same." if found.equal else "says the same in other words."
    return reject("duplicate", f"Memory {short(found.sha)} {told}", duplicate_of=found.sha)


async def returned_lesson(memories: Memories, candidate: Candidate, readable: Collection[str] | None) -> Verdict | None:
    """Object to a lesson of another project that a lookup returned: repeated, it would confirm itself.

    Only where who brings the candidate may read that project: to others nothing of it was returned.
    """
    found = await memories.returned_alike(candidate.node, readable)
    if found is None:
        return None
    return reject(
        "self-feedback",
        f"mem itself returned this lesson of project {found.project} ({short(found.stored_sha)}); every project finds "
        "it there. Say what your own evidence adds to it.",
    )
