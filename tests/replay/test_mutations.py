"""Workflows that were changed on purpose: what would break an open run is seen, and what would not is let pass."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from temporalio import workflow
from temporalio.worker import (
    ExecuteWorkflowInput,
    Interceptor,
    StartActivityInput,
    StartLocalActivityInput,
    UnsandboxedWorkflowRunner,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
    WorkflowOutboundInterceptor,
)

from activities.derive_signatures import DeriveSignatures
from activities.gate_memory import GateMemory
from activities.ground_context import GroundActivity
from activities.look_up_context import LookUpActivity
from activities.query_memory import QueryActivity
from activities.regenerate_projections import RegenerateProjections
from activities.replay_journal import ReplayJournal
from tests.replay.histories import generations, replay_all
from workflows import policies

RUNS = {
    "accept_accepted": GateMemory.gate_memory,
    "look_up_unsettled": LookUpActivity.look_up,
    "query_unsettled": QueryActivity.query_memory,
    "ground_unsettled": GroundActivity.ground_context,
    "rebuild_done": DeriveSignatures.derive_signatures,
    "rebuild_replayed": ReplayJournal.swap_replayed,
    "rebuild_applied": RegenerateProjections.settle_proposals,
}
"""A run of each kind, and a step of it."""

Run = Callable[[], Any]


class _Changed(Interceptor):
    """Lets something be done before or after the run, or to its commands."""

    def __init__(self, *, before: Run | None = None, after: Run | None = None, summary: str | None = None) -> None:
        self._before, self._after, self._summary = before, after, summary

    def workflow_interceptor_class(self, input: WorkflowInterceptorClassInput) -> type[WorkflowInboundInterceptor]:  # noqa: A002
        before, after, summary = self._before, self._after, self._summary

        class Outbound(WorkflowOutboundInterceptor):
            def start_activity(self, input: StartActivityInput) -> Any:  # noqa: A002
                input.summary = summary or input.summary
                return super().start_activity(input)

            def start_local_activity(self, input: StartLocalActivityInput) -> Any:  # noqa: A002
                input.summary = summary or input.summary
                return super().start_local_activity(input)

        class Inbound(WorkflowInboundInterceptor):
            def init(self, outbound: WorkflowOutboundInterceptor) -> None:
                super().init(Outbound(outbound))

            async def execute_workflow(self, input: ExecuteWorkflowInput) -> Any:  # noqa: A002
                if before is not None:
                    await before()
                result = await super().execute_workflow(input)
                if after is not None:
                    await after()
                return result

        return Inbound


async def _activity() -> None:
    await workflow.execute_activity("one_more", start_to_close_timeout=timedelta(seconds=1))


async def _local_activity() -> None:
    await workflow.execute_local_activity("one_more", start_to_close_timeout=timedelta(seconds=1))


async def _timer() -> None:
    await workflow.sleep(1)


async def _guarded() -> None:
    if workflow.patched("from-now-on"):
        await _activity()


async def _changed(*interceptors: Interceptor) -> dict[str, bool]:
    """Of which runs it is noticed that the workflows changed."""
    paths = [generations(name)[-1] for name in RUNS]
    async with asyncio.timeout(60):
        found = await replay_all(paths, runner=UnsandboxedWorkflowRunner(), interceptors=interceptors)
    return {name: each.failure is not None or each.commands != _untouched[name] for name, each in found.items()}


_untouched: dict[str, tuple[str, ...]] = {}


@pytest.fixture(autouse=True)
def untouched(replayed) -> None:
    """The commands of the workflows as they are."""
    _untouched.update({name: each.commands for name, each in replayed.items()})


@pytest.mark.parametrize("more", [_activity, _local_activity, _timer])
@pytest.mark.parametrize("where", ["before", "after"])
async def test_one_command_more(more, where):
    """A command that was added is seen in every workflow, at the end too, where Temporal itself may let it pass."""
    assert all((await _changed(_Changed(**{where: more}))).values())


@pytest.mark.parametrize("name", RUNS)
async def test_a_step_by_another_name(name, monkeypatch):
    """An activity that was renamed is seen in the runs that call it, and in no others."""
    definition = getattr(RUNS[name], "__temporal_activity_definition")
    monkeypatch.setattr(RUNS[name], "__temporal_activity_definition", replace(definition, name="renamed"))
    assert {run for run, changed in (await _changed()).items() if changed} == {generations(name)[-1].name}


async def test_search_attributes_that_are_not_set(monkeypatch):
    """An upsert that was dropped is seen."""
    had = {name for name, lines in _untouched.items() if "upsert workflow search attributes" in lines}
    monkeypatch.setattr(workflow, "upsert_search_attributes", lambda _: None)
    changed = await _changed()
    assert {name for name, each in changed.items() if each} == had & set(changed)
    assert len(had & set(changed)) >= 4


async def test_steps_in_another_order(monkeypatch):
    """Steps side by side that are begun in another order are seen."""
    gather = asyncio.gather
    monkeypatch.setattr("workflows.accept.asyncio.gather", lambda *steps: gather(*reversed(steps)))
    assert [name for name, each in (await _changed()).items() if each] == [generations("accept_accepted")[-1].name]


async def test_what_no_run_depends_on(monkeypatch):
    """Summaries, details, values of search attributes, timeouts and what a patch guards may change."""
    set_details, upsert = workflow.set_current_details, workflow.upsert_search_attributes
    monkeypatch.setattr(workflow, "set_current_details", lambda text: set_details(f"Otherwise: {text}"))
    monkeypatch.setattr(workflow, "upsert_search_attributes", lambda changes: upsert(list(changes)[:1]))
    for name in ("STEP_TIMEOUT", "LOOK_UP_TIMEOUT", "DERIVE_TIMEOUT", "WAIT_FOR_ALL"):
        monkeypatch.setattr(policies, name, timedelta(seconds=77))
    assert not any((await _changed(_Changed(before=_guarded, after=_guarded, summary="Otherwise"))).values())
