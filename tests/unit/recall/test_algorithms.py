"""Lookups while the key algorithm is being raised."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from mem.domain.errors import Unavailable
from mem.parsing import extract
from mem.parsing.key import ALGOS
from mem.testing import FakeFailures, FakeMemories
from mem.writing.links import signatures_of
from tests.algorithms import rough_algorithm, second_algorithm
from tests.unit.recall.kit import NPM_LOG, PYTHON_LOG, Scores, World, texts

OTHER_PYTHON_LOG = PYTHON_LOG.replace("yaml", "toml")


@pytest.fixture
def world() -> World:
    return World()


async def rederive(world: World, sha: str) -> None:
    evidence = [each.text for each in await FakeMemories(world.state).evidence(sha)]
    await FakeFailures(world.state).relink(sha, signatures_of(evidence))


def counts(body: Mapping[str, Any]) -> list[tuple[bool, int]]:
    return [(each["known"], each["seen_count"]) for each in body["signatures"]]


async def test_old_rows_answer_as_tier_1_under_the_current_key(world, monkeypatch):
    """A memory that was linked under the first version is an exact hit under the second; the answer has the new key."""
    await world.remember("npm lesson", log=NPM_LOG)
    monkeypatch.setitem(ALGOS, 2, second_algorithm)
    body = await world.look_up(signature_source=NPM_LOG)
    assert (body["tier"], texts(body, 1)) == (1, ["npm lesson"])
    current = extract(NPM_LOG)[0].sig_sha
    assert [each["sig_sha"] for each in body["signatures"]] == [current]
    assert body["lessons"][0]["signature"]["sig_sha"] == current


async def test_each_sighting_counts_once_whatever_its_version(world, monkeypatch):
    """Sightings of both versions add up; neither a rebuild nor a retry makes one of them count again."""
    sha = await world.remember("npm lesson", log=NPM_LOG)
    assert counts(await world.look_up(signature_source=NPM_LOG)) == [(True, 2)]
    monkeypatch.setitem(ALGOS, 2, second_algorithm)
    body = await world.look_up(signature_source=NPM_LOG)
    assert (counts(body), body["lessons"][0]["seen_count"]) == ([(True, 3)], 3)
    await rederive(world, sha)
    first = await world.outcome(signature_source=NPM_LOG, request_id="again")
    assert counts(json.loads(first.body)) == [(True, 4)]
    assert (await world.outcome(signature_source=NPM_LOG, request_id="again")).body == first.body
    assert counts(await world.look_up(signature_source=NPM_LOG)) == [(True, 5)]


async def test_since_when_is_the_same_under_every_version(world, monkeypatch):
    """Neither raising the version nor the rebuild that follows moves the first day."""
    sha = await world.remember("npm lesson", log=NPM_LOG)
    world.state.clock.advance(timedelta(days=9))
    days = [(await world.look_up(signature_source=NPM_LOG))["lessons"][0]["first_seen"]]
    monkeypatch.setitem(ALGOS, 2, second_algorithm)
    days.append((await world.look_up(signature_source=NPM_LOG))["lessons"][0]["first_seen"])
    await rederive(world, sha)
    days.append((await world.look_up(signature_source=NPM_LOG))["lessons"][0]["first_seen"])
    assert days == ["2026-07-02"] * 3


async def test_an_answer_that_could_not_be_stored_counts_this_call_once(world, monkeypatch):
    """Where nothing could be written the current call is added to the sum, not to each version."""
    await world.remember("npm lesson", log=NPM_LOG)
    monkeypatch.setitem(ALGOS, 2, second_algorithm)
    world.break_part("ledger", settle=Unavailable("The database is away.", "Wait."))
    outcome = await world.outcome(signature_source=NPM_LOG)
    assert counts(json.loads(outcome.body)) == [(True, 2)]
    assert [each.algo for each in outcome.unsettled.sightings] == [2]


async def test_only_the_current_key_is_sighted(world, monkeypatch):
    """A lookup is an occurrence of the current key alone."""
    old = extract(NPM_LOG)[0].sig_sha
    monkeypatch.setitem(ALGOS, 2, second_algorithm)
    await world.look_up(signature_source=NPM_LOG)
    seen = {occurrence.sig_sha for occurrence in world.state.occurrences}
    assert seen == {extract(NPM_LOG)[0].sig_sha} != {old}


async def test_old_coarse_rows_answer_too(world, monkeypatch):
    """What differs in a symbol alone is found through the coarse key of an earlier version, as tier 2."""
    one, other = (f'a.py:1:2: error: Name "{name}" is not defined  [name-defined]\n' for name in ("alpha", "beta"))
    (left,), (right,) = extract(one), extract(other)
    assert (left.sig_coarse == right.sig_coarse, left.sig_sha == right.sig_sha) == (True, False)
    world.with_ports(reranker=Scores(other=0.9))
    await world.remember("lesson", log=one)
    monkeypatch.setitem(ALGOS, 2, second_algorithm)
    body = await world.look_up(signature_source=other)
    assert [(each["tier"], each["matched_kind"]) for each in body["lessons"]] == [(2, "signature")]


async def test_a_memory_with_current_rows_no_longer_answers_to_old_ones(world, monkeypatch):
    """Once derived, a memory is free of what an earlier version took for the same failure."""
    monkeypatch.setattr("mem.parsing.key.ALGOS", {1: rough_algorithm})
    sha = await world.remember("yaml lesson", log=PYTHON_LOG)
    monkeypatch.setattr("mem.parsing.key.ALGOS", {1: rough_algorithm, 2: second_algorithm})
    assert (await world.look_up(signature_source=OTHER_PYTHON_LOG))["tier"] == 1
    await rederive(world, sha)
    assert (await world.look_up(signature_source=OTHER_PYTHON_LOG))["tier"] != 1
    assert (await world.look_up(signature_source=PYTHON_LOG))["tier"] == 1
