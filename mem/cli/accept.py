"""`mem accept`: hand in candidate memories."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import ValidationError

from mem.cli.common import LineFormat, OutputFormat, complain, explained, read_bytes, run, show, tell
from mem.cli.connect import connected
from mem.cli.terminal import cut
from mem.domain.accepting import AcceptAnswer, AcceptRequest
from mem.domain.canonical import strict_json
from mem.domain.errors import InvalidRequest, MemError
from mem.domain.faults import told
from mem.domain.ids import derived_request_id

if TYPE_CHECKING:
    from mem.client import MemoryClient


_GOES_ON = ("{", "[", ",", ":")
"""A first line that ends so is no object of JSON Lines, but the beginning of one that is laid out over many lines."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(accept)


def accept(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A JSON object, or JSON Lines of them; - for standard input.")
    ],
    project: Annotated[
        str | None, typer.Option("--project", metavar="PROJECT", help="The project of candidates that name none.")
    ] = None,
    override: Annotated[
        str | None, typer.Option("--override", metavar="REASON", help="Keep it in spite of the gate, and say why.")
    ] = None,
    output: LineFormat = OutputFormat.TEXT,
) -> None:
    """Hand in one candidate memory or many; a rejection is an answer, not a failure.

    Exit 1 where a candidate got no answer; all the others are sent. A candidate without a request id gets one from its
    content, so that the same file may be sent again.
    """
    with explained():
        given = _candidates(read_bytes(file))
        if override is not None and len(given) > 1:
            raise InvalidRequest(f"--override is for one candidate, and here are {len(given)}.", "Send that one alone.")
        if override is not None:
            _check_reason(override)
        candidates = [_with_defaults(fields, project, override) for fields in given]
        if not run(_accept_all(candidates, override, output)):
            raise typer.Exit(1)


def _check_reason(override: str) -> None:
    """Refuse a reason that is none as wrong usage, before anything is connected to."""
    from mem.doors import prepare_reason  # noqa: PLC0415 - half a second to import

    prepare_reason(override)


async def _accept_all(candidates: list[dict[str, Any]], override: str | None, output: OutputFormat) -> bool:
    """Send each in turn; one that fails does not keep the others from being sent."""
    client = await connected()
    answered = [await _accept(client, fields, override, output) for fields in candidates]
    return all(answered)


async def _accept(client: MemoryClient, fields: dict[str, Any], override: str | None, output: OutputFormat) -> bool:
    request_id = str(fields["request_id"])
    try:
        reply = await client.accept(AcceptRequest.model_validate(fields), override=override)
    except (MemError, ValidationError) as error:
        reason = told(error) if isinstance(error, ValidationError) else str(error)
        complain(f"error: {request_id}: {reason}")
        if output is OutputFormat.JSON:
            show(json.dumps({"request_id": request_id, "error": reason}, ensure_ascii=False))
        return False
    for note in reply.notes:
        complain(f"note: {request_id}: {note}")
    if output is OutputFormat.JSON:
        show(json.dumps({"request_id": request_id, **json.loads(reply.body)}, ensure_ascii=False))
    else:
        _tell(request_id, reply.answer)
    return True


def _tell(request_id: str, answer: AcceptAnswer) -> None:
    sha = answer.sha or answer.duplicate_of or ""
    tell(f"{answer.status:<10} {sha[:12]:<12}  {request_id}")
    if answer.verdict.rule is not None or answer.status != "accepted":
        tell(f"           {answer.verdict.rule or 'duplicate'}: {answer.verdict.reason}")
    for signature in answer.signatures:
        tell(f"           signature {signature.sig_sha[:12]} {signature.tool} {signature.rule}")
    if answer.projection is not None and answer.projection.text:
        tell(f"           symptom: {cut(answer.projection.text.splitlines()[0], 100)}")
    if answer.pending:
        tell(f"           pending: {', '.join(answer.pending)}")


def _candidates(data: bytes) -> list[dict[str, Any]]:
    """One JSON object over any number of lines, or one a line."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidRequest("The candidates are not UTF-8 text.", "Send JSON or JSON Lines.") from error
    if not text.strip():
        raise InvalidRequest("There is no candidate in the input.", "Send a JSON object, or JSON Lines of them.")
    try:
        found = [strict_json(text)]
    except ValueError as error:
        if text.lstrip().split("\n", 1)[0].rstrip().endswith(_GOES_ON):
            raise InvalidRequest(f"The candidate is no JSON: {error}.", "Send a JSON object, or one a line.") from error
        found = [_parsed(line, number) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    for number, fields in enumerate(found, 1):
        if not isinstance(fields, dict):
            raise InvalidRequest(f"Candidate {number} is no JSON object.", "Send objects with project, level and text.")
    return found


def _parsed(line: str, number: int) -> Any:
    try:
        return strict_json(line)
    except ValueError as error:
        raise InvalidRequest(f"Line {number} is no JSON: {error}.", "Send one JSON object a line.") from error


def _with_defaults(fields: dict[str, Any], project: str | None, override: str | None) -> dict[str, Any]:
    if project is not None:
        fields = {"project": project, **fields}
    if fields.get("request_id") is not None:
        return fields
    # What a person overrules is another request than the one that was rejected.
    asked = fields if override is None else {**fields, "override": override}
    return {**fields, "request_id": derived_request_id(asked)}
