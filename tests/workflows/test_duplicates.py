"""Duplicates and overruled candidates, on a real server, worker and database."""

from __future__ import annotations

import asyncio

import pytest

from mem.domain.accepting import AcceptAnswer
from mem.domain.nodes import Node
from mem.ports import Reach
from tests.temporal_server import Rig, eventually, scheduled
from tests.workflows.material import LOG, TRACEBACK, candidate, lookup
from tests.workflows.ports import Gate, LostAcknowledgement, Switch, Wrapped

REWORDED = "Pin @types/react via `overrides` instead of forcing the install, because its peer range excludes react 19."
GO = (
    "panic: runtime error: index out of range [3] with length 3\n\n"
    "goroutine 1 [running]:\nmain.main()\n\t/app/main.go:9 +0x1d\nexit status 2\n"
)
FRESH = [{"source": "ci:9", "turn": 4, "text": GO}]


async def test_a_duplicate_brings_its_evidence(rig):
    """A rewording names the memory that stands, which is found by the failure in the new evidence from then on."""
    async with rig.working(), asyncio.timeout(40):
        first = (await rig.memory.accept(candidate(rig, "1"))).answer
        second = (await rig.memory.accept(candidate(rig, "2", text=REWORDED, evidence=FRESH))).answer
        found = (await rig.memory.look_up(lookup(rig, "3", signature_source=GO))).answer
        await eventually(lambda: _closed(rig, "2"))
        steps = await scheduled(rig.accept_handle("2"))
    assert (second.status, second.sha, second.duplicate_of) == ("duplicate", None, first.sha)
    assert (second.verdict.rule, second.projection, second.vectors, second.pending) == ("duplicate", None, [], [])
    assert [each.tool for each in second.signatures] == ["go"]
    assert steps[:3] == ["record_candidate", "gate_memory", "append_memory"]
    assert sorted(steps[3:5]) == ["embed_text", "link_signatures"]
    assert steps[5:] == ["settle_acceptance"]
    assert (found.tier, found.lessons[0].sha, found.lessons[0].seen_count) == (1, first.sha, 2)
    assert {parent.source for parent in found.lessons[0].parents} == {"ci:1", "ci:2", "ci:9"}
    (fresh,) = [each for each in await rig.ports.memories.evidence(first.sha) if each.source == "ci:9"]
    assert await rig.ports.memories.vector_kinds(fresh.stored_sha) == ["text"]
    assert await rig.ports.memories.projection(first.sha) == first.projection
    assert len(await rig.journal("projection")) == 1


async def test_each_acceptance_counts_its_own_evidence(rig):
    """A duplicate is a sighting of the failures that it brought, not of those that others brought before."""
    async with rig.working(), asyncio.timeout(40):
        first = (await rig.memory.accept(candidate(rig, "1"))).answer
        await rig.memory.accept(candidate(rig, "2", text=REWORDED, evidence=FRESH))
        again = (await rig.memory.accept(candidate(rig, "3", text=f"{REWORDED}!"))).answer
    assert {each.tool for each in again.signatures} == {"npm", "python"}
    seen = await rig.ports.failures.seen(
        [each.sig_sha for each in first.signatures], Reach(rig.project, federated=False)
    )
    assert {each.times for each in seen.values()} == {2}
    linked = await rig.ports.failures.linked(first.sha)
    assert {each.tool for each in linked} == {"npm", "python", "go"}


@pytest.mark.parametrize("round_", [*range(4), *(pytest.param(more, marks=pytest.mark.slow) for more in range(4, 20))])
async def test_two_rewordings_at_once(rig, round_):
    """Of two that say the same and come at once one is accepted, and the other names it and brings its evidence."""
    async with rig.working(), asyncio.timeout(40):
        replies = await asyncio.gather(
            rig.memory.accept(candidate(rig, "1", evidence=[{"source": "ci:1", "text": LOG}])),
            rig.memory.accept(candidate(rig, "2", text=REWORDED, evidence=[{"source": "ci:2", "text": TRACEBACK}])),
        )
    answers = sorted((reply.answer for reply in replies), key=lambda answer: answer.status)
    assert [answer.status for answer in answers] == ["accepted", "duplicate"]
    assert answers[1].duplicate_of == answers[0].sha
    assert (answers[1].verdict.accept, answers[1].verdict.rule) == (False, "duplicate")
    assert (answers[0].sha or "-")[:12] in answers[1].verdict.reason
    assert {each.source for each in await rig.ports.memories.evidence(answers[0].sha)} == {"ci:1", "ci:2"}
    linked = await rig.ports.failures.linked(answers[0].sha)
    assert {each.tool for each in linked} == {"npm", "python"}


