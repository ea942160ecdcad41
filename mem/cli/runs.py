"""`mem runs`: what Temporal ran for this memory, by the list filter that its UI takes, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mem.addresses import Addresses, find_addresses
from mem.cli.common import Format, Limit, OutputFormat, explained, run, show_json
from mem.cli.connect import connected
from mem.cli.runs_report import told_runs, ui_list
from mem.cli.terminal import tell_lines
from mem.domain.runs import Kind, RunsRequest, Status, Tier
from mem.settings import Settings

if TYPE_CHECKING:
    from mem.domain.runs import RunsAnswer

DEFAULT_NAMESPACE = "default"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(runs)


def runs(
    project: Annotated[list[str] | None, typer.Option(metavar="PROJECT", help="Runs of this project.")] = None,
    tool: Annotated[
        list[str] | None, typer.Option(metavar="TOOL", help="Runs about what this tool printed, such as npm.")
    ] = None,
    tier: Annotated[
        list[Tier] | None, typer.Option(metavar="|".join(Tier), help="Lookups that this tier answered; none: no tier.")
    ] = None,
    outcome: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OUTCOME",
            help="accepted, rejected, duplicate, pending; answered, abstained; failed: what runs set.",
        ),
    ] = None,
    signature: Annotated[
        str | None,
        typer.Option(
            metavar="SIGNATURE", help="Runs that saw this failure: its 64 digits, or the first 8 or more of them."
        ),
    ] = None,
    degraded: Annotated[
        list[str] | None, typer.Option(metavar="LEG", help="Answers made without this leg; any: whichever.")
    ] = None,
    kind: Annotated[
        list[Kind] | None,
        typer.Option(metavar="|".join(Kind), help="accept: acceptances; context: lookups; ground: turns of users."),
    ] = None,
    status: Annotated[
        list[Status] | None, typer.Option(metavar="|".join(Status), help="Where the run stands for Temporal.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="WHEN",
            help="Started at this UTC time or later (2026-07-02T14:30), or so long ago at most (2h, 7d).",
        ),
    ] = None,
    before: Annotated[
        str | None,
        typer.Option(metavar="WHEN", help="Started before this UTC time, or longer ago: with running, what hangs."),
    ] = None,
    slower: Annotated[
        str | None, typer.Option(metavar="TIME", help="Took so long or longer, such as 500ms or 2s.")
    ] = None,
    limit: Annotated[int | None, Limit] = None,
    output: Format = OutputFormat.TEXT,
) -> None:
    """List runs: those still open, then the last closed first; exit 1 where there is none.

    Its first lines name the filter that gives the same list in Temporal's UI.
    All options hold together; of one that is given several times any value will do.
    """
    with explained():
        given: dict[str, Any] = {
            "project": project, "tool": tool, "tier": tier, "outcome": outcome, "signature": signature,
            "degraded": degraded, "kind": kind, "status": status, "since": since, "before": before, "slower": slower,
            "limit": limit,
        }  # fmt: skip
        request = RunsRequest.model_validate({name: value for name, value in given.items() if value is not None})
        answer = run(_listed(request))
        place = _place(find_addresses(Settings()))
        if output is OutputFormat.JSON:
            url = None if place is None else ui_list(place, answer.filter)
            show_json({"url": url, **answer.model_dump(mode="json")})
        else:
            tell_lines(told_runs(answer, place))
    if not answer.runs:
        raise typer.Exit(1)


async def _listed(request: RunsRequest) -> RunsAnswer:
    client = await connected()
    return await client.runs(request)


def _place(found: Addresses) -> str | None:
    """The address of the namespace in the UI, where one is known."""
    return None if found.ui is None else f"{found.ui}/namespaces/{found.namespace or DEFAULT_NAMESPACE}"
