"""What a process counts beside the SDK, at the same address."""

from __future__ import annotations

from temporalio.common import MetricMeter

from mem.ports.watching import CallOutcome, ModelKind


class CountedCalls:
    """Counts and times what models were asked."""

    def __init__(self, meter: MetricMeter) -> None:
        self._calls = meter.create_counter("mem_model_calls", "What models were asked, by what came of it")
        self._seconds = meter.create_histogram_float("mem_model_seconds", "How long a model took to answer")

    def called(self, kind: ModelKind, outcome: CallOutcome, seconds: float) -> None:
        """A call ended."""
        self._calls.add(1, {"model": kind, "outcome": outcome})
        if outcome == "answered":
            self._seconds.record(seconds, {"model": kind})
