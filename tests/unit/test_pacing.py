"""A rebuild rests for as long as it worked, and never after its last page."""

from __future__ import annotations

import pytest

from activities import replay_journal
from activities.replay_journal import ReplayJournal
from mem.domain.pacing import LONGEST_REST_SECONDS, RESTS_PER_WORK, rest_after
from mem.domain.replaying import Position, ReplayStep

STEP = ReplayStep(run="r", check=False, page=10)


class Pages:
    """A journal of 40 records whose pages take 0.5 s each."""

    def __init__(self) -> None:
        self.now = 0.0
        self.seq = 0

    def monotonic(self) -> float:
        return self.now

    async def replay(self, step: ReplayStep, limit: int) -> Position:
        self.now += 0.5
        self.seq += limit
        return Position(seq=self.seq, length=40)


@pytest.mark.parametrize(
    ("seconds", "rest"), [(0.0, 0.0), (-1.0, 0.0), (0.4, 0.4 * RESTS_PER_WORK), (60.0, LONGEST_REST_SECONDS)]
)
def test_a_rest_is_as_long_as_the_work(seconds, rest):
    """In proportion, and bounded, so that a slow page does not make the next one wait for as long."""
    assert rest_after(seconds) == rest


async def test_a_replay_rests_between_pages(monkeypatch):
    """Three rests between four pages; a stretch ends after its seconds, rests included, and goes on where it was."""
    pages, rests = Pages(), []
    monkeypatch.setattr(replay_journal, "time", pages)

    async def rest(seconds: float) -> None:
        rests.append(seconds)
        pages.now += seconds

    replay = ReplayJournal(pages, rest=rest)
    assert (await replay.replay_records(STEP)).seq == 30
    assert (await replay.replay_records(STEP)).seq == 40
    assert rests == [0.5, 0.5, 0.5]
