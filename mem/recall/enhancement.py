"""What a user's next turn is told: statements, each with the memories that it rests on."""

from __future__ import annotations

from typing import NamedTuple


class Relevant(NamedTuple):
    """A memory that passed the relevance gate; `score` is its probability, `day` the date that it was learned."""

    sha: str
    level: str
    project: str
    text: str
    score: float
    tool: str | None = None
    day: str | None = None


class Statement(NamedTuple):
    """A sentence or two that stand together, and the memories that say so; `quoted` where one is not to be trusted."""

    text: str
    shas: tuple[str, ...]
    quoted: bool = False


class Enhancement(NamedTuple):
    """The content of the context block.

    `used` are the memories behind summary and statements, best first. `withheld` are those of which a sentence was kept
    back, since it gives orders to its reader. Without `active` there is nothing that may be told.
    """

    summary: str
    active: tuple[Statement, ...]
    used: tuple[str, ...]
    withheld: tuple[str, ...] = ()
