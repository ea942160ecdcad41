"""`mem mcp` as a process without a stack: how it starts, what it prints, how it ends, and whom it lets in."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path
from typing import Any

import httpx2

from tests.mcp_server import over_http, started

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


async def send(process: asyncio.subprocess.Process, line: bytes) -> None:
    process.stdin.write(line + b"\n")
    await process.stdin.drain()


async def ask(process: asyncio.subprocess.Process, number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    await send(process, json.dumps(message).encode())
    answer = json.loads(await asyncio.wait_for(process.stdout.readline(), 60))
    assert answer["id"] == number, answer
    return answer


async def test_without_a_stack_it_starts_answers_and_ends_with_its_input(tmp_path: Path) -> None:
    """Each tool says that there is no stack, half characters and broken lines hold nothing up, and stdout is clean."""
    (tmp_path / ".mem.toml").write_text('project = "dock"\n')
    (tmp_path / "mcp.py").write_text("raise SystemExit('imported from the folder of the agent')\n")
    process = await started(tmp_path / "none", folder=tmp_path)
    assert (await ask(process, 1, "initialize", HELLO))["result"]["serverInfo"]["name"] == "mem"
    await send(process, b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
    await send(process, b"this is no JSON")
    await send(process, b"")
    listed = (await ask(process, 2, "tools/list", {}))["result"]["tools"]
    assert "Left out: dock" in listed[0]["inputSchema"]["properties"]["project"]["description"]
    cut = {"name": "memory_context", "arguments": {"signature_source": "npm error \ud83d"}}
    answer = (await ask(process, 3, "tools/call", cut))["result"]
    assert answer["isError"]
    assert "mem up" in answer["content"][0]["text"]
    shown = (await ask(process, 4, "tools/call", {"name": "memory_show", "arguments": {"sha": "abcd"}}))["result"]
    assert "mem up" in shown["content"][0]["text"]
    process.stdin.close()
    assert await asyncio.wait_for(process.wait(), 20) == 0
    assert await process.stdout.read() == b""
    said = (await process.stderr.read()).decode()
    assert "project: dock" in said
    assert "Traceback" not in said


async def test_sigterm_ends_it_while_the_agent_still_holds_its_input(tmp_path: Path) -> None:
    """A host that ends its servers by signal sees exit code 0."""
    process = await started(tmp_path, "--project", "dock")
    await ask(process, 1, "initialize", HELLO)
    process.send_signal(signal.SIGTERM)
    assert await asyncio.wait_for(process.wait(), 20) == 0


async def test_where_the_extra_is_missing_it_says_how_to_install_it(tmp_path: Path) -> None:
    """One line on stderr, nothing on stdout, exit code 1."""
    missing = tmp_path / "mcp"
    missing.mkdir()
    (missing / "__init__.py").write_text("raise ModuleNotFoundError(\"No module named 'mcp'\", name='mcp')\n")
    path = f"{tmp_path}:{Path(__file__).resolve().parents[2]}"
    process = await started(tmp_path, "--project", "dock", PYTHONPATH=path)
    out, err = await asyncio.wait_for(process.communicate(), 60)
    assert (process.returncode, out) == (1, b"")
    assert err.decode() == ('error: mcp is not installed. Install it with `pip install "PATH-OF-THE-CHECKOUT[mcp]"`.\n')


async def test_without_tokens_it_listens_to_this_machine_alone(tmp_path: Path) -> None:
    """An address that others reach is refused in one line that says what to do."""
    process = await started(tmp_path, "--project", "dock", "--http", "--host", "0.0.0.0")
    out, err = await asyncio.wait_for(process.communicate(), 60)
    assert (process.returncode, out) == (1, b"")
    assert "MEM_TOKENS_FILE" in err.decode()


async def test_a_malformed_payload_key_is_told_at_the_start(tmp_path: Path) -> None:
    """Not by each tool that an agent calls later; what may be a key is not quoted."""
    process = await started(tmp_path, "--project", "dock", MEM_PAYLOAD_KEY="c2VjcmV0")
    out, err = await asyncio.wait_for(process.communicate(), 60)
    assert (process.returncode, out) == (1, b"")
    assert "mem key new" in err.decode()
    assert "c2VjcmV0" not in err.decode()


async def test_no_page_of_a_browser_can_call_it_over_http(tmp_path: Path) -> None:
    """Another origin or another name for this machine is refused, as is a body over the limit."""
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
    accept = {"Accept": "application/json, text/event-stream"}
    async with (
        over_http(tmp_path, "--project", "dock") as url,
        httpx2.AsyncClient(headers=accept, timeout=30) as client,
    ):
        assert (await client.post(url, json=hello)).status_code == 200
        assert (await client.post(url, json=hello, headers={"Origin": "http://127.0.0.1:1"})).status_code == 200
        assert (await client.post(url, json=hello, headers={"Origin": "https://evil.example"})).status_code == 403
        assert (await client.post(url, json=hello, headers={"Host": "evil.example:80"})).status_code == 421
        assert b" 413 " in await answer_to_announcement(url, 2**40)


async def answer_to_announcement(url: str, size: int) -> bytes:
    """The first line of what comes for a body of so many bytes, none of which is sent."""
    address = httpx2.URL(url)
    reader, writer = await asyncio.open_connection(address.host, address.port)
    head = f"POST /mcp HTTP/1.1\r\nHost: {address.host}:{address.port}\r\nContent-Length: {size}\r\n\r\n"
    writer.write(head.encode())
    answer = await asyncio.wait_for(reader.readline(), 30)
    writer.close()
    return answer
