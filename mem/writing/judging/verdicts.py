"""What a rule that objects says."""

from __future__ import annotations

from mem.domain.accepting import Rule, Verdict
from mem.parsing.redact import redact

_SHA_LENGTH = 64
_QUOTED = 90


def reject(rule: Rule, reason: str, *, duplicate_of: str | None = None) -> Verdict:
    """The objection of a rule, in a sentence that a person can act on."""
    return Verdict(accept=False, rule=rule, reason=reason, duplicate_of=duplicate_of)


def short(sha: str) -> str:
    """A sha as a person reads it; what is none is cut."""
    return sha[:12] if len(sha) == _SHA_LENGTH else sha[:_SHA_LENGTH]


def quoted(text: str) -> str:
    """What was seen, in quotes: one line, without secrets, cut to a bearable length."""
    plain = redact(" ".join(text[: 10 * _QUOTED].split())).text
    return f'"{plain}"' if len(plain) <= _QUOTED else f'"{plain[: _QUOTED - 1].rstrip()}…"'
