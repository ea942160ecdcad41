"""Versions of the key algorithm for tests of what happens when it is raised."""

from __future__ import annotations

from mem.parsing.key import Block, Identity, first_algorithm


def second_algorithm(block: Block) -> Identity | None:
    """Identifies what the first one does."""
    return first_algorithm(block)


def rough_algorithm(block: Block) -> Identity | None:
    """Takes all failures of one rule for the same."""
    found = first_algorithm(block)
    return None if found is None else found._replace(code=None, strict={}, coarse={})


def blind_algorithm(_: Block) -> Identity | None:
    """Identifies nothing."""
    return None
