"""The documents of the reference corpus: what each consists of, and since when."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple, Protocol

from mem.domain.nodes import Node
from mem.ports.models import Embedder


class Document(NamedTuple):
    """A document as it is to be: these chunks alone, all of one project; without chunks it is removed.

    `source` names it within its project, and begins the `source` of each chunk, so that no two documents share one.
    `origin` tells two places apart from which documents of one name come.
    """

    project: str
    source: str
    nodes: tuple[Node, ...]
    origin: str = ""


class HeldDocument(NamedTuple):
    """A document as it stands: the shas of its chunks, in their order, and the UTC date of its last change."""

    project: str
    source: str
    shas: tuple[str, ...]
    origin: str
    updated_on: date


class DocumentChange(NamedTuple):
    """How many chunks a document got and lost; none of either where it was the same before."""

    source: str
    added: int
    removed: int


class Reference(Protocol):
    """The documents of the reference corpus."""

    async def documents(self, project: str | None = None, within: str | None = None) -> list[HeldDocument]:
        """The documents that have chunks, by project and source.

        Args:
            project: that of the shared ones is `*`; None for those of all projects.
            within: a source, or what it begins with before a slash; None for all.
        """
        ...

    async def embed(self, texts: Sequence[str], embedder: Embedder) -> int:
        """Embed those of the texts of which no embedding is recorded, and record each batch; how many those were."""
        ...

    async def put(self, documents: Sequence[Document]) -> list[DocumentChange]:
        """Make each document what it is to be, in one transaction with their journal records.

        No search finds chunks that a document has no more. New ones have vectors at once where their text was embedded
        before. A document that is the same stays as it is, without a record. The record tells the passages of new
        chunks, too; what is embedded of a chunk never changes.
        """
        ...

    async def complete(self, shas: Sequence[str], embedder: Embedder) -> None:
        """Embed the passages of chunks, as they were recorded, and store the vectors that are missing.

        Raises:
            NotFound: a chunk does not exist.
        """
        ...
