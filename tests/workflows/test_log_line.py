"""The log of a worker: one line of JSON for each lookup and each query."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.temporal_server import eventually
from tests.workflows.material import LESSON, RAW_LINE, SECRET, candidate, lookup, question
from tests.workflows.ports import LostAcknowledgement, Slow, Switch, Wrapped
from tests.written_logs import written_logs


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """What the worker writes, as it is configured in production."""
    with written_logs() as written:
        yield written


def lines(written: io.StringIO, event: str) -> list[dict[str, Any]]:
    read = [json.loads(line) for line in written.getvalue().splitlines()]
    return [each for each in read if each["event"] == event]


async def test_a_lookup_is_one_line_with_its_story(rig, written):
    """Tiers, legs with times, scores, drops, what failed, and whose request it was; no text of the log or a lesson."""
    skills = Wrapped(rig.ports.look_up._ports.skills, nearest=Slow(rig.ports.skills.nearest))
    async with rig.working(look_up_skills=skills, look_up_leg_seconds=1.5), asyncio.timeout(40):
        sha = (await rig.memory.accept(candidate(rig))).answer.sha
        reply = await rig.memory.look_up(lookup(rig, "r", tool="npm", budget=1, task=f"use {SECRET}"))
    (line,) = lines(written, "lookup")
    assert (line["project"], line["request_id"], line["tool"], line["level"]) == (rig.project, "r", "npm", "info")
    assert (line["tier"], line["tiers"], line["replayed"], line["attempt"]) == (1, [1], False, 1)
    assert [each["sha"] for each in line["lessons"]] == [sha]
    assert line["lessons"][0]["rerank"] == reply.answer.lessons[0].score
    assert [leg["leg"] for leg in line["legs"] if leg["milliseconds"] >= 1500] == ["skills"]
    assert line["milliseconds"] >= 1500
    assert line["degraded"] == ["skills: timeout after 1.5 s"]
    assert (line["used"], line["limit"], line["reranker"]) == (reply.answer.budget.used, 1, "embedded scorer")
    drops = [{name: value for name, value in each.items() if value is not None} for each in line["dropped"]]
    assert drops == reply.answer.budget.dropped
    for hidden in (SECRET, RAW_LINE, LESSON, "npm ERR!"):
        assert hidden not in written.getvalue()


async def test_a_retried_attempt_is_still_one_line(rig, written):
    """The attempt that failed writes none; the one that answered does, and says which it was."""
    async with rig.working(look_up=Switch(rig.ports.look_up, times=1)), asyncio.timeout(40):
        await rig.memory.look_up(lookup(rig))
        await rig.memory.look_up(lookup(rig))
    (line,) = lines(written, "lookup")
    assert (line["attempt"], line["replayed"]) == (2, False)


async def test_an_attempt_whose_answer_was_lost_is_one_line_of_a_repeated_answer(rig, written):
    """Where the first attempt stored its answer and was lost, the second one repeats that, and is told as such."""
    look_up = LostAcknowledgement(rig.ports.look_up, times=1)
    look_up.hangs = False
    async with rig.working(look_up=look_up), asyncio.timeout(40):
        reply = await rig.memory.look_up(lookup(rig))
    (line,) = lines(written, "lookup")
    assert (line["attempt"], line["replayed"], line["tier"]) == (2, True, reply.answer.tier)
    assert reply.answer.signatures[0].seen_count == 1


async def test_a_storm_of_retries_is_one_line(rig, written):
    """Callers that ask the same at once, or after the run has closed, make no further line."""
    async with rig.working(), asyncio.timeout(40):
        await asyncio.gather(*(rig.memory.look_up(lookup(rig)) for _ in range(20)))
        await eventually(lambda: _closed(rig))
        await rig.memory.look_up(lookup(rig))
    assert len(lines(written, "lookup")) == 1


async def test_a_query_is_one_line(rig, written):
    """Hits with their scores and ranks, legs with times, and whose request it was."""
    async with rig.working(), asyncio.timeout(40):
        await rig.memory.accept(candidate(rig))
        reply = await rig.memory.query(question(rig, "q"))
    (line,) = lines(written, "query")
    assert (line["project"], line["request_id"], line["replayed"]) == (rig.project, "q", False)
    assert [each["sha"] for each in line["hits"]] == [hit.sha for hit in reply.answer.hits]
    assert LESSON not in written.getvalue()


async def _closed(rig) -> bool:
    return (await rig.context_handle("1").describe()).close_time is not None
