"""AcceptMemory on a real server, worker and database."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from temporalio.api.sdk.v1 import WorkflowMetadata
from temporalio.client import WorkflowExecutionStatus
from temporalio.service import RPCError

from mem.clients.temporal import calls
from mem.domain.accepting import AcceptAnswer
from mem.domain.errors import ConfigurationError, RequestConflict, TooLarge, Unavailable
from mem.domain.journal import same_journal_form
from mem.domain.markdown import GAP
from mem.domain.nodes import Node
from mem.ports import LedgerKey, Reach
from tests.temporal_server import OTHER, Rig, events, eventually, reset, runs_of, scheduled
from tests.workflows.material import LESSON, LOG, RAW_LINE, SECRET, TRACEBACK, candidate, candidate_fields, lookup
from tests.workflows.ports import Gate, LostAcknowledgement, Misconfigured, Switch, Wrapped

PARALLEL = ["embed_symptoms", "embed_text", "link_signatures", "project_symptoms"]


async def _closed(rig: Rig, request_id: str = "1") -> bool:
    return (await rig.accept_handle(request_id).describe()).status == WorkflowExecutionStatus.COMPLETED


async def _stored(rig: Rig, wait: str = "all", request_id: str = "1") -> bytes | None:
    described = await rig.accept_handle(request_id).describe()
    key = LedgerKey(f"accept:{wait}", rig.project, request_id)
    return await rig.ports.ledger.find(key, await described.memo_value("fingerprint"))


async def _journal(rig: Rig) -> list[bytes]:
    return sorted(same_journal_form(record) for record in await rig.journal())


async def test_the_steps_in_their_order(rig):
    """Candidate, gate, append, then the parallel steps, then the stored answer; the memory is all there."""
    async with rig.working(), asyncio.timeout(30):
        reply = await rig.memory.accept(candidate(rig))
        await eventually(lambda: _closed(rig))
        steps = await scheduled(rig.accept_handle("1"))
    assert steps[:3] == ["record_candidate", "gate_memory", "append_memory"]
    assert sorted(steps[3:7]) == PARALLEL
    assert steps.index("project_symptoms") < steps.index("embed_symptoms")
    assert steps[7:] == ["settle_acceptance"]
    answer = reply.answer
    assert (answer.status, answer.vectors, answer.pending) == ("accepted", ["text", "symptom"], [])
    assert answer.verdict.accept
    assert {each.tool for each in answer.signatures} == {"npm", "python"}
    assert answer.projection is not None
    assert "ERESOLVE" in answer.projection.text
    evidence = await rig.ports.memories.evidence(answer.sha)
    assert {each.source for each in evidence} == {"ci:1", "ci:2"}
    assert [await rig.ports.memories.vector_kinds(each.stored_sha) for each in evidence] == [["text"], ["text"]]
    assert await rig.ports.memories.vector_kinds(answer.sha) == ["text", "symptom"]
    assert await _stored(rig) == reply.body


async def test_what_was_accepted_is_found(rig):
    """The failure that an acceptance brought as evidence is a tier 1 hit on its lesson."""
    async with rig.working(), asyncio.timeout(30):
        accepted = await rig.memory.accept(candidate(rig))
        found = await rig.memory.look_up(lookup(rig, "2"))
    assert found.answer.tier == 1
    assert found.answer.lessons[0].sha == accepted.answer.sha
    assert found.answer.lessons[0].seen_count == 2


@pytest.mark.parametrize(
    ("fields", "rule"),
    [({"evidence": []}, "no-evidence"), ({"text": "ok"}, "trivial"), ({"parents": ["f" * 64]}, "bad-parents")],
)
async def test_a_rejected_candidate_is_only_in_the_journal(rig, fields, rule):
    """A rejected candidate is answered with its reason, and leaves no node, vector, signature or occurrence."""
    async with rig.working(), asyncio.timeout(30):
        reply = await rig.memory.accept(candidate(rig, **fields))
        await eventually(lambda: _closed(rig))
        steps = await scheduled(rig.accept_handle("1"))
    assert (reply.answer.status, reply.answer.verdict.rule, reply.answer.sha) == ("rejected", rule, None)
    assert steps == ["record_candidate", "gate_memory", "settle_acceptance"]
    assert {record.kind for record in await rig.journal()} == {"candidate", "verdict"}
    lesson = Node(level="L1", project=rig.project, text=fields.get("text", LESSON))
    raw = [Node(level="L0", project=rig.project, text=LOG, source="ci:1", turn=1)]
    raw += [Node(level="L0", project=rig.project, text=TRACEBACK, source="ci:2")]
    shas = [lesson.sha, *(each.sha for each in raw)]
    assert await rig.ports.memories.nodes(shas) == {}
    assert [kind for sha in shas for kind in await rig.ports.memories.vector_kinds(sha)] == []
    found = await _look_up_alone(rig)
    assert found["tier"] is None
    assert [(each["known"], each["seen_count"]) for each in found["signatures"]] == [(False, 1)]


async def _look_up_alone(rig: Rig) -> dict[str, Any]:
    async with rig.working(), asyncio.timeout(30):
        return json.loads((await rig.memory.look_up(lookup(rig, "after"))).body)


async def test_a_duplicate_names_the_first(rig):
    """An equal lesson under another request id is a duplicate of the first, and adds no memory."""
    async with rig.working(), asyncio.timeout(30):
        first = await rig.memory.accept(candidate(rig, "1"))
        second = await rig.memory.accept(candidate(rig, "2", text=LESSON.upper()))
    assert (second.answer.status, second.answer.duplicate_of) == ("duplicate", first.answer.sha)
    assert [record.data["node"] is None for record in await rig.journal("appended")] == [False, True]


async def test_two_equal_candidates_at_once(rig):
    """Of equal lessons that come at once under many request ids one becomes a memory, and the rest name it."""
    async with rig.working(), asyncio.timeout(40):
        replies = await asyncio.gather(*(rig.memory.accept(candidate(rig, str(number))) for number in range(6)))
    shas = [reply.answer.sha or reply.answer.duplicate_of for reply in replies]
    assert sorted(reply.answer.status for reply in replies) == ["accepted", *["duplicate"] * 5]
    assert len(set(shas)) == 1


async def test_wait_durable(rig):
    """`wait: durable` is answered once the memory is appended, naming what is pending; the rest follows."""
    gate = Gate(rig.ports.memories.put_vectors)
    async with rig.working(memories=Wrapped(rig.ports.memories, put_vectors=gate)), asyncio.timeout(30):
        reply = await rig.memory.accept(candidate(rig, wait="durable"))
        assert reply.answer.status == "accepted"
        assert {"embed_text", "embed_symptoms"} <= set(reply.answer.pending)
        assert not await _closed(rig)
        told = AcceptAnswer.model_validate_json(await rig.accept_handle("1").query("status"))
        assert told.sha == reply.answer.sha
        gate.opened.set()
        await eventually(lambda: _closed(rig))
        assert (await rig.memory.accept(candidate(rig, wait="durable"))).body == reply.body
    assert await rig.ports.memories.vector_kinds(reply.answer.sha) == ["text", "symptom"]


async def test_both_waits_on_one_id(rig, temporal_server):
    """Callers who wait for different things each get their own body, now and when Temporal has forgotten it all."""
    gate = Gate(rig.ports.memories.put_vectors)
    async with rig.working(memories=Wrapped(rig.ports.memories, put_vectors=gate)), asyncio.timeout(40):
        everything = asyncio.create_task(rig.memory.accept(candidate(rig, wait="all")))
        durable = await rig.memory.accept(candidate(rig, wait="durable"))
        gate.opened.set()
        bodies = {"all": (await everything).body, "durable": durable.body}
        await eventually(lambda: _closed(rig))
    assert durable.answer.pending != []
    await _same_bodies_everywhere(rig, await temporal_server.client(OTHER), bodies)


@pytest.mark.parametrize("first", ["all", "durable"])
async def test_a_wait_that_comes_late(rig, temporal_server, first):
    """Who asks with the other `wait` after the run has closed gets a body that stays his for good."""
    second = "durable" if first == "all" else "all"
    async with rig.working(), asyncio.timeout(30):
        bodies = {first: (await rig.memory.accept(candidate(rig, wait=first))).body}
        await eventually(lambda: _closed(rig))
        bodies[second] = (await rig.memory.accept(candidate(rig, wait=second))).body
    assert json.loads(bodies["all"])["pending"] == []
    await _same_bodies_everywhere(rig, await temporal_server.client(OTHER), bodies)


async def _same_bodies_everywhere(rig: Rig, forgetful: Any, bodies: dict[str, bytes]) -> None:
    before = await _journal(rig)
    for where in (rig, rig.in_namespace(forgetful)):
        async with where.working(), asyncio.timeout(30):
            for wait, body in bodies.items():
                assert (await where.memory.accept(candidate(rig, wait=wait))).body == body
    assert await _journal(rig) == before


async def test_a_retry_storm_is_one_run(rig):
    """Fifty identical acceptances at once are one workflow, and all get the same bytes."""
    async with rig.working(), asyncio.timeout(40):
        replies = await asyncio.gather(*(rig.memory.accept(candidate(rig)) for _ in range(50)))
        assert len({reply.body for reply in replies}) == 1
        await eventually(lambda: _closed(rig))
        assert await runs_of(rig.temporal, rig.accept_handle("1").id) == 1
        assert len(await rig.journal("signatures")) == 1


async def test_a_plain_start_is_the_same_request(rig, temporal_server):
    """A start by name with bare JSON does the work of a client's call, and shares its answer and conflicts for good."""
    async with rig.working(), asyncio.timeout(30):
        handle = await rig.temporal.start_workflow(
            "AcceptMemory", candidate_fields(rig), id=f"accept:{rig.project}:1", task_queue=rig.task_queue
        )
        result = await handle.result()
        assert json.loads(result["body"])["status"] == "accepted"
        with pytest.raises(RequestConflict):
            await rig.memory.accept(candidate(rig, tool="npm"))
    bodies = dict.fromkeys(("all", "durable"), result["body"].encode())
    await _same_bodies_everywhere(rig, await temporal_server.client(OTHER), bodies)


