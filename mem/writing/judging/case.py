"""What the rules that read a candidate's words look at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from mem.domain.nodes import Level, Node
from mem.writing.candidate import Candidate


class Case(NamedTuple):
    """A candidate's text beside all of its evidence, what it brings and what was there, in order of sha.

    The order in which a caller lists its evidence therefore changes no verdict.
    """

    text: str
    level: Level
    evidence: tuple[Node, ...]


def case_of(candidate: Candidate, parents: Mapping[str, Node]) -> Case:
    """The case of a candidate whose parents are among `parents`, by sha."""
    below = {each.sha: each for each in candidate.evidence if each.text.strip()}
    below |= {sha: parents[sha] for sha in candidate.parents if sha in parents and parents[sha].level == "L0"}
    return Case(candidate.node.text, candidate.node.level, tuple(below[sha] for sha in sorted(below)))
