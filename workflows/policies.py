"""Timeouts and retry policies, each with its reason."""

from __future__ import annotations

from datetime import timedelta

from temporalio.common import RetryPolicy

STEP_TIMEOUT = timedelta(seconds=30)
"""One attempt of one step of an acceptance: a few statements, or some dozen embeddings."""

ALIVE_TIMEOUT = timedelta(seconds=8)
"""After so long without a heartbeat, which every step sends while it works, its worker is taken for dead."""

ASK_TIMEOUT = timedelta(seconds=90)
"""One attempt of a step that may ask a controller, which is given a minute, with room for the writes."""

ASKS = 3
"""So often a controller that refuses, or answers with what cannot be read, is asked: chance may help, patience not."""

ASK_PAUSE = timedelta(milliseconds=250)
"""Between two of these."""

EMBED_TIMEOUT = timedelta(minutes=5)
"""Embedding up to 1 MB of evidence on one core."""

DERIVE_TIMEOUT = timedelta(minutes=5)
"""One batch of a rebuild: it ends itself after seconds, unless one memory alone has evidence of many megabytes."""

REPLAY_TIMEOUT = timedelta(minutes=5)
"""One stretch of a replay: it ends itself after seconds, unless one page alone is of many megabytes."""

INDEX_TIMEOUT = timedelta(hours=6)
"""One index over all vectors: minutes for a million of them, on a machine that does nothing else."""

COMPARE_TIMEOUT = timedelta(hours=1)
"""The last records and a digest of every row, in one transaction."""

STEP_PATIENCE = timedelta(days=7)
"""How long a step is retried: an outage must not lose a candidate, and someone should have looked by then."""

STEP_RETRY = RetryPolicy(
    initial_interval=timedelta(milliseconds=200), backoff_coefficient=2.0, maximum_interval=timedelta(seconds=30)
)
"""Quick after a blip, patient in an outage. What cannot succeed is marked non-retryable where it is raised."""

WAIT_FOR_ALL = timedelta(seconds=60)
"""How long an answer waits for all steps before the durable answer is given."""

LOOK_UP_TIMEOUT = timedelta(seconds=8)
"""One attempt of a lookup: its legs end within 6 s, the rest is spent on extraction."""

LOOK_UP_PATIENCE = timedelta(seconds=40)
"""A lookup answers even without its database; what takes longer than this is a stuck process."""

LOOK_UP_RETRY = RetryPolicy(initial_interval=timedelta(milliseconds=100), maximum_interval=timedelta(seconds=2))
"""The caller waits: often, until the patience is used up."""

ENHANCE_TIMEOUT = timedelta(seconds=20)
"""One attempt of a controller to put what was found into words; sentences of the memories stand in for it."""

ENHANCE_PATIENCE = timedelta(seconds=25)
"""In all: a user waits for the turn."""

ENHANCE_RETRY = RetryPolicy(initial_interval=timedelta(milliseconds=200), maximum_attempts=2)
"""A blip may pass; a controller that is down or refuses is not waited for."""
