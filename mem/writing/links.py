"""Which signatures an accepted memory answers to."""

from __future__ import annotations

from collections.abc import Sequence

from mem.domain.signatures import Signature
from mem.parsing import extract, identifying

SIGNATURES_PER_EVIDENCE = 5


def signatures_of(evidence: Sequence[str]) -> list[Signature]:
    """The distinct signatures of all evidence texts, in their order and best first within each."""
    found: dict[str, Signature] = {}
    for text in evidence:
        for signature in identifying(extract(text, limit=SIGNATURES_PER_EVIDENCE)):
            found.setdefault(signature.sig_sha, signature)
    return list(found.values())
