"""`mem query`: a question to the memories of a project."""

from __future__ import annotations

import secrets
from typing import Annotated, Any

import typer

from mem.cli.common import Format, OutputFormat, explained, run, say, show, tell
from mem.cli.connect import connected
from mem.cli.hits import told_hits
from mem.domain.query import QueryAnswer, QueryRequest, check_question


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(query)


def query(
    question: Annotated[str, typer.Argument(help="What you want to know, in words or as the line that failed.")],
    project: Annotated[str, typer.Option(help="Whose memories are searched, with the shared ones.")] = "default",
    levels: Annotated[str | None, typer.Option(help="Any of L0,L1,L2,R; unset: L1,L2.")] = None,
    k: Annotated[int | None, typer.Option(help="How many hits at most, 1 to 50; unset: 5.")] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show what each leg found, and which became hits.")
    ] = False,
    request_id: Annotated[str | None, typer.Option(help="Send the same again to get the same answer.")] = None,
    output: Format = OutputFormat.TEXT,
) -> None:
    """Search the memories of a project; exit 1 where none is near."""
    with explained():
        made = f"made-{secrets.token_hex(16)}" if request_id is None else request_id
        given: dict[str, Any] = {"request_id": made, "project": project, "question": question}
        if levels is not None:
            given["levels"] = [level.strip() for level in levels.split(",")]
        if k is not None:
            given["k"] = k
        if explain:
            given["explain"] = True
        request = QueryRequest.model_validate(given)
        check_question(request)
        if request_id is None:
            say(f"request id: {made}")
        answer = run(_query(request, output))
    if not answer.hits:
        raise typer.Exit(1)


async def _query(request: QueryRequest, output: OutputFormat) -> QueryAnswer:
    client = await connected()
    reply = await client.query(request)
    for note in reply.notes:
        say(f"note: {note}")
    if output is OutputFormat.JSON:
        show(reply.body.decode("utf-8"))
    else:
        tell(told_hits(reply.answer))
    return reply.answer
