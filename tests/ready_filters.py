"""The ready list filters of docs/runs.md."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).resolve().parents[1] / "docs" / "runs.md"
NOON = datetime(2026, 7, 2, 12, tzinfo=UTC)
"""When the page is read."""


class ReadyFilter(NamedTuple):
    """A line of the page: what is looked for, by which filter, and the command for it."""

    what: str
    text: str
    command: str


def ready_filters() -> list[ReadyFilter]:
    table = PAGE.read_text(encoding="utf-8").split("## Ready filters\n")[1].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("|")][2:]
    return [ReadyFilter(what.strip(), text.strip(" `"), command.strip(" `")) for what, text, command in rows]
