"""Projects, request ids, fingerprints, and the workflow ids made from them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from hashlib import sha256
from typing import Annotated, Any, Protocol

from pydantic import AfterValidator, StringConstraints, TypeAdapter, ValidationError

from mem.domain.canonical import canonical_json, canonical_sha
from mem.domain.errors import InvalidRequest


def _encodable(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError("holds a lone surrogate, which UTF-8 cannot carry") from error
    return text


Text = Annotated[str, AfterValidator(_encodable)]
"""What a caller writes; JSON escapes and Python can hold halves of characters, which nothing behind a door can."""
_PROJECT_NAME = r"^[A-Za-z0-9._-]{1,64}\z"
_REQUEST_ID = r"^[\x20-\x7e]{1,200}\z"
Project = Annotated[str, StringConstraints(pattern=_PROJECT_NAME)]
RequestId = Annotated[str, StringConstraints(pattern=_REQUEST_ID)]
Sha = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}\z")]
MAX_SHA_CHARACTERS = 64
ShaOrPrefix = Annotated[Text, StringConstraints(max_length=MAX_SHA_CHARACTERS)]
"""As a caller writes it; what is no sha names no node, which is for the gate to say."""
_BEYOND = "".join(f"{chr(first)}-{chr(last)}" for first, last in (
    (0x110BD, 0x110BD), (0x110CD, 0x110CD), (0x13430, 0x1343F), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF), (0xF0000, 0x10FFFF),
))  # fmt: skip
"""As they are, since the notations for what four digits cannot name differ."""
_INVISIBLE = (
    r"\u0000-\u001f\u007f-\u009f\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890-\u0891\u08e2\u180e\u200b-\u200f"
    rf"\u2028-\u202e\u2060-\u206f\ue000-\uf8ff\ufeff\ufff0-\ufffb{_BEYOND}"
)
"""Controls, format characters, separators of lines, private use: in a form that every engine for patterns reads."""
_IDENTITY = rf"^[^{_INVISIBLE}]{{1,200}}\z"
Identity = Annotated[str, StringConstraints(pattern=_IDENTITY)]
"""A user or container: refused, not cleaned, where it holds invisible characters, so that no two become one."""

MEANT: Mapping[str, str] = {
    _IDENTITY: "Use 1 to 200 characters that can be seen",
    _PROJECT_NAME: "Use 1 to 64 letters, digits, '.', '_' and '-'",
    _REQUEST_ID: "Use 1 to 200 printable ASCII characters",
}
"""What the patterns of names say, in words."""

SHARED = "*"
"""Stands in the project column of reference and skills that every project sees; no project can have this name."""

_PROJECT: TypeAdapter[str] = TypeAdapter(Project)
_OUTSIDE_FINGERPRINT = frozenset({"request_id", "wait", "fingerprint"})


def fingerprint(fields: Mapping[str, Any]) -> str:
    """The sha256 that tells a retry from another request under the same id.

    Args:
        fields: what the caller set, as received: no defaults, not redacted, not distilled; and `readable` where the
            caller may not read all projects, so that no answer is repeated to who has other rights.
    """
    return canonical_sha(
        {
            name: value
            for name, value in fields.items()
            if name not in _OUTSIDE_FINGERPRINT and (name, value) != ("readable", None)
        }
    )


def checked_project(project: str) -> str:
    """The name of a project.

    Raises:
        InvalidRequest: it is none.
    """
    try:
        return _PROJECT.validate_python(project)
    except ValidationError as error:
        raise InvalidRequest(f"{project[:80]!r} is no project.", f"{MEANT[_PROJECT_NAME]}.") from error


def is_project(name: str) -> bool:
    """Whether a project can have this name."""
    try:
        checked_project(name)
    except InvalidRequest:
        return False
    return True


class Marked(Protocol):
    """A message that may carry the fingerprint which its door computed."""

    @property
    def fingerprint(self) -> str | None:
        """None where a caller sent the message without a door."""
        ...

    def model_dump(self, *, mode: str, exclude_unset: bool) -> dict[str, Any]:
        """The fields that the caller set."""
        ...


def fingerprint_of(message: Marked) -> str:
    """The fingerprint that a message carries, or the one of what its caller set."""
    return message.fingerprint or fingerprint(message.model_dump(mode="json", exclude_unset=True))


def accept_workflow_id(project: str, request_id: str) -> str:
    """The id of the AcceptMemory workflow that answers this request."""
    return f"accept:{project}:{request_id}"


def context_workflow_id(project: str, request_id: str) -> str:
    """The id of the LookUpContext workflow that answers this request."""
    return f"context:{project}:{request_id}"


def query_workflow_id(project: str, request_id: str) -> str:
    """The id of the QueryMemory workflow that answers this request."""
    return f"query:{project}:{request_id}"


def user_scope(user_id: str, readable: Collection[str] | None = None) -> str:
    """What stands for a user in ids and in the ledger, since those are shown in lists.

    Callers who may read some projects alone stand apart, those of equal rights together: no other caller is to learn
    from a conflict of request ids that somebody asked for a user.
    """
    asked = user_id.encode("utf-8")
    if readable is not None:
        # No user has a line feed in the name.
        asked += b"\n" + canonical_json(sorted(set(readable)))
    return sha256(asked).hexdigest()


def ground_workflow_id(user_id: str, request_id: str, readable: Collection[str] | None = None) -> str:
    """The id of the GroundContext workflow that answers this request to a caller of these rights."""
    return f"ground:{user_scope(user_id, readable)[:16]}:{request_id}"


def rebuild_workflow_id(algo: int, *, check: bool) -> str:
    """The id of the RebuildProjections workflow: one run at a time, which whoever asks for the same waits for."""
    return f"{'check' if check else 'rebuild'}:signatures:{algo}"


def replay_workflow_id(*, check: bool) -> str:
    """The id of the RebuildProjections workflow that replays the journal: one rebuild and one check at a time."""
    return f"{'check' if check else 'rebuild'}:journal"


NIGHTLY_SCHEDULE_ID = "check:journal:nightly"
"""The id of the schedule that starts such a check every night; Temporal appends the time to the id of each run."""

REGENERATE_WORKFLOW_ID = "regenerate:projections"
"""The id of the RebuildProjections workflow that asks the projector again, be it to show or to record what it says."""


_WRITES = "-writes"


def writes_queue(task_queue: str) -> str:
    """The task queue of acceptances and rebuilds beside that of lookups, queries and turns."""
    return f"{task_queue}{_WRITES}"


def writes_queue_of(task_queue: str) -> str:
    """The task queue for the steps of an acceptance or a rebuild whose run was started on either of the two."""
    return task_queue if task_queue.endswith(_WRITES) else writes_queue(task_queue)


def derived_request_id(fields: Mapping[str, Any]) -> str:
    """A request id made from the content, for batches that bring none: the same line is the same request."""
    return "content-" + fingerprint(fields)[:32]
