"""Projects, request ids, fingerprints, and the workflow ids made from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import StringConstraints

from mem.domain.canonical import canonical_sha

Project = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,64}\z")]
RequestId = Annotated[str, StringConstraints(pattern=r"^[\x20-\x7e]{1,200}\z")]
Sha = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}\z")]

SHARED = "*"
"""Stands in the project column of reference and skills that every project sees; no project can have this name."""

_OUTSIDE_FINGERPRINT = frozenset({"request_id", "wait"})


def fingerprint(fields: Mapping[str, Any]) -> str:
    """The sha256 that tells a retry from another request under the same id.

    Args:
        fields: what the caller set, as received: no defaults, not redacted, not distilled.
    """
    return canonical_sha({name: value for name, value in fields.items() if name not in _OUTSIDE_FINGERPRINT})


def accept_workflow_id(project: str, request_id: str) -> str:
    """The id of the AcceptMemory workflow that answers this request."""
    return f"accept:{project}:{request_id}"


def context_workflow_id(project: str, request_id: str) -> str:
    """The id of the LookUpContext workflow that answers this request."""
    return f"context:{project}:{request_id}"


def derived_request_id(fields: Mapping[str, Any]) -> str:
    """A request id made from the content, for batches that bring none: the same line is the same request."""
    return "content-" + fingerprint(fields)[:32]