async def test_a_durable_duplicate(rig):
    """`wait: durable` is answered once the evidence is appended, naming what is pending; the rest follows."""
    async with rig.working(), asyncio.timeout(30):
        first = (await rig.memory.accept(candidate(rig, "1"))).answer
    gate = Gate(rig.ports.memories.put_vectors)
    async with rig.working(memories=Wrapped(rig.ports.memories, put_vectors=gate)), asyncio.timeout(30):
        durable = (await rig.memory.accept(candidate(rig, "2", text=REWORDED, evidence=FRESH, wait="durable"))).answer
        assert (durable.status, durable.duplicate_of) == ("duplicate", first.sha)
        assert "embed_text" in durable.pending
        assert set(durable.pending) <= {"embed_text", "link_signatures"}
        assert len(await rig.ports.memories.evidence(first.sha)) == 3
        gate.opened.set()
        await eventually(lambda: _closed(rig, "2"))
        told = AcceptAnswer.model_validate_json(await rig.accept_handle("2").query("status"))
    assert told.pending == []


async def test_a_duplicate_survives_outages_and_lost_answers(rig):
    """Steps of a duplicate that fail or lose their acknowledgement leave the journal of an undisturbed run."""
    journals = []
    for request_id, disturbed in (("a", False), ("b", True)):
        rig.project = f"{rig.project}-{request_id}"
        append, link = LostAcknowledgement(rig.ports.memories.append, times=1), Switch(rig.ports.failures.link, times=2)
        append.hangs = False
        append.on = link.on = disturbed
        ports = {
            "memories": Wrapped(rig.ports.memories, append=append),
            "failures": Wrapped(rig.ports.failures, link=link),
        }
        async with rig.working(), asyncio.timeout(40):
            await rig.memory.accept(candidate(rig, "1"))
        async with rig.working(**ports), asyncio.timeout(40):
            reply = await rig.memory.accept(candidate(rig, "2", text=REWORDED, evidence=FRESH))
            assert (await rig.memory.accept(candidate(rig, "2", text=REWORDED, evidence=FRESH))).body == reply.body
        assert (append.failed, link.failed) == ((1, 2) if disturbed else (0, 0))
        mine = [record for record in await rig.journal() if f"{rig.project}:" in record.key]
        journals.append(sorted(record.kind for record in mine))
    assert journals[0] == journals[1]
    assert journals[0] == ["appended"] * 2 + ["candidate"] * 2 + ["signatures"] * 2 + ["verdict"] * 2


async def test_a_synthesis_inherits_the_failures_of_its_lessons(rig):
    """An L2 without evidence of its own is found by the failures of its L1 parents, with their tools."""
    async with rig.working(), asyncio.timeout(40):
        first = (await rig.memory.accept(candidate(rig, "1"))).answer
        other = (
            "The build panics because the shard list is one shorter than the worker list; derive both from one flag."
        )
        second = (await rig.memory.accept(candidate(rig, "2", text=other, evidence=FRESH))).answer
        rule = "Lists that belong together are derived from one source: peer ranges as well as shards and workers."
        parents = [first.sha, second.sha]
        answer = (
            await rig.memory.accept(candidate(rig, "3", level="L2", text=rule, evidence=[], parents=parents))
        ).answer
    assert answer.status == "accepted"
    assert {each.tool for each in answer.signatures} == {"npm", "python", "go"}


