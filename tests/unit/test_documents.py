"""What README and docs say of commands, settings, rules and each other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import typer

from mem.cli.main import app_for
from mem.domain.accepting import Rule
from mem.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
OF_TESTS = {"MEM_BLESS", "MEM_BLESS_FINGERPRINTS", "MEM_RECORD_HISTORIES"}
"""Variables that let tests write what they compare with."""
OPTION = re.compile(r"--[a-z][a-z-]+")


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def commands(group: Any, *names: str) -> Iterator[tuple[str, set[str]]]:
    """Each command with its options."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, *names, name)
        else:
            yield " ".join([*names, name]), {each for param in command.params for each in param.opts}


def told() -> str:
    """The list of commands in the README."""
    return read(ROOT / "README.md").split("## Commands\n")[1].split("```")[1]


KNOWN = dict(commands(typer.main.get_command(app_for([]))))


@pytest.mark.parametrize("name", KNOWN)
def test_each_command_stands_in_the_readme(name):
    """The README's list names every command."""
    noun, *verb = name.split()
    lines = [re.sub(r"\[.*?\]", " ", line.split("   ")[0]).split() for line in told().splitlines()]
    assert any(noun in line and set(verb) <= set(line) for line in lines), lines


def test_the_readme_names_no_option_that_is_none():
    """Every option in the README's list is one of some command."""
    known = set().union(*KNOWN.values()) | {"--help"}
    assert set(OPTION.findall(told())) <= known


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_each_link_leads_somewhere(document):
    """A link of a document leads to a file of the project, and its anchor to a heading there."""
    for target in re.findall(r"\]\(([^)]+)\)", read(document)):
        path, _, anchor = target.partition("#")
        file = document.parent / path if path else document
        assert file.is_file(), target
        if file.suffix != ".md":
            assert not anchor, target
            continue
        headings = [
            re.sub(r"[^a-z0-9 -]", "", line.lstrip("# ").lower()) for line in read(file).splitlines() if line[:1] == "#"
        ]
        assert not anchor or anchor.replace("-", " ") in [each.replace("-", " ") for each in headings], target


def test_each_setting_that_is_told_is_read():
    """Every MEM_ variable of the documents is a setting, and every such setting is told."""
    named = {name for each in DOCUMENTS for name in re.findall(r"MEM_[A-Z]+(?:_[A-Z]+)*", read(each))} - OF_TESTS
    own = {f"MEM_{name.upper()}" for name, field in Settings.model_fields.items() if field.validation_alias is None}
    assert named == own


def test_each_rule_of_the_gate_is_told():
    """The table of rules has every rule that a verdict can name but the controller's own."""
    rows = re.findall(r"^\| `([a-z-]+)` \|", read(ROOT / "docs" / "acceptance.md"), re.MULTILINE)
    assert set(get_args(Rule)) - {"controller"} <= set(rows)
