"""What a document of the reference corpus gets and loses when it is added again."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from mem.domain.journal import Entry
from mem.domain.nodes import Node
from mem.parsing.passages import passages_of
from mem.ports import Document, DocumentChange
from mem.writing import entries


class DocumentPlan(NamedTuple):
    """The chunks that a document gets, and the shas of those that it loses, each in the order of shas."""

    document: Document
    added: tuple[Node, ...]
    removed: tuple[str, ...]

    @property
    def changes(self) -> bool:
        """Whether anything is to be done."""
        return bool(self.added or self.removed)

    @property
    def change(self) -> DocumentChange:
        """What the plan does, in numbers."""
        return DocumentChange(self.document.source, len(self.added), len(self.removed))

    def entry(self, revision: int) -> Entry:
        """The record of it."""
        return entries.document(self.document, revision, self.added, self.removed, self.passages)

    @property
    def passages(self) -> dict[str, list[str]]:
        """What is embedded of the new chunks, where that is not their text."""
        return passages_of(self.added)

    @property
    def texts(self) -> list[str]:
        """All that is embedded of the new chunks."""
        passages = self.passages
        return [text for node in self.added for text in passages.get(node.sha, [node.text])]


def document_plan(document: Document, held: Collection[str]) -> DocumentPlan:
    """What makes a document that holds these chunks into the one that it is to be."""
    wanted = {node.sha: node for node in document.nodes}
    added = tuple(node for sha, node in sorted(wanted.items()) if sha not in held)
    return DocumentPlan(document, added, tuple(sorted(set(held) - wanted.keys())))
