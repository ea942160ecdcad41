"""What each `--help` says, and docs/commands.md, which says the same."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer

from mem.cli.main import app_for

PAGE = Path(__file__).resolve().parents[3] / "docs" / "commands.md"
NO_RESULT = {"worker", "serve", "migrate", "mcp", "demo", "log export"}
"""Commands that serve, that tell on stderr what they do, or whose result has one form alone."""


class Command(NamedTuple):
    """A command by its whole name."""

    name: str
    command: Any

    @property
    def arguments(self) -> list[Any]:
        return [param for param in self.command.params if param.param_type_name == "argument"]

    @property
    def options(self) -> list[Any]:
        return [param for param in self.command.params if param.param_type_name == "option"]


def commands(group: Any, *names: str) -> Iterator[Command]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, *names, name)
        else:
            yield Command(" ".join([*names, name]), command)


KNOWN = list(commands(typer.main.get_command(app_for([]))))
each_command = pytest.mark.parametrize("command", KNOWN, ids=lambda each: each.name)


@each_command
def test_everything_has_a_help_text(command):
    """A command, each argument and each option says in a sentence what it is, and one with a value what value."""
    assert re.match(r"[A-Z].*\.$", command.command.help, re.DOTALL)
    assert "\n" not in command.command.help.replace("\n\n", "")
    for param in [*command.arguments, *command.options]:
        assert re.match(r"[A-Za-z*].*\.", param.help or ""), param.name
        assert getattr(param, "is_flag", False) or param.metavar, param.name


@each_command
def test_options_are_alike_in_all_commands(command):
    """A flag has no opposite, a result is printed for programs, too, and a word means the same everywhere."""
    options = {option.opts[0]: option for option in command.options}
    assert not [name for name, option in options.items() if option.secondary_opts]
    assert ("--format" in options) is (command.name not in NO_RESULT)
    metavars = {"--project": "PROJECT", "--tool": "TOOL", "--request-id": "ID", "--limit": "N", "--head": "SHA"}
    for name, metavar in metavars.items():
        assert name not in options or options[name].metavar == metavar, name


def test_the_page_of_commands_says_what_the_help_says():
    """docs/commands.md is made from the help texts; MEM_BLESS=1 writes it anew."""
    page = "\n".join([HEAD, *(line for command in KNOWN for line in told(command))])
    if os.environ.get("MEM_BLESS"):
        PAGE.write_text(page, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page


HEAD = """\
# Commands

What `mem COMMAND --help` says, for all commands; this page is made from the help texts. What is in brackets may be
left out. Exit codes: 0 for a result, 1 where there is none or the call failed, 2 for input that is wrong. Errors go
to stderr.
"""


def told(command: Command) -> list[str]:
    """The section of one command."""
    usage = " ".join([command.name, *map(usage_of, command.arguments), *map(usage_of, command.options)])
    rows = [(f"`{each.metavar}`", each) for each in command.arguments]
    rows += [(f"`{option_of(each)}`", each) for each in command.options]
    lines = [f"## mem {command.name}\n", f"```\nmem {usage}\n```\n", escaped(command.command.help) + "\n"]
    if rows:
        lines += [
            "| | |",
            "|---|---|",
            *(f"| {cell(name)} | {cell(escaped(each.help))}{default_of(each)} |" for name, each in rows),
            "",
        ]
    return lines


def usage_of(param: Any) -> str:
    words = param.metavar if param.param_type_name == "argument" else option_of(param)
    return words if param.required else f"[{words}]"


def option_of(option: Any) -> str:
    return option.opts[0] if option.is_flag else f"{option.opts[0]} {option.metavar}"


def default_of(param: Any) -> str:
    return "" if param.default in (None, False) else f" Default: {getattr(param.default, 'value', param.default)}."


def escaped(text: str) -> str:
    return text.replace("*", "\\*").replace("<", "&lt;")


def cell(text: str) -> str:
    return text.replace("|", "\\|")
