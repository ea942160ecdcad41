"""What is let in, how long it is worked on, and how the gateway ends."""

from __future__ import annotations

import asyncio
import gc
import json

import psutil
import pytest

from mem.domain.errors import RequestConflict
from mem.gateway.limits import MEGABYTE
from tests.callers import get, post
from tests.unit.gateway.live import ASKED, EXAMPLES, ScriptedClient, gateway

SHORT = 0.15


@pytest.fixture
def client() -> ScriptedClient:
    return ScriptedClient()


@pytest.mark.parametrize("asked", [post(ASKED), get("/readyz")], ids=["with a body", "without"])
async def test_who_leaves_is_not_worked_for(client, asked):
    """The work is cancelled, its place is free, and the log says that nobody waited."""
    client.hold = asyncio.Event()
    async with gateway(client, callers=1) as served:
        async with served.connected() as connection:
            await connection.send(asked)
            await client.begun.wait()
        line = await served.log.line()
        assert (line["outcome"], line["status"], client.cancelled) == ("gone", None, 1)
        client.hold = None
        assert (await served.exchange(post(ASKED))).status == 200
        assert b"mem_http_gone_total 1.0" in served.metrics.text()


async def test_who_leaves_in_the_middle_of_a_body_costs_nothing(client):
    """What was held for the body is given back."""
    async with gateway(client) as served:
        async with served.connected() as connection:
            await connection.send(post(ASKED)[:-1])
        line = await served.log.line()
        assert line["outcome"] == "gone"
        assert b"mem_http_body_bytes_in_flight 0.0" in served.metrics.text()
        assert client.requests == []


async def test_what_takes_too_long_is_503(client):
    """The caller is told to ask again under the same id, and the work is cancelled."""
    client.hold = asyncio.Event()
    async with gateway(client, handler_seconds=SHORT) as served:
        answer = await served.exchange(post(ASKED))
        assert (answer.status, answer.headers["mem-request-id"], client.cancelled) == (503, "r", 1)
        assert answer.headers["retry-after"]
        assert "same request" in answer.problem["remedy"]
        assert (await served.log.line())["outcome"] == "late"


async def test_a_timeout_of_the_work_itself_is_a_fault(client):
    """It is not taken for the deadline of the gateway."""
    client.error = TimeoutError()
    async with gateway(client) as served:
        assert (await served.exchange(post(ASKED))).status == 500


async def test_a_caller_too_many_is_sent_away_at_once(client):
    """Probes and counters are served all the same, and a place that becomes free is given."""
    client.hold = asyncio.Event()
    async with gateway(client, callers=2) as served:
        working = [asyncio.create_task(served.exchange(post(ASKED))) for _ in range(2)]
        while len(client.requests) < 2:
            await asyncio.sleep(0.005)
        shed = await served.exchange(post(ASKED))
        assert (shed.status, shed.headers["retry-after"]) == (503, "1")
        assert shed.problem["title"] == "Unavailable"
        for path in ("/healthz", "/metrics"):
            assert (await served.exchange(get(path))).status == 200
        client.hold.set()
        assert [(await one).status for one in working] == [200, 200]
        assert (await served.exchange(post(ASKED))).status == 200
        assert b'mem_http_shed_total{reason="callers"} 1.0' in served.metrics.text()


@pytest.mark.parametrize("framing", ["declared", "chunked"])
async def test_bytes_too_many_are_sent_away(client, framing):
    """What is held for one caller is not there for another, until it is given back."""
    client.hold = asyncio.Event()
    long = {**ASKED, "signature_source": "x" * 6000}
    request = post(long)
    if framing == "chunked":
        head, body = request.split(b"\r\n\r\n")
        lines = [line for line in head.split(b"\r\n") if not line.startswith(b"Content-Length")]
        chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
        request = b"\r\n".join([*lines, b"Transfer-Encoding: chunked", b"", chunks])
    async with gateway(client, bytes_in_flight=10_000) as served:
        working = asyncio.create_task(served.exchange(request))
        await client.begun.wait()
        shed = await served.exchange(request)
        assert (shed.status, shed.headers["retry-after"]) == (503, "1")
        assert await served.exchange(post(ASKED)[:-1] + b" ")  # what is short still has room
        client.hold.set()
        assert (await working).status == 200
        assert (await served.exchange(request)).status == 200
        assert b'mem_http_shed_total{reason="bytes"} 1.0' in served.metrics.text()
        assert b"mem_http_body_bytes_in_flight 0.0" in served.metrics.text()


