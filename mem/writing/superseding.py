"""Whether one memory may supersede another."""

from __future__ import annotations

from collections.abc import Mapping

from mem.domain.errors import InvalidRequest
from mem.domain.nodes import StoredNode
from mem.writing.judging.parents import readable, unlike_readers
from mem.writing.judging.verdicts import short

LESSONS = ("L1", "L2")


def check_supersession(old: StoredNode, new: StoredNode, newest: Mapping[str, str]) -> None:
    """Hold two memories to what a candidate that names `old` in `supersedes` is held to.

    Both were live and now one of them is not: it has the only successor that it can have, so no circle can arise.

    Args:
        newest: the newest successor of those of the two that were superseded.

    Raises:
        InvalidRequest: they do not fit together, or one of them was superseded.
    """
    before, after = short(old.stored_sha), short(new.stored_sha)
    if old.stored_sha == new.stored_sha:
        raise InvalidRequest(f"{before} cannot supersede itself.", "Name the memory that takes its place.")
    for node in (old, new):
        if node.level not in LESSONS:
            name = short(node.stored_sha)
            raise InvalidRequest(f"{name} is {node.level}, not a lesson.", "Only L1 and L2 supersede each other.")
    if old.project != new.project:
        raise InvalidRequest(
            f"{before} is of project {old.project}, {after} of project {new.project}.",
            f"Accept the lesson in project {old.project}, and name that one.",
        )
    if not readable(old, new):
        raise InvalidRequest(f"{after} is for other readers than {before}.", "Name one for the same user.")
    if (fault := unlike_readers(new, old, parent=False)) is not None:
        raise InvalidRequest(f"{before} {fault}.", f"Accept the lesson with visibility {old.visibility}.")
    if newest.get(new.stored_sha) == old.stored_sha:
        raise InvalidRequest(
            f"{before} stands in the place of {after} already; the two would make a circle.",
            "Name them the other way round, or accept the lesson in new words.",
        )
    for node in (old, new):
        if (stands := newest.get(node.stored_sha)) is not None:
            name = short(node.stored_sha)
            raise InvalidRequest(f"{name} was superseded; its newest successor is {stands}.", "Name that one.")
