"""What each write records in the journal: enough to do it again, and nothing that differs between two runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mem.domain.accepting import MadeProjection
from mem.domain.canonical import canonical_sha
from mem.domain.journal import Entry
from mem.domain.nodes import Node
from mem.domain.signatures import Signature
from mem.ports import AppendPlan, Document, Settlement, Skill

_ACCEPTED = "appended:accept:"


def appended(plan: AppendPlan, duplicate_of: str | None, overtaken_by: str | None, parents: Sequence[str]) -> Entry:
    """What became of a candidate: a node with all that came with it, or evidence of the one that says the same.

    Args:
        parents: those that the node gets besides the evidence; of a duplicate the L0 parents alone.
    """
    fresh = duplicate_of is None and overtaken_by is None
    return Entry(
        kind="appended",
        key=plan.key,
        data={
            "sha": duplicate_of or overtaken_by or plan.node.sha,
            "duplicate_of": duplicate_of,
            "overtaken_by": overtaken_by,
            "node": _node(plan.node) if fresh else None,
            "evidence": [_node(node) for node in plan.evidence] if overtaken_by is None else [],
            "parents": sorted(set(parents)),
            "supersedes": sorted(set(plan.supersedes)) if fresh else [],
        },
    )


def appended_key(project: str, request_id: str) -> str:
    """Names what became of the candidate of one acceptance."""
    return f"{_ACCEPTED}{project}:{request_id}"


def appended_request(key: str) -> str:
    """The request id in such a key; no project has a colon in its name."""
    return key.removeprefix(_ACCEPTED).partition(":")[2]


def superseded(old: str, new: str, project: str) -> Entry:
    """What a person superseded by what; a memory can be superseded once."""
    return Entry(kind="superseded", key=superseded_key(old), data={"project": project, "old": old, "new": new})


def superseded_key(old: str) -> str:
    """Names the supersession of a memory outside of an acceptance."""
    return f"superseded:{old}"


def projection(sha: str, made: MadeProjection) -> Entry:
    """What a model derived from a node."""
    return Entry(
        kind="projection",
        key=projection_key(sha, made.prompt_sha, made.model_id),
        data={"sha": sha, **made.model_dump(mode="json", exclude_none=True)},
    )


def projection_key(sha: str, prompt_sha: str, model_id: str) -> str:
    """Names a projection by all that its text depends on."""
    return f"projection:{sha}:{prompt_sha}:{model_id}"


def regenerated(sha: str, revision: int, made: MadeProjection) -> Entry:
    """What a model derived from a node when it was asked again: it replaces what was recorded before."""
    return Entry(
        kind="projection",
        key=f"{regenerated_prefix(sha)}{revision}",
        data={"sha": sha, "revision": revision, **made.model_dump(mode="json", exclude_none=True)},
    )


def regenerated_prefix(sha: str) -> str:
    """What the keys of all regenerated projections of a node begin with."""
    return f"projection:regenerated:{sha}:"


def embedding(model_id: str, text_sha: str, embedding_sha256: str, dimensions: int) -> Entry:
    """An embedding, by its digest; the vector itself is too long for the journal."""
    return Entry(
        kind="embedding",
        key=embedding_key(model_id, text_sha),
        data={
            "model_id": model_id,
            "text_sha": text_sha,
            "embedding_sha256": embedding_sha256,
            "dimensions": dimensions,
        },
    )


def embedding_key(model_id: str, text_sha: str) -> str:
    """Names an embedding by model and text."""
    return f"embedding:{model_id}:{text_sha}"


def signatures(project: str, request_id: str, sha: str, linked: Sequence[Signature]) -> Entry:
    """The signatures that an acceptance linked to its node, which are also sightings."""
    return Entry(
        kind="signatures",
        key=signatures_key(project, request_id),
        data={
            "project": project,
            "request_id": request_id,
            "sha": sha,
            "signatures": [signature.model_dump(mode="json") for signature in once(linked)],
        },
    )


def signatures_key(project: str, request_id: str) -> str:
    """Names the links of one acceptance."""
    return f"signatures:accept:{project}:{request_id}"


def derived(sha: str, revision: int, found: Sequence[Signature]) -> Entry:
    """The signatures that a rebuild derived anew from a node's evidence: links, and no sighting.

    Numbered, since a node may return to the signatures of an earlier version.
    """
    return Entry(
        kind="signatures",
        key=f"{derived_prefix(sha)}{revision}",
        data={
            "sha": sha,
            "revision": revision,
            "signatures": [signature.model_dump(mode="json") for signature in once(found)],
        },
    )


def derived_prefix(sha: str) -> str:
    """What the keys of all derivations of a node begin with."""
    return f"signatures:derived:{sha}:"


def lookup(settlement: Settlement) -> Entry:
    """An answered lookup: what it saw, so that the counts can be made again."""
    return Entry(
        kind="lookup",
        key=lookup_key(*settlement.key),
        data={
            "operation": settlement.key.operation,
            "project": settlement.reach.project,
            "request_id": settlement.key.request_id,
            "fingerprint": settlement.fingerprint,
            "signatures": [signature.model_dump(mode="json") for signature in by_sha(settlement.sightings)],
            "returned": sorted(set(settlement.returned)),
        },
    )


def lookup_key(operation: str, scope: str, request_id: str) -> str:
    """Names an answered request."""
    return f"lookup:{operation}:{scope}:{request_id}"


def document(
    put: Document,
    revision: int,
    added: Sequence[Node],
    removed: Sequence[str],
    passages: Mapping[str, Sequence[str]],
) -> Entry:
    """What a document of the reference corpus got and lost, numbered, since it may return to an earlier text.

    Args:
        passages: what is embedded of a chunk, where that is not its text.
    """
    return Entry(
        kind="reference",
        key=document_key(put.project, put.source, revision),
        data={
            "project": put.project,
            "source": put.source,
            "origin": put.origin,
            "revision": revision,
            "nodes": [_node(node) for node in added],
            "added": len(added),
            "passages": {sha: list(parts) for sha, parts in sorted(passages.items())},
            "removed": list(removed),
        },
    )


def document_key(project: str, source: str, revision: int) -> str:
    """Names a change of a document."""
    return f"{document_name(project, source)}:{revision}"


def document_name(project: str, source: str) -> str:
    """Names a document by its project and source, which may hold any character."""
    return "reference:" + canonical_sha({"project": project, "source": source})


def skill(put: Skill, revision: int, model_id: str) -> Entry:
    """A skill, numbered, since a skill may return to an earlier text."""
    return Entry(
        kind="skill",
        key=f"skill:{put.project}:{put.name}:{revision}",
        data={**put._asdict(), "revision": revision, "model_id": model_id},
    )


def skill_removed(project: str, name: str, revision: int) -> Entry:
    """That a skill was taken out, as its next revision."""
    return Entry(
        kind="skill",
        key=f"skill:{project}:{name}:{revision}",
        data={"project": project, "name": name, "revision": revision, "removed": True},
    )


def skill_text(put: Skill) -> str:
    """What is embedded of a skill."""
    return f"{put.name}\n{put.description}"


def once(found: Sequence[Signature]) -> list[Signature]:
    """Each signature once, in the order in which they came."""
    kept: dict[str, Signature] = {}
    for signature in found:
        kept.setdefault(signature.sig_sha, signature)
    return list(kept.values())


def by_sha(found: Sequence[Signature]) -> list[Signature]:
    """Each signature once, sorted: rows are always touched in this order."""
    return sorted(once(found), key=lambda signature: signature.sig_sha)


def plain_sha(text: str) -> str:
    """Equal for texts that differ in white space and case alone."""
    return canonical_sha(" ".join(text.split()).casefold())


def _node(node: Node) -> dict[str, Any]:
    return Node.model_dump(node, mode="json", include=set(Node.model_fields))
