"""MemoryClient: what other programs import. Every call may be repeated with the same request id."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from datetime import time as time_of_day
from typing import Generic, Literal, NamedTuple, TypeVar

from pydantic import BaseModel
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client, Interceptor
from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes
from temporalio.runtime import Runtime
from temporalio.service import RPCError

from mem.clients.temporal.calls import Call, send, target_of
from mem.clients.temporal.connection import connect
from mem.clients.temporal.jobs import Watch, run_to_end
from mem.clients.temporal.runs import list_runs
from mem.clients.temporal.schedules import Daily, find_daily, start_daily, stop_daily
from mem.domain.accepting import AcceptAnswer, AcceptInput, AcceptRequest, AcceptResult, check_limits
from mem.domain.answers import Answer
from mem.domain.errors import Unavailable
from mem.domain.grounding import GroundAnswer, GroundRequest, check_message
from mem.domain.ids import (
    NIGHTLY_SCHEDULE_ID,
    REGENERATE_WORKFLOW_ID,
    accept_workflow_id,
    context_workflow_id,
    fingerprint,
    ground_workflow_id,
    query_workflow_id,
    rebuild_workflow_id,
    replay_workflow_id,
    user_scope,
    writes_queue,
)
from mem.domain.lookup import ContextAnswer, ContextRequest, check_inputs
from mem.domain.query import QueryAnswer, QueryRequest, check_question
from mem.domain.rebuild import RebuildInput, RebuildReport
from mem.domain.regenerating import RegenerateReport
from mem.domain.replaying import NightlyCheck, ReplayReport
from mem.domain.runs import RunsAnswer, RunsRequest
from mem.doors import SentLog, prepare_candidate, prepare_ground, prepare_lookup, prepare_question, prepare_reason
from mem.parsing import current_algo

AnswerT = TypeVar("AnswerT", bound=BaseModel)

DEADLINE_SECONDS = 90.0
TURN_DEADLINE_SECONDS = 40.0
"""A user waits for the turn: beyond what a controller is given, and no longer."""
CHECK_SECONDS = 5.0
POLLER_SECONDS = 75.0
"""A poll lasts a minute at most; the rest is for clocks that differ."""
ACCEPT_LIFETIME = timedelta(days=15)
LOOK_UP_LIFETIME = timedelta(days=8)
REBUILD_LIFETIME = timedelta(days=15)
"""Execution timeouts: beyond every retry of a step, so that no run stays open for ever."""
NIGHTLY_LIFETIME = timedelta(hours=20)
"""A check that no worker took keeps no other night from its own."""

FAIR_CHARACTERS = 16
"""Of the hash of a user, which stands for whose turn it is."""

REPLAY_PAGE = 250
REGENERATE_PAGE = 50
"""Records or memories to a step's transaction or batch."""


Work = Literal["lookups", "writes"]
"""Lookups, queries and turns, or acceptances and rebuilds: each kind has a task queue of its own."""


class Reply(NamedTuple, Generic[AnswerT]):
    """The answer, the exact bytes in which it was stored, and what the door did to the caller's texts.

    `sent` is the log of a lookup as it was sent.
    """

    answer: AnswerT
    body: bytes
    notes: tuple[str, ...]
    sent: SentLog | None = None


