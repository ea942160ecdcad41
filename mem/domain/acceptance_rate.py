"""How much of what is handed in is kept."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, computed_field

MEANT_BELOW = 0.30
"""The gate is meant to keep the share of accepted candidates below this."""


class AcceptanceRate(BaseModel):
    """How the last acceptances ended; `pending` are yet to be judged, or to be appended."""

    model_config = ConfigDict(frozen=True)

    accepted: int = 0
    rejected: int = 0
    duplicate: int = 0
    pending: int = 0

    @computed_field  # type: ignore[prop-decorator]
    @property
    def share(self) -> float | None:
        """The share of the accepted among those that have ended; None before the first."""
        ended = self.accepted + self.rejected + self.duplicate
        return round(self.accepted / ended, 4) if ended else None
