"""The client of a reranking server, over real HTTP."""

from __future__ import annotations

import asyncio
import logging
import math

import pytest

from mem.clients.rerank import Calibration, Endpoint, ServedReranker
from mem.clients.rerank.served import MAX_BYTES, even
from mem.domain.errors import ConfigurationError, Unavailable
from tests.rerank_server import RerankServer, answer, rows, score_of
from tests.scripted_server import CHUNK, RESET, Reply, as_json, later, page
from tests.unit.clients.candidates import QUERY, RELATED, UNRELATED, candidate

SECONDS = 20.0
SECRET = "sk-rerank-1234567890"
TEXTS = [RELATED, UNRELATED, "curl error 413"]


def client(server: RerankServer, *, path: str = "", model: str | None = None, **changed) -> ServedReranker:
    given = {"seconds": SECONDS, "most": 50, "batch": 32, **changed}
    key, calibration = given.pop("key", None), given.pop("calibration", Calibration(scores="probability"))
    return ServedReranker.at(Endpoint(server.base_url + path, model, key), calibration, **given)


async def scores_of(reranker: ServedReranker, texts=TEXTS) -> list[float]:
    try:
        return await reranker.rerank(QUERY, [candidate(text) for text in texts])
    finally:
        await reranker.close()


async def failure(reranker: ServedReranker, texts=TEXTS) -> Unavailable:
    with pytest.raises(Unavailable) as caught:
        await scores_of(reranker, texts)
    return caught.value


@pytest.fixture
async def server():
    async with RerankServer().running() as running:
        yield running


@pytest.mark.parametrize(
    ("kind", "path", "model", "tries"),
    [
        ("tei", "", None, 1),
        ("tei", "/rerank", "bge", 4),
        ("vllm", "", None, 2),
        ("vllm", "/v1", "bge", 1),
        ("jina", "/v1/rerank", "jina-reranker-v2-base-multilingual", 1),
        ("cohere", "/v2", "rerank-v3.5", 2),
        ("cohere", "/v1/rerank", "rerank-english-v3.0", 2),
        ("voyage", "/v1", "rerank-2.5", 3),
    ],
)
async def test_each_kind_of_server_is_understood(kind, path, model, tries):
    """The form that a server takes is found by asking, once; scores come back in the order of the candidates."""
    async with RerankServer(kind, path=path.removesuffix("/rerank") + "/rerank").running() as server:
        reranker = client(server, path=path, model=model)
        expected = [score_of(QUERY.text, text) for text in TEXTS]
        for asked in (tries, tries + 1):
            found = await reranker.rerank(QUERY, [candidate(text) for text in TEXTS])
            assert found == pytest.approx(expected, abs=1e-6)
            assert len(server.requests) == asked
        await reranker.close()


async def test_a_server_that_breaks_over_another_form(server):
    """One that answers 500 to what it does not know is asked in the other forms, too."""
    broken = as_json(500, {}, {})
    server.script(broken, broken, answer("jina", [0.5, 0.25, 0.125]))
    assert await scores_of(client(server)) == pytest.approx([0.5, 0.25, 0.125])


async def test_a_form_that_is_refused_later_is_forgotten(server):
    """Where another server stands by now the lookup that finds out goes without, and the next one asks anew."""
    reranker = client(server)
    await reranker.rerank(QUERY, [candidate()])
    server.kind = "jina"
    with pytest.raises(Unavailable, match="422"):
        await reranker.rerank(QUERY, [candidate()])
    server.kind = "vllm"
    assert await scores_of(reranker) == pytest.approx([score_of(QUERY.text, text) for text in TEXTS], abs=1e-6)


async def test_no_more_documents_a_request_than_a_server_takes(server):
    """Many candidates go in even batches, and each gets its own score."""
    texts = [f"{'curl ' * (number % 2)}{'413 ' * (number % 3)}number {number}" for number in range(67)]
    found = await scores_of(client(server), texts)
    assert found == pytest.approx([score_of(QUERY.text, text) for text in texts], abs=1e-6)
    assert sorted(len(each) for each in server.documents) == [22, 22, 23]
    assert sorted(text for each in server.documents for text in each) == sorted(texts)


@pytest.mark.parametrize(("count", "size"), [(1, 32), (32, 32), (33, 32), (64, 32), (100, 7), (3, 1)])
def test_batches_are_as_few_and_even_as_can_be(count, size):
    """Nothing is left out, and sizes differ by one at most."""
    batches = even([str(number) for number in range(count)], size)
    sizes = {len(batch) for batch in batches}
    assert [text for batch in batches for text in batch] == [str(number) for number in range(count)]
    assert len(batches) == math.ceil(count / size)
    assert max(sizes) - min(sizes) <= 1
    assert max(sizes) <= size


async def test_symptoms_are_read_before_the_text(server):
    """Both are sent, the symptom first, and a text that is too long loses its end."""
    reranker = client(server)
    await reranker.rerank(QUERY, [candidate("pin it " * 1000, symptom="code ERESOLVE"), candidate("pin it")])
    await reranker.close()
    [[long, short]] = server.documents
    assert long.startswith("code ERESOLVE\npin it pin it")
    assert len(long) == 2000
    assert short == "pin it"
    assert server.requests[0].body["query"] == QUERY.text


