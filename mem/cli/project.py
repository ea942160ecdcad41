"""Which project a command is about where none is named: what the folder that it runs in says."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from mem.cli.common import complain
from mem.cli.repository import name_in, repository_at, there
from mem.cli.terminal import flat
from mem.domain.errors import InvalidRequest
from mem.domain.faults import told
from mem.domain.ids import Project, is_project

FILE = ".mem.toml"
DEFAULT = "default"
_REMEDY = f'Name one with --project, or write project = "NAME" into a {FILE} there or above.'


class Inferred(NamedTuple):
    """A project and where its name comes from; or None, and why there is none."""

    project: str | None
    why: str


class Chosen(NamedTuple):
    """The project that a command is about; `why` is empty where the caller named it."""

    project: str
    why: str = ""

    def tell(self) -> None:
        """Say what was inferred, so that nobody takes one project for another."""
        if self.why:
            complain(f"project: {self.project} ({flat(self.why)})")


class _File(BaseModel):
    """All that may stand in the file."""

    model_config = ConfigDict(extra="forbid")

    project: Project


def needed_project(given: str | None) -> Chosen:
    """The project that was given, or else what the current folder says.

    Raises:
        InvalidRequest: it says none, or its file is wrong.
    """
    if given is not None:
        return Chosen(given)
    found = _here()
    if found.project is None:
        raise InvalidRequest(f"No project is named, and none is known here: {flat(found.why)}.", _REMEDY)
    return Chosen(found.project, found.why)


def project_or_default(given: str | None) -> Chosen:
    """The same for what has an answer without a project, too: where the folder says none it is `default`.

    Raises:
        InvalidRequest: the file of the folder is wrong.
    """
    if given is not None:
        return Chosen(given)
    found = _here()
    return Chosen(DEFAULT if found.project is None else found.project, found.why)


def known_project(given: str | None) -> Chosen | None:
    """The same for what can do without: None where neither the caller nor the folder names one.

    Raises:
        InvalidRequest: the file of the folder is wrong.
    """
    if given is not None:
        return Chosen(given)
    found = _here()
    return None if found.project is None else Chosen(found.project, found.why)


def infer_project(folder: Path, home: Path | None) -> Inferred:
    """What a folder says: the nearest `.mem.toml` there or above, or else the repository that it is in.

    A repository is called by its remote `origin`, or without one by its folder. The search ends at the home folder,
    where it began below that. A repository of the home folder is that of the home folder alone, since everything lies
    below it.

    Raises:
        InvalidRequest: the file is no TOML, or says something else than a project.
    """
    places = list(_upwards(folder, home))
    for place in places:
        file = place / FILE
        if there(file.exists) or there(file.is_symlink):
            return Inferred(_read(file), str(file))
    for place in places:
        found = repository_at(place) if place == folder or place != home else None
        if found is not None:
            remote = name_in(found.origin or "")
            if remote is not None:
                return _named(remote, f"remote origin of {found.folder}")
            return _named(found.name, f"folder {found.folder}")
    return Inferred(None, f"no git repository and no {FILE} from {folder} up")


def _here() -> Inferred:
    try:
        folder = Path.cwd()
    except OSError:
        return Inferred(None, "the current folder is gone")
    try:
        home = Path.home().resolve()
    except (OSError, RuntimeError):
        home = None
    return infer_project(folder, home)


def _upwards(folder: Path, home: Path | None) -> Iterator[Path]:
    for place in (folder, *folder.parents):
        yield place
        if place == home:
            return


def _named(name: str, where: str) -> Inferred:
    if not is_project(name):
        return Inferred(None, f"the {where} is called {name[:80]!r}, which is no name of a project")
    return Inferred(name, where)


def _read(file: Path) -> str:
    remedy = "Write one line: project = \"NAME\", of 1 to 64 letters, digits, '.', '_' and '-'."
    try:
        return _File.model_validate(tomllib.loads(file.read_bytes().decode("utf-8-sig"))).project
    except OSError as error:
        raise InvalidRequest(f"{flat(str(file))} cannot be read: {error.strerror}.", remedy) from error
    except ValidationError as error:
        raise InvalidRequest(f"{flat(str(file))} is wrong: {told(error)}.", remedy) from error
    except ValueError as error:
        raise InvalidRequest(f"{flat(str(file))} is no TOML: {error}.", remedy) from error
