"""A collection of documents, brought to what its files say now."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from mem.ports import Document, DocumentChange, Embedder, HeldDocument, Reference
from mem.writing.documents import DocumentPlan, document_plan

AT_ONCE = 64
"""So many texts and documents are embedded and written together: few commits, and little to do again after a crash."""


class CorpusPlan(NamedTuple):
    """The documents that are to change, those that vanished last, and how many others stay as they are."""

    changing: list[DocumentPlan]
    unchanged: int
    new: frozenset[str]


class Step(NamedTuple):
    """How far the writing is: texts looked at, and the documents that were just written."""

    texts: int
    of: int
    embedded: int
    written: Sequence[DocumentChange] = ()


def corpus_plan(held: Sequence[HeldDocument], wanted: Sequence[Document], vanished: Sequence[str]) -> CorpusPlan:
    """What makes the documents that a collection holds into the wanted ones.

    Args:
        held: those of one project.
        vanished: sources whose documents are removed.
    """
    before = {document.source: document for document in held}
    gone = [
        Document(document.project, document.source, (), document.origin)
        for source in sorted(vanished)
        if (document := before.get(source))
    ]
    plans = [
        document_plan(document, before[document.source].shas if document.source in before else ())
        for document in (*wanted, *gone)
    ]
    changing = [plan for plan in plans if plan.changes]
    new = frozenset(plan.document.source for plan in changing if plan.document.source not in before)
    return CorpusPlan(changing, sum(1 for plan in plans if not plan.changes and plan.document.nodes), new)


async def carry_out(
    plan: CorpusPlan, reference: Reference, embedder: Embedder, told: Callable[[Step], None] = lambda _: None
) -> list[DocumentChange]:
    """Embed what is new and write the documents, a group at a time.

    Each document changes in one moment, after all its new texts were embedded. What an interrupted run embedded and
    wrote is there for the next one. What another run wrote meanwhile is no change of this one.
    """
    total = sum(len(one.texts) for one in plan.changing)
    looked_at = embedded = 0
    changes: list[DocumentChange] = []
    for group in _groups(plan.changing):
        texts = [text for one in group for text in one.texts]
        for at in range(0, len(texts), AT_ONCE):
            embedded += await reference.embed(texts[at : at + AT_ONCE], embedder)
            looked_at += len(texts[at : at + AT_ONCE])
            told(Step(looked_at, total, embedded))
        written = [one for one in await reference.put([one.document for one in group]) if one.added or one.removed]
        changes += written
        told(Step(looked_at, total, embedded, written))
    return changes


async def remove_documents(reference: Reference, project: str, within: str) -> list[DocumentChange]:
    """Remove the documents of a project that are called so, or whose source begins so before a slash."""
    held = await reference.documents(project, within)
    gone: list[DocumentChange] = []
    for at in range(0, len(held), AT_ONCE):
        gone += await reference.put([Document(one.project, one.source, ()) for one in held[at : at + AT_ONCE]])
    return [one for one in gone if one.removed]


def _groups(plans: Sequence[DocumentPlan]) -> Iterator[list[DocumentPlan]]:
    """The plans in their order, a group as soon as it is large."""
    group: list[DocumentPlan] = []
    size = 0
    for plan in plans:
        group.append(plan)
        size += max(len(plan.texts), 1)
        if size >= AT_ONCE:
            yield group
            group, size = [], 0
    if group:
        yield group