async def test_another_body_conflicts_open_closed_and_forgotten(rig, temporal_server):
    """Another body under a used id is a conflict that names the id: in an open run, a closed one, a forgotten one."""
    gate = Gate(rig.ports.memories.put_vectors)
    async with rig.working(memories=Wrapped(rig.ports.memories, put_vectors=gate)), asyncio.timeout(30):
        first = asyncio.create_task(rig.memory.accept(candidate(rig)))
        await gate.entered.wait()
        with pytest.raises(RequestConflict, match="The request id '1' was used"):
            await rig.memory.accept(candidate(rig, tool="npm"))
        gate.opened.set()
        body = (await first).body
        await eventually(lambda: _closed(rig))
        with pytest.raises(RequestConflict, match="The request id '1' was used"):
            await rig.memory.accept(candidate(rig, tool="npm"))
    before = await _journal(rig)
    later = rig.in_namespace(await temporal_server.client(OTHER))
    async with later.working(), asyncio.timeout(30):
        with pytest.raises(RequestConflict, match="The request id '1' was used"):
            await later.memory.accept(candidate(rig, tool="npm"))
        assert (await later.memory.accept(candidate(rig))).body == body
    assert await _journal(rig) == before


async def test_a_refused_run_does_not_refuse_the_rightful_owner(rig, temporal_server, monkeypatch):
    """While a run of another body waits for the journal to refuse it, a retry of the first body gets its bytes."""
    async with rig.working(), asyncio.timeout(30):
        first = await rig.memory.accept(candidate(rig))
    later = rig.in_namespace(await temporal_server.client(OTHER))
    gate = Gate(rig.ports.journal.record)
    refused = asyncio.Event()
    look = calls._look_for_impostor

    async def seen(*args: Any) -> None:
        refused.set()
        await look(*args)

    monkeypatch.setattr(calls, "_look_for_impostor", seen)
    async with later.working(journal=Wrapped(rig.ports.journal, record=gate)), asyncio.timeout(30):
        other = asyncio.create_task(later.memory.accept(candidate(rig, tool="npm")))
        await gate.entered.wait()
        retry = asyncio.create_task(later.memory.accept(candidate(rig)))
        await refused.wait()
        gate.opened.set()
        with pytest.raises(RequestConflict):
            await other
        assert (await retry).body == first.body


