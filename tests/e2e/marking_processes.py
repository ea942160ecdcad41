"""The same for the doors that are processes of their own: MCP, the command line, and servers with tokens."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx2
from mcp import Client, MCPError
from mcp.client.stdio import stdio_client

from mem.domain.rights import Token, entry_of, hash_of
from tests.e2e.conftest import ROOT, Loop
from tests.e2e.marking import LOG, PROJECT, names, texts
from tests.markers import Markers
from tests.mcp_server import environment, free_port, over_stdio

TOOLS = {
    "accept": "memory_accept",
    "context": "memory_context",
    "query": "memory_query",
    "ground": "memory_turn_context",
}


async def through_mcp(loop: Loop, markers: Markers, errors: Path) -> None:
    """Tools, prompt, resource and completion over stdio."""
    with errors.open("w", encoding="utf-8") as log:
        async with Client(stdio_client(over_stdio(loop.home), errlog=log), mode="legacy") as client:
            await _call_tools(client, markers, "mcp")
            await client.call_tool("memory_show", {"sha": markers.name("mcp sha")})
            prompt = {"log": LOG.format(markers.put("prompt log"), "x"), "project": PROJECT}
            await client.get_prompt("failure_triage", prompt)
            for ask in (
                client.call_tool(markers.name("tool name"), {}),
                client.get_prompt(markers.name("prompt name"), {}),
                client.get_prompt("failure_triage", {"log": "x", markers.name("prompt argument"): "x"}),
                client.read_resource(f"memory://{markers.name('resource')}"),
            ):
                try:
                    await ask
                except MCPError:
                    continue


async def _call_tools(client: Client, markers: Markers, door: str) -> None:
    for kind, _, body in texts(markers, door):
        answer = await client.call_tool(TOOLS[kind], body)
        assert not answer.is_error, answer.content
    for kind, _, body in names(markers, door):
        assert (await client.call_tool(TOOLS[kind], body)).is_error


async def through_commands(loop: Loop, markers: Markers, folder: Path) -> str:
    """The command line; returns what it said on stderr."""
    put, name = markers.put, markers.name
    (folder / "docs").mkdir()
    (folder / "docs" / "guide.md").write_text(f"# Charts {put('heading')}\n\nDeploy with {put('document')}.\n")
    (folder / "docs" / f"{name('document name')}.md").write_text("# Named\n\nA document.\n")
    (folder / "skill").mkdir()
    skill = (
        f"---\nname: charts\ndescription: Deploys charts. {put('skill description')}\n---\nRun {put('skill body')}\n"
    )
    (folder / "skill" / "SKILL.md").write_text(skill)
    (folder / "bad-skill").mkdir()
    (folder / "bad-skill" / "SKILL.md").write_text(f"---\nname: [{put('bad skill')}\n---\n")
    (folder / "body.md").write_text(f"Run {put('skill body of a file')}\n")
    (folder / "failed.log").write_text(LOG.format(put("cli log"), put("cli log line")))
    (folder / "named").mkdir()
    (folder / "named" / ".mem.toml").write_text(f'project = "{name("project file")}"\n')
    accepts = [body for kind, _, body in [*texts(markers, "cli"), *names(markers, "cli")] if kind == "accept"]
    lines = "\n".join(json.dumps(body) for body in accepts).encode()
    commands: list[tuple[tuple[str, ...], bytes]] = [
        (("accept", "-"), lines),
        (("accept", "-"), f'{{"project": "{name("broken candidate")}"'.encode()),
        (("accept", "-", "--override", put("cli override")), json.dumps(accepts[1]).encode()),
        (("lookup", "--project", PROJECT, "--file", "failed.log", "--task", put("cli task")), b""),
        (("lookup", "--project", PROJECT, "--tool", put("cli tool")), b""),
        (("lookup", "--project", name("cli project"), "--tool", "npm"), b""),
        (("lookup", "--project", PROJECT, "--tool", "npm", "--request-id", put("cli request id")), b""),
        (("lookup", "--project", PROJECT, "--tool", "npm", "--scope", name("cli scope")), b""),
        (("query", "--project", PROJECT, f"Why? {put('cli question')}"), b""),
        (("query", "--show", name("shown query"), "--project", PROJECT), b""),
        (("show", name("cli sha")), b""),
        (("symptoms", "show", name("symptoms sha")), b""),
        (("supersede", name("superseded"), "--by", name("successor")), b""),
        (("gaps", "--project", name("cli gaps project"), "--tool", name("cli gaps tool")), b""),
        (("signature", "extract", "failed.log"), b""),
        (("reference", "add", "docs", "--project", PROJECT), b""),
        (("reference", "add", "docs/guide.md", "--name", name("collection")), b""),
        (("reference", "add", "docs/guide.md", "--type", name("document type")), b""),
        (("reference", "add", "-", "--name", "piped"), f"# Piped {put('piped heading')}\n\nText.\n".encode()),
        (("reference", "remove", name("removed collection")), b""),
        (("skill", "add", "skill"), b""),
        (("skill", "add", "bad-skill"), b""),
        (("skill", "add", "--name", name("skill name"), "--description", put("described"), "--body", "body.md"), b""),
        (("skill", "remove", name("removed skill")), b""),
        (("token", "new", "ci", "--read", name("token project")), b""),
        (("runs", "--project", name("project of runs"), "--tool", name("tool of runs")), b""),
        (("log", "verify", "--head", name("head")), b""),
    ]  # fmt: skip
    said = []
    for arguments, stdin in commands:
        said.append((await loop.mem(*arguments, stdin=stdin, folder=folder)).err)
    said.append((await loop.mem("lookup", "--tool", "npm", folder=folder / "named")).err)
    return "\n".join(said)


async def through_servers(loop: Loop, markers: Markers, folder: Path) -> str:
    """Servers of their own: the gateway with a file of tokens, and MCP over HTTP; returns what they said on stderr."""
    tokens = folder / "tokens.toml"
    entry = entry_of(Token(name="ci", sha256=hash_of(b"known"), read=[PROJECT], write=[PROJECT]))
    tokens.write_text(f"# {markers.put('tokens comment')}\n{entry}\n")
    tokens.chmod(0o600)
    async with (
        _served(loop, "serve", port := free_port(), MEM_TOKENS_FILE=str(tokens)) as gateway,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as http,
    ):
        known = {"Authorization": "Bearer known"}
        asked = {"project": markers.name("project without right"), "tool": "npm"}
        assert (await http.post("/memory/context", json=asked, headers=known)).status_code == 403
        stranger = {"Authorization": f"Bearer {markers.name('unknown token')}"}
        assert (await http.get("/memory/gaps", headers=stranger)).status_code == 401
        tokens.write_text(f'token = "{markers.put("broken tokens file")}')
        assert (await http.get("/memory/gaps", headers=known)).status_code == 200
    async with _served(loop, "mcp", port := free_port(), "--http") as agents:
        async with Client(f"http://127.0.0.1:{port}/mcp", mode="legacy") as client:
            await _call_tools(client, markers, "mcp over http")
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as http:
            headers = {"Mcp-Session-Id": markers.name("session"), "Origin": f"http://{markers.name('origin')}"}
            await http.post("/mcp", json={"method": markers.name("mcp method")}, headers=headers)
            await http.post("/mcp", content=markers.put("no json"), headers={"Content-Type": "application/json"})
    return "\n".join([*gateway, *agents])


@asynccontextmanager
async def _served(loop: Loop, command: str, port: int, *options: str, **more: str) -> AsyncIterator[list[str]]:
    """A command that serves at a port, up when entered; its stderr is in the list once it has ended."""
    said: list[str] = []
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "mem.cli.main", command, "--port", str(port), *options,
        stderr=asyncio.subprocess.PIPE, env=environment(loop.home, **more), cwd=ROOT,
    )  # fmt: skip
    try:
        async with asyncio.timeout(60):
            while True:
                with suppress(OSError):
                    (await asyncio.open_connection("127.0.0.1", port))[1].close()
                    break
                await asyncio.sleep(0.05)
        yield said
    finally:
        process.terminate()
        said.append((await asyncio.wait_for(process.communicate(), 30))[1].decode())
