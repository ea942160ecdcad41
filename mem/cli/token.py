"""`mem token new`: a secret for a caller, and the entry by which the gateway knows it."""

from __future__ import annotations

import secrets
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from mem.cli.common import Format, OutputFormat, add_noun, explained, say, show, show_json
from mem.domain.errors import InvalidRequest
from mem.domain.rights import PREFIX, Token, entry_of, hash_of

SECRET_BYTES = 32


def _projects(may: str) -> Any:
    told = f"Projects that it may {may}; * for every one. May be given again."
    return typer.Option(metavar="PROJECT[,…]", help=told)


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    add_noun(app, "token", "Tokens of the HTTP gateway.").command(name="new")(new)


def new(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="What it is called in the log and in refusals; 1 to 64 characters.")
    ],
    read: Annotated[list[str] | None, _projects("read")] = None,
    write: Annotated[list[str] | None, _projects("write to")] = None,
    admin: Annotated[list[str] | None, _projects("administer")] = None,
    all_projects: Annotated[bool, typer.Option("--all-projects", help="It may read every project.")] = False,
    output: Format = OutputFormat.TEXT,
) -> None:
    """Make a token: tells its secret, this once, and prints the entry to add to the file of MEM_TOKENS_FILE."""
    with explained():
        secret = PREFIX + secrets.token_urlsafe(SECRET_BYTES)
        rights = {"read": _listed(read), "write": _listed(write), "admin": _listed(admin)}
        token = _token(name, secret, rights, all_projects=all_projects)
        entry = entry_of(token)
        if output is OutputFormat.JSON:
            show_json(
                {"name": name, "secret": secret, "entry": entry, **token.model_dump(by_alias=True, exclude={"name"})}
            )
            return
        # On stderr, so that what is sent into the file is the entry alone.
        say(f"The secret, shown this once; send it as `Authorization: Bearer SECRET`:\n\n{secret}\n")
        say("The entry for the file of MEM_TOKENS_FILE:")
        show(f"\n{entry}")


def _token(name: str, secret: str, rights: dict[str, list[str]], *, all_projects: bool) -> Token:
    if not all_projects and not any(rights.values()):
        raise InvalidRequest(
            "A token without a right is of no use.", "Give --read, --write or --admin PROJECT, or --all-projects."
        )
    try:
        return Token.model_validate(
            {"name": name, "sha256": hash_of(secret.encode("ascii")), "all-projects": all_projects, **rights}
        )
    except ValidationError as error:
        wrong = sorted({str(fault["loc"][0]) for fault in error.errors(include_input=False)})
        raise InvalidRequest(
            f"No name of a {' or '.join('token' if one == 'name' else f'project (--{one})' for one in wrong)}.",
            "Use 1 to 64 letters, digits, '.', '_' and '-'.",
        ) from error


def _listed(given: list[str] | None) -> list[str]:
    """The projects of an option, each once, in the order in which they came."""
    named = [one.strip() for each in given or [] for one in each.split(",")]
    return list(dict.fromkeys(one for one in named if one))