async def test_a_server_that_cuts_no_text_is_told_to():
    """vLLM, which refuses what is longer than its model reads, is told to cut it."""
    async with RerankServer("vllm").running() as server:
        assert len(await scores_of(client(server), ["limit " * 1000])) == 1
        assert server.requests[-1].body["truncate_prompt_tokens"] == -1


async def test_logits_become_probabilities():
    """A server of logits is one by configuration: its scores go through the sigmoid, and TEI is asked for its own."""
    expected = [score_of(QUERY.text, text) for text in TEXTS]
    for kind in ("llama.cpp", "tei"):
        async with RerankServer(kind).running() as server:
            found = await scores_of(client(server, calibration=Calibration(scores="logit")))
            assert found == pytest.approx(expected)
    assert server.requests[0].body["raw_scores"] is True


@pytest.mark.parametrize("wrong", [-0.5, 1.5, 7.74])
async def test_logits_that_were_not_announced_are_none(server, wrong):
    """A score outside of 0 to 1 is not guessed at: the setting is named that says what it is."""
    server.script(answer("tei", [0.5, wrong, 0.5]))
    error = await failure(client(server))
    assert "no probability" in error.cause
    assert "MEM_RERANK_SCORES=logit" in error.remedy


async def test_a_calibration_moves_every_score_alike(server):
    """Slope and bias work on the log-odds of each score alone."""
    server.script(answer("tei", [0.5, 0.9, 0.0]))
    found = await scores_of(client(server, calibration=Calibration(scores="probability", slope=2.0, bias=-1.0)))
    assert found == pytest.approx([1 / (1 + math.e), 1 / (1 + math.exp(1 - 2 * math.log(9))), 0.0], abs=1e-6)


async def test_a_key_goes_to_the_server_and_nowhere_else(caplog):
    """The key is a bearer token; without it the error says so, and neither error nor log shows it."""
    caplog.set_level(logging.DEBUG)
    async with RerankServer(key=SECRET).running() as server:
        assert len(await scores_of(client(server, key=SECRET))) == 3
        wrong = f"{SECRET}-wrong"
        for key in (None, wrong):
            error = await failure(client(server, key=key))
            assert "401" in error.cause
            assert "MEM_RERANK_KEY" in error.remedy
            assert SECRET not in f"{error!r} {error.__cause__!r} {error.__context__!r}"
        assert len(server.requests) == 3
    assert SECRET not in caplog.text