async def test_a_duplicate_of_a_superseded_memory_goes_nowhere(rig):
    """A rewording of what was superseded is rejected, naming the successor, and leaves nothing behind."""
    async with rig.working(), asyncio.timeout(40):
        old = (await rig.memory.accept(candidate(rig, "1"))).answer.sha
        newer = "Raise react to 19 everywhere, the types follow."
        new = (await rig.memory.accept(candidate(rig, "2", text=newer, supersedes=[old]))).answer.sha
        answer = (await rig.memory.accept(candidate(rig, "3", text=REWORDED, evidence=FRESH))).answer
    assert (answer.status, answer.verdict.rule, answer.duplicate_of, answer.signatures) == (
        "rejected",
        "duplicate",
        None,
        [],
    )
    assert new in answer.verdict.reason
    await _nothing_of_it_is_there(rig, REWORDED)


async def test_what_a_lookup_returned_cannot_come_back(rig):
    """A lesson of another project that a lookup returned is self-feedback, and leaves nothing behind."""
    home, away = rig.project, f"{rig.project}-away"
    async with rig.working(), asyncio.timeout(40):
        rig.project = away
        await rig.memory.accept(candidate(rig, "1"))
        rig.project = home
        found = (await rig.memory.look_up(lookup(rig, "2"))).answer
        answer = (await rig.memory.accept(candidate(rig, "3", text=REWORDED, evidence=FRESH))).answer
    assert found.lessons[0].project == away
    assert (answer.status, answer.verdict.rule) == ("rejected", "self-feedback")
    await _nothing_of_it_is_there(rig, REWORDED)


async def test_an_overruled_duplicate_is_a_memory(rig):
    """A person's reason makes a rewording a memory of its own; the answer and the journal tell who decided what."""
    why = "It is about another package of the same name."
    async with rig.working(), asyncio.timeout(40):
        first = (await rig.memory.accept(candidate(rig, "1"))).answer
        reply = await rig.memory.accept(candidate(rig, "2", text=REWORDED, evidence=FRESH), override=why)
        again = await rig.memory.accept(candidate(rig, "2", text=REWORDED, evidence=FRESH), override=why)
    answer = reply.answer
    assert again.body == reply.body
    assert (answer.status, answer.verdict.accept, answer.verdict.rule) == ("accepted", True, "duplicate")
    assert answer.sha not in (None, first.sha)
    assert why in answer.verdict.reason
    (record,) = [each for each in await rig.journal("verdict") if "override" in each.data]
    assert (record.data["override"], record.data["overruled"]["duplicate_of"]) == (why, first.sha)


async def _nothing_of_it_is_there(rig: Rig, text: str) -> None:
    lesson = Node(level="L1", project=rig.project, text=text)
    below = Node(level="L0", project=rig.project, **FRESH[0])
    assert await rig.ports.memories.nodes([lesson.sha, below.sha]) == {}
    assert [await rig.ports.memories.vector_kinds(node.sha) for node in (lesson, below)] == [[], []]
    mine = [record for record in await rig.journal() if record.key.endswith(f"{rig.project}:3")]
    assert sorted(record.kind for record in mine) == ["candidate", "verdict"]


async def _closed(rig: Rig, request_id: str) -> bool:
    return (await rig.accept_handle(request_id).describe()).close_time is not None


async def test_an_answer_that_is_stored_late_is_remembered_as_given_out(rig):
    """A lookup whose ledger was away tells the journal afterwards which lessons it returned."""
    home, away = rig.project, f"{rig.project}-away"
    ledger = Wrapped(rig.ports.look_up._ports.ledger, settle=Switch(rig.ports.ledger.settle))
    async with rig.working(look_up_ledger=ledger), asyncio.timeout(40):
        rig.project = away
        there = (await rig.memory.accept(candidate(rig, "1"))).answer.sha
        rig.project = home
        found = (await rig.memory.look_up(lookup(rig, "2"))).answer
        assert [each.leg for each in found.degraded] == ["ledger"]
        await eventually(lambda: _recorded(rig, "lookup"))
        answer = (await rig.memory.accept(candidate(rig, "3", text=REWORDED, evidence=FRESH))).answer
    (record,) = await rig.journal("lookup")
    assert record.data["returned"] == [there]
    assert answer.verdict.rule == "self-feedback"


async def _recorded(rig: Rig, kind: str) -> bool:
    return bool(await rig.journal(kind))
