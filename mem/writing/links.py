"""Which signatures an accepted memory answers to."""

from __future__ import annotations

from collections.abc import Sequence

from mem.domain.signatures import Signature
from mem.parsing import extract

SIGNATURES_PER_EVIDENCE = 5


def signatures_of(evidence: Sequence[str]) -> list[Signature]:
    """The distinct signatures of all evidence texts, in their order and best first within each."""
    found = (signature for text in evidence for signature in extract(text, limit=SIGNATURES_PER_EVIDENCE))
    return list({signature.sig_sha: signature for signature in reversed(list(found))}.values())[::-1]
