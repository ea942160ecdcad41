"""The MCP door on the real stack, asked by the official client over stdio and over HTTP."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ResourceTemplateReference
from psycopg import AsyncConnection

from mem.addresses import Addresses
from mem.domain.rights import Token, entry_of, hash_of
from mem.gateway.mcp import tools
from mem.gateway.mcp.reaching import Reaching
from mem.gateway.mcp.server import create_server, unrestricted
from tests.e2e.conftest import Loop
from tests.mcp_server import free_port, over_http, over_stdio
from tests.wire import Wire

LOG = "# harbor/crane\n./harbor/crane/hook.go:{line}:2: undefined: hookAll\n"
LESSON: dict[str, Any] = {
    "text": "hookAll lives in a file that the build tag heavy guards: compile the crane package with that tag.",
    "evidence": [{"source": "ci:91", "turn": 3, "text": LOG.format(line=7)}],
    "tool": "go",
}
MODES = ["legacy", "auto"]


@pytest.fixture(scope="module")
async def url(loop: Loop) -> AsyncIterator[str]:
    async with over_http(loop.home, "--project", "harbor") as url:
        yield url


async def call(client: Client, name: str, /, **arguments: Any) -> dict[str, Any]:
    answer = await client.call_tool(name, arguments)
    assert not answer.is_error, answer.content
    return answer.structured_content


async def lesson(client: Client) -> dict[str, Any]:
    """The lesson that all tests ask for; handed in again it is the same request."""
    accepted = await call(client, "memory_accept", **LESSON)
    assert accepted["status"] == "accepted", accepted
    return accepted


async def test_an_agent_goes_the_whole_way_over_stdio(loop: Loop) -> None:
    """From an unknown failure to the lesson that the next one is told; each answer is the one of the HTTP door."""
    async with Client(over_stdio(loop.home, "--project", "harbor"), mode="legacy") as client:
        await client.list_tools()
        accepted = await lesson(client)
        found = await client.call_tool("memory_context", {"signature_source": LOG.format(line=1988)})
        context = found.structured_content
        assert (context["tier"], context["lessons"][0]["sha"]) == (1, accepted["sha"])
        assert f'sha="{accepted["sha"][:12]}"' in found.content[0].text
        query = await call(client, "memory_query", question="Which build tag does the crane package need?")
        assert query["hits"][0]["sha"] == accepted["sha"]
        shown = await call(client, "memory_show", sha=accepted["sha"][:12])
        prompt = await client.get_prompt("failure_triage", {"log": LOG.format(line=5)})
        assert LESSON["text"] in prompt.messages[0].content.text
        resource = (await client.read_resource(f"memory://{accepted['sha']}")).contents[0]
        assert json.loads(resource.text)["text"] == LESSON["text"]
    asked = {"project": "harbor", "signature_source": LOG.format(line=1988), "request_id": context["request_id"]}
    again = (await loop.post("/memory/context", asked)).json()
    assert again == {name: value for name, value in context.items() if name not in ("project", "request_id", "notes")}
    body = {**LESSON, "level": "L1", "project": "harbor", "request_id": accepted["request_id"]}
    assert (await loop.post("/memory/accept", body)).json().items() <= accepted.items()
    assert shown["accepted"]["request_id"] == accepted["request_id"]


async def test_context_for_a_users_turn_is_that_of_the_http_door(loop: Loop, url: str) -> None:
    """A user of whom something is remembered is known, another one is not, and each answer is that of /v1/context."""
    wish = {
        "text": "Docker is not to be used on the laptop of this user: its licence was refused; podman runs the images.",
        "evidence": [{"source": "chat", "turn": 2, "text": "User: no docker on my laptop please, use podman."}],
        "user_id": "user-7",
        "visibility": "user",
    }
    turn = {"message": "Can you start the docker images on my laptop?", "scope_level": "user"}
    async with Client(url) as client:
        assert (await call(client, "memory_accept", **wish))["status"] == "accepted"
        for user, status in (("user-7", "ok"), ("nobody", "not_found")):
            answer = await call(client, "memory_turn_context", **turn, user_id=user)
            assert answer["status"] == status
            body = {**turn, "user_id": user, "request_id": answer.pop("request_id")}
            del answer["notes"]
            assert (await loop.post("/v1/context", body)).json() == answer


@pytest.mark.parametrize("mode", [pytest.param("legacy", marks=pytest.mark.slow), "auto"])
async def test_fifty_callers_at_once_have_one_answer_and_count_once(url: str, mode: str) -> None:
    """The same request from ten agents, and others among them, over both forms of the protocol."""
    log = f"# harbor/crane\n./harbor/crane/{mode}.go:3:2: undefined: hookAll\n"

    async def agent(number: int) -> list[dict[str, Any]]:
        async with Client(url, mode=mode) as client:
            same = {"signature_source": log, "request_id": f"same-{mode}"}
            other = {"task": f"compile crane number {number}"}
            calls = [call(client, "memory_context", **same) for _ in range(4)]
            return (await asyncio.gather(*calls, call(client, "memory_context", **other)))[:4]

    async with Client(url, mode=mode) as client:
        await lesson(client)
    answers = [json.dumps(each) for told in await asyncio.gather(*map(agent, range(10))) for each in told]
    assert len(answers) == 40
    assert len(set(answers)) == 1
    assert json.loads(answers[0])["signatures"][0]["seen_count"] == 1


@pytest.mark.parametrize("mode", MODES)
async def test_what_a_caller_gives_up_counts_once_when_it_comes_again(loop: Loop, url: str, mode: str) -> None:
    """A call that is cancelled under way leaves the server as it was; sent again it is the same request."""
    log = f"# harbor/crane\n./harbor/crane/given_up_{mode}.go:3:2: undefined: hookAll\n"
    async with Client(url, mode=mode) as client:
        async with await AsyncConnection.connect(loop.stack.database_url) as holding:
            # No sighting can be counted meanwhile, so that the answer is not there first.
            await holding.execute("LOCK TABLE mem.occurrence IN ACCESS EXCLUSIVE MODE")
            given_up = asyncio.create_task(client.call_tool("memory_context", {"signature_source": log}))
            await asyncio.wait([given_up], timeout=0.2)
            assert not given_up.done()
            given_up.cancel()
        answer = await call(client, "memory_context", signature_source=log)
        assert answer["signatures"][0]["seen_count"] == 1
        assert (await call(client, "memory_context", signature_source=log))["signatures"][0]["seen_count"] == 2


async def test_a_log_of_megabytes_and_an_unknown_project_are_answered(url: str) -> None:
    """The log is reduced and told so; a project that nobody knows is no error, and the next step is told."""
    async with Client(url) as client:
        await lesson(client)
        noise = "".join(f"2026-07-02T10:00:00Z step {number} went by\n" for number in range(120_000))
        large = await call(client, "memory_context", signature_source=noise + LOG.format(line=3))
        assert (large["tier"], large["notes"]) == (1, ["A long log was distilled to its failing parts."])
        none = await client.call_tool("memory_context", {"task": "paint the shed", "project": "nobody-knows"})
        assert none.structured_content["tier"] is None
        assert "Next: find the cause yourself" in none.content[0].text
        assert (await call(client, "memory_query", question="why?", project="nobody-knows"))["hits"] == []


async def test_while_temporal_is_away_tools_say_so_and_they_answer_when_it_is_back(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gone, back elsewhere, silent, and heard again: each call says where it stands, and one sighting counts."""
    monkeypatch.setattr(tools, "READ_SECONDS", 2.0)
    wire = Wire(loop.stack.temporal.address)
    log = "# harbor/crane\n./harbor/crane/away.go:3:2: undefined: hookAll\n"
    gone = Addresses(loop.home, None, f"127.0.0.1:{free_port()}", "default", None, None, "mem")
    at = [gone]
    async with Client(create_server(Reaching(lambda: at[0]), "harbor", unrestricted)) as client:
        answer = await client.call_tool("memory_context", {"signature_source": log})
        assert "No Temporal server answers" in answer.content[0].text
        at[0] = gone._replace(temporal=await wire.start())
        assert await call(client, "memory_query", question="Is anybody there?")
        wire.silence()
        answer = await client.call_tool("memory_context", {"signature_source": log})
        assert answer.content[0].text.startswith("Unavailable: ")
        assert "send the same call again later" in answer.content[0].text
        wire.carry()
        monkeypatch.undo()
        assert (await call(client, "memory_context", signature_source=log))["signatures"][0]["seen_count"] == 1
    wire.cut()


