"""`mem lookup`: what is known about a failure, a task or a tool."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mem.cli.common import Format, OutputFormat, RequestIdOption, explained, read_log, run, say, show
from mem.cli.connect import connected
from mem.cli.project import project_or_default
from mem.cli.report import report
from mem.cli.terminal import Styled, columns, tell_lines
from mem.domain.errors import InvalidRequest
from mem.domain.lookup import ContextAnswer, ContextRequest, check_inputs

if TYPE_CHECKING:
    from mem.client import Reply


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(lookup)


def lookup(
    project: Annotated[
        str | None,
        typer.Option(
            metavar="PROJECT",
            help="Whose memories lead; what failed is looked up in all. Unset: by the current folder.",
        ),
    ] = None,
    tool: Annotated[str | None, typer.Option(metavar="TOOL", help="The tool that failed, such as npm.")] = None,
    task: Annotated[str | None, typer.Option(metavar="TEXT", help="What you are about to do, in words.")] = None,
    file: Annotated[str | None, typer.Option(metavar="LOG", help="The failing log; - for standard input.")] = None,
    scope: Annotated[
        str | None,
        typer.Option(
            metavar="SCOPE", help="Where to look: project or all-projects; unset: all for what failed, else project."
        ),
    ] = None,
    budget: Annotated[
        int | None, typer.Option(metavar="N", help="Tokens that the answer may take, 1 to 100000; unset: 6000.")
    ] = None,
    request_id: RequestIdOption = None,
    output: Format = OutputFormat.TEXT,
) -> None:
    """Look up what is known of a failure, a task or a tool; exit 1 where nothing is."""
    with explained():
        if file is None and task is None and tool is None:
            raise InvalidRequest("Nothing to look up.", "Give --file LOG, --task TEXT or --tool TOOL.")
        made = f"made-{secrets.token_hex(16)}" if request_id is None else request_id
        fields = {"tool": tool, "task": task, "scope": scope, "budget": budget}
        given: dict[str, Any] = {name: value for name, value in fields.items() if value is not None}
        if file is not None:
            given["signature_source"] = read_log(file)
        chosen = project_or_default(project)
        request = ContextRequest.model_validate({"request_id": made, "project": chosen.project, **given})
        check_inputs(request)
        chosen.tell()
        if request_id is None:
            say(f"request id: {made}")
        answer = run(_look_up(request, output, file or ""))
    if answer.tier is None:
        raise typer.Exit(1)


async def _look_up(request: ContextRequest, output: OutputFormat, file: str) -> ContextAnswer:
    client = await connected()
    reply = await client.look_up(request)
    for note in reply.notes:
        say(f"note: {note}")
    if output is OutputFormat.JSON:
        show(reply.body.decode("utf-8"))
    else:
        tell_lines(_told(request, reply, file))
    return reply.answer


def _told(request: ContextRequest, reply: Reply[ContextAnswer], file: str) -> list[Styled]:
    """The report, and in it the lines of the log that were taken for the failure."""
    if reply.sent is None or request.signature_source is None:
        return report(reply.answer, request, width=columns())
    from mem.cli.failing_lines import report_with_lines  # noqa: PLC0415 - loads all rules

    return report_with_lines(reply.answer, request, reply.sent, file, width=columns())
