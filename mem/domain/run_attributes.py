"""The names of the search attributes by which runs are found."""

from __future__ import annotations

PROJECT = "MemProject"
TOOL = "MemTool"
TIER = "MemTier"
OUTCOME = "MemOutcome"
SIGNATURE = "MemSignature"
DEGRADED = "MemDegraded"
