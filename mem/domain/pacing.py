"""How a rebuild stands back behind those who wait for an answer."""

from __future__ import annotations

RESTS_PER_WORK = 1.0
"""Seconds of rest for each of work: a rebuild takes twice as long, and leaves half of what it would use."""

LONGEST_REST_SECONDS = 2.0
"""A page that a busy machine took long over is no reason to stand still."""


def rest_after(seconds: float) -> float:
    """How many seconds to rest after so many of work."""
    return min(max(seconds, 0.0) * RESTS_PER_WORK, LONGEST_REST_SECONDS)
