"""What each record of the journal did to its projections, so that it can be done again.

One small function for each kind of record: pure, and the same for every store. Carried out in the order of the journal
on empty tables, the operations give the rows that the writers left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple, assert_never

from mem.domain.accepting import Projection
from mem.domain.ids import SHARED
from mem.domain.journal import Record
from mem.domain.nodes import Node
from mem.domain.signatures import Signature
from mem.ports import Skill


class AddNode(NamedTuple):
    """A node; one that is there stays. Of a section of reference with what is embedded of it; None: its text."""

    node: Node
    passages: tuple[str, ...] | None = None


class AddEdges(NamedTuple):
    """The edges from a node to its parents."""

    child: str
    parents: tuple[str, ...]


class Supersede(NamedTuple):
    """The successor of nodes; those that have one keep it."""

    shas: tuple[str, ...]
    successor: str


class AddToSnapshot(NamedTuple):
    """A lesson that somebody owns, for the owner's summary, and the number of the record that appended it."""

    node: Node
    seq: int


class AddProjection(NamedTuple):
    """The symptom projection of a node; the first one stands, unless `replaces`."""

    sha: str
    projection: Projection
    replaces: bool = False


class AddEmbedding(NamedTuple):
    """An embedding: whatever has this text has a vector from now on."""

    model_id: str
    text_sha: str


class AddSignatures(NamedTuple):
    """Signatures; those that are there stay, or are corrected where `corrects`."""

    signatures: tuple[Signature, ...]
    corrects: bool = False


class Link(NamedTuple):
    """Signatures that point at a node."""

    sha: str
    signatures: tuple[Signature, ...]


class Sight(NamedTuple):
    """One sighting of each signature."""

    project: str
    operation: str
    request_id: str
    signatures: tuple[Signature, ...]
    seen_on: date


class Return(NamedTuple):
    """Lessons that a lookup gave out to a project; those of the project itself do not count."""

    project: str
    shas: tuple[str, ...]


class PutSkill(NamedTuple):
    """A skill in its newest revision."""

    skill: Skill
    revision: int
    model_id: str


class RemoveSkill(NamedTuple):
    """A skill taken out, by a revision of its own."""

    project: str
    name: str
    revision: int


class ChangeDocument(NamedTuple):
    """The shas of the chunks that a document of reference got and lost."""

    project: str
    source: str
    origin: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    updated_on: date


Operation = (
    AddNode
    | AddEdges
    | Supersede
    | AddToSnapshot
    | AddProjection
    | AddEmbedding
    | AddSignatures
    | Link
    | Sight
    | Return
    | PutSkill
    | RemoveSkill
    | ChangeDocument
)


def operations(record: Record) -> Sequence[Operation]:
    """What a record did."""
    data = record.data
    done: Sequence[Operation]
    match record.kind:
        case "candidate" | "verdict":
            done = ()
        case "appended":
            done = _appended(data, record.seq)
        case "superseded":
            done = [Supersede((data["old"],), data["new"])]
        case "projection":
            done = _projection(data)
        case "embedding":
            done = [AddEmbedding(data["model_id"], data["text_sha"])]
        case "signatures":
            done = _derived(data) if "revision" in data else _linked(data, _day(record))
        case "lookup":
            done = _lookup(data, _day(record))
        case "reference":
            done = _reference(data, _day(record))
        case "skill":
            done = _skill(data)
        case _:
            assert_never(record.kind)
    return done


def _appended(data: Mapping[str, Any], seq: int) -> list[Operation]:
    """A node with what came with it, or the evidence that a duplicate brought to the node that stands."""
    evidence = [Node(**fields) for fields in data["evidence"]]
    nodes = [*evidence, *([Node(**data["node"])] if data["node"] else [])]
    sha: str = data["sha"]
    parents = {*data["parents"], *(node.sha for node in evidence)} - {sha}
    done: list[Operation] = [AddNode(node) for node in nodes]
    if parents:
        done.append(AddEdges(sha, tuple(sorted(parents))))
    if data["supersedes"]:
        done.append(Supersede(tuple(data["supersedes"]), sha))
    if data["node"] and nodes[-1].owner is not None:
        done.append(AddToSnapshot(nodes[-1], seq))
    return done


def _projection(data: Mapping[str, Any]) -> list[Operation]:
    return [AddProjection(data["sha"], Projection.model_validate(data), replaces="revision" in data)]


def _linked(data: Mapping[str, Any], day: date) -> list[Operation]:
    """What an acceptance linked, which is a sighting too."""
    found = _signatures(data)
    sighting = Sight(data["project"], "accept", data["request_id"], found, day)
    return [AddSignatures(found), Link(data["sha"], found), sighting]


def _derived(data: Mapping[str, Any]) -> list[Operation]:
    """What was derived anew from a node's evidence: no sighting."""
    found = _signatures(data)
    return [AddSignatures(found, corrects=True), Link(data["sha"], found)]


def _lookup(data: Mapping[str, Any], day: date) -> list[Operation]:
    found = _signatures(data)
    sighting = Sight(data["project"], data["operation"], data["request_id"], found, day)
    returned = data.get("returned")  # records of earlier versions have none
    return [AddSignatures(found), sighting, *([Return(data["project"], tuple(returned))] if returned else [])]


def _reference(data: Mapping[str, Any], day: date) -> list[Operation]:
    """The chunks of a document; records of earlier versions name no project and no passages, and take nothing away."""
    passages: Mapping[str, Sequence[str]] = data.get("passages", {})
    nodes = [Node(**fields) for fields in data["nodes"]]
    project = data.get("project") or next((node.project for node in nodes), SHARED)
    added, removed = tuple(sorted({node.sha for node in nodes})), tuple(data.get("removed", ()))
    change = ChangeDocument(project, data["source"], data.get("origin", ""), added, removed, day)
    return [*(AddNode(node, tuple(passages[node.sha]) if node.sha in passages else None) for node in nodes), change]


def _skill(data: Mapping[str, Any]) -> list[Operation]:
    if data.get("removed"):
        return [RemoveSkill(data["project"], data["name"], data["revision"])]
    skill = Skill(**{field: data[field] for field in Skill._fields})
    return [PutSkill(skill, data["revision"], data["model_id"])]


def _signatures(data: Mapping[str, Any]) -> tuple[Signature, ...]:
    return tuple(Signature.model_validate(fields) for fields in data["signatures"])


def _day(record: Record) -> date:
    """The UTC date of a record: of a sighting, the day on which it was one."""
    return date.fromisoformat(record.time[:10])