async def test_a_caller_that_gives_up_is_let_go(rig):
    """Cancelling a call whose update was accepted ends it at once, and the run goes on."""
    gate = Gate(rig.ports.memories.append)
    async with rig.working(memories=Wrapped(rig.ports.memories, append=gate)), asyncio.timeout(30):
        call = asyncio.create_task(rig.memory.accept(candidate(rig)))
        await gate.entered.wait()
        await eventually(lambda: _updates(rig.accept_handle("1"), at_least=1))
        call.cancel()
        done, _ = await asyncio.wait([call], timeout=2)
        assert done
        assert call.cancelled()
        gate.opened.set()
        await eventually(lambda: _closed(rig))


async def test_the_ledger_loses_the_acknowledgement(rig):
    """A stored answer whose acknowledgement is lost is the answer that is given."""
    store = LostAcknowledgement(rig.ports.ledger.store, times=1)
    store.hangs = False
    async with rig.working(ledger=Wrapped(rig.ports.ledger, store=store)), asyncio.timeout(30):
        reply = await rig.memory.accept(candidate(rig))
        assert store.failed == 1
        assert await _stored(rig) == reply.body
        assert (await rig.memory.accept(candidate(rig))).body == reply.body


async def test_an_outage_in_the_middle(rig):
    """A database that is away for a while costs time and nothing else."""
    append = Switch(rig.ports.memories.append, times=3)
    link = Switch(rig.ports.failures.link, times=2)
    ports = {
        "memories": Wrapped(rig.ports.memories, append=append),
        "failures": Wrapped(rig.ports.failures, link=link),
    }
    async with rig.working(**ports), asyncio.timeout(40):
        reply = await rig.memory.accept(candidate(rig))
    assert (append.failed, link.failed) == (3, 2)
    assert reply.answer.pending == []
    sig_shas = [each.sig_sha for each in reply.answer.signatures]
    seen = await rig.ports.failures.seen(sig_shas, Reach(rig.project, federated=False))
    assert {each.times for each in seen.values()} == {1}


