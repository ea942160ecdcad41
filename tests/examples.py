"""How many examples a law is tried with: a part of them each time, all of them where the slow tests run."""

from __future__ import annotations

from hypothesis import settings

MANY = "many"
"""The profile of the slow tests: `--hypothesis-profile many`."""

_PART = 4


def examples(number: int) -> int:
    """All of them under the profile `many`, else a fourth; Hypothesis draws other ones at each run."""
    return number if settings.get_current_profile_name() == MANY else max(2, number // _PART)
