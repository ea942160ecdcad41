"""What watches the work: spans of a trace, and counts of what models were asked."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Literal, Protocol

ModelKind = Literal["embedder", "controller", "reranker"]
CallOutcome = Literal["answered", "failed", "given up"]
"""`given up`: whoever asked had no time left."""


class Spans(Protocol):
    """Makes spans of a trace."""

    def span(self, name: str, attributes: Mapping[str, str | int]) -> AbstractContextManager[None]:
        """A span below the one that is current; none where nothing is traced. Names and attributes hold no text."""
        ...


class ModelCalls(Protocol):
    """Counts what models were asked."""

    def called(self, kind: ModelKind, outcome: CallOutcome, seconds: float) -> None:
        """A call ended."""
        ...
