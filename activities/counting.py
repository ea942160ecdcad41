"""What a worker counts, for Prometheus: of each answer once, beside what the SDK counts of steps and attempts.

Every label has few values, none of which a caller chooses. Nothing is counted where the process serves no metrics.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Literal

from temporalio import activity
from temporalio.common import MetricMeter

from mem.domain.accepting import AcceptAnswer
from mem.domain.replaying import ReplayReport
from mem.recall.ground_outcome import GroundTrace
from mem.recall.outcome import Trace
from mem.recall.query_outcome import QueryTrace

Operation = Literal["context", "query", "ground"]


def count_lookup(trace: Trace) -> None:
    """An answered lookup, by its best tier."""
    if _answered("context", trace, abstained=trace.tier is None):
        tier = "none" if trace.tier is None else str(trace.tier)
        _count("mem_worker_lookups", "Lookups answered, by their best tier", tier=tier)


def count_query(trace: QueryTrace) -> None:
    """An answered query."""
    _answered("query", trace, abstained=not trace.hits)


def count_turn(trace: GroundTrace) -> None:
    """An answered turn of a user."""
    _answered("ground", trace, abstained=not trace.usable)


def count_acceptance(answer: AcceptAnswer) -> None:
    """A candidate that came to its end, with the rule that decided."""
    rule = answer.verdict.rule or "none"
    _count("mem_worker_acceptances", "Candidates that came to their end", outcome=answer.status, rule=rule)


def count_conflict() -> None:
    """A request id that came again with another body, as far as a worker sees such."""
    _count("mem_worker_conflicts", "Request ids used again with another body")


def show_drift(report: ReplayReport) -> None:
    """How many rows differ from what the journal makes of each table, and when that was found."""
    meter = _meter()
    if meter is None:
        return
    rows = meter.create_gauge("mem_drift_rows", "Rows that differed at the last check of every table")
    for table in report.tables:
        rows.set(table.differing, {"table": table.table})
    when = meter.create_gauge("mem_drift_checked_timestamp_seconds", "When that check ended, as Unix time")
    when.set(int(time.time()))


def _answered(operation: Operation, trace: Trace | QueryTrace | GroundTrace, *, abstained: bool) -> bool:
    """Whether this is a new answer; one that was stored before is counted as repeated, and as nothing else."""
    if trace.replayed:
        _count("mem_worker_repeated", "Answers repeated from the ledger", operation=operation)
        return False
    _count("mem_worker_answers", "Answers made", operation=operation)
    if abstained:
        _count("mem_worker_abstentions", "Answers without any memory", operation=operation)
    for leg in _legs(trace.degraded):
        _count("mem_worker_degraded_legs", "Legs that could not contribute to an answer", operation=operation, leg=leg)
    if (meter := _meter()) is not None:
        seconds = meter.create_histogram_float("mem_worker_answer_seconds", "Work on an answer, all legs and storing")
        seconds.record(trace.milliseconds / 1000, {"operation": operation})
    return True


def _legs(degraded: Sequence[str]) -> list[str]:
    return sorted({each.split(":", 1)[0] for each in degraded})


def _count(name: str, told: str, **labels: str) -> None:
    if (meter := _meter()) is not None:
        meter.create_counter(name, told).add(1, labels)


def _meter() -> MetricMeter | None:
    return activity.metric_meter() if activity.in_activity() else None
