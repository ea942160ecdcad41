"""The candidate of an acceptance: cleaned, redacted, recorded once, and read back by every later step."""

from __future__ import annotations

import asyncio
from typing import NamedTuple, TypeVar

from mem.domain.accepting import MAX_REASON_CHARACTERS, AcceptInput, AcceptRequest, AcceptStep, Evidence, check_limits
from mem.domain.errors import NotFound, RequestConflict
from mem.domain.ids import fingerprint_of
from mem.domain.journal import Entry
from mem.domain.lookup import MAX_TOOL_CHARACTERS
from mem.domain.nodes import Node
from mem.parsing.names import refuse_secret_names
from mem.parsing.redact import redact
from mem.parsing.sanitize import strip_bidi_and_zero_width, strip_unsafe
from mem.ports import Journal

_OUTSIDE_RECORD = {"request_id", "project", "wait", "fingerprint", "override", "readable"}

RequestT = TypeVar("RequestT", bound=AcceptRequest)


class Candidate(NamedTuple):
    """A recorded candidate as nodes; `tool` is the caller's label, a hint only.

    `override` is why a person wants it in spite of what the gate says.
    """

    node: Node
    evidence: tuple[Node, ...]
    parents: tuple[str, ...]
    supersedes: tuple[str, ...]
    tool: str | None
    override: str | None = None


def candidate_key(step: AcceptStep) -> str:
    """The journal key of the candidate."""
    return f"candidate:accept:{step.project}:{step.request_id}"


def protect(request: RequestT) -> RequestT:
    """The request without secrets and without characters that hide or reorder text."""
    return request.model_copy(
        update={
            "text": _protect_text(request.text),
            "evidence": [_protect_evidence(each) for each in request.evidence],
            "parents": [_protect_text(each) for each in request.parents],
            "supersedes": [_protect_text(each) for each in request.supersedes],
            "tool": None if request.tool is None else _protect_text(request.tool)[:MAX_TOOL_CHARACTERS] or None,
        }
    )


def protect_reason(reason: str) -> str:
    """A person's reason without secrets and without what hides or reorders text."""
    return _protect_text(reason)[:MAX_REASON_CHARACTERS]


async def record_candidate(journal: Journal, request: AcceptInput) -> str:
    """Record the candidate, or hold a repeated request to the recorded one; returns its fingerprint.

    Raises:
        InvalidRequest: the candidate breaks a limit of the contract, or a name in it looks like a secret.
        RequestConflict: the request id was used before with another body.
    """
    check_limits(request)
    refuse_secret_names(
        request_id=request.request_id, project=request.project, user_id=request.user_id, container=request.container
    )
    mark = fingerprint_of(request)
    safe = await asyncio.to_thread(protect, request)
    data = {
        "operation": "accept",
        "project": request.project,
        "request_id": request.request_id,
        "fingerprint": mark,
        "candidate": safe.model_dump(mode="json", exclude=_OUTSIDE_RECORD),
    }
    if request.override is not None:
        data["override"] = protect_reason(request.override)
    step = AcceptStep(project=request.project, request_id=request.request_id)
    record = await journal.record(Entry(kind="candidate", key=candidate_key(step), data=data))
    if record.data["fingerprint"] != mark:
        raise RequestConflict.of(request.request_id)
    return mark


async def load_candidate(journal: Journal, step: AcceptStep) -> Candidate:
    """Read the recorded candidate.

    Raises:
        NotFound: nothing was recorded under that request id.
    """
    record = await journal.find(candidate_key(step))
    if record is None:
        raise NotFound(
            f"No candidate is recorded under request id {step.request_id!r} of project {step.project!r}.",
            "Send the acceptance first.",
        )
    request = AcceptRequest.model_validate(
        record.data["candidate"] | {"request_id": step.request_id, "project": step.project}
    )
    return _as_nodes(request)._replace(override=record.data.get("override"))


def _as_nodes(request: AcceptRequest) -> Candidate:
    node = Node(
        level=request.level,
        project=request.project,
        text=request.text,
        visibility=request.visibility,
        owner=request.user_id,
        container=request.container,
    )
    evidence = {
        each.sha: each
        for each in (
            node.model_copy(update={"level": "L0", "text": e.text, "source": e.source, "turn": e.turn})
            for e in request.evidence
        )
    }
    return Candidate(
        node=node,
        evidence=tuple(evidence.values()),
        parents=tuple(dict.fromkeys(request.parents)),
        supersedes=tuple(dict.fromkeys(request.supersedes)),
        tool=request.tool,
    )


def _protect_evidence(evidence: Evidence) -> Evidence:
    text = redact(strip_bidi_and_zero_width(evidence.text).text).text.replace("\x00", "\N{REPLACEMENT CHARACTER}")
    return evidence.model_copy(update={"text": text, "source": _protect_text(evidence.source)})


def _protect_text(text: str) -> str:
    return redact(strip_unsafe(text).text).text
