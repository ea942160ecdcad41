"""MinHash bands: two texts that say the same share one of them, so an index finds the few that are worth comparing."""

from __future__ import annotations

from functools import cache

import numpy as np

from mem.domain.canonical import sha256_hex
from mem.parsing.likeness.lexicon import lexicon
from mem.parsing.likeness.reading import read

_PRIME = np.uint64((1 << 61) - 1)
_LOW = np.uint64((1 << 31) - 1)


def bands(text: str) -> list[int]:
    """The bands of a text, as 32-bit integers, sorted; none of a text without terms."""
    reading = read(text)
    terms = sorted(reading.terms | reading.unspaced)
    if not terms:
        return []
    words = lexicon()
    hashed = np.array([int(sha256_hex(term)[:8], 16) for term in terms], dtype=np.uint64)
    scale, shift = _permutations(words.rows * words.bands)
    # 31 bits times 30 bits stay below 2**61, so nothing overflows on any machine.
    least = ((hashed[:, None] & _LOW) * scale[None, :] + shift[None, :]).__mod__(_PRIME).min(axis=0)
    found = set()
    for band, rows in enumerate(least.reshape(words.bands, words.rows).tolist()):
        found.add(int(sha256_hex(f"{band}:{rows}")[:8], 16) - (1 << 31))
    return sorted(found)


@cache
def _permutations(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Fixed multipliers and offsets, of 30 and 60 bits."""
    digests = [sha256_hex(f"likeness:{number}") for number in range(count)]
    scale = np.array([int(digest[:8], 16) >> 2 | 1 for digest in digests], dtype=np.uint64)
    shift = np.array([int(digest[8:23], 16) for digest in digests], dtype=np.uint64)
    return scale, shift
