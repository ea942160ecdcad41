"""The chat client against a scripted server over real HTTP."""

from __future__ import annotations

import asyncio
import json
import tracemalloc

import pytest

from mem.clients.openai import Endpoint, OpenAiController
from mem.clients.openai.controller import MAX_BYTES, SEED
from mem.clients.openai.errors import RARELY
from mem.domain.errors import ConfigurationError, ControllerRefused, Unavailable
from mem.ports import Prompt
from tests.openai_server import OpenAiServer, chat, failing, half, huge, symptoms
from tests.scripted_server import RESET, later, page

KEY = "sk-test-0123456789abcdef"
SECRET_TEXT = "a text that must not be told again"
SCHEMA = {"type": "object", "properties": {"symptoms": {"type": "array"}}}
PROMPT = Prompt("sha", "Answer with JSON.", SECRET_TEXT, "symptom", SCHEMA, 900)


@pytest.fixture
async def server():
    async with OpenAiServer().running() as running:
        yield running


@pytest.fixture
async def controller(server):
    made = OpenAiController.at(Endpoint(server.base_url, KEY), "little-1", seconds=5)
    yield made
    await made.close()


def body_of(server: OpenAiServer, index: int = -1) -> dict:
    return dict(server.asked("other")[index].body)


async def failed(controller: OpenAiController) -> Unavailable | ControllerRefused:
    with pytest.raises((Unavailable, ControllerRefused)) as caught:
        await controller.answer(PROMPT)
    told = f"{caught.value.cause} {caught.value.remedy}"
    assert KEY not in told
    assert SECRET_TEXT not in told
    assert caught.value.remedy
    return caught.value


async def test_what_is_asked(server, controller):
    """One request: temperature 0, a seed, a limit of tokens, the schema, and no prompt cache."""
    server.script("other", symptoms("413 Request Entity Too Large"))
    assert json.loads(await controller.answer(PROMPT)) == {"symptoms": ["413 Request Entity Too Large"]}
    [seen] = server.requests
    assert seen.path == "/v1/chat/completions"
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.headers["accept-encoding"] == "identity"
    body = dict(seen.body)
    assert body.pop("messages") == [
        {"role": "system", "content": PROMPT.system},
        {"role": "user", "content": PROMPT.user},
    ]
    assert body.pop("response_format") == {
        "type": "json_schema",
        "json_schema": {"name": "symptom", "schema": SCHEMA, "strict": True},
    }
    assert body == {"model": "little-1", "temperature": 0, "seed": SEED, "max_tokens": 900, "cache_prompt": False}
    assert controller.model_id == "little-1"


@pytest.mark.parametrize(
    ("refusal", "changed"),
    [
        ("Unrecognized request argument supplied: cache_prompt", {"cache_prompt": None}),
        ("Use 'max_completion_tokens' instead", {"max_tokens": None, "max_completion_tokens": 900}),
        ("body.seed: extra fields not permitted", {"seed": None}),
        ("'response_format' of type 'json_schema' is not supported", {"response_format": {"type": "json_object"}}),
    ],
)
async def test_a_server_that_does_not_know_a_field(server, controller, refusal, changed):
    """What a server refuses by name is left out, at once and for as long as the process lives."""
    server.script("other", failing(400, message=refusal), symptoms("x"))
    before = None
    for _ in range(2):
        await controller.answer(PROMPT)
    assert len(server.requests) == 3
    before, after, later_on = (body_of(server, index) for index in range(3))
    assert after == later_on == {key: value for key, value in (before | changed).items() if value is not None}


async def test_a_server_without_any_response_format(server, controller):
    """Where neither schema nor JSON mode is taken, the prompt alone asks for JSON."""
    refusal = failing(422, message="response_format: extra fields not permitted")
    server.script("other", refusal, refusal, symptoms("x"))
    await controller.answer(PROMPT)
    assert [body_of(server, index).get("response_format", {}).get("type") for index in range(3)] == [
        "json_schema", "json_object", None
    ]  # fmt: skip


async def test_a_failed_search_for_the_dialect_is_forgotten(server, controller):
    """A field is left out for good only once the server has answered without it."""
    server.script("other", failing(400, message="response_format"), failing(500), symptoms("x"))
    assert isinstance(await failed(controller), Unavailable)
    await controller.answer(PROMPT)
    assert body_of(server)["response_format"]["type"] == "json_schema"


async def test_openai_itself_gets_no_field_of_others():
    """OpenAI's own address refuses fields that it does not know, so none is sent there."""
    made = OpenAiController.at(Endpoint(None, KEY), "gpt")
    assert not made._dialect.cache_prompt
    assert str(made._client.base_url) == "https://api.openai.com/v1/"
    await made.close()


