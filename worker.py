"""The worker: settings, wiring, and a Temporal worker over both."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from typing import TextIO

import structlog
from pydantic import ValidationError
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
from mem.clients.temporal.ending import end
from mem.clients.temporal.polling import telling_polls
from mem.domain.errors import MemError
from mem.domain.faults import told
from mem.ports import Ledger
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

PASSED_THROUGH = ("mem", "activities", "workflows", "pydantic", "pydantic_core", "structlog", "annotated_types")
"""Deterministic packages of our own and what they build on: importing them anew for each run costs 10 ms."""


WORKFLOWS = (AcceptMemory, LookUpContext, QueryMemory, GroundContext, RebuildProjections)

STICKY_TIMEOUT = timedelta(seconds=5)
"""So long the runs of a worker that died wait for it before another one takes them."""


def build_worker(client: Client, ports: Ports, *, task_queue: str, interceptors: Sequence[Interceptor] = ()) -> Worker:
    """A worker with every workflow and activity of this project."""
    symptoms = ProjectSymptoms(ports.journal, ports.memories, ports.projector, ports.embedder, ports.stand_in)
    settle = SettleAnswer(ports.ledger)
    replay = ReplayJournal(ports.rebuilding)
    ground = GroundActivity(ports.ground)
    regenerate = RegenerateProjections(ports.memories, ports.proposals, ports.projector, ports.embedder)
    return Worker(
        client,
        task_queue=task_queue,
        workflows=WORKFLOWS,
        activities=[
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
        ],
        workflow_runner=workflow_runner(),
        interceptors=interceptors,
        sticky_queue_schedule_to_start_timeout=STICKY_TIMEOUT,
        max_concurrent_activities=32,
        max_concurrent_local_activities=32,
    )


def workflow_runner() -> SandboxedWorkflowRunner:
    """What workflows run in, here and wherever their histories are replayed."""
    return SandboxedWorkflowRunner(restrictions=SandboxRestrictions.default.with_passthrough_modules(*PASSED_THROUGH))


async def serve(settings: Settings, interceptors: Sequence[Interceptor] = ()) -> None:
    """Work until SIGTERM or SIGINT.

    Raises:
        MemError: a part that the worker needs is not configured or does not answer.
    """
    found = find_addresses(settings)
    client = await connect(address=found.need_temporal(), namespace=found.namespace)
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with AsyncExitStack() as opened:
        ports = await opened.enter_async_context(open_ports(found, settings, PROMPTS))
        await ports.look_up.prepare()
        await ports.ground.prepare()
        worker = build_worker(client, ports, task_queue=found.task_queue, interceptors=interceptors)
        await opened.enter_async_context(worker)
        await opened.enter_async_context(telling_polls(client, [found.task_queue], settings.health_file))
        log.info("worker ready", task_queue=found.task_queue)
        expiring = asyncio.create_task(expire_answers(ports.ledger))
        await stop.wait()
        expiring.cancel()


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


def log_to(stream: TextIO) -> None:
    """Write each event as one line of JSON."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.PrintLoggerFactory(stream),
    )


def main() -> None:
    """Run the worker; one clear line where it cannot start."""
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    log_to(sys.stderr)
    code = 0
    try:
        asyncio.run(serve(Settings()))
    except MemError as error:
        sys.stderr.write(f"error: {error}\n")
        code = 1
    except ValidationError as error:
        sys.stderr.write(f"error: {told(error)}\n")
        code = 2
    end(code)


if __name__ == "__main__":
    main()
