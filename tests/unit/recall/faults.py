"""What a part of a use case can meet, and how the leg that needed it tells so."""

from __future__ import annotations

from mem.domain.errors import Unavailable
from tests.unit.recall.kit import hang

DOWN = Unavailable("The database at db:5432 does not answer.", "Check it.")
FAULTS = {
    "timeout": hang,
    "unavailable": DOWN,
    "refused": ConnectionRefusedError("refused"),
    "bug": KeyError("x" * 999),
}
REASONS = {
    "timeout": "timeout after 0.3 s",
    "unavailable": "The database at db:5432 does not answer. Check it.",
    "refused": "refused",
    "bug": "unexpected KeyError",
}
