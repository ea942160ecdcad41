"""Skill files as agents use them: front matter with name and description, then a body."""

from __future__ import annotations

import yaml

from mem.domain.errors import InvalidRequest
from mem.domain.ids import SHARED, checked_project
from mem.parsing.redact import redact
from mem.parsing.sanitize import strip_unsafe
from mem.ports import Skill

MAX_DESCRIPTION = 4000
FENCE = "---"


def parse_skill(text: str, *, name: str, project: str | None) -> Skill:
    """Read a skill.

    Args:
        name: how errors call the file.
        project: None for a skill that every project sees.

    Raises:
        InvalidRequest: front matter, name or description is missing, or `project` is no name of a project.
    """
    owner = SHARED if project is None else checked_project(project)
    head, body = _split(redact(strip_unsafe(text).text).text, name)
    try:
        fields = yaml.safe_load(head)
    except (yaml.YAMLError, ValueError) as error:
        cause = " ".join(str(error).split())
        raise InvalidRequest(f"The front matter of {name} is no YAML: {cause}.", "Write `name: …` lines.") from error
    if not isinstance(fields, dict):
        raise InvalidRequest(f"The front matter of {name} names no fields.", "Give it `name` and `description`.")
    values = {}
    for field in ("name", "description"):
        value = fields.get(field)
        if not isinstance(value, str) or not value.strip():
            raise InvalidRequest(f"{name} has no {field}.", f"Add `{field}: …` to its front matter.")
        values[field] = " ".join(value.split())[:MAX_DESCRIPTION]
    return Skill(values["name"], values["description"], body.strip(), owner)


def _split(text: str, name: str) -> tuple[str, str]:
    lines = text.split("\n")
    if lines[0].strip() == FENCE:
        for number, line in enumerate(lines[1:], 1):
            if line.strip() == FENCE:
                return "\n".join(lines[1:number]), "\n".join(lines[number + 1 :])
    raise InvalidRequest(f"{name} has no front matter.", f"Begin it with {FENCE}, name, description, {FENCE}.")
