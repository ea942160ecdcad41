"""Markdown for the Temporal UI: texts from elsewhere are shown to the letter, and nothing grows without bound."""

from __future__ import annotations

from collections.abc import Sequence

MAX_BYTES = 20_000
"""What the details of one run may take."""
MAX_CELL = 160
"""Characters of one text."""
GAP = "\u00a0\u00a0"
"""Behind each cell but a row's last: the Temporal UI leaves no room between columns, and shows entities as they are."""
MAX_FAILURE = 1_000
"""Characters of what a run failed with."""


def code(text: str, *, limit: int = MAX_CELL) -> str:
    """A text as a code span, the one place in which no Markdown, HTML or bare address means anything.

    Without what would end the span or a cell of a table, and on one line.
    """
    shown = text if text.isprintable() else "".join(one if one.isprintable() else " " for one in text)
    shown = " ".join(shown.replace("`", "'").replace("|", "\u00a6").split())
    if not shown:
        return "-"
    return f"`{shown if len(shown) <= limit else shown[: limit - 1] + '…'}`"


def failed(message: str) -> str:
    """That a run failed, and with what."""
    return f"**Failed**: {code(message, limit=MAX_FAILURE)}"


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table under its title, nothing where it has no rows; cells with texts from elsewhere are code spans."""
    if not rows:
        return []
    gap = f"{GAP} | "
    lines = [f"| {gap.join(cells)} |" for cells in (head, *rows)]
    lines.insert(1, f"|{'---|' * len(head)}")
    return ["", f"**{title}**", "", *lines]


def bounded(lines: Sequence[str]) -> str:
    """The lines, cut behind the last one that fits, and said so."""
    kept: list[str] = []
    size = 0
    for line in lines:
        size += len(line.encode()) + 1
        if size > MAX_BYTES - 40:
            return "\n".join([*kept, "", f"… {len(lines) - len(kept)} more lines"])
        kept.append(line)
    return "\n".join(kept)
