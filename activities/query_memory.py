"""The one local activity of a query."""

from __future__ import annotations

import structlog
from temporalio import activity

from activities.counting import count_query
from activities.errors import attempt, reporting
from mem.domain.query import QueryInput
from mem.recall.query_memories import QueryMemories
from mem.recall.query_outcome import QueryOutcome

log = structlog.get_logger()


class QueryActivity:
    """Runs the query use case and tells its story in one log line."""

    def __init__(self, query: QueryMemories) -> None:
        self._query = query

    @activity.defn(name="query_memory")
    @reporting
    async def query_memory(self, request: QueryInput) -> QueryOutcome:
        """Answer a question, or return what was answered to it before."""
        outcome = await self._query(request)
        log.info("query", attempt=attempt(), **outcome.trace.model_dump(mode="json"))
        count_query(outcome.trace)
        return outcome
