"""The state of the fakes, made again from their journal."""

from __future__ import annotations

from typing import assert_never

from mem.domain.canonical import sha256_hex
from mem.testing.failures import correct
from mem.testing.reference import change_document
from mem.testing.state import FakeState, HeldSkill, Occurrence
from mem.writing import entries, replay
from mem.writing.replay import AddSignatures, Link, Operation, Sight, operations


def replayed(state: FakeState) -> FakeState:
    """What the journal makes of an empty state, with the recorded embeddings and without the ledger."""
    again = FakeState(state.clock)
    again.records, again.by_key = list(state.records), dict(state.by_key)
    again.embeddings, again.model = dict(state.embeddings), state.model
    for record in state.records:
        for operation in operations(record):
            _do(again, operation)
    for sha in again.nodes:
        for part, text in enumerate(again.embedded_of(sha)):
            _add_vector(again, (sha, "text", part), text)
    for sha, projection in again.projections.items():
        if projection.text:
            _add_vector(again, (sha, "symptom", 0), projection.text)
    return again


def _do(state: FakeState, operation: Operation) -> None:
    match operation:
        case replay.AddNode(node, passages):
            if node.sha not in state.nodes and passages is not None:
                state.passages[node.sha] = passages
            state.nodes.setdefault(node.sha, node)
        case replay.AddEdges(child, parents):
            state.edges[child] = state.edges.get(child, set()) | set(parents)
        case replay.Supersede(shas, successor):
            state.supersede(shas, successor)
        case replay.AddToSnapshot(node, seq):
            state.note(node.sha, seq)
        case replay.AddProjection(sha, projection, replaces):
            state.projections[sha] = projection if replaces else state.projections.get(sha, projection)
        case replay.AddEmbedding():
            pass  # they stand beside the journal; vectors are made of them at the end
        case replay.Return(project, shas):
            state.returned |= {(project, sha) for sha in shas if state.of_another_project(sha, project)}
        case replay.PutSkill() | replay.RemoveSkill() | replay.ChangeDocument():
            _do_beside_memory(state, operation)
        case _:
            _do_of_failures(state, operation)


def _do_beside_memory(
    state: FakeState, operation: replay.PutSkill | replay.RemoveSkill | replay.ChangeDocument
) -> None:
    match operation:
        case replay.PutSkill(skill, revision, model_id):
            vector = state.embeddings[model_id, sha256_hex(entries.skill_text(skill))]
            state.skills[skill.project, skill.name] = HeldSkill(skill, revision, model_id, vector)
        case replay.RemoveSkill(project, name, revision):
            state.skills[project, name] = state.skills[project, name]._replace(removed=True, revision=revision)
        case replay.ChangeDocument():
            change_document(state, operation)
        case _:
            assert_never(operation)


def _do_of_failures(state: FakeState, operation: AddSignatures | Link | Sight) -> None:
    match operation:
        case AddSignatures(signatures, corrects):
            if corrects:
                correct(state, signatures)
            else:
                state.signatures = {one.sig_sha: one for one in reversed(signatures)} | state.signatures
        case Link(sha, signatures):
            state.links |= {(one.sig_sha, sha) for one in signatures}
        case Sight(project, name, request_id, signatures, day):
            for one in signatures:
                state.occurrences.setdefault(Occurrence(project, name, request_id, one.sig_sha), day)
        case _:
            assert_never(operation)


def _add_vector(state: FakeState, place: tuple[str, str, int], text: str) -> None:
    found = state.model and state.embeddings.get((state.model[0], sha256_hex(text)))
    if found and place[0] not in state.removed:
        state.vectors[place] = found
