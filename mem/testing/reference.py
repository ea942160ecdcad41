"""The fake documents of the reference corpus."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC

from mem.domain.canonical import sha256_hex
from mem.ports import Document, DocumentChange, Embedder, HeldDocument
from mem.testing.embeddings import activate, remember
from mem.testing.state import DocumentRevision, FakeState
from mem.writing.documents import document_plan
from mem.writing.replay import ChangeDocument


class FakeReference:
    """The reference port."""

    def __init__(self, state: FakeState) -> None:
        self._state = state

    async def documents(self, project: str | None = None, within: str | None = None) -> list[HeldDocument]:
        """The documents that have chunks, by project and source."""
        found = [held for _, (held, _) in sorted(self._state.documents.items()) if held.shas]
        below = "" if within is None else f"{within}/"
        return [
            held
            for held in found
            if project in {None, held.project} and (held.source == within or held.source.startswith(below))
        ]

    async def embed(self, texts: Sequence[str], embedder: Embedder) -> int:
        """Embed those of the texts of which no embedding is recorded, and record them; how many those were."""
        async with self._state.lock:
            before = len(self._state.embeddings)
            await remember(self._state, embedder, sorted(set(texts)))
            return len(self._state.embeddings) - before

    async def put(self, documents: Sequence[Document]) -> list[DocumentChange]:
        """Make each document what it is to be, with its journal record."""
        async with self._state.lock:
            return [put_document(self._state, document) for document in documents]

    async def complete(self, shas: Sequence[str], embedder: Embedder) -> None:
        """Embed the passages of chunks and store the vectors that are missing."""
        state = self._state
        async with state.lock:
            activate(state, embedder)
            state.require(shas)
            wanted = [sha for sha in shas if sha not in state.removed]
            texts = {(sha, "text", part): text for sha in wanted for part, text in enumerate(state.embedded_of(sha))}
            await remember(state, embedder, sorted(set(texts.values())))
            for place, text in texts.items():
                state.vectors.setdefault(place, state.embeddings[embedder.model_id, sha256_hex(text)])


def put_document(state: FakeState, document: Document) -> DocumentChange:
    """Make a document what it is to be, with its journal record and the vectors of what was embedded before."""
    found = state.documents.get((document.project, document.source))
    plan = document_plan(document, found.held.shas if found else ())
    if not plan.changes:
        return plan.change
    new = {node.sha: node for node in plan.added if node.sha not in state.nodes}
    state.nodes |= new
    state.passages |= {sha: tuple(parts) for sha, parts in plan.passages.items() if sha in new}
    state.append(plan.entry(found.revision + 1 if found else 1))
    added, day = tuple(node.sha for node in plan.added), state.clock.now().astimezone(UTC).date()
    change_document(state, ChangeDocument(*document[:2], document.origin, added, plan.removed, day))
    for sha in added:
        for part, text in enumerate(state.embedded_of(sha)):
            if state.model and (vector := state.embeddings.get((state.model[0], sha256_hex(text)))):
                state.vectors[sha, "text", part] = vector
    return plan.change


def change_document(state: FakeState, change: ChangeDocument) -> None:
    """Give a document chunks and take others away, with their vectors."""
    name = change.project, change.source
    found = state.documents.get(name)
    shas = {*(found.held.shas if found else ()), *change.added} - set(change.removed)
    held = HeldDocument(*name, tuple(sorted(shas)), change.origin, change.updated_on)
    state.documents[name] = DocumentRevision(held, found.revision + 1 if found else 1)
    state.removed = (state.removed | set(change.removed)) - set(change.added)
    state.vectors = {key: vector for key, vector in state.vectors.items() if key[0] not in state.removed}