@pytest.mark.parametrize(
    "body",
    [
        b'{"project":"p","signature_source":"' + b"x" * (5 * MEGABYTE) + b'"}',
        b'{"project":' + b"[[]," * (5 * MEGABYTE // 4) + b"0]}",
        pytest.param(b'{"project":' + b"[" * (5 * MEGABYTE) + b"}", marks=pytest.mark.slow),
        pytest.param(b'{"project":"' + b'\\"' * (5 * MEGABYTE // 2), marks=pytest.mark.slow),
    ],
    ids=["a text", "many lists", "deep lists", "a text without an end"],
)
async def test_two_hundred_callers_with_5_mb_each_take_bounded_memory(client, body):
    """Each is answered or sent away, whatever the bodies are made of, and the process stays small."""
    request = post(None, body=body)
    process = psutil.Process()
    async with gateway(client) as served:
        await served.exchange(request)
        gc.collect()
        before = process.memory_info().rss
        highest = before

        async def watch() -> None:
            nonlocal highest
            while True:
                highest = max(highest, process.memory_info().rss)
                await asyncio.sleep(0.01)

        watching = asyncio.create_task(watch())
        answers = await asyncio.gather(*[served.exchange(request) for _ in range(200)])
        watching.cancel()
        assert {each.status for each in answers} <= {200, 422, 503}
        assert all(each.headers["retry-after"] for each in answers if each.status == 503)
        assert highest - before < 400 * MEGABYTE


async def test_fifty_callers_who_keep_their_connections_are_all_answered(client):
    """Every answer is whole, and nothing stays open that was not before."""
    opened = psutil.Process().num_fds()
    async with gateway(client) as served:

        async def call(number: int) -> set[int]:
            async with served.connected() as connection:
                statuses = set()
                for turn in range(20):
                    await connection.send(post({**ASKED, "request_id": f"{number}-{turn}"}))
                    answer = await connection.answer()
                    assert json.loads(answer.body) == EXAMPLES["context"]["answer"]
                    assert answer.headers["mem-request-id"] == f"{number}-{turn}"
                    statuses.add(answer.status)
                return statuses

        assert await asyncio.gather(*[call(number) for number in range(50)]) == [{200}] * 50
        await served.until_open(0)
    assert psutil.Process().num_fds() <= opened


async def test_what_is_worked_on_is_finished_when_the_gateway_ends(client):
    """Idle connections are closed and new ones refused, and who waits for an answer gets it, and then no more."""
    client.hold = asyncio.Event()
    async with gateway(client) as served:
        async with served.connected() as idle, served.connected() as busy:
            await idle.send(get("/healthz"))
            await idle.answer()
            await busy.send(post(ASKED))
            await client.begun.wait()
            served.server.should_exit = True
            assert await idle.is_closed()
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection("127.0.0.1", served.port)
            client.hold.set()
            assert (await busy.answer()).status == 200
            assert await busy.is_closed()
        await served.serving


async def test_what_does_not_end_in_time_is_told_so_when_the_gateway_ends(client):
    """The caller gets 503 with the time to come back, and the gateway ends although a body never came."""
    client.hold = asyncio.Event()
    async with gateway(client, drain_seconds=1) as served:
        async with served.connected() as busy, served.connected() as slow:
            await slow.send(post(ASKED)[:-1])
            await busy.send(post(ASKED))
            await client.begun.wait()
            served.server.should_exit = True
            await served.serving
            assert served.server.server_state.tasks == set()
            answer = await busy.answer()
            assert (answer.status, answer.headers["retry-after"], client.cancelled) == (503, "1", 1)
            assert answer.problem["detail"] == "The gateway ends."
        assert {each["outcome"] for each in served.log.events} == {"ended"}


# --- what is told of a request ---


async def test_a_request_is_one_line_of_what_anyone_may_read(client):
    """Way, outcome and size are told; of the body, the parameters and the answer nothing is."""
    async with gateway(client) as served:
        await served.exchange(post({**ASKED, "task": "BODY"}, path="/memory/context?secret=PARAMETER"))
        line = await served.log.line()
        assert {"BODY", "PARAMETER", "react"} & set(str(line).replace("'", " ").split()) == set()
        assert line["ms"] >= 0
        assert {**line, "ms": 0} == {
            "event": "request", "method": "POST", "route": "/memory/context", "status": 200, "ms": 0,
            "request_id": "r", "received": 66, "sent": len(json.dumps(EXAMPLES["context"]["answer"])),
            "outcome": "answered",
        }  # fmt: skip


async def test_nothing_that_a_caller_writes_names_a_route_or_a_label(client):
    """A way that leads nowhere, a sha and a method without meaning are all told by what they are."""
    async with gateway(client) as served:
        await served.exchange(get("/nowhere/BODY%0d%0aX"))
        await served.exchange(get("/memory/0123456789abcdef"))
        await served.exchange(b"BREW /memory/context HTTP/1.1\r\nHost: h\r\n\r\n")
        routes = [(await served.log.line(number))["route"] for number in range(3)]
        assert routes == ["none", "/memory/{sha}", "/memory/context"]
        text = served.metrics.text().decode()
        assert 'mem_http_requests_total{method="GET",route="none",status="404"} 1.0' in text
        assert 'method="other"' in text
        assert not {"BODY", "0123456789abcdef", "BREW"} & set(text.replace('"', " ").split())


async def test_a_request_id_that_looks_like_a_secret_is_not_logged(client):
    """It is redacted, as everything is that leaves this process."""
    secret = "gh" + "p_" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAabcd"
    async with gateway(client) as served:
        await served.exchange(post({**ASKED, "request_id": secret}))
        assert secret not in str(await served.log.line())


async def test_a_fault_is_told_by_kind_and_place_alone(client):
    """Its message may quote what the caller sent, and so may the messages that led to it."""
    try:
        int("MEMORY TEXT")
    except ValueError as error:
        client.error = KeyError("USER")
        client.error.__cause__ = error
    async with gateway(client) as served:
        answer = await served.exchange(post(ASKED))
        assert (answer.status, answer.headers["mem-request-id"]) == (500, "r")
        assert answer.problem
        fault, line = served.log.events
        assert (fault["event"], fault["kind"], fault["cause"]) == ("fault", "KeyError", "ValueError")
        assert "live.py" in fault["at"][-1]
        assert (line["status"], line["outcome"]) == (500, "failed")
        assert not {"USER", "MEMORY"} & set(str(served.log.events).replace("'", " ").split())


async def test_answers_are_counted_by_what_they_say(client):
    """Lookups by tier, conflicts, bytes and times; the example is of tier 1."""
    async with gateway(client) as served:
        await served.exchange(post(ASKED))
        client.error = RequestConflict.of("r")
        assert (await served.exchange(post(ASKED))).status == 409
        text = (await served.exchange(get("/metrics"))).body.decode()
    assert 'mem_lookups_total{tier="1"} 1.0' in text
    assert "mem_request_conflicts_total 1.0" in text
    assert "mem_http_received_bytes_total 100.0" in text
    assert 'mem_http_request_seconds_count{route="/memory/context"} 2.0' in text
    assert "mem_http_requests_in_flight 1.0" in text
