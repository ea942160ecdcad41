"""Which signatures an accepted memory answers to."""

from __future__ import annotations

from collections.abc import Sequence

from mem.domain.signatures import Signature
from mem.parsing import extract, identifying
from mem.writing.entries import once


def signatures_of(evidence: Sequence[str]) -> list[Signature]:
    """The distinct signatures of all evidence texts, in their order and best first within each."""
    return once([signature for text in evidence for signature in identifying(extract(text))])
