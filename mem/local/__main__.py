"""The process of a detached supervisor: an order on stdin, one report on stdout, notes in the log on stderr."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from datetime import UTC, datetime

from mem.clients.temporal.ending import end_with
from mem.domain.errors import MemError
from mem.local.detached import Order, Report
from mem.local.supervisor import supervise


def main() -> int:
    """Run the supervisor until it is stopped."""
    order = Order.model_validate_json(sys.stdin.buffer.read())
    _replace(0, os.open(os.devnull, os.O_RDONLY))
    try:
        asyncio.run(supervise(order.home, order.options, lambda stack: _report(Report(stack=stack)), _note))
    except MemError as error:
        _note(str(error))
        _report(Report(cause=error.cause, remedy=error.remedy))
        return 1
    return 0


def _report(report: Report) -> None:
    """Answer the caller and let go of its pipe; after the first time this goes to the log like everything else."""
    if _report_sent:
        return
    with suppress(BrokenPipeError):  # a caller that is gone has still started a stack
        sys.stdout.write(report.model_dump_json() + "\n")
        sys.stdout.flush()
    _replace(1, os.dup(2))
    _report_sent.append(True)


_report_sent: list[bool] = []


def _note(text: str) -> None:
    sys.stderr.write(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {text}\n")
    sys.stderr.flush()


def _replace(descriptor: int, by: int) -> None:
    os.dup2(by, descriptor)
    os.close(by)


if __name__ == "__main__":
    end_with(main)
