"""MemoryClient: what other programs import. Every call may be repeated with the same request id."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from typing import Generic, NamedTuple, TypeVar

from pydantic import BaseModel
from temporalio.client import Client, Interceptor
from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes
from temporalio.runtime import Runtime

from mem.clients.temporal.calls import Call, send
from mem.clients.temporal.connection import connect
from mem.clients.temporal.maintenance import Maintenance
from mem.clients.temporal.runs import list_runs
from mem.domain import run_attributes
from mem.domain.accepting import AcceptAnswer, AcceptInput, AcceptRequest, AcceptResult, check_limits
from mem.domain.answers import Answer
from mem.domain.grounding import GroundAnswer, GroundRequest, check_message
from mem.domain.ids import (
    accept_workflow_id,
    context_workflow_id,
    fingerprint,
    ground_workflow_id,
    query_workflow_id,
    user_scope,
)
from mem.domain.lookup import ContextAnswer, ContextRequest, check_inputs
from mem.domain.query import QueryAnswer, QueryRequest, check_question
from mem.domain.runs import RunsAnswer, RunsRequest
from mem.doors import SentLog, prepare_candidate, prepare_ground, prepare_lookup, prepare_question, prepare_reason

AnswerT = TypeVar("AnswerT", bound=BaseModel)

DEADLINE_SECONDS = 90.0
TURN_DEADLINE_SECONDS = 40.0
"""A user waits for the turn: beyond what a controller is given, and no longer."""
ACCEPT_LIFETIME = timedelta(days=15)
LOOK_UP_LIFETIME = timedelta(days=8)
"""Execution timeouts: beyond every retry of a step, so that no run stays open for ever."""
FAIR_CHARACTERS = 16
"""Of the hash of a user, which stands for whose turn it is."""


class Reply(NamedTuple, Generic[AnswerT]):
    """The answer, the exact bytes in which it was stored, and what the door did to the caller's texts.

    `sent` is the log of a lookup as it was sent.
    """

    answer: AnswerT
    body: bytes
    notes: tuple[str, ...]
    sent: SentLog | None = None


class MemoryClient(Maintenance):
    """Sends requests to the worker and waits for their answers.

    Secrets are redacted, and long logs distilled, before anything leaves this process.
    """

    def __init__(self, client: Client, *, task_queue: str = "mem") -> None:
        super().__init__(client, task_queue=task_queue)

    @classmethod
    async def connect(
        cls,
        *,
        address: str | None = None,
        namespace: str | None = None,
        task_queue: str = "mem",
        runtime: Runtime | None = None,
        interceptors: Sequence[Interceptor] = (),
    ) -> MemoryClient:
        """Connect; without arguments by Temporal's own environment variables.

        Args:
            runtime: a program that has a Temporal runtime may share it; None: one whose core does not log to stdout.
            interceptors: of the SDK, such as one that traces.

        Raises:
            Unavailable: no Temporal server answers.
        """
        client = await connect(address=address, namespace=namespace, runtime=runtime, interceptors=interceptors)
        return cls(client, task_queue=task_queue)

    async def accept(
        self,
        request: AcceptRequest,
        *,
        override: str | None = None,
        readable: Collection[str] | None = None,
        deadline: float = DEADLINE_SECONDS,
    ) -> Reply[AcceptAnswer]:
        """Hand in a candidate memory.

        Args:
            override: why a person wants it in spite of what the gate says; recorded with what was overruled.
            readable: the projects of which a verdict may tell besides the candidate's own; None: all.
            deadline: seconds in all, over every attempt.

        Raises:
            InvalidRequest: the candidate breaks a limit.
            RequestConflict: the request id was used before with another body.
            Unavailable: no answer within the deadline; the same call may be sent again.
        """
        asked = _restricted(readable) | ({} if override is None else {"override": override})
        mark = fingerprint(request.model_dump(mode="json", exclude_unset=True) | asked)
        reason = None if override is None else prepare_reason(override)
        prepared = await asyncio.to_thread(prepare_candidate, request)
        check_limits(prepared.message)
        call = Call(
            workflow="AcceptMemory",
            update="accepted",
            workflow_id=accept_workflow_id(request.project, request.request_id),
            update_id=f"{mark}:{request.wait}",
            result=AcceptResult,
            message=AcceptInput.model_validate(
                {**prepared.message.model_dump(), **_restricted(readable), "fingerprint": mark, "override": reason}
            ),
            fingerprint=mark,
            summary=f"Accept {request.level}, project {request.project}",
            lifetime=ACCEPT_LIFETIME,
            attributes=_attributes(request.project, prepared.message.tool),
            task_queue=self._queues["writes"],
            fair=request.project,
        )
        body = await send(self._client, call, deadline=deadline)
        return Reply(AcceptAnswer.model_validate_json(body), body, prepared.notes)

    async def look_up(
        self, request: ContextRequest, *, readable: Collection[str] | None = None, deadline: float = DEADLINE_SECONDS
    ) -> Reply[ContextAnswer]:
        """Ask what is known about a failure, a task or a tool.

        Args:
            readable: the projects that may be told of besides the request's own; None: all.
            deadline: seconds in all, over every attempt.

        Raises:
            InvalidRequest: there is nothing to look up.
            RequestConflict: the request id was used before with another body.
            Unavailable: no answer within the deadline; the same call may be sent again.
        """
        check_inputs(request)
        restricted = _restricted(readable)
        mark = fingerprint(request.model_dump(mode="json", exclude_unset=True) | restricted)
        prepared = await asyncio.to_thread(prepare_lookup, request)
        message = prepared.message.model_copy(update={"fingerprint": mark, **restricted})
        call = Call(
            workflow="LookUpContext",
            update="lookup",
            workflow_id=context_workflow_id(request.project, request.request_id),
            update_id=mark,
            result=Answer,
            message=message,
            fingerprint=mark,
            summary=f"Look up {_asked(request)}, project {request.project}",
            lifetime=LOOK_UP_LIFETIME,
            attributes=_attributes(request.project, prepared.message.tool),
            task_queue=self._queues["lookups"],
            fair=request.project,
        )
        body = await send(self._client, call, deadline=deadline)
        return Reply(ContextAnswer.model_validate_json(body), body, prepared.notes, prepared.sent)

    async def query(
        self, request: QueryRequest, *, readable: Collection[str] | None = None, deadline: float = DEADLINE_SECONDS
    ) -> Reply[QueryAnswer]:
        """Ask a project's memories a question.

        Args:
            readable: the projects that may be told of besides the request's own; None: all.
            deadline: seconds in all, over every attempt.

        Raises:
            InvalidRequest: the question is blank.
            RequestConflict: the request id was used before with another body.
            Unavailable: no answer within the deadline; the same call may be sent again.
        """
        restricted = _restricted(readable)
        mark = fingerprint(request.model_dump(mode="json", exclude_unset=True) | restricted)
        prepared = await asyncio.to_thread(prepare_question, request)
        check_question(prepared.message)
        call = Call(
            workflow="QueryMemory",
            update="query",
            workflow_id=query_workflow_id(request.project, request.request_id),
            update_id=mark,
            result=Answer,
            message=prepared.message.model_copy(update={"fingerprint": mark, **restricted}),
            fingerprint=mark,
            summary=f"Query {', '.join(request.levels)}, project {request.project}",
            lifetime=LOOK_UP_LIFETIME,
            attributes=_attributes(request.project, None),
            task_queue=self._queues["lookups"],
            fair=request.project,
        )
        body = await send(self._client, call, deadline=deadline)
        return Reply(QueryAnswer.model_validate_json(body), body, prepared.notes)

    async def ground(
        self,
        request: GroundRequest,
        *,
        readable: Collection[str] | None = None,
        deadline: float = TURN_DEADLINE_SECONDS,
    ) -> Reply[GroundAnswer]:
        """Ask for the context of a user's next turn.

        Args:
            readable: the projects that the caller may read; None where all may be.
            deadline: seconds in all, over every attempt.

        Raises:
            InvalidRequest: the message is blank.
            RequestConflict: the request id was used before with another body.
            Unavailable: no answer within the deadline; the same call may be sent again.
        """
        restricted = _restricted(readable)
        mark = fingerprint(request.model_dump(mode="json", exclude_unset=True) | restricted)
        prepared = await asyncio.to_thread(prepare_ground, request)
        check_message(prepared.message)
        call = Call(
            workflow="GroundContext",
            update="ground",
            workflow_id=ground_workflow_id(request.user_id, request.request_id, readable),
            update_id=mark,
            result=Answer,
            message=prepared.message.model_copy(update={"fingerprint": mark, **restricted}),
            fingerprint=mark,
            summary=f"Ground a turn, {request.read_mode}, {request.scope_level}",
            lifetime=LOOK_UP_LIFETIME,
            attributes=TypedSearchAttributes.empty,
            task_queue=self._queues["lookups"],
            fair=user_scope(request.user_id)[:FAIR_CHARACTERS],
        )
        body = await send(self._client, call, deadline=deadline)
        return Reply(GroundAnswer.model_validate_json(body), body, prepared.notes)

    async def runs(self, request: RunsRequest, *, now: datetime | None = None) -> RunsAnswer:
        """List the runs of the namespace that a request selects; Temporal lists a run a moment after it began or ended.

        Args:
            now: from which ages are counted back; None: the present.

        Raises:
            AmbiguousPrefix: several signatures begin with the digits that were given.
            ConfigurationError: the namespace lacks the search attributes.
            Unavailable: Temporal does not answer.
        """
        return await list_runs(self._client, request, datetime.now(UTC) if now is None else now)


def _restricted(readable: Collection[str] | None) -> dict[str, list[str]]:
    """What a message says of the caller's rights: nothing where all may be read."""
    return {} if readable is None else {"readable": sorted(set(readable))}


def _attributes(project: str, tool: str | None) -> TypedSearchAttributes:
    pairs = [SearchAttributePair(SearchAttributeKey.for_keyword(run_attributes.PROJECT), project)]
    if tool is not None:
        pairs.append(SearchAttributePair(SearchAttributeKey.for_keyword(run_attributes.TOOL), tool))
    return TypedSearchAttributes(pairs)


def _asked(request: ContextRequest) -> str:
    given = {"failure": request.signature_source, "task": request.task, "tool": request.tool}
    return " and ".join(name for name, value in given.items() if value is not None)
