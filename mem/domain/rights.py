"""Who may do what: tokens, kept as hashes of their secrets, and the rights that one gives per project."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Annotated, Literal, NamedTuple, assert_never

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from mem.domain.errors import Forbidden
from mem.domain.ids import Project, Sha

Right = Literal["read", "write", "admin"]

EVERY = "*"
"""Stands in a list of projects for all of them; no project can have this name."""

PREFIX = "memtok_"
"""What a secret begins with, so that it is known for one wherever it turns up."""

Projects = list[Project | Literal["*"]]
TokenName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,64}\z")]


class Token(BaseModel):
    """One token as it is kept: its name, the hash of its secret, and the projects of each right.

    `all_projects`: it may read every project. No right comes with another one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, populate_by_name=True)

    name: TokenName
    sha256: Sha
    read: Projects = []
    write: Projects = []
    admin: Projects = []
    all_projects: bool = Field(default=False, alias="all-projects")


class TokenList(BaseModel):
    """All tokens: no two of one name, nor of one secret."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    token: list[Token] = []

    @model_validator(mode="after")
    def _told_apart(self) -> TokenList:
        for what, values in (
            ("name", [one.name for one in self.token]),
            ("secret", [one.sha256 for one in self.token]),
        ):
            if len(set(values)) < len(values):
                raise ValueError(f"two tokens have the same {what}")
        return self


class Rights(NamedTuple):
    """What a caller may do, by the projects of each right; None: every project."""

    name: str
    read: frozenset[str] | None
    write: frozenset[str] | None
    admin: frozenset[str] | None

    @property
    def readable(self) -> list[str] | None:
        """The projects that may be read, in their order; None: all."""
        return None if self.read is None else sorted(self.read)

    def may(self, right: Right, project: str | None = None) -> bool:
        """Whether there is that right in a project; without one whether there is in any."""
        projects = self._projects(right)
        if projects is None:
            return True
        return bool(projects) if project is None else project in projects

    def require(self, right: Right, project: str | None = None) -> None:
        """Refuse who lacks a right; what is told is the same whether the project exists or not.

        Raises:
            Forbidden: the right is missing.
        """
        if self.may(right, project):
            return
        where = "any project" if project is None else f"project {project!r}"
        raise Forbidden(
            f"The token {self.name!r} has no right to {_DOING[right]} {where}.",
            f"Name a project that it has the right `{right}` in, or have it added to the token.",
        )

    def require_everywhere(self, right: Right) -> None:
        """Refuse who lacks a right in any project.

        Raises:
            Forbidden: the right is missing somewhere.
        """
        if self._projects(right) is not None:
            raise Forbidden(
                f"The token {self.name!r} has no right to {_DOING[right]} every project.",
                f'Use one whose list `{right}` is ["*"].',
            )

    def _projects(self, right: Right) -> frozenset[str] | None:
        match right:
            case "read":
                return self.read
            case "write":
                return self.write
            case "admin":
                return self.admin
            case _:
                assert_never(right)


_DOING = {"read": "read", "write": "write to", "admin": "administer"}

UNRESTRICTED = Rights("", None, None, None)
"""Of a caller where no tokens are configured."""


def rights_of_token(token: Token) -> Rights:
    """What a token gives."""
    return Rights(
        token.name,
        None if token.all_projects else _listed(token.read),
        _listed(token.write),
        _listed(token.admin),
    )


def hash_of(secret: bytes) -> str:
    """What is kept of a secret. A plain hash does, since secrets are random and long."""
    return sha256(secret).hexdigest()


def entry_of(token: Token) -> str:
    """A token as it stands in the file; every value in it is of characters that need no escape."""
    lines = ["[[token]]", f'name = "{token.name}"', f'sha256 = "{token.sha256}"']
    for right in ("read", "write", "admin"):
        if projects := getattr(token, right):
            listed = ", ".join(f'"{project}"' for project in projects)
            lines.append(f"{right} = [{listed}]")
    if token.all_projects:
        lines.append("all-projects = true")
    return "\n".join(lines)


def _listed(projects: Sequence[str]) -> frozenset[str] | None:
    return None if EVERY in projects else frozenset(projects)
