"""Workers of a deployment: a run that began on one build is finished by the next one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from temporalio.api.workflowservice.v1 import SetWorkerDeploymentCurrentVersionRequest
from temporalio.client import Client
from temporalio.service import RPCError
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from mem.clients.temporal.pollers import describe
from mem.clients.temporal.tuning import Deployment, deployment
from mem.domain.errors import ConfigurationError, Unavailable
from mem.domain.ids import writes_queue
from tests.temporal_server import Rig, eventually
from tests.workflows.material import candidate, lookup


class Holding(Interceptor):
    """Lets the gate wait until it is told to go on."""

    def __init__(self) -> None:
        self.entered, self.opened = asyncio.Event(), asyncio.Event()

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002
        return _Inbound(next, self)


class _Inbound(ActivityInboundInterceptor):
    def __init__(self, following: ActivityInboundInterceptor, holding: Holding) -> None:
        super().__init__(following)
        self._holding = holding

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002
        if input.fn.__name__ == "gate_memory":
            self._holding.entered.set()
            await self._holding.opened.wait()
        return await super().execute_activity(input)


async def make_current(client: Client, build: Deployment) -> None:
    """Let all runs go to a build, once the server knows it."""

    async def done() -> bool:
        try:
            await client.workflow_service.set_worker_deployment_current_version(
                SetWorkerDeploymentCurrentVersionRequest(
                    namespace=client.namespace, deployment_name=build.name, build_id=build.build_id
                )
            )
        except RPCError:
            return False
        return True

    await eventually(done)


async def test_a_run_goes_over_to_the_build_that_is_made_current(rig):
    """What began on the first build ends on the second, and both kinds of work are done under versions.

    Before a build is current, a caller is told what to do.
    """
    first, second = (Deployment(f"mem-{rig.project}", build) for build in ("1", "2"))
    holding = Holding()
    async with asyncio.timeout(120):
        async with rig.working([holding], build=first):
            await eventually(lambda: _is_told(rig, "no build at all"))
            with pytest.raises(Unavailable, match=r"get no work: .* no build at all") as told:
                await rig.memory.look_up(lookup(rig, "early"), deadline=2)
            assert f"set-current-version --deployment-name {first.name} --build-id 1" in told.value.remedy
            await make_current(rig.temporal, first)
            await rig.memory.look_up(lookup(rig))
            await rig.memory.check()
            asked = asyncio.create_task(rig.memory.accept(candidate(rig)))
            await holding.entered.wait()
            async with rig.working(build=second):
                await make_current(rig.temporal, second)
                await eventually(lambda: _is_led_to(rig, second))
                holding.opened.set()
                assert (await asked).answer.status == "accepted"
                described = await rig.accept_handle("1").describe()
                assert described.raw_info.versioning_info.deployment_version.build_id == "2"


async def _is_led_to(rig: Rig, build: Deployment) -> bool:
    """Whether the queue of writes knows which build is current, which it hears of a moment later."""
    described = await describe(rig.temporal, writes_queue(rig.task_queue))
    return described.versioning_info.current_deployment_version.build_id == build.build_id


async def _is_told(rig: Rig, text: str) -> bool:
    try:
        await rig.memory.check()
    except Unavailable as unserved:
        return text in unserved.cause
    return False


@pytest.mark.parametrize(("name", "build"), [("mem", None), (None, "1"), ("m.em", "1")])
def test_half_a_version_is_refused(name, build):
    """One setting without the other, or a name that the server would refuse, says what to set."""
    with pytest.raises(ConfigurationError, match="MEM_WORKER"):
        deployment(name, build)
    assert deployment(None, None) is None