async def test_a_failure_that_passes_is_not_repeated(rig):
    """A run that failed for want of configuration does not speak for a retry once that is mended."""
    project = Misconfigured(rig.ports.memories.projection)
    async with rig.working(memories=Wrapped(rig.ports.memories, projection=project)), asyncio.timeout(30):
        durable = await rig.memory.accept(candidate(rig, wait="durable"))
        with pytest.raises(ConfigurationError, match="not migrated"):
            await rig.memory.accept(candidate(rig))
        project.on = False
        reply = await rig.memory.accept(candidate(rig))
        assert reply.answer.pending == []
        assert reply.answer.sha == durable.answer.sha
        assert (await rig.memory.accept(candidate(rig, wait="durable"))).body == durable.body


async def test_one_of_several_successors_is_accepted(rig):
    """Of candidates that supersede one memory at once, one is accepted and the others are told which."""
    async with rig.working(), asyncio.timeout(60):
        old = (await rig.memory.accept(candidate(rig, "old"))).answer.sha
        texts = [f"The cause is number {n} of the many causes of a stale cache." for n in range(6)]
        replies = await asyncio.gather(
            *(
                rig.memory.accept(candidate(rig, f"new-{n}", text=text, supersedes=[old]))
                for n, text in enumerate(texts)
            )
        )
    accepted = [reply.answer for reply in replies if reply.answer.status == "accepted"]
    refused = [reply.answer for reply in replies if reply.answer.status == "rejected"]
    assert len(accepted) == 1
    assert len(refused) == 5
    assert {(answer.verdict.accept, answer.verdict.rule, answer.sha) for answer in refused} == {
        (False, "bad-parents", None)
    }
    assert all(accepted[0].sha[:12] in answer.verdict.reason for answer in refused)


