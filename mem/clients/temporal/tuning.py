"""How much a worker takes on at once, how it asks for work, and which build it says it is."""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

from temporalio.common import VersioningBehavior, WorkerDeploymentVersion
from temporalio.worker import (
    FixedSizeSlotSupplier,
    PollerBehaviorAutoscaling,
    ResourceBasedSlotConfig,
    ResourceBasedSlotSupplier,
    ResourceBasedTunerConfig,
    WorkerDeploymentConfig,
    WorkerTuner,
)

from mem.domain.errors import ConfigurationError

WORKFLOW_SLOTS = 64
STEP_SLOTS = 32
"""Steps and local activities at once: more share one interpreter and one pool of connections, and all come late."""

LEAST_WRITES = 4
"""So many steps of writes a worker does however busy the machine is: somebody else's load is no reason to stop."""

TARGETS = ResourceBasedTunerConfig(target_memory_usage=0.8, target_cpu_usage=0.9)
"""Beyond these the steps of writes become fewer: evidence of a megabyte takes a hundred to embed."""

RAMP = timedelta(milliseconds=20)
"""Between two more steps, so that what the first takes shows in time."""

POLLERS = PollerBehaviorAutoscaling(minimum=2, maximum=16, initial=4)
"""As many open polls as the server says are of use: few while it is quiet, more before there is a backlog."""

GRACE = timedelta(seconds=10)
"""So long a worker that is to end lets its steps finish; then they are handed back, to be done again elsewhere.

Below the time after which `mem up` (20 s) and Kubernetes (30 s) kill: handing back takes a moment.
"""

LONGEST_END = GRACE + timedelta(seconds=5)
"""So long a worker takes to end at the most, where Temporal or the database does not answer any more."""


def lookups_tuner() -> WorkerTuner:
    """Slots by number alone: where others use the processor up, a lookup is not to wait for them as well."""
    return WorkerTuner.create_fixed(
        workflow_slots=WORKFLOW_SLOTS, activity_slots=STEP_SLOTS, local_activity_slots=STEP_SLOTS
    )


def writes_tuner() -> WorkerTuner:
    """Steps as the machine has room for them, since nobody waits for the single one of a flood."""
    steps = ResourceBasedSlotConfig(minimum_slots=LEAST_WRITES, maximum_slots=STEP_SLOTS, ramp_throttle=RAMP)
    return WorkerTuner.create_composite(
        workflow_supplier=FixedSizeSlotSupplier(WORKFLOW_SLOTS),
        activity_supplier=ResourceBasedSlotSupplier(steps, TARGETS),
        # A lookup that was started plainly on the queue of writes.
        local_activity_supplier=FixedSizeSlotSupplier(STEP_SLOTS),
        nexus_supplier=FixedSizeSlotSupplier(1),
    )


class Deployment(NamedTuple):
    """A build of a deployment, by which a server leads each run to the workers that shall have it."""

    name: str
    build_id: str

    def config(self) -> WorkerDeploymentConfig:
        """What tells the server, which then gives this worker no run before its build is made the current one.

        Runs move to the current build with their next step: most last seconds, their code is patched for those that
        last longer, and with an old build nothing could finish that it has to be kept for.
        """
        return WorkerDeploymentConfig(
            version=WorkerDeploymentVersion(deployment_name=self.name, build_id=self.build_id),
            use_worker_versioning=True,
            default_versioning_behavior=VersioningBehavior.AUTO_UPGRADE,
        )


def deployment(name: str | None, build_id: str | None) -> Deployment | None:
    """The deployment that the settings name; None: the worker is unversioned.

    Raises:
        ConfigurationError: one of the two is missing.
    """
    if name is None and build_id is None:
        return None
    if name is None or build_id is None:
        missing = "MEM_WORKER_DEPLOYMENT" if name is None else "MEM_WORKER_BUILD_ID"
        raise ConfigurationError(
            f"{missing} is not set, and its counterpart is.",
            "Set both for versioned workers, or neither.",
        )
    if "." in name:
        raise ConfigurationError(f"MEM_WORKER_DEPLOYMENT is {name!r}.", "Choose a name without a full stop.")
    return Deployment(name, build_id)
