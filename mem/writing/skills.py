"""Skill files as agents use them: front matter with name and description, then a body."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import yaml

from mem.domain.errors import InvalidRequest, NotFound, TooLarge
from mem.domain.ids import SHARED, checked_project
from mem.parsing.redact import redact
from mem.parsing.sanitize import strip_unsafe
from mem.ports import Skill

MAX_NAME = 200
MAX_DESCRIPTION = 4000
MAX_BODY_BYTES = 256 * 1024
FENCE = "---"

_PLAIN = re.compile(r"""^(?P<key>[A-Za-z][\w.-]*):[ \t]+(?P<value>[^\s"'|>].*)$""")
"""A field whose value stands on its line, without quotes and not as a block."""


def parse_skill(text: str, *, file: str, project: str | None, fallback: str | None = None) -> Skill:
    """Read a skill. Fields beside name and description are left alone.

    Args:
        file: how errors call the file.
        project: None for a skill that every project sees.
        fallback: the name where the front matter has none, such as that of the folder.

    Raises:
        InvalidRequest: front matter, name or description is missing, or `project` is no name of a project.
        TooLarge: the body is over the limit.
    """
    head, body = _split(strip_unsafe(text.replace("\r\n", "\n").replace("\r", "\n")).text, file)
    fields = _fields(head, file)
    name, description = (_value(fields, key) for key in ("name", "description"))
    name = name or fallback
    for key, value in (("name", name), ("description", description)):
        if not value:
            raise InvalidRequest(f"{file} has no {key}.", f"Add `{key}: …` to its front matter.")
    return made_skill(name or "", description or "", body, project=project, file=file)


def made_skill(name: str, description: str, body: str, *, project: str | None, file: str = "The skill") -> Skill:
    """A skill of these texts, redacted and in visible characters.

    Raises:
        InvalidRequest: name or description is blank, the name is too long, or `project` is no name of a project.
        TooLarge: the body is over the limit.
    """
    owner = SHARED if project is None else checked_project(project)
    if not (name := skill_name(name)):
        raise InvalidRequest(f"{file} has no name.", "Give it one.")
    if len(name) > MAX_NAME:
        raise InvalidRequest(f"The name of {file} is over {MAX_NAME} characters.", "Shorten it.")
    if not (description := _one_line(description)):
        raise InvalidRequest(f"{file} has no description.", "Say what it does and when to use it.")
    body = _clean(body).strip()
    if len(body.encode()) > MAX_BODY_BYTES:
        raise TooLarge(f"The body of {file} is over {MAX_BODY_BYTES // 1024} KB.", "Move parts into files beside it.")
    return Skill(name, description[:MAX_DESCRIPTION], body, owner)


def skill_name(name: str) -> str:
    """A name as it is stored: one line, redacted, in visible characters."""
    return _one_line(name)


def no_skill(project: str, name: str) -> NotFound:
    """The error for a skill that never was."""
    where = "for all projects" if project == SHARED else f"in project {project}"
    return NotFound(f"There is no skill {name!r} {where}.", "`mem skill list` shows name and project of each.")


def _split(text: str, file: str) -> tuple[str, str]:
    lines = text.split("\n")
    if lines[0].rstrip() == FENCE:
        for number, line in enumerate(lines[1:], 1):
            # An indented one belongs to a value of several lines.
            if line.rstrip() == FENCE:
                return "\n".join(lines[1:number]), "\n".join(lines[number + 1 :])
    raise InvalidRequest(f"{file} has no front matter.", f"Begin it with {FENCE}, name, description, {FENCE}.")


def _fields(head: str, file: str) -> Mapping[str, Any]:
    try:
        try:
            fields = _loaded(head)
        except yaml.YAMLError:
            # Agents take `description: Use this when: …`, which is none; with its value in quotes it is.
            fields = _loaded("\n".join(_quoted(line) for line in head.split("\n")))
    except (yaml.YAMLError, RecursionError) as error:
        # Not all of its words: they quote lines of the file, which is not redacted yet.
        mark = getattr(error, "problem_mark", None)
        place = f" in line {mark.line + 2}" if mark is not None else ""
        what = getattr(error, "problem", None) or "it cannot be read"
        cause = f"The front matter of {file} is no YAML{place}: {_one_line(what)}."
        raise InvalidRequest(cause, "Write `name: …` lines.") from None
    if not isinstance(fields, dict):
        raise InvalidRequest(f"The front matter of {file} names no fields.", "Give it `name` and `description`.")
    return fields


def _loaded(head: str) -> Any:
    # Every scalar as the text that it is: a name may be a number or a date. It makes texts, lists and maps alone.
    return yaml.load(head, Loader=yaml.BaseLoader)  # noqa: S506 - no tag makes an object


def _quoted(line: str) -> str:
    found = _PLAIN.match(line)
    return line if found is None else f"{found['key']}: {json.dumps(found['value'].rstrip(), ensure_ascii=False)}"


def _value(fields: Mapping[str, Any], key: str) -> str | None:
    value = fields.get(key)
    return value if isinstance(value, str) and value.strip() else None


def _one_line(text: str) -> str:
    return " ".join(_clean(text).split())


def _clean(text: str) -> str:
    return redact(strip_unsafe(text).text).text
