"""The worker: settings, wiring, and a Temporal worker over both."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, assert_never

import structlog
from temporalio.client import Client
from temporalio.worker import Interceptor, Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from activities.append_memory import AppendMemory
from activities.derive_signatures import DeriveSignatures
from activities.embed_text import EmbedText
from activities.enhance_context import EnhanceContext
from activities.gate_memory import GateMemory
from activities.ground_context import GroundActivity
from activities.link_signatures import LinkSignatures
from activities.look_up_context import LookUpActivity
from activities.project_symptoms import ProjectSymptoms
from activities.query_memory import QueryActivity
from activities.record_candidate import RecordCandidate
from activities.refresh_snapshot import RefreshSnapshot
from activities.regenerate_projections import RegenerateProjections
from activities.replay_journal import ReplayJournal
from activities.settle_answer import SettleAnswer
from mem.addresses import find_addresses
from mem.clients.temporal.connection import connect
from mem.clients.temporal.ending import stopped_by_signals
from mem.clients.temporal.metrics import CountedCalls
from mem.clients.temporal.runtime import start_runtime
from mem.clients.temporal.search_attributes import check_search_attributes
from mem.clients.temporal.tracing import open_tracing
from mem.clients.temporal.tuning import GRACE, LONGEST_END, POLLERS, Deployment, deployment, lookups_tuner, writes_tuner
from mem.clients.temporal.worker_health import telling_polls
from mem.domain.ids import writes_queue
from mem.ports import Ledger
from mem.process import run_process
from mem.settings import Settings
from mem.wiring import Ports, open_ports
from workflows.accept import AcceptMemory
from workflows.context import LookUpContext
from workflows.ground import GroundContext
from workflows.query import QueryMemory
from workflows.rebuild import RebuildProjections

log = structlog.get_logger()

EXPIRY_PAUSE_SECONDS = 3600.0

PROMPTS = Path(__file__).resolve().parent / "prompts"
"""Beside this file, since the installed package carries none."""

PASSED_THROUGH = (
    "mem",
    "activities",
    "workflows",
    "pydantic",
    "pydantic_core",
    "structlog",
    "annotated_types",
    "opentelemetry",
)
"""Deterministic packages of our own and what they build on: importing them anew for each run costs 10 ms."""


WORKFLOWS = (AcceptMemory, LookUpContext, QueryMemory, GroundContext, RebuildProjections)

STICKY_TIMEOUT = timedelta(seconds=5)
"""So long the runs of a worker that died wait for it before another one takes them."""


Serves = Literal["all", "lookups", "writes"]
"""Which task queues a process works on."""


def build_workers(
    client: Client,
    ports: Ports,
    *,
    task_queue: str,
    serves: Serves = "all",
    interceptors: Sequence[Interceptor] = (),
    grace: timedelta = timedelta(),
    build: Deployment | None = None,
) -> list[Worker]:
    """A worker for each task queue that is served, each with every workflow and activity of this project.

    Clients choose the queue by the kind of work; a run that was started plainly on the other one is done there as well.

    Args:
        grace: how long steps may go on when the worker is shut down; then they are handed back.
        build: None: the worker is unversioned.
    """
    activities = all_activities(ports)
    return [
        Worker(
            client,
            task_queue=queue,
            workflows=WORKFLOWS,
            activities=activities,
            workflow_runner=workflow_runner(),
            interceptors=interceptors,
            sticky_queue_schedule_to_start_timeout=STICKY_TIMEOUT,
            tuner=lookups_tuner() if queue == task_queue else writes_tuner(),
            workflow_task_poller_behavior=POLLERS,
            activity_task_poller_behavior=POLLERS,
            graceful_shutdown_timeout=grace,
            deployment_config=None if build is None else build.config(),
        )
        for queue in served(task_queue, serves)
    ]


def served(task_queue: str, serves: Serves) -> list[str]:
    """The names of the task queues."""
    match serves:
        case "all":
            return [task_queue, writes_queue(task_queue)]
        case "lookups":
            return [task_queue]
        case "writes":
            return [writes_queue(task_queue)]
        case _:
            assert_never(serves)


@asynccontextmanager
async def running(workers: Sequence[Worker]) -> AsyncIterator[None]:
    """Run them, and shut them down side by side."""
    async with AsyncExitStack() as opened:
        for worker in workers:
            await opened.enter_async_context(worker)
        try:
            yield
        finally:
            await asyncio.gather(*(worker.shutdown() for worker in workers))


def all_activities(ports: Ports) -> list[Callable[..., Any]]:
    """Every activity of this project, over its ports."""
    symptoms = ProjectSymptoms(ports.journal, ports.memories, ports.projector, ports.embedder, ports.stand_in)
    settle = SettleAnswer(ports.ledger)
    replay = ReplayJournal(ports.rebuilding)
    ground = GroundActivity(ports.ground)
    regenerate = RegenerateProjections(ports.memories, ports.proposals, ports.projector, ports.embedder)
    return [
        RecordCandidate(ports.journal).record_candidate,
        GateMemory(ports.journal, ports.memories, ports.judge).gate_memory,
        AppendMemory(ports.journal, ports.memories).append_memory,
        symptoms.project_symptoms,
        symptoms.embed_symptoms,
        EmbedText(ports.journal, ports.memories, ports.embedder).embed_text,
        LinkSignatures(ports.journal, ports.memories, ports.failures).link_signatures,
        RefreshSnapshot(ports.users).refresh_snapshot,
        DeriveSignatures(ports.memories, ports.failures).derive_signatures,
        replay.begin_replay,
        replay.replay_records,
        replay.index_replayed,
        replay.swap_replayed,
        replay.compare_replayed,
        replay.discard_replayed,
        regenerate.begin_regeneration,
        regenerate.propose_projections,
        regenerate.settle_proposals,
        settle.settle_acceptance,
        settle.settle_lookup,
        settle.settle_query,
        settle.settle_ground,
        LookUpActivity(ports.look_up).look_up,
        QueryActivity(ports.query).query_memory,
        ground.ground_context,
        ground.finish_context,
        EnhanceContext(ports.enhancer).enhance_context,
    ]


def workflow_runner() -> SandboxedWorkflowRunner:
    """What workflows run in, here and wherever their histories are replayed."""
    return SandboxedWorkflowRunner(restrictions=SandboxRestrictions.default.with_passthrough_modules(*PASSED_THROUGH))


async def serve(settings: Settings, interceptors: Sequence[Interceptor] = ()) -> None:
    """Work until SIGTERM or SIGINT, which ends this process in any case within `LONGEST_END`.

    Raises:
        MemError: a part that the worker needs is not configured or does not answer.
    """
    found, serves = find_addresses(settings), settings.worker_serves
    runtime = start_runtime(settings.metrics_address)
    calls = None if settings.metrics_address is None else CountedCalls(runtime.metric_meter)
    build = deployment(settings.worker_deployment, settings.worker_build_id)
    stop = stopped_by_signals(LONGEST_END)
    async with AsyncExitStack() as opened:
        tracing = await opened.enter_async_context(open_tracing("mem-worker", os.environ))
        traced = () if tracing is None else tracing.interceptors
        client = await connect(
            address=found.need_temporal(), namespace=found.namespace, runtime=runtime, interceptors=traced
        )
        await check_search_attributes(client)
        ports = await opened.enter_async_context(open_ports(found, settings, PROMPTS, spans=tracing, calls=calls))
        if serves != "writes":
            await ports.look_up.prepare()
            await ports.ground.prepare()
        workers = build_workers(
            client,
            ports,
            task_queue=found.task_queue,
            serves=serves,
            interceptors=interceptors,
            grace=GRACE,
            build=build,
        )
        await opened.enter_async_context(running(workers))
        queues = served(found.task_queue, serves)
        await opened.enter_async_context(telling_polls(client, queues, settings.health_file))
        log.info("worker ready", task_queues=queues)
        expiring = asyncio.create_task(expire_answers(ports.ledger))
        await stop.wait()
        expiring.cancel()
        log.info("worker ends", seconds=GRACE.total_seconds())
    log.info("worker ended")


async def expire_answers(ledger: Ledger, *, pause: float = EXPIRY_PAUSE_SECONDS) -> None:
    """Delete expired answers in batches, now and then; any worker may, and several do no harm."""
    while True:
        try:
            while await ledger.expire():
                pass
        except Exception:
            # Housekeeping goes on, whatever it met.
            log.exception("expiry put off")
        await asyncio.sleep(pause)


def main() -> None:
    """Run the worker; one clear line where it cannot start."""
    run_process(lambda: serve(Settings()))


if __name__ == "__main__":
    main()
