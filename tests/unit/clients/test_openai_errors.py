"""What a failed call means."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from activities.errors import LONGEST_DELAY, SHORTEST_DELAY, as_failure
from mem.clients.openai.errors import retry_after
from mem.domain.errors import ControllerRefused, Unavailable

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "20"}, 20.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "20"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "20"}, 20.0),
        ({"retry-after": "Sun, 01 Mar 2026 12:01:30 GMT"}, 90.0),
        ({"retry-after": "Sun, 01 Mar 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "whenever"}, None),
        ({"retry-after": ""}, None),
    ],
)
def test_the_wait_that_a_server_asks_for(headers, seconds):
    """Milliseconds before seconds, a date as the time until then, and nothing where it cannot be read."""
    assert retry_after(headers, now=NOW) == seconds


@pytest.mark.parametrize(
    ("seconds", "delay"),
    [
        (None, None),
        (7.0, timedelta(seconds=7)),
        (0.0, SHORTEST_DELAY),
        (1e12, LONGEST_DELAY),
        (float("nan"), None),
    ],
)
def test_the_next_attempt_waits_as_told(seconds, delay):
    """The wait becomes that of the step's next attempt, within bounds."""
    failure = as_failure(Unavailable("Away.", "Wait.", retry_after=seconds))
    assert failure.next_retry_delay == delay
    assert not failure.non_retryable


def test_a_refusal_is_not_retried_by_the_step():
    """How often a controller that refuses is asked is the workflow's decision."""
    assert as_failure(ControllerRefused("No.")).non_retryable