FAULTS = {
    "500": (as_json(500, {"error": "never shown"}, {}), "answered 500"),
    "503": (as_json(503, {}, {}), "answered 503"),
    "429": (as_json(429, {}, {"Retry-After": "1"}), "answered 429: it was asked too often"),
    "404": (as_json(404, {}, {}), "answered 404: no reranker is at this address"),
    "redirect": (Reply(307, b"", {"Location": "http://127.0.0.1:9/rerank"}), "answered 307: no reranker"),
    "page": (page(), "no JSON"),
    "empty": (Reply(200, b""), "no JSON"),
    "half": (Reply(200, b'[{"index": 0, "score": 0.'), "no JSON"),
    "deep": (Reply(200, b"[" * 100_000), "no JSON"),
    "number": (as_json(200, 7, {}), "no list of scores"),
    "object": (as_json(200, {"scores": [0.1, 0.2, 0.3]}, {}), "no list of scores"),
    "bare": (as_json(200, [0.1, 0.2, 0.3], {}), "no list of scores"),
    "too few": (answer("tei", [0.1, 0.2]), "no single score for each of 3"),
    "too many": (answer("tei", [0.1, 0.2, 0.3, 0.4]), "no single score for each of 3"),
    "none": (rows(), "no single score for each of 3"),
    "no index": (rows({"score": 0.1}, {"score": 0.2}, {"score": 0.3}), "no list of scores"),
    "index twice": (rows(*({"index": each, "score": 0.5} for each in (0, 1, 1))), "no single score for each of 3"),
    "index out": (rows(*({"index": each, "score": 0.5} for each in (0, 1, 3))), "no single score for each of 3"),
    "index below": (rows(*({"index": each, "score": 0.5} for each in (-1, 0, 1))), "no single score for each of 3"),
    "text index": (rows(*({"index": str(each), "score": 0.5} for each in range(3))), "no list of scores"),
    "text": (rows(*({"index": each, "score": "0.5"} for each in range(3))), "no list of scores"),
    "null": (rows(*({"index": each, "score": None} for each in range(3))), "no list of scores"),
    "true": (rows(*({"index": each, "score": True} for each in range(3))), "no list of scores"),
    "nan": (Reply(200, b'[{"index":0,"score":NaN},{"index":1,"score":1},{"index":2,"score":1}]'), "no list of scores"),
    "infinite": (Reply(200, b'[{"index":0,"score":1e999},{"index":1,"score":1},{"index":2,"score":1}]'), "no list of"),
    "oversized": (Reply(200, b"[", endless=10 * 1024 * 1024), f"more than {MAX_BYTES} bytes"),
    "compressed": (Reply(200, b"\x1f\x8b", {"Content-Encoding": "gzip"}), "encoding that was not asked for"),
    "reset": (RESET, "cannot be reached"),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_server_that_fails_names_itself(server, fault):
    """Whatever it answers instead of scores is an outage with cause and remedy, and shows nothing that it said."""
    reply, said = FAULTS[fault]
    server.script(reply)
    error = await failure(client(server, model="bge"))
    host = server.base_url.removeprefix("http://")
    assert error.cause.startswith(f"The reranker 'bge' at {host} ")
    assert said in error.cause
    assert error.remedy
    assert "never shown" not in str(error)
    assert server.sent <= MAX_BYTES + 64 * len(CHUNK)


@pytest.mark.parametrize("fault", ["503", "429", "404", "redirect", "oversized", "reset"])
async def test_a_fault_that_no_other_form_can_mend_is_asked_for_once(server, fault):
    """There are no retries inside a lookup."""
    server.script(FAULTS[fault][0])
    await failure(client(server))
    assert len(server.requests) == 1


async def test_batches_that_are_too_large_for_a_server():
    """The setting that says how many documents go into a request is named."""
    async with RerankServer(limit=2).running() as server:
        error = await failure(client(server))
    assert "answered 413" in error.cause
    assert "MEM_RERANK_BATCH" in error.remedy


@pytest.mark.parametrize("reply", [later(30, answer("tei", [0.5])), Reply(200, b"[", endless=2**20, pause=0.1)])
async def test_a_server_that_is_late_is_not_waited_for(server, reply):
    """A right answer after the deadline is none, nor is one that comes in drops; the error tells the limit."""
    server.script(reply)
    error = await failure(client(server, seconds=0.2), ["one"])
    assert "did not answer within 0.2 s" in error.cause
    assert "MEM_RERANK_MOST" in error.remedy


async def test_nobody_listens(server, unused_tcp_port_factory):
    """A server that is not there is told by its host."""
    server.base_url = f"http://127.0.0.1:{unused_tcp_port_factory()}"
    assert "cannot be reached" in (await failure(client(server))).cause


async def test_one_batch_that_fails_fails_them_all(server):
    """A part of the scores is no answer, and what else was asked is not waited for."""
    server.script(answer("tei", [0.5]), as_json(503, {}, {}), later(30, answer("tei", [0.5])))
    assert "503" in (await failure(client(server, batch=1), ["a", "b", "c", "d"])).cause


async def test_who_does_not_wait_any_more_leaves_nothing_behind(server):
    """A lookup that ends takes its requests along."""
    server.script(later(30, answer("tei", [0.5])))
    reranker = client(server)
    asked = asyncio.ensure_future(reranker.rerank(QUERY, [candidate()]))
    async with asyncio.timeout(10):
        while not server.requests:
            await asyncio.sleep(0.01)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        await reranker.close()


async def test_requests_at_once_are_bounded(server):
    """However many batches there are, a server gets four at a time."""
    open_at_once, most = 0, 0

    async def send(writer, reply):
        nonlocal open_at_once, most
        open_at_once += 1
        most = max(most, open_at_once)
        await asyncio.sleep(0.02)
        open_at_once -= 1
        return await type(server)._send(server, writer, reply)

    server._send = send
    await scores_of(client(server, batch=1), [f"text {number}" for number in range(20)])
    assert most == 4


@pytest.mark.parametrize("url", ["", "rerank", "ftp://host/rerank", "http://", "http://host:port/rerank", "http://[/"])
def test_an_address_that_is_none(url):
    """It is refused at the start, by the setting's name and without what it holds."""
    with pytest.raises(ConfigurationError, match="MEM_RERANK_URL") as caught:
        ServedReranker.at(Endpoint(url, None, None), Calibration(scores="logit"), seconds=1, most=1, batch=1)
    assert "http://127.0.0.1" in caught.value.remedy


def test_a_key_that_is_none():
    """What cannot stand in a header is refused at the start, and not shown."""
    with pytest.raises(ConfigurationError, match="MEM_RERANK_KEY") as caught:
        ServedReranker.at(
            Endpoint("http://127.0.0.1", None, "schlüssel\n"), Calibration(scores="logit"), seconds=1, most=1, batch=1
        )
    assert "schl" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://h:1", "http://h:1/rerank"),
        ("http://h:1/", "http://h:1/rerank"),
        ("http://h/v2", "http://h/v2/rerank"),
        ("http://h/v1/rerank/", "http://h/v1/rerank"),
        ("http://h/reranking", "http://h/reranking"),
        ("http://h/a?version=1#top", "http://h/a/rerank?version=1"),
    ],
)
def test_the_address_may_be_told_with_or_without_its_end(url, address):
    """`/rerank` is added where it is missing."""
    assert Endpoint(url, None, None).address == address
