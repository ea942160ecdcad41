"""A person overrules the gate; what no person can overrule stays as it is."""

from __future__ import annotations

import asyncio

from mem.domain.accepting import Verdict
from mem.ports import Memories
from mem.writing.candidate import Candidate
from mem.writing.judging.case import case_of
from mem.writing.judging.duplicates import duplicate
from mem.writing.judging.parents import bad_parents, no_evidence
from mem.writing.judging.secrets import secret

NEVER = frozenset({"bad-parents", "secret"})
"""Rules whose objection stands: what they refuse cannot be written, or must not be."""


async def overrule(memories: Memories, candidate: Candidate, verdict: Verdict) -> Verdict:
    """The verdict of a gate whose objection a person overrules; the objection where that cannot be."""
    if verdict.accept or candidate.override is None:
        return verdict
    standing = await _standing(memories, candidate, verdict)
    if standing is not None:
        return standing
    return Verdict(
        accept=True,
        rule=verdict.rule,
        reason=f"Overruled by a person: {candidate.override} The objection was: {verdict.reason}",
        model_id=verdict.model_id,
        prompt_sha=verdict.prompt_sha,
    )


async def _standing(memories: Memories, candidate: Candidate, verdict: Verdict) -> Verdict | None:
    """The objection that cannot be overruled; the first one of the gate may have hidden a later one."""
    if verdict.rule in NEVER:
        return verdict
    if candidate.node.level == "L2" and (missing := no_evidence(candidate)) is not None:
        return missing
    found = await memories.nodes([*candidate.parents, *candidate.supersedes])
    if (bad := bad_parents(candidate, found)) is not None:
        return bad
    if (hidden := await asyncio.to_thread(secret, case_of(candidate, found))) is not None:
        return hidden
    excluded = [sha for sha in candidate.supersedes if sha != candidate.node.sha]
    alike = await memories.alike(candidate.node, excluded)
    # An equal text is no other lesson, whatever a person decides.
    return await duplicate(memories, candidate) if alike is not None and alike.equal else None
