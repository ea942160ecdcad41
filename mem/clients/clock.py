"""The time, from the system."""

from __future__ import annotations

from datetime import UTC, datetime


class SystemClock:
    """Tells the system's time in UTC."""

    def now(self) -> datetime:
        """The current time, in UTC."""
        return datetime.now(UTC)
