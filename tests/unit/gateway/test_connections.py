"""What a caller can do to a connection: it ends in time, with a problem document wherever one can be read."""

from __future__ import annotations

import asyncio
import socket

import pytest

from tests.callers import get, post
from tests.unit.gateway.live import ASKED, Gateway, ScriptedClient, gateway

SHORT = 0.15
"""A limit that a test waits for."""


@pytest.fixture
def client() -> ScriptedClient:
    return ScriptedClient()


@pytest.mark.parametrize(
    "head",
    [
        b"GET /healthz HTTP/1.1",
        b"NONSENSE",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM",
        b"GET /healthz HTTP/9.9\r\nHost: h",
        b"GET /a b HTTP/1.1\r\nHost: h",
        b"GET /\x00 HTTP/1.1\r\nHost: h",
        "GET /ü HTTP/1.1\r\nHost: h".encode(),
        b"GET /healthz HTTP/1.1\r\nHost: h\r\nHost: i",
        b"GET /healthz HTTP/1.1\r\nHost : h",
        b"GET /healthz HTTP/1.1\r\nHost: h\r\n: empty",
        b"GET /healthz HTTP/1.1\r\nHost: h\r\nA: a\x00b",
        b"GET /healthz HTTP/1.1\r\n folded: h",
        b"POST /memory/context HTTP/1.1\r\nHost: h\r\nContent-Length: -1",
        b"POST /memory/context HTTP/1.1\r\nHost: h\r\nContent-Length: +5",
        b"POST /memory/context HTTP/1.1\r\nHost: h\r\nContent-Length: 0x5",
        b"POST /memory/context HTTP/1.1\r\nHost: h\r\nContent-Length: 5, 6",
        b"POST /memory/context HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 6",
        b"POST /memory/context HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked",
        b"POST /memory/context HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 5",
    ],
    ids=lambda head: str(head[:60] + head[-20:]),
)
async def test_what_is_no_request_or_of_doubtful_length_is_a_problem_and_the_end(client, head):
    """It is answered with 400, never handed on, and what follows on the connection is no request."""
    async with gateway(client) as served, served.connected() as connection:
        await connection.send(head + b"\r\n\r\n" + b"0\r\n\r\n" + post(ASKED))
        answer = await connection.answer()
        assert (answer.status, answer.headers["connection"]) == (400, "close")
        assert answer.problem
        assert await connection.is_closed()
        assert client.requests == []


@pytest.mark.parametrize(
    "coding", ["gzip", "gzip, chunked", "chunked, gzip", "xchunked", "identity", "chunked, chunked"]
)
async def test_a_transfer_coding_but_chunked_is_refused(client, coding):
    """Two readers could see different ends of such a body."""
    head = f"POST /memory/context HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: {coding}\r\n\r\n0\r\n\r\n".encode()
    async with gateway(client) as served, served.connected() as connection:
        await connection.send(head + post(ASKED))
        answer = await connection.answer()
        assert answer.status in (400, 501)
        assert answer.problem
        assert await connection.is_closed()
        assert client.requests == []


@pytest.mark.parametrize("chunk", [b"-1\r\n", b"0x5\r\nhello\r\n", b"fffffffffffffffffffff\r\n", b"z\r\n"])
async def test_a_chunk_of_doubtful_length_ends_the_request(client, chunk):
    """The parser's word on a body that has begun is a problem document too, and nothing is handed on."""
    head = b"POST /memory/context HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
    async with gateway(client) as served, served.connected() as connection:
        await connection.send(head + b"Transfer-Encoding: chunked\r\n\r\n")
        await connection.send(chunk)
        answer = await connection.answer()
        assert answer.status == 400
        assert answer.problem
        assert await connection.is_closed()
        assert client.requests == []


@pytest.mark.parametrize("flood", [b"X: " + b"a" * 100_000, b"\r\n".join(b"X%d: a" % n for n in range(20_000))])
async def test_a_flood_of_headers_is_431(client, flood):
    """A head that does not end within its limit is refused as that, and the connection ends."""
    async with gateway(client) as served, served.connected() as connection:
        await connection.send(b"GET /healthz HTTP/1.1\r\nHost: h\r\n" + flood + b"\r\n\r\n")
        answer = await connection.answer()
        assert answer.status == 431
        assert answer.problem
        assert await connection.is_closed()


@pytest.mark.parametrize("before", [b"", get("/healthz")], ids=["new connection", "used connection"])
async def test_a_head_without_an_end_is_408(client, before):
    """Byte after byte is no way out: the head has one deadline from its first byte."""
    async with gateway(client, head_seconds=SHORT) as served, served.connected() as connection:
        if before:
            await connection.send(before)
            assert (await connection.answer()).status == 200
        dripping = asyncio.create_task(_drip(connection, b"GET /healthz HTTP/1.1\r\nX-Long: " + b"a" * 10_000))
        answer = await connection.answer()
        dripping.cancel()
        assert answer.status == 408
        assert answer.problem
        await served.until_open(0)


async def _drip(connection, data: bytes) -> None:
    for position in range(len(data)):
        await connection.send(data[position : position + 1])
        await asyncio.sleep(0.01)


async def test_a_connection_without_a_word_is_closed(client):
    """Whoever connects and says nothing is hung up on; so is whoever says nothing more."""
    async with gateway(client, head_seconds=SHORT, idle_seconds=0) as served:
        async with served.connected() as connection:
            assert await connection.is_closed()
        async with served.connected() as connection:
            await connection.send(get("/healthz"))
            assert (await connection.answer()).status == 200
            assert await connection.is_closed()