@pytest.mark.parametrize(
    ("reply", "delay"),
    [
        (failing(429, retry_after="7"), 7.0),
        (failing(429, retry_after_ms="1500", retry_after="7"), 1.5),
        (failing(503), None),
        (failing(500, retry_after="soon"), None),
        (failing(500, x_should_retry="false"), RARELY),
        (failing(408), None),
        (failing(409), None),
        (failing(400, x_should_retry="true", retry_after="2"), 2.0),
        (page(502), None),
        (RESET, None),
        (huge(0, status=529), None),
    ],
)
async def test_what_may_pass_by_itself(server, controller, reply, delay):
    """An outage is one call, told as such with the wait that the server asks for; Temporal owns the retries."""
    server.script("other", reply)
    error = await failed(controller)
    assert isinstance(error, Unavailable)
    assert error.retry_after == delay
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "reply",
    [
        failing(401, code="invalid_api_key", message=f"Incorrect API key provided: {KEY}"),
        failing(403),
        failing(404, code="model_not_found"),
        failing(400, code="model_not_found"),
        failing(429, code="insufficient_quota", retry_after="1"),
        page(404),
        page(405),
        failing(307, Location="http://127.0.0.1:9/v1/chat/completions"),
    ],
)
async def test_what_somebody_has_to_mend(server, controller, reply):
    """A wrong key, model or address is retried rarely, and says which settings to look at."""
    server.script("other", reply)
    error = await failed(controller)
    assert isinstance(error, Unavailable)
    assert error.retry_after == RARELY
    assert all(name in error.remedy for name in ("OPENAI_API_KEY", "MEM_CHAT_MODEL", "OPENAI_BASE_URL"))


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (failing(400, code="context_length_exceeded"), "400 (context_length_exceeded)"),
        (failing(413), "413"),
        (failing(422, code=f"odd {SECRET_TEXT}"), "422"),
        (failing(400, code="content_filter"), "content_filter"),
        (chat(None, refusal=SECRET_TEXT), "declined"),
        (chat("{}", finish="length"), "900 tokens"),
        (chat("{", finish="content_filter"), "content filter"),
        (chat(" \n"), "empty"),
        (chat(None, finish="tool_calls"), "empty"),
        (page(), "no chat completion"),
        (half(), "no chat completion"),
        (huge(10_000_000), f"more than {MAX_BYTES} bytes"),
        (huge(10_000_000, status=400), f"more than {MAX_BYTES} bytes"),
        (symptoms("x")._replace(headers={"Content-Encoding": "gzip"}), "encoding"),
    ],
)
async def test_what_asking_longer_does_not_mend(server, controller, reply, said):
    """A refusal, an answer cut short or one that is no completion is told as the controller's refusal."""
    server.script("other", reply)
    error = await failed(controller)
    assert isinstance(error, ControllerRefused)
    assert said in error.cause


async def test_an_endless_body_is_not_kept(server, controller):
    """Of a body of 200 MB no more than the limit is read, and little memory is taken."""
    server.script("other", huge(200_000_000))
    tracemalloc.start()
    await failed(controller)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 12 * MAX_BYTES
    assert server.sent < 50_000_000


@pytest.mark.parametrize("reply", [later(20, symptoms("x")), huge(500_000)._replace(pause=0.15)])
async def test_a_server_that_takes_its_time(server, reply):
    """Past the limit of time the call is over, also where bytes come all the time."""
    controller = OpenAiController.at(Endpoint(server.base_url, None), "little-1", seconds=0.3)
    server.script("other", reply)
    async with asyncio.timeout(5):
        assert "in time" in (await failed(controller)).cause
    await controller.close()


async def test_an_address_where_nobody_is():
    """Nobody there is an outage, and nothing of the address but its host is told."""
    address = "http://user:hunter2@127.0.0.1:9/v1?key=hunter2"
    controller = OpenAiController.at(Endpoint(address, KEY), "little-1", seconds=2)
    error = await failed(controller)
    assert isinstance(error, Unavailable)
    assert "127.0.0.1:9" in error.cause
    assert "OPENAI_BASE_URL" in error.remedy
    assert "hunter2" not in str(error)
    await controller.close()


@pytest.mark.parametrize(
    "address", ["127.0.0.1:9/v1", "http://:hunter2@/v1", "http://127.0.0.1:99999/v1", "ftp://x/v1"]
)
async def test_what_is_no_address(address):
    """What cannot be an address is told before anything is asked."""
    with pytest.raises(ConfigurationError, match="OPENAI_BASE_URL") as caught:
        OpenAiController.at(Endpoint(address, KEY), "little-1")
    assert "hunter2" not in str(caught.value)
