"""What every command shares: output, errors, and the one place that runs the event loop."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from pydantic import ValidationError

from mem.cli.terminal import unsteered
from mem.domain.errors import InvalidRequest, MemError
from mem.domain.faults import not_installed, told

T = TypeVar("T")


class OutputFormat(StrEnum):
    """How a command prints its result."""

    TEXT = "text"
    JSON = "json"


FORMATS = "|".join(OutputFormat)
Format = Annotated[
    OutputFormat, typer.Option("--format", metavar=FORMATS, help="text for people, json for one document.")
]
LineFormat = Annotated[
    OutputFormat, typer.Option("--format", metavar=FORMATS, help="text for people, json for one object a line.")
]
Limit = typer.Option(metavar="N", help="How many at most, 1 to 1000; unset: 20.")
RequestIdOption = Annotated[
    str | None,
    typer.Option(
        "--request-id", metavar="ID", help="Send the same again to get the same answer; unset: one is made, and told."
    ),
]


def add_noun(app: typer.Typer, name: str, about: str) -> typer.Typer:
    """Add a noun, below which commands are verbs; a callback keeps the verb where it is the only one."""
    noun = typer.Typer(no_args_is_help=True, help=about)
    noun.callback()(lambda: None)
    app.add_typer(noun, name=name)
    return noun


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a command's work; SIGTERM ends it as Ctrl-C does, so that what it started is stopped."""

    async def ended_by_signal() -> T:
        ending = asyncio.ensure_future(work)
        # Not by raising SIGINT, which whoever is started in the background of a script ignores.
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ending.cancel)
        return await ending

    try:
        return asyncio.run(ended_by_signal())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


@contextmanager
def explained() -> Iterator[None]:
    """Turn an error into its one clear message, and exit code 2 for bad input, else 1."""
    try:
        yield
    except MemError as error:
        complain(f"error: {error}")
        raise typer.Exit(2 if isinstance(error, InvalidRequest) else 1) from None
    except ValidationError as error:
        complain(f"error: {told(error)}")
        raise typer.Exit(2) from None
    except ModuleNotFoundError as error:
        complain(f"error: {not_installed(error, 'local,worker,http')}")
        raise typer.Exit(1) from None


def say(text: str) -> None:
    """Progress and errors go to stderr: stdout is for the result."""
    sys.stderr.write(unsteered(text) + "\n")
    sys.stderr.flush()


def complain(text: str) -> None:
    """Tell on stderr what is wrong, without secrets: it may quote what a caller gave, and ends up in logs."""
    try:
        from mem.parsing.redact import redact  # noqa: PLC0415 - most commands have nothing to complain of
    except ModuleNotFoundError:
        say(text)  # a part is missing, which is what is told
    else:
        say(redact(text).text)


def show(text: str) -> None:
    """Print a result to the letter: a document, or an export."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def tell(text: str) -> None:
    """Print a result for people, without what would steer their terminal: logs keep their escape sequences."""
    show(unsteered(text))


def show_json(value: Any) -> None:
    """Print one document."""
    show(json.dumps(value, ensure_ascii=False, indent=2))


def read_bytes(path: str) -> bytes:
    """The content of a file, or of standard input for "-".

    Raises:
        InvalidRequest: it cannot be read.
    """
    if path == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except OSError as error:
        cause = f"{path} cannot be read: {error.strerror}."
        raise InvalidRequest(cause, "Name a file, or - for standard input.") from error


def read_log(path: str) -> str:
    """The text of a log, in whatever encoding.

    Raises:
        InvalidRequest: it cannot be read, is empty, or no text.
    """
    from mem.parsing import decode, looks_binary  # noqa: PLC0415 - loads all rules

    data = read_bytes(path)
    if not data.strip():
        raise InvalidRequest(f"{path} is empty.", "Name the log of the failure.")
    if looks_binary(data):
        raise InvalidRequest(f"{path} is a binary file, not a log.", "Name a text file, or unpack it first.")
    # JSON cannot carry lone surrogates, and a decoder for damaged input may leave some.
    return decode(data).encode("utf-8", "replace").decode("utf-8")
