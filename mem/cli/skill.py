"""`mem skill`: what an agent can do about a kind of work, added, listed and removed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mem.addresses import find_addresses
from mem.cli.common import Format, OutputFormat, add_noun, complain, explained, read_bytes, run, show_json, tell
from mem.cli.skill_files import FileRefused, read_skills
from mem.cli.terminal import columns, cut, flat
from mem.domain.errors import InvalidRequest
from mem.domain.ids import SHARED, checked_project
from mem.settings import Settings

if TYPE_CHECKING:
    from mem.ports import ListedSkill, Skill

_NO_NAME = "Give --name and --description, or a file, a folder or - instead."


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    noun = add_noun(app, "skill", "Skills of agents.")
    noun.command()(add)
    noun.command(name="list")(list_skills)
    noun.command()(remove)


def add(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE", help="A SKILL.md, a folder with such files at any depth, or - for standard input."
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Without a file: the skill's name.")
    ] = None,
    description: Annotated[
        str | None, typer.Option("--description", metavar="TEXT", help="With --name: what it does and when to use it.")
    ] = None,
    body: Annotated[
        str | None,
        typer.Option("--body", metavar="FILE", help="With --name: a file with its text; - for standard input."),
    ] = None,
    project: Annotated[
        str | None,
        typer.Option("--project", metavar="PROJECT", help="Whose skill; unset: one that every project sees."),
    ] = None,
    output: Format = OutputFormat.TEXT,
) -> None:
    """Add skills, or replace those of their names; adding them again changes nothing. Exit 1 where one is refused."""
    with explained():
        refused: list[FileRefused] = []
        if file is not None and (name, description, body) == (None, None, None):
            skills, refused = read_skills(file, project)
        elif file is None and name is not None and description is not None:
            skills = [_direct(name, description, body, project)]
        else:
            raise InvalidRequest("A skill is a file, or a name with a description.", _NO_NAME)
        changed = run(_put(skills)) if skills else []
        if output is OutputFormat.JSON:
            added = [{**_named(skill), "changed": one} for skill, one in zip(skills, changed, strict=True)]
            show_json({"skills": added, "refused": [one._asdict() for one in refused]})
        else:
            for skill, one in zip(skills, changed, strict=True):
                tell(f"{skill.name}: {'stored' if one else 'unchanged'}")
        for each in refused:
            complain(f"refused: {flat(each.reason)}")
    if refused:
        raise typer.Exit(1)


def list_skills(
    project: Annotated[
        str | None, typer.Option("--project", metavar="PROJECT", help="What this project sees; unset: all skills.")
    ] = None,
    output: Format = OutputFormat.TEXT,
) -> None:
    """List skills with their projects and revisions; exit 1 where there is none."""
    with explained():
        found = run(_listed(None if project is None else checked_project(project)))
        if output is OutputFormat.JSON:
            show_json(
                {
                    "skills": [
                        {**_named(one.skill), "description": one.skill.description, "revision": one.revision}
                        for one in found
                    ]
                }
            )
        else:
            tell(told_skills(found, width=columns()))
    if not found:
        raise typer.Exit(1)


def remove(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The skill's name.")],
    project: Annotated[
        str | None,
        typer.Option("--project", metavar="PROJECT", help="Whose skill; unset: the one that every project sees."),
    ] = None,
    output: Format = OutputFormat.TEXT,
) -> None:
    """Remove a skill: no lookup finds it any more. Removing it again changes nothing, and it may be added again."""
    with explained():
        owner = SHARED if project is None else checked_project(project)
        name, changed = run(_remove(owner, name))
        if output is OutputFormat.JSON:
            show_json({"name": name, "project": project, "changed": changed})
        else:
            tell(f"{flat(name)}: {'removed' if changed else 'was removed before'}")


def told_skills(found: list[ListedSkill], *, width: int) -> str:
    """A table: name, project, revision, and as much of the description as fits."""
    if not found:
        return "no skill"
    rows = [["name", "project", "revision"]]
    for skill, revision in found:
        owner = "(all)" if skill.project == SHARED else skill.project
        rows.append([cut(flat(skill.name), 40), owner, str(revision)])
    widths = [max(len(row[at]) for row in rows) for at in range(2)]
    begins = [f"{name:<{widths[0]}}  {project:<{widths[1]}}  {revision:>8}" for name, project, revision in rows]
    abouts = ["description", *(flat(one.skill.description) for one in found)]
    return "\n".join(cut(f"{begin}  {about}", width) for begin, about in zip(begins, abouts, strict=True))


def _direct(name: str, description: str, body: str | None, project: str | None) -> Skill:
    from mem.writing.skills import made_skill  # noqa: PLC0415 - half a second to import

    try:
        text = "" if body is None else read_bytes(body).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{body} is not UTF-8 text.", "The body of a skill is Markdown.") from error
    return made_skill(name, description, text, project=project)


async def _put(skills: list[Skill]) -> list[bool]:
    from mem.wiring import open_ports  # noqa: PLC0415 - with what follows, a second to import

    settings = Settings()
    async with open_ports(find_addresses(settings), settings) as ports:
        return [await ports.skills.put(skill, ports.embedder) for skill in skills]


async def _listed(project: str | None) -> list[ListedSkill]:
    from mem.wiring import open_store  # noqa: PLC0415 - half a second to import

    async with open_store(find_addresses(Settings())) as store:
        return await store.skills.listed(project)


async def _remove(project: str, given: str) -> tuple[str, bool]:
    from mem.wiring import open_store  # noqa: PLC0415 - with what follows, half a second to import
    from mem.writing.skills import skill_name  # noqa: PLC0415

    name = skill_name(given)
    async with open_store(find_addresses(Settings())) as store:
        return name, await store.skills.remove(project, name)


def _named(skill: Skill) -> dict[str, str | None]:
    return {"name": skill.name, "project": None if skill.project == SHARED else skill.project}
