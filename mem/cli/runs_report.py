"""A list of runs as a person reads it."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import quote

from rich.cells import cell_len

from mem.cli.terminal import Link, Style, Styled, flat, unsteered
from mem.domain.runs import Run, RunsAnswer, Status

HEADS = ("started (UTC)", "took", "kind", "status", "outcome", "tier", "project", "tool", "degraded", "request")
_LOST = {Status.FAILED, Status.TERMINATED, Status.TIMED_OUT}
_SECONDS = (("d", 86_400), ("h", 3600), ("min", 60))


def ui_list(place: str, text: str) -> str:
    """The address of the UI's list under a filter."""
    return f"{place}/workflows?query={quote(text, safe='')}"


def ui_run(place: str, run: Run) -> str:
    """The address of a run in the UI."""
    return f"{place}/workflows/{quote(run.workflow_id, safe='')}/{run.run_id}"


def told_runs(answer: RunsAnswer, place: str | None, *, now: datetime | None = None) -> list[Styled]:
    """How many there are and by which filter, then a line for each, its id last, whole, and a link where a UI is known.

    Args:
        place: the address of the namespace in the UI.
        now: for how long what is open has been open is told until then; None: the present.
    """
    head = [Styled(_head(answer), Style.TITLE)]
    head += [Styled(f"filter: {answer.filter}")]
    if not answer.exact:
        head.append(Styled("  selects more in the UI: Temporal cannot filter by all that was asked for", Style.FAINT))
    if place is not None:
        address = ui_list(place, answer.filter)
        head.append(Styled(f"in the UI: {address}", link=Link(address, address)))
    if not answer.runs:
        return head
    titles, *rows = _columns(answer.runs, datetime.now(UTC) if now is None else now)
    lines = [
        Styled(row, _style(run), None if place is None else Link(_id(run), ui_run(place, run)))
        for row, run in zip(rows, answer.runs, strict=True)
    ]
    return [*head, Styled(""), Styled(titles, Style.FAINT), *lines]


def _head(answer: RunsAnswer) -> str:
    shown = len(answer.runs)
    if not shown:
        return "no run"
    noun = "run" if (answer.total or shown) == 1 else "runs"
    return f"{shown} of {answer.total} {noun}" if (answer.total or 0) > shown else f"{shown} {noun}"


def _columns(runs: list[Run], now: datetime) -> list[str]:
    """A line for the titles and one for each run; a column in which nothing stands is left out."""
    rows = [list(HEADS), *(_row(run, now) for run in runs)]
    kept = [place for place in range(len(HEADS)) if any(row[place] for row in rows[1:])]
    widths = [max(cell_len(row[place]) for row in rows) for place in kept]
    padded = [
        [row[place] + " " * (width - cell_len(row[place])) for place, width in zip(kept, widths, strict=True)]
        for row in rows
    ]
    return ["  ".join(cells).rstrip() for cells in padded]


def _row(run: Run, now: datetime) -> list[str]:
    open_for = f"open {_told((now - run.started).total_seconds())}"
    return [
        run.started.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S"),
        open_for if run.seconds is None else _told(run.seconds),
        run.kind or "",
        flat(run.status),
        flat(run.outcome or ""),
        flat(run.tier or ""),
        flat(run.project or ""),
        flat(run.tool or ""),
        flat(", ".join(run.degraded)),
        _id(run),
    ]


def _id(run: Run) -> str:
    """The request id, or the workflow id where there is none, as it can be copied."""
    return unsteered(run.workflow_id if run.request_id is None else run.request_id).replace("\n", " ").rstrip()


def _told(seconds: float) -> str:
    """A length of time in the largest unit of which there are two or more."""
    for unit, size in _SECONDS:
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 0.0):.{0 if seconds >= 10 else 2}f} s"


def _style(run: Run) -> Style:
    return Style.BAD if run.status in _LOST else Style.PLAIN
