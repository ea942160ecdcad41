"""Whether a worker is there that gets the work of a task queue."""

from __future__ import annotations

from temporalio.api.enums.v1 import WorkerVersioningMode
from temporalio.api.taskqueue.v1 import PollerInfo, TaskQueueVersioningInfo
from temporalio.client import Client
from temporalio.service import RPCError

from mem.clients.temporal.pollers import alive, describe
from mem.domain.errors import Unavailable

ALL_PERCENT = 100.0


async def check_served(client: Client, task_queue: str) -> None:
    """Return if Temporal answers and gives the work of a task queue to a worker that polls it.

    Raises:
        Unavailable: it does not; the cause says what is missing.
    """
    try:
        described = await describe(client, task_queue)
    except (RPCError, TimeoutError) as error:
        where = client.service_client.config.target_host
        raise Unavailable(f"Temporal at {where} does not answer.", "Check `mem status`.") from error
    pollers = alive(described)
    if not pollers:
        raise Unavailable(f"No worker polls task queue {task_queue!r}.", "Start one: `mem worker`.")
    if not any(_gets_work(poller, described.versioning_info) for poller in pollers):
        raise _of_another_build(task_queue, pollers, described.versioning_info)


def _gets_work(poller: PollerInfo, versioning: TaskQueueVersioningInfo) -> bool:
    """Whether a poller is of the current build, or of one that gets a share; without a build, the unversioned ones."""
    versions = [versioning.current_deployment_version]
    if versioning.ramping_version_percentage > 0:
        versions.append(versioning.ramping_deployment_version)
    if versioning.ramping_version_percentage >= ALL_PERCENT:
        versions = versions[1:]
    return _build(poller) in {(version.deployment_name, version.build_id) for version in versions}


def _build(poller: PollerInfo) -> tuple[str, str]:
    """Deployment and build of a poller; both are empty where it is unversioned."""
    options = poller.deployment_options
    versioned = options.worker_versioning_mode == WorkerVersioningMode.WORKER_VERSIONING_MODE_VERSIONED
    return (options.deployment_name, options.build_id) if versioned else ("", "")


def _of_another_build(task_queue: str, pollers: list[PollerInfo], versioning: TaskQueueVersioningInfo) -> Unavailable:
    current = versioning.current_deployment_version
    told = f"build {current.build_id!r} of {current.deployment_name!r}" if current.build_id else "no build at all"
    name, build = max(map(_build, pollers))
    remedy = (
        f"Run `temporal worker deployment set-current-version --deployment-name {name} --build-id {build}`."
        if build
        else "Run `temporal worker deployment set-current-version --unversioned`, or start workers of that build."
    )
    return Unavailable(
        f"The workers of task queue {task_queue!r} get no work: the current one there is {told}, and none of them is.",
        remedy,
    )