async def test_more_signatures_than_a_search_attribute_holds(rig):
    """An acceptance that links fifty failures is answered like any other."""
    evidence = [
        {
            "source": f"ci:{n}",
            "text": f'psql: error: FATAL:  database "{chr(97 + n // 26)}{chr(97 + n % 26)}x" does not exist',
        }
        for n in range(50)
    ]
    async with rig.working(), asyncio.timeout(60):
        answer = (await rig.memory.accept(candidate(rig, evidence=evidence))).answer
    assert answer.status == "accepted"
    assert len(answer.signatures) > 32


async def test_a_secret_in_the_tool_is_no_search_attribute(rig):
    """What is redacted in the message is redacted in the attributes by which runs are found."""
    secret = "ghp_" + "Z9y8X7w6V5u4" * 3
    async with rig.working(), asyncio.timeout(40):
        await rig.memory.accept(candidate(rig, tool=secret))
        described = await rig.accept_handle("1").describe()
    assert secret not in str(described.raw_description)


async def test_cancelled_and_terminated(rig):
    """Callers whose run is cancelled or terminated learn it by a named error, and a retry is answered."""
    gate = Gate(rig.ports.memories.append)
    async with rig.working(memories=Wrapped(rig.ports.memories, append=gate)), asyncio.timeout(60):
        for end in ("cancel", "terminate"):
            gate.entered.clear()
            first = asyncio.create_task(rig.memory.accept(candidate(rig)))
            await gate.entered.wait()
            await getattr(rig.accept_handle("1"), end)()
            with pytest.raises(Unavailable, match=r"cancelled|terminated"):
                await first
        gate.opened.set()
        assert (await rig.memory.accept(candidate(rig))).answer.status == "accepted"
    assert len(await rig.journal("appended")) == 1


async def test_a_reset_run_gives_the_same_bytes(rig):
    """A run that is reset to its beginning answers again with the stored bytes and writes nothing."""
    async with rig.working(), asyncio.timeout(30):
        first = await rig.memory.accept(candidate(rig))
        await eventually(lambda: _closed(rig))
        before = await _journal(rig)
        await reset(rig.temporal, rig.accept_handle("1").id)
        result = await rig.accept_handle("1").result()
        assert result["body"].encode() == first.body
        assert (await rig.memory.accept(candidate(rig))).body == first.body
    assert await _journal(rig) == before


async def test_many_waits_in_flight(rig):
    """More updates than the server takes at once, under ids of their own, all get the one answer."""
    gate = Gate(rig.ports.memories.append)
    async with rig.working(memories=Wrapped(rig.ports.memories, append=gate)), asyncio.timeout(40):
        first = asyncio.create_task(rig.memory.accept(candidate(rig)))
        await gate.entered.wait()
        handle = rig.accept_handle("1")
        others = [
            asyncio.create_task(handle.execute_update("accepted", candidate_fields(rig), id=f"other-{number}"))
            for number in range(9)
        ]
        retries = [asyncio.create_task(rig.memory.accept(candidate(rig, wait="durable"))) for _ in range(5)]
        await eventually(lambda: _updates(handle, at_least=9))
        gate.opened.set()
        body = (await first).body
        outcomes = await asyncio.gather(*others, return_exceptions=True)
        # One that the server had no place for, and that is no client of ours, may find the run closed.
        assert {each["body"].encode() for each in outcomes if not isinstance(each, RPCError)} == {body}
        assert len({reply.body for reply in await asyncio.gather(*retries)}) == 1


