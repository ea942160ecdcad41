"""What each read mode reads: one table, so that the modes can be compared at a glance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from mem.domain.grounding import ReadMode, Source


class Mode(NamedTuple):
    """How far a turn is read.

    `sources` are asked; each gives at most `width` hits for a candidate that may be scored, and at least `least`.
    `sentences` of the message are searched with besides the whole of it, `symptoms` says whether among symptoms too.
    `seeds` of the best candidates are asked for their neighbours, `hops` times.
    """

    sources: frozenset[Source]
    width: float
    least: int
    sentences: int
    symptoms: bool
    hops: int
    seeds: int


MODES: Mapping[ReadMode, Mode] = {
    "simple": Mode(
        sources=frozenset({"snapshot", "metadata"}), width=0.4, least=4, sentences=0, symptoms=False, hops=0, seeds=0
    ),
    "balanced": Mode(
        sources=frozenset({"snapshot", "metadata", "vector", "graph"}), width=1.0, least=10, sentences=0,
        symptoms=False, hops=1, seeds=8,
    ),
    "deep": Mode(
        sources=frozenset({"snapshot", "metadata", "vector", "graph"}), width=3.0, least=30, sentences=5,
        symptoms=True, hops=2, seeds=16,
    ),
}  # fmt: skip


def hits_of(mode: Mode, candidates: int) -> int:
    """How many hits a source may give where so many candidates may be scored."""
    return max(mode.least, round(mode.width * candidates))