async def test_a_used_request_id_with_another_question_is_told(url: str) -> None:
    """The conflict is the tool's error, and the first answer stands."""
    async with Client(url) as client:
        first = await call(client, "memory_query", question="Which tag?", request_id="used-mcp")
        other = await client.call_tool("memory_query", {"question": "Which hook?", "request_id": "used-mcp"})
        assert other.is_error
        assert other.content[0].text.startswith("RequestConflict: ")
        assert await call(client, "memory_query", question="Which tag?", request_id="used-mcp") == first


class Guarded(NamedTuple):
    """A server that asks for tokens."""

    url: str
    secrets: dict[str, str]

    def client(self, name: str, mode: str) -> Client:
        headers = {"Authorization": f"Bearer {self.secrets[name]}"}
        return Client(
            streamable_http_client(self.url, http_client=httpx2.AsyncClient(headers=headers, timeout=60)), mode=mode
        )


@pytest.fixture(scope="module")
async def guarded(loop: Loop) -> AsyncIterator[Guarded]:
    made = {name: secrets.token_hex(16) for name in ("harbor", "pier")}
    entries = [
        Token(name=name, sha256=hash_of(secret.encode()), read=[name], write=["harbor"] if name == "harbor" else [])
        for name, secret in made.items()
    ]
    async with over_http(loop.home, MEM_TOKENS="\n".join(map(entry_of, entries))) as url:
        yield Guarded(url, made)


