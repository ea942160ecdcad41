"""Memory nodes: content-addressed lessons, evidence and reference."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from mem.domain.canonical import canonical_sha

Level = Literal["L0", "L1", "L2", "R"]
Visibility = Literal["global", "user", "container"]
VectorKind = Literal["text", "symptom"]


class Node(BaseModel):
    """A memory node without its sha.

    `source` and `turn` say where a text comes from; they are identity for L0, and `source` for R, since the same words
    in two places are two pieces of evidence, but never for a lesson.
    """

    model_config = ConfigDict(frozen=True)

    level: Level
    project: str
    text: str
    visibility: Visibility = "global"
    owner: str | None = None
    container: str | None = None
    source: str | None = None
    turn: int | None = None

    @property
    def sha(self) -> str:
        """The sha256 of the canonical JSON of what makes this node the one it is."""
        identity: dict[str, object] = {
            "level": self.level,
            "project": self.project,
            "visibility": self.visibility,
            "owner": self.owner,
            "container": self.container,
            "text": self.text,
        }
        if self.level == "L0":
            identity |= {"source": self.source, "turn": self.turn}
        elif self.level == "R":
            identity |= {"source": self.source}
        return canonical_sha(identity)


class StoredNode(Node):
    """A node as the store knows it; `superseded_by` names its direct successor.

    `removed` is a chunk of reference that its document has no more: no search finds it, its sha still opens it.
    """

    stored_sha: str
    superseded_by: str | None = None
    removed: bool = False


class Parent(BaseModel):
    """A parent as an answer shows it."""

    model_config = ConfigDict(frozen=True)

    level: Level
    sha: str
    source: str | None = None
    turn: int | None = None