async def _updates(handle: Any, *, at_least: int) -> bool:
    accepted = [event.HasField("workflow_execution_update_accepted_event_attributes") for event in await events(handle)]
    return sum(accepted) >= at_least


async def test_the_status_query(rig):
    """`status` tells the step while there is no verdict, and the answer's body once there is one, closed or open."""
    gate = Gate(rig.ports.journal.find)
    async with rig.working(journal=Wrapped(rig.ports.journal, find=gate)), asyncio.timeout(30):
        call = asyncio.create_task(rig.memory.accept(candidate(rig)))
        await gate.entered.wait()
        assert await rig.accept_handle("1").query("status") == "not judged yet"
        gate.opened.set()
        reply = await call
        await eventually(lambda: _closed(rig))
        assert await rig.accept_handle("1").query("status") == reply.body.decode()


async def test_what_the_ui_shows(rig):
    """Search attributes, summary and details tell the story, and nothing in the run shows a secret."""
    evidence = [{"source": "ci", "text": f"{LOG}token {SECRET}\n"}]
    async with rig.working(), asyncio.timeout(30):
        reply = await rig.memory.accept(candidate(rig, tool="npm", evidence=evidence))
        await eventually(lambda: _closed(rig))
        handle = rig.accept_handle("1")
        described = await handle.describe()
        attributes = {pair.key.name: pair.value for pair in described.typed_search_attributes}
        metadata = await handle.query("__temporal_workflow_metadata", result_type=WorkflowMetadata)
        history = await events(handle)
    assert attributes["MemProject"] == rig.project
    assert attributes["MemTool"] == "npm"
    assert attributes["MemOutcome"] == "accepted"
    assert attributes["MemSignature"] == [each.sig_sha for each in reply.answer.signatures]
    assert await described.static_summary() == f"Accept L1, project {rig.project}"
    assert reply.answer.sha in metadata.current_details
    assert "Verdict: accept, by the rules" in metadata.current_details
    assert reply.answer.projection is not None
    for line in reply.answer.projection.text.splitlines():
        assert f"- `{line}`" in metadata.current_details
    summary, details = await described.static_summary(), await described.static_details()
    assert "| evidence | 1 record, " in str(details).replace(GAP, "")
    assert RAW_LINE not in metadata.current_details
    for shown in (str(attributes), str(summary), str(details)):
        assert RAW_LINE not in shown
        assert "npm ERR!" not in shown
    summaries = [event.user_metadata.summary.data for event in history if event.user_metadata.HasField("summary")]
    assert b'"Judge the candidate"' in summaries
    assert SECRET not in "".join(str(event) for event in history)
    assert SECRET not in str([record.data for record in await rig.journal()])


async def test_the_largest_candidate(rig):
    """A candidate at the limits of the contract passes through Temporal; one beyond them never reaches it."""
    piece = "error: it failed again\n" + "x" * 65_000
    evidence = [{"source": f"log:{number}", "text": f"{number}\n{piece}"} for number in range(16)]
    async with rig.working(), asyncio.timeout(60):
        reply = await rig.memory.accept(candidate(rig, evidence=evidence))
        assert reply.answer.status == "accepted"
        with pytest.raises(TooLarge):
            await rig.memory.accept(candidate(rig, "2", evidence=evidence * 2))
        with pytest.raises(RPCError, match="not found"):
            await rig.accept_handle("2").describe()