async def test_without_a_token_nobody_gets_in(guarded: Guarded) -> None:
    """A caller without a token or with one that is not known is served nothing."""
    hello = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    unknown = [{}, {"Authorization": "Bearer guessed"}]
    async with httpx2.AsyncClient(timeout=60) as client:
        refused = [await client.post(guarded.url, json=hello, headers=headers) for headers in unknown]
    assert [(each.status_code, each.headers["www-authenticate"][:6]) for each in refused] == [(401, "Bearer")] * 2


@pytest.mark.parametrize("mode", MODES)
async def test_who_may_read_one_project_learns_nothing_of_another(guarded: Guarded, mode: str) -> None:
    """No tool, resource, completion or error tells of the lesson, its failure or its sha; its owner finds it all."""
    asked = {"signature_source": LOG.format(line=77), "project": "harbor"}
    async with guarded.client("harbor", mode) as owner:
        sha = (await call(owner, "memory_accept", **LESSON, project="harbor"))["sha"] or ""
        lesson_sha = (await call(owner, "memory_context", **asked))["lessons"][0]["sha"]
        assert sha in ("", lesson_sha)
        assert (await call(owner, "memory_show", sha=lesson_sha))["sha"] == lesson_sha
    told = []
    async with guarded.client("pier", mode) as other:
        elsewhere = {**asked, "project": "pier", "scope": "all-projects"}
        context = await call(other, "memory_context", **elsewhere)
        assert (context["tier"], context["signatures"][0]["known"]) == (None, False)
        told.append(json.dumps({**context, "request_id": ""}))
        for name, arguments in {
            "memory_context": asked,
            "memory_query": {"question": "Which build tag does crane need?", "project": "harbor"},
            "memory_accept": {**LESSON, "project": "harbor"},
            "memory_show": {"sha": lesson_sha[:12]},
        }.items():
            refused = await other.call_tool(name, arguments)
            assert refused.is_error, name
            told.append(refused.content[0].text.replace(lesson_sha[:12], "", 1))
        with pytest.raises(MCPError, match="No memory begins with"):
            await other.read_resource(f"memory://{lesson_sha[:8]}")
        typed = {"name": "sha", "value": lesson_sha[:8]}
        offered = await other.complete(ResourceTemplateReference(uri="memory://{sha}"), typed)
        assert offered.completion.values == []
    assert lesson_sha[:8] not in "".join(told)
    assert "hookAll" not in "".join(told)


async def test_a_session_is_of_the_token_that_opened_it(guarded: Guarded) -> None:
    """Whoever learns the id of another one's session cannot go on in it."""
    accept = {"Accept": "application/json, text/event-stream"}
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    async with httpx2.AsyncClient(headers=accept, timeout=60) as client:

        async def post(name: str, method: str, session: dict[str, str], params: dict[str, Any]) -> httpx2.Response:
            bearer = {"Authorization": f"Bearer {guarded.secrets[name]}"}
            message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            return await client.post(guarded.url, json=message, headers={**bearer, **session})

        opened = await post("harbor", "initialize", {}, hello)
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        assert (await post("pier", "tools/list", session, {})).status_code == 404
        assert (await post("harbor", "tools/list", session, {})).status_code == 200
