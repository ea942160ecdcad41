"""`mem gaps`: the failures that keep happening and that no memory explains."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from mem.addresses import find_addresses
from mem.cli.common import Format, Limit, OutputFormat, explained, run, show_json, tell
from mem.cli.terminal import columns, cut, flat
from mem.domain.gaps import Gap, GapsAnswer, GapsRequest
from mem.settings import Settings

_PROJECTS = 2
"""So many are named in a row; the document names all."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(gaps)


def gaps(
    project: Annotated[
        str | None, typer.Option(metavar="PROJECT", help="What one project saw; unset: all of them together.")
    ] = None,
    tool: Annotated[str | None, typer.Option(metavar="TOOL", help="Failures of one tool, such as npm.")] = None,
    since: Annotated[
        str | None, typer.Option(metavar="DATE", help="Count from this UTC date, or from so many days ago: 7d.")
    ] = None,
    limit: Annotated[int | None, Limit] = None,
    output: Format = OutputFormat.TEXT,
) -> None:
    """List the failures that were seen and that no memory explains, most first; exit 1 where there is none."""
    with explained():
        given: dict[str, Any] = {"project": project, "tool": tool, "since": since, "limit": limit}
        request = GapsRequest.model_validate({name: value for name, value in given.items() if value is not None})
        answer = run(_found(request))
        show_json(answer.model_dump(mode="json")) if output is OutputFormat.JSON else tell(told_gaps(answer))
    if not answer.gaps:
        raise typer.Exit(1)


async def _found(request: GapsRequest) -> GapsAnswer:
    from mem.reading import open_reader  # noqa: PLC0415 - half a second to import

    async with open_reader(find_addresses(Settings()).need_database()) as reader:
        return await reader.gaps(request)


def told_gaps(answer: GapsAnswer) -> str:
    """How many there are, then two lines each: the figures and names in columns, and what failed."""
    asked = f" in project {answer.project}" if answer.project is not None else ""
    asked += f" of tool {answer.tool}" if answer.tool is not None else ""
    asked += f" since {answer.since}" if answer.since is not None else ""
    if not answer.gaps:
        return f"no gap: no failure was seen{asked} that no memory explains"
    shown = f"{len(answer.gaps)} of {answer.total}" if answer.total > len(answer.gaps) else f"{answer.total}"
    noun = "failure was" if answer.total == 1 else "failures were"
    rows = [["seen", "first seen", "last seen", "tool", "rule", "signature", "projects"]]
    rows += [_row(gap) for gap in answer.gaps]
    if answer.project is not None:
        rows = [row[:-1] for row in rows]
    head, *lines = _aligned(rows)
    told = [f"{shown} {noun} seen{asked} that no memory explains", "", head]
    margin = " " * head.index("first seen")
    room = columns() - len(margin)
    for line, gap in zip(lines, answer.gaps, strict=True):
        told += [line, *(margin + cut(flat(text), room) for text in _below(gap))]
    return "\n".join(told)


def _row(gap: Gap) -> list[str]:
    more = len(gap.projects) - _PROJECTS
    places = ", ".join(gap.projects[:_PROJECTS]) + (f" and {more} more" if more > 0 else "")
    days = [gap.first_seen.isoformat(), gap.last_seen.isoformat()]
    return [str(gap.seen_count), *days, gap.tool, gap.rule, gap.sig_sha[:12], places]


def _aligned(rows: list[list[str]]) -> list[str]:
    """Columns two spaces apart; the first holds figures, and stands to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for figure, *words in rows:
        padded = [word.ljust(width) for word, width in zip(words, widths[1:], strict=True)]
        lines.append("  ".join([figure.rjust(widths[0]), *padded]).rstrip())
    return lines


def _below(gap: Gap) -> list[str]:
    """What failed, and how much else is like it."""
    counts = {"other gaps": gap.variants, "known failures": gap.known_variants}
    like = ", ".join(f"{noun} {count}" for noun, count in counts.items() if count)
    return [text for text in (told_failure(gap.code, gap.message), f"like it: {like}" if like else None) if text]


def told_failure(code: str | None, message: str) -> str:
    """What failed; a code that a rule looked for is often left out of what it took for the message."""
    said = [code or "", message] if (code or "") not in message else [message]
    return ": ".join(filter(None, said))
