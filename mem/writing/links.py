"""Which signatures an accepted memory answers to."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from mem.domain.rebuild import Compared
from mem.domain.signatures import Signature
from mem.parsing import extract, identifying
from mem.writing.entries import once

IDENTIFYING = {"sig_sha", "sig_coarse", "algo", "tool", "rule", "code", "message"}
"""What of a stored signature depends on the failure alone; envelope and excerpt are those of its first sighting."""


def signatures_of(evidence: Sequence[str]) -> list[Signature]:
    """The distinct signatures of all evidence texts, in their order and best first within each."""
    return once([signature for text in evidence for signature in identifying(extract(text))])


def compared(
    signatures: Sequence[Signature], stored: Mapping[str, Mapping[str, Any]], linked: Collection[str]
) -> Compared:
    """How what is stored differs from what was derived.

    Args:
        signatures: what was derived from a memory's evidence.
        stored: what identifies the stored signatures, by `sig_sha`.
        linked: those that point at the memory.
    """
    new = changed = 0
    derived = once(signatures)
    for one in derived:
        if one.sig_sha not in stored or one.sig_sha not in linked:
            new += 1
        elif one.model_dump(include=IDENTIFYING) != stored[one.sig_sha]:
            changed += 1
    return Compared(new=new, changed=changed, unchanged=len(derived) - new - changed)
