"""The skill files that a command is given: one, standard input, or all of a folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mem.cli.common import read_bytes
from mem.domain.errors import InvalidRequest, MemError, TooLarge
from mem.domain.ids import checked_project

if TYPE_CHECKING:
    from mem.ports import Skill

FILE = "skill.md"
"""In any case."""
MAX_FILE_BYTES = 1024 * 1024


class FileRefused(NamedTuple):
    """A file that is no skill, and why."""

    file: str
    reason: str


def read_skills(path: str, project: str | None) -> tuple[list[Skill], list[FileRefused]]:
    """The skills of a file, or of all files SKILL.md below a folder, and those files that are none.

    A name that is missing is that of the folder which holds the file. Of two different skills of one name the second
    one is refused, since each would replace the other.

    Raises:
        InvalidRequest: a folder holds no such file, or the one file is no skill; or `project` is no name of one.
    """
    if project is not None:
        checked_project(project)
    if path == "-" or not Path(path).is_dir():
        return [_read(path, project)], []
    files = _below(path)
    if not files:
        raise InvalidRequest(f"{path} holds no SKILL.md.", "Name a folder of them, or one such file.")
    skills: dict[str, Skill] = {}
    places: dict[str, str] = {}
    refused: list[FileRefused] = []
    for file in files:
        try:
            skill = _read(file, project)
        except MemError as error:
            refused.append(FileRefused(file, str(error)))
            continue
        if skills.setdefault(skill.name, skill) != skill:
            refused.append(FileRefused(file, f"{file} has the name of {places[skill.name]}: {skill.name}. Rename one."))
        places.setdefault(skill.name, file)
    return list(skills.values()), refused


def _below(folder: str) -> list[str]:
    """Such files at any depth, in their order; links to folders are followed, each folder is looked into once.

    A link to a folder above is not followed: what lies beside the one that was named was not asked for.
    """
    found: list[str] = []
    seen: set[str] = set()
    top = Path(os.path.realpath(folder))
    for place, folders, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(place)
        holder = top if place == folder else Path(os.path.realpath(Path(place).parent))
        upward = place != folder and any(below.is_relative_to(real) for below in (top, holder))
        if upward or real in seen:
            folders.clear()
            continue
        seen.add(real)
        folders.sort()
        found += [str(Path(place) / name) for name in names if name.lower() == FILE]
    return sorted(found)


def _read(file: str, project: str | None) -> Skill:
    from mem.writing.skills import parse_skill  # noqa: PLC0415 - half a second to import

    content = read_bytes(file)
    if len(content) > MAX_FILE_BYTES:
        raise TooLarge(f"{file} is over {MAX_FILE_BYTES // 1024 // 1024} MB.", "A skill is a short Markdown file.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{file} is not UTF-8 text.", "A skill is a Markdown file.") from error
    return parse_skill(text, file=file, project=project, fallback=_fallback(file))


def _fallback(file: str) -> str | None:
    """What a skill is called whose front matter names none."""
    if file == "-":
        return None
    path = Path(file).resolve()
    return path.parent.name if path.name.lower() == FILE else path.stem
