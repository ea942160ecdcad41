"""RebuildProjections: the signatures of all memories, derived anew from their evidence."""

from __future__ import annotations

from pydantic import ValidationError
from temporalio import workflow
from temporalio.exceptions import FailureError

with workflow.unsafe.imports_passed_through():
    from activities.derive_signatures import DeriveSignatures
    from mem.domain.rebuild import DeriveStep, RebuildInput, RebuildReport
    from workflows import policies
    from workflows.failures import as_application_error


@workflow.defn(name="RebuildProjections", failure_exception_types=[ValidationError])
class RebuildProjections:
    """One rebuild or check, batch by batch; a step that is lost is done again, and finds what it had written."""

    @workflow.init
    def __init__(self, request: RebuildInput) -> None:
        self._request = request
        self._algo = request.algo
        self._report = request.report.model_copy(update={"check": request.check})

    @workflow.run
    async def run(self, request: RebuildInput) -> RebuildReport:
        """Go through all memories.

        Raises:
            ApplicationError: a step can never succeed.
        """
        after: str | None = request.after
        for _ in range(request.batches):
            after = await self._batch(after or "")
            if after is None:
                break
        else:
            going_on = {"algo": self._algo, "after": after, "report": self._report}
            workflow.continue_as_new(request.model_copy(update=going_on))
        return self._report

    @workflow.query(name="progress")
    def progress(self) -> RebuildReport:
        """What has been looked at so far."""
        return self._report

    async def _batch(self, after: str) -> str | None:
        step = DeriveStep(check=self._request.check, algo=self._algo, page=self._request.page, after=after)
        try:
            batch = await workflow.execute_activity_method(
                DeriveSignatures.derive_signatures,
                step,
                start_to_close_timeout=policies.DERIVE_TIMEOUT,
                heartbeat_timeout=policies.ALIVE_TIMEOUT,
                schedule_to_close_timeout=policies.STEP_PATIENCE,
                retry_policy=policies.STEP_RETRY,
                summary=f"{'Compare' if step.check else 'Derive'} signatures behind {after[:12] or 'the beginning'}",
            )
        except FailureError as error:
            failure = as_application_error(error, "")
            workflow.set_current_details(f"**Failed**: {failure.message}\n\n{_told(self._report)}")
            raise failure from error
        # A caller that named no version gets one for all batches, whichever workers take them.
        self._algo = batch.report.algo
        self._report = self._report.plus(batch.report)
        workflow.set_current_details(_told(self._report, done=batch.after is None))
        return batch.after


def _told(report: RebuildReport, *, done: bool = False) -> str:
    """The report as the Temporal UI shows it."""
    missing, other = ("missing", "different") if report.check else ("derived", "corrected")
    lines = [
        f"**{'done' if done else 'so far'}**: {report.memories} memories under version {report.algo} of the algorithm",
        f"- signatures: {report.new} {missing}, {report.changed} {other}, {report.unchanged} unchanged",
        *(f"- memory `{sha[:12]}`" for sha in report.differing),
    ]
    return "\n".join(lines)
