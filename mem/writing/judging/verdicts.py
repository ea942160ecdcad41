"""What a rule that objects says."""

from __future__ import annotations

from mem.domain.accepting import Rule, Verdict

_SHA_LENGTH = 64


def reject(rule: Rule, reason: str, *, duplicate_of: str | None = None) -> Verdict:
    """The objection of a rule, in a sentence that a person can act on."""
    return Verdict(accept=False, rule=rule, reason=reason, duplicate_of=duplicate_of)


def short(sha: str) -> str:
    """A sha as a person reads it; what is none is cut."""
    return sha[:12] if len(sha) == _SHA_LENGTH else sha[:_SHA_LENGTH]