@pytest.mark.parametrize("framing", ["Content-Length: 1000", "Transfer-Encoding: chunked"])
async def test_a_body_without_an_end_is_408(client, framing):
    """A slow sender is told so, is hung up on, and gives back what was held for it."""
    head = f"POST /memory/context HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n{framing}\r\n\r\n".encode()
    async with gateway(client, body_seconds=SHORT) as served, served.connected() as connection:
        await connection.send(head + b"5\r\n{    \r\n")
        answer = await connection.answer()
        assert (answer.status, answer.headers["connection"]) == (408, "close")
        assert answer.problem
        assert await connection.is_closed()
        assert b"mem_http_body_bytes_in_flight 0.0" in served.metrics.text()
        assert client.requests == []


async def test_leave_to_send_is_given_where_the_body_is_wanted(client):
    """A caller who waits for 100 Continue gets it, and then the answer."""
    asked = post(ASKED, "Expect: 100-continue")
    head, body = asked.split(b"\r\n\r\n")
    async with gateway(client) as served, served.connected() as connection:
        await connection.send(head + b"\r\n\r\n")
        assert (await connection.answer()).status == 100
        await connection.send(body)
        assert (await connection.answer()).status == 200


@pytest.mark.parametrize(
    ("change", "status"),
    [(("application/json", "text/plain"), 415), (("Content-Length: ", "Content-Length: 99999999"), 413)],
)
async def test_no_leave_is_given_where_the_body_is_refused(client, change, status):
    """Who would have to send the body after all is hung up on instead."""
    head, _ = post(ASKED, "Expect: 100-continue").decode().replace(*change).split("\r\n\r\n")
    async with gateway(client) as served, served.connected() as connection:
        await connection.send(f"{head}\r\n\r\n".encode())
        answer = await connection.answer()
        assert (answer.status, answer.headers["connection"]) == (status, "close")
        assert await connection.is_closed()


async def test_who_sends_a_refused_body_to_its_end_may_go_on(client):
    """The answer can be read, since the rest is read too, and the connection serves the next request."""
    async with gateway(client, body_bytes=1000) as served, served.connected() as connection:
        await connection.send(post(None, body=b"x" * 3_000_000))
        assert (await connection.answer()).status == 413
        await connection.send(get("/healthz"))
        assert (await connection.answer()).status == 200


async def test_who_never_ends_a_refused_body_is_hung_up_on(client):
    """The rest of a body that nobody wants is not read for ever."""
    async with gateway(client, body_bytes=1000, linger_seconds=SHORT) as served, served.connected() as connection:
        await connection.send(post(None, body=b"x" * 2000)[:-1])
        assert (await connection.answer()).status == 413
        assert await connection.is_closed()


async def test_who_does_not_read_is_hung_up_on(client):
    """An answer that nobody takes is not kept."""
    client.body = b'"' + b"x" * 30_000_000 + b'"'
    async with gateway(client, unread_seconds=SHORT) as served, served.connected() as connection:
        await connection.send(post(ASKED))
        await client.begun.wait()
        await served.until_open(0)


async def test_who_reads_slowly_but_reads_gets_all(client):
    """An answer that is taken bit by bit is given to its end."""
    client.body = b'"' + b"x" * 8_000_000 + b'"'
    async with gateway(client, unread_seconds=SHORT) as served, served.connected() as connection:
        await connection.send(post(ASKED))
        head = await connection.reader.readuntil(b"\r\n\r\n")
        assert b"200" in head
        taken = 0
        while taken < len(client.body):
            part = await connection.reader.read(400_000)
            assert part, "hung up on"
            taken += len(part)
            await asyncio.sleep(0.02)


async def test_a_connection_too_many_is_told_so(client):
    """It gets 503 with the time to come back, and a place is free again as soon as one is."""
    async with gateway(client, connections=1) as served:
        async with served.connected() as first:
            await first.send(get("/healthz"))
            assert (await first.answer()).status == 200
            async with served.connected() as second:
                answer = await second.answer()
                assert answer.status == 503
                assert answer.headers["retry-after"]
                assert answer.problem
        await served.until_open(0)
        assert (await served.exchange(get("/healthz"))).status == 200


async def test_requests_in_one_go_are_answered_in_order(client):
    """Pipelining is part of HTTP/1.1."""
    async with gateway(client) as served, served.connected() as connection:
        await connection.send(get("/healthz") + post(ASKED) + get("/nowhere") + get("/healthz"))
        assert [(await connection.answer()).status for _ in range(4)] == [200, 200, 404, 200]


async def test_an_answer_goes_out_at_once(client):
    """Head and body are two packets; without this the second one waits for the first to be acknowledged."""
    async with gateway(client) as served, served.connected() as connection:
        await connection.send(get("/healthz"))
        await connection.answer()
        (accepted,) = served.server.server_state.connections
        wire = accepted.transport.get_extra_info("socket")
        assert wire.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


async def test_an_upgrade_is_a_request_as_any_other(client):
    """There is no other protocol here, and asking for one is no fault."""
    upgrade = b"GET /healthz HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    async with gateway(client) as served:
        assert (await served.exchange(upgrade)).status == 200


async def refused(served: Gateway) -> int:
    """How often something was refused before it was a request."""
    lines = served.metrics.text().decode().splitlines()
    return sum(int(float(line.split()[-1])) for line in lines if line.startswith("mem_http_refused_connections_total{"))


async def test_what_is_refused_by_the_parser_is_counted(client):
    """It has no line in the log, which callers could fill, but a number."""
    async with gateway(client) as served:
        for _ in range(3):
            await served.exchange(b"NONSENSE\r\n\r\n")
        assert await refused(served) == 3
        assert served.log.events == []
