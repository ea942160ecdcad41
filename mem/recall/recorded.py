"""Queries that were answered, opened again as they were."""

from __future__ import annotations

from mem.domain.errors import NotFound
from mem.domain.query import OPERATION, RecordedQuery
from mem.ports import Ledger, LedgerKey


class OpenAnswer:
    """Gives out recorded answers; it asks nothing anew, and changes nothing."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def __call__(self, query: RecordedQuery) -> bytes:
        """The exact bytes of an answer.

        Raises:
            NotFound: none is recorded, or not any more.
        """
        found = await self._ledger.recorded(LedgerKey(OPERATION, query.project, query.query_id))
        if found is None:
            raise NotFound(
                f"No answer to a query {query.query_id!r} of project {query.project!r} is recorded.",
                "Name the --project that was asked; answers are kept for 30 days, or as MEM_LEDGER_DAYS says.",
            )
        return found
