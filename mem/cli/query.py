"""`mem query`: a question to the memories of a project."""

from __future__ import annotations

import secrets
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mem.addresses import find_addresses
from mem.cli.common import Format, OutputFormat, RequestIdOption, explained, read_log, run, say, show
from mem.cli.connect import connected
from mem.cli.hits import told_hits
from mem.cli.project import Chosen, needed_project
from mem.cli.terminal import columns, tell_lines
from mem.domain.errors import ConfigurationError, InvalidRequest, NotFound, Unavailable
from mem.domain.query import MAX_QUESTION_CHARACTERS, QueryAnswer, QueryRequest, RecordedQuery, check_question
from mem.settings import Settings

if TYPE_CHECKING:
    from mem.reading import Reader


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(query)


def query(
    question: Annotated[
        str | None,
        typer.Argument(
            metavar="QUESTION",
            help="What you want to know, in words or as the lines that failed; - for standard input.",
        ),
    ] = None,
    project: Annotated[
        str | None,
        typer.Option(
            metavar="PROJECT", help="Whose memories are searched, with the shared ones. Unset: by the current folder."
        ),
    ] = None,
    levels: Annotated[str | None, typer.Option(metavar="LEVELS", help="Any of L0,L1,L2,R; unset: L1,L2.")] = None,
    k: Annotated[int | None, typer.Option(metavar="N", help="How many hits at most, 1 to 50; unset: 5.")] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show what each leg found, what the reranker did, and what was left out.")
    ] = False,
    request_id: RequestIdOption = None,
    shown: Annotated[
        str | None, typer.Option("--show", metavar="ID", help="Open the answer to an earlier query again.")
    ] = None,
    output: Format = OutputFormat.TEXT,
) -> None:
    """Search the memories of a project; exit 1 where none is near."""
    with explained():
        options = {"levels": levels, "k": k, "explain": explain or None}
        given = {name: value for name, value in options.items() if value is not None}
        if shown is None:
            answer = _asked(question, needed_project(project), given, request_id, output)
        else:
            _check_alone({"QUESTION": question, **given, "request-id": request_id})
            answer = _opened(shown, needed_project(project), output)
    if not answer.hits:
        raise typer.Exit(1)


def _asked(
    question: str | None, chosen: Chosen, given: dict[str, Any], request_id: str | None, output: OutputFormat
) -> QueryAnswer:
    made = f"made-{secrets.token_hex(16)}" if request_id is None else request_id
    if "levels" in given:
        # Named twice is meant once; what is none is for the contract to refuse.
        given["levels"] = list(dict.fromkeys(level.strip().upper() for level in given["levels"].split(",")))
    fields = {"request_id": made, "project": chosen.project, "question": _question(question), **given}
    request = QueryRequest.model_validate(fields)
    check_question(request)
    chosen.tell()
    if request_id is None:
        say(f"request id: {made}")
    return run(_query(request, output))


def _question(given: str | None) -> str:
    """The question, or what standard input says.

    Raises:
        InvalidRequest: there is none, or it is too long.
    """
    if given is None:
        raise InvalidRequest("No question.", "Ask in words, name - for standard input, or --show ID an earlier answer.")
    question = read_log("-") if given == "-" else given
    if len(question) > MAX_QUESTION_CHARACTERS:
        raise InvalidRequest(
            f"The question takes {len(question)} characters, and {MAX_QUESTION_CHARACTERS} at most are read.",
            "Ask with the lines that failed; `mem lookup --file LOG` reads whole logs.",
        )
    return question


def _check_alone(given: dict[str, Any]) -> None:
    """Refuse to ask anything of an answer that is only shown."""
    for name, value in given.items():
        if value is not None:
            told = name if name.isupper() else f"--{name}"
            raise InvalidRequest(f"--show opens an answer as it was given, and {told} asks anew.", "Leave one out.")


async def _query(request: QueryRequest, output: OutputFormat) -> QueryAnswer:
    client = await connected()
    reply = await client.query(request)
    for note in reply.notes:
        say(f"note: {note}")
    if not reply.answer.hits and not reply.answer.candidates:
        await _check_known(request)
    return _told(reply.body, output)


async def _check_known(request: QueryRequest) -> None:
    """Tell a project of which nothing is known from a question that nothing is near to, where the store can be read.

    Raises:
        NotFound: there was nothing to search, of the project or shared; only reference is.
    """
    project = request.project
    database = find_addresses(Settings()).database_url
    if database is None:
        return
    try:
        async with _reader(database) as reader:
            known = await reader.projects(project)
    except (Unavailable, ConfigurationError, ModuleNotFoundError):
        return
    nearest = f"Known projects near that name: {', '.join(known.nearest)}." if known.nearest else "It knows no project."
    shared = known.shared and "R" in request.levels
    if not known.own and not shared:
        also = "" if known.shared else ", and nothing that all projects share"
        raise NotFound(f"The memory holds nothing of project {project!r}{also}.", nearest)
    if not known.own:
        say(f"note: the memory holds nothing of project {project!r} itself. {nearest}")


def _opened(query_id: str, chosen: Chosen, output: OutputFormat) -> QueryAnswer:
    """Show an answer as it was given.

    Raises:
        NotFound: none is recorded.
    """
    asked = RecordedQuery(project=chosen.project, query_id=query_id)
    chosen.tell()
    return _told(run(_recorded(asked)), output)


async def _recorded(asked: RecordedQuery) -> bytes:
    async with _reader(find_addresses(Settings()).need_database()) as reader:
        return await reader.answer(asked)


def _reader(database_url: str) -> AbstractAsyncContextManager[Reader]:
    from mem.reading import open_reader  # noqa: PLC0415 - half a second to import, and only with the extra `worker`

    return open_reader(database_url, size=1)


def _told(body: bytes, output: OutputFormat) -> QueryAnswer:
    answer = QueryAnswer.model_validate_json(body)
    if output is OutputFormat.JSON:
        show(body.decode("utf-8"))
    else:
        tell_lines(told_hits(answer, width=columns(), folder=_folder()))
    return answer


def _folder() -> Path:
    """From where sources that are paths are seen."""
    try:
        return Path.cwd()
    except OSError:
        return Path("/")