class MemoryClient:
    """Sends requests to the worker and waits for their answers.

    Secrets are redacted, and long logs distilled, before anything leaves this process.
    """

    def __init__(self, client: Client, *, task_queue: str = "mem") -> None:
        self._client = client
        self._queues: dict[Work, str] = {"lookups": task_queue, "writes": writes_queue(task_queue)}

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

    async def check(self, *needed: Work) -> None:
        """Return if Temporal answers and a worker polls the task queue of each kind of work that is needed.

        Args:
            needed: none: both.

        Raises:
            Unavailable: either is missing; the cause says which.
        """
        for work in needed or self._queues:
            await self._check(self._queues[work])

    async def _check(self, task_queue: str) -> None:
        request = DescribeTaskQueueRequest(
            namespace=self._client.namespace,
            task_queue=TaskQueue(name=task_queue),
            task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
        )
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                described = await self._client.workflow_service.describe_task_queue(request)
        except (RPCError, TimeoutError) as error:
            where = target_of(self._client)
            raise Unavailable(f"Temporal at {where} does not answer.", "Check `mem status`.") from error
        # A server lists a poller for minutes after its process was killed; one that lives comes back within a minute.
        since = time.time() - POLLER_SECONDS
        if not any(poller.last_access_time.ToNanoseconds() / 1e9 >= since for poller in described.pollers):
            raise Unavailable(f"No worker polls task queue {task_queue!r}.", "Start one: `mem worker`.")

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

    async def rebuild(self, *, check: bool = False, watch: Watch | None = None) -> RebuildReport:
        """Derive the signatures of all memories from their evidence, or only compare; waits however long it takes.

        A run of the same kind that is open already is waited for instead; `watch` is told now and then where it stands.

        Raises:
            Unavailable: Temporal or every worker is away.
        """
        algo = current_algo()
        message = RebuildInput(check=check, algo=algo)
        summary = f"{'Check' if check else 'Rebuild'} the signatures of all memories, version {algo}"
        workflow_id = rebuild_workflow_id(algo, check=check)
        return await self._rebuild(message, workflow_id, RebuildReport, summary, watch)

    async def replay(self, *, check: bool = False, watch: Watch | None = None) -> ReplayReport:
        """Rebuild every projection from the journal, or only compare; otherwise as `rebuild`.

        Raises:
            JournalCorrupt: the journal does not hold.
            Unavailable: Temporal or every worker is away.
        """
        message = RebuildInput(task="replay", check=check, page=REPLAY_PAGE)
        summary = "Compare every projection with the journal" if check else "Rebuild every projection from the journal"
        return await self._rebuild(message, replay_workflow_id(check=check), ReplayReport, summary, watch)

    async def regenerate(self, *, apply: bool = False, watch: Watch | None = None) -> RegenerateReport:
        """Ask the projector again for every live memory, and record what it says only to `apply`; else as `rebuild`.

        Raises:
            Unavailable: Temporal or every worker is away.
        """
        message = RebuildInput(task="regenerate", apply=apply, page=REGENERATE_PAGE)
        summary = f"{'Record' if apply else 'Propose'} the projections of all memories anew"
        return await self._rebuild(message, REGENERATE_WORKFLOW_ID, RegenerateReport, summary, watch)

    async def schedule_check(self, at: time_of_day) -> None:
        """Have every table compared with the journal every night at a time in UTC; again, to change the time.

        Raises:
            Unavailable: Temporal does not answer.
        """
        daily = Daily(
            schedule_id=NIGHTLY_SCHEDULE_ID,
            workflow="RebuildProjections",
            workflow_id=replay_workflow_id(check=True),
            message=RebuildInput(task="replay", check=True, page=REPLAY_PAGE),
            task_queue=self._queues["writes"],
            summary="Compare every projection with the journal, every night",
            lifetime=NIGHTLY_LIFETIME,
        )
        await start_daily(self._client, daily, at)

    async def unschedule_check(self) -> bool:
        """Have it compared no more; whether it was.

        Raises:
            Unavailable: Temporal does not answer.
        """
        return await stop_daily(self._client, NIGHTLY_SCHEDULE_ID)

    async def scheduled_check(self) -> NightlyCheck | None:
        """When it is compared next, and what came of the last time; None where it is not.

        Raises:
            Unavailable: Temporal does not answer.
        """
        return await find_daily(self._client, NIGHTLY_SCHEDULE_ID)

    async def _rebuild(
        self,
        message: RebuildInput,
        workflow_id: str,
        result_type: type[AnswerT],
        summary: str,
        watch: Watch | None,
    ) -> AnswerT:
        await self.check("writes")
        return await run_to_end(
            self._client,
            "RebuildProjections",
            message,
            workflow_id=workflow_id,
            task_queue=self._queues["writes"],
            result_type=result_type,
            summary=summary,
            lifetime=REBUILD_LIFETIME,
            watch=watch,
        )


def _restricted(readable: Collection[str] | None) -> dict[str, list[str]]:
    """What a message says of the caller's rights: nothing where all may be read."""
    return {} if readable is None else {"readable": sorted(set(readable))}


def _attributes(project: str, tool: str | None) -> TypedSearchAttributes:
    pairs = [SearchAttributePair(SearchAttributeKey.for_keyword("MemProject"), project)]
    if tool is not None:
        pairs.append(SearchAttributePair(SearchAttributeKey.for_keyword("MemTool"), tool))
    return TypedSearchAttributes(pairs)


def _asked(request: ContextRequest) -> str:
    given = {"failure": request.signature_source, "task": request.task, "tool": request.tool}
    return " and ".join(name for name, value in given.items() if value is not None)
