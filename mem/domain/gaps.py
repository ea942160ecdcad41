"""The contract of a list of gaps: failures that were seen, and that no memory explains."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

from mem.domain.ids import Project, Text
from mem.domain.lookup import MAX_TOOL_CHARACTERS

DEFAULT_LIMIT = 20
MAX_LIMIT = 1000
_DAYS = re.compile(r"([0-9]{1,4})d")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_SINCE_SCHEMA = {"anyOf": [{"type": "string", "format": "date"}, {"type": "string", "pattern": "^[0-9]{1,4}d$"}]}


def _since(text: str) -> str:
    if not _DAYS.fullmatch(text):
        try:
            date.fromisoformat(text if _DATE.fullmatch(text) else "")
        except ValueError:
            raise ValueError("should be a date such as 2026-07-02, or days such as 7d") from None
    return text


class GapsRequest(BaseModel):
    """Which gaps are wanted. A URL brings all fields as texts, so `limit` may be one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    project: Project | None = Field(default=None, description="What one project saw; unset: all of them together.")
    tool: Text | None = Field(
        default=None, min_length=1, max_length=MAX_TOOL_CHARACTERS, description="Failures of one tool."
    )
    since: Annotated[str, AfterValidator(_since), WithJsonSchema(_SINCE_SCHEMA)] | None = Field(
        default=None, description="Count from this UTC date, or from so many days before today: 7d."
    )
    limit: int = Field(default=DEFAULT_LIMIT, ge=1, le=MAX_LIMIT, description="How many at most.")

    def first_day(self, today: date) -> date | None:
        """The first day that counts; None where all do."""
        if self.since is None:
            return None
        days = _DAYS.fullmatch(self.since)
        return date.fromisoformat(self.since) if days is None else today - timedelta(days=int(days[1]))


class Gap(BaseModel):
    """A failure signature that points at no live memory which the caller may read.

    `seen_count`, `last_seen` and `projects` (the one that saw it most first) are those of the asked project and days,
    `first_seen` is of all days. `message` is masked, redacted, one line and short. `variants` counts the other gaps
    that differ in versions, test ids or symbols alone, `known_variants` such failures that a memory explains.
    """

    model_config = ConfigDict(frozen=True)

    sig_sha: str
    sig_coarse: str
    tool: str
    rule: str
    code: str | None
    message: str
    seen_count: int
    first_seen: date
    last_seen: date
    projects: list[str]
    variants: int
    known_variants: int


class GapsAnswer(BaseModel):
    """The gaps, those seen most first, then the last seen, then by signature; `total` counts those beyond `limit` too.

    `since` is the first day that counted.
    """

    model_config = ConfigDict(frozen=True)

    project: str | None
    tool: str | None
    since: date | None
    total: int
    gaps: list[Gap]
