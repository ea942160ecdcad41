"""The steps of a run as the Temporal UI shows them: what each is for, how it stands, and how long it took."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from mem.domain.markdown import code, table
    from workflows import policies

RETRIED = (
    f"A step that fails is tried again, for {policies.STEP_PATIENCE.days} days at most. Its attempt and its last "
    "failure stand beside it under *Pending Activities*."
)
"""A run learns of an attempt only when the last one has ended; the server shows each."""


class Step:
    """One step: what it is for, since when it is at work, and how it ended."""

    def __init__(self, summary: str, since: datetime, *, patient: bool) -> None:
        self.summary = summary
        self.patient = patient
        self.since = since
        self.until: datetime | None = None
        self.note = ""

    @property
    def state(self) -> str:
        """Its state in words; times are those of the run's own clock."""
        if self.until is None:
            return f"at work since {self.since:%H:%M:%S} UTC"
        return f"{'failed' if self.note else 'done'} after {(self.until - self.since).total_seconds():.2f} s"


class Steps:
    """What was begun so far, in that order; the latest turn of a step that comes several times."""

    def __init__(self) -> None:
        self._steps: dict[str, Step] = {}

    @property
    def at_work(self) -> bool:
        """Whether a step has yet to end."""
        return any(step.until is None for step in self._steps.values())

    def begin(self, name: str, summary: str, *, patient: bool = True) -> None:
        """A step is at work from now on; a `patient` one is tried again for days, which the server shows."""
        self._steps.pop(name, None)
        self._steps[name] = Step(summary, workflow.now(), patient=patient)

    def end(self, name: str, failure: str = "") -> None:
        """It is done, or failed for good."""
        step = self._steps[name]
        step.until, step.note = workflow.now(), failure

    def markdown(self, to_come: Iterable[str] = ()) -> list[str]:
        """A table of the steps, those behind that are still to come, and where to look while one is at work."""
        rows = [
            [code(name), step.summary, step.state + (f": {code(step.note)}" if step.note else "")]
            for name, step in self._steps.items()
        ]
        rows += [[code(name), "", "to come"] for name in to_come if name not in self._steps]
        waits = any(step.patient and step.until is None for step in self._steps.values())
        hint = ["", RETRIED] if waits else []
        return [*table("Steps", ["step", "what it does", "state"], rows), *hint]
