"""A scripted OpenAI-compatible server on loopback: real sockets, real HTTP, answers as the test wrote them."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import struct
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from mem.domain.canonical import sha256_hex
from mem.testing import FakeEmbedder
from mem.writing import model_gate, model_projector
from mem.writing.prompts import Template, load_prompt

PROMPTS = Path(__file__).parents[1] / "prompts"
CHUNK = b"x" * 65536
_MEMORY = re.compile(r"<memory-([0-9a-f]{16})>\n(.*)\n</memory-\1>", re.DOTALL)
_REASONS = {200: "OK"}


class Reply(NamedTuple):
    """What to send, once `seconds` have passed; `reset` sends nothing and breaks the connection."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = {}
    seconds: float = 0.0
    reset: bool = False
    endless: int = 0
    """So many more bytes of nothing, sent piece by piece."""
    pause: float = 0.0
    """Seconds between these pieces."""


class Seen(NamedTuple):
    """A request as it came."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


class Labelled(NamedTuple):
    """An answer that a model once gave: to which prompt, about which memory (the sha256 of its text)."""

    prompt_sha: str
    memory_sha: str
    model: str
    answer: str


def chat(content: str | None, *, finish: str = "stop", refusal: str | None = None, **headers: str) -> Reply:
    """A completion."""
    message = {"role": "assistant", "content": content, "refusal": refusal}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return _json(
        200, {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}, headers
    )


def symptoms(*lines: str) -> Reply:
    """A completion as the prompt `symptom` asks for it."""
    return chat(json.dumps({"symptoms": lines}))


def verdict(accept: bool, rule: str = "none", reason: str = "It says what to do.") -> Reply:
    """A completion as the prompt `gate` asks for it."""
    return chat(json.dumps({"accept": accept, "rule": rule, "reason": reason}))


def failing(status: int, *, code: str | None = None, message: str = "no", **headers: str) -> Reply:
    """An error as OpenAI words it."""
    error = {"error": {"message": message, "type": "error", "param": None, "code": code}}
    return _json(status, error, {name.replace("_", "-"): value for name, value in headers.items()})


def page(status: int = 200) -> Reply:
    """The web page that some proxy sends instead."""
    return Reply(status, b"<!doctype html><html><body><h1>Welcome</h1></body></html>", {"Content-Type": "text/html"})


def half() -> Reply:
    """The first half of a completion."""
    body = symptoms("413 Request Entity Too Large").body
    return Reply(200, body[: len(body) // 2], {"Content-Type": "application/json"})


def huge(size: int, status: int = 200) -> Reply:
    """A completion that does not end for a long time."""
    return Reply(status, b'{"choices": [{"message": {"content": "', {"Content-Type": "application/json"}, endless=size)


def later(seconds: float, reply: Reply) -> Reply:
    """The same, too late."""
    return reply._replace(seconds=seconds)


RESET = Reply(reset=True)


def _json(status: int, value: Any, headers: Mapping[str, str]) -> Reply:
    return Reply(status, json.dumps(value).encode(), {"Content-Type": "application/json", **headers})


class OpenAiServer:
    """Answers by script, each prompt by its own; of a script the last reply repeats.

    Prompts are told apart by their system text; one of no file goes by the name `other`.
    """

    def __init__(self) -> None:
        self.requests: list[Seen] = []
        self.sent = 0
        self.dimensions = 384
        self.base_url = ""
        self._scripts: dict[str, list[Reply]] = {}
        self._fixtures: dict[tuple[str, str], Labelled] = {}
        self._templates = {each.system: each for each in templates()}
        self._open: set[asyncio.Task[Any]] = set()

    def script(self, name: str, *replies: Reply) -> None:
        """What to send to `symptom`, `gate`, `other` or `embeddings`."""
        self._scripts[name] = list(replies)

    def serve(self, fixtures: Sequence[Labelled]) -> None:
        """Answer from these where no script says otherwise."""
        self._fixtures |= {(each.prompt_sha, each.memory_sha): each for each in fixtures}

    def asked(self, name: str) -> list[Seen]:
        """The requests for one prompt, or for `embeddings`."""
        return [seen for seen in self.requests if self._name_of(seen) == name]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[OpenAiServer]:
        """Serve on a free port of the loopback interface."""
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        try:
            yield self
        finally:
            server.close()
            for task in list(self._open):
                task.cancel()
            await asyncio.gather(*self._open, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                while (seen := await _read(reader)) is not None:
                    self.requests.append(seen)
                    if not await self._send(writer, self._reply_to(seen)):
                        break
        finally:
            self._open.discard(task)
            writer.close()

    def _name_of(self, seen: Seen) -> str:
        if seen.path.endswith("/embeddings"):
            return "embeddings"
        template = self._templates.get(seen.body["messages"][0]["content"])
        return template.name if template is not None else "other"

    def _reply_to(self, seen: Seen) -> Reply:
        name = self._name_of(seen)
        script = self._scripts.get(name)
        if script:
            return script.pop(0) if len(script) > 1 else script[0]
        if name == "embeddings":
            return embeddings(seen.body["input"], self.dimensions)
        return self._from_fixture(seen)

    def _from_fixture(self, seen: Seen) -> Reply:
        template = self._templates.get(seen.body["messages"][0]["content"])
        memory = _MEMORY.search(seen.body["messages"][1]["content"])
        if template is not None and memory is not None:
            labelled = self._fixtures.get((template.sha, sha256_hex(memory[2])))
            if labelled is not None:
                return chat(labelled.answer)
        return failing(501, code="nothing_scripted")

    async def _send(self, writer: asyncio.StreamWriter, reply: Reply) -> bool:
        """Whether the connection can be used on."""
        await asyncio.sleep(reply.seconds)
        if reply.reset:
            raw = writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
            return False
        headers = {**reply.headers, "Content-Length": str(len(reply.body) + reply.endless)}
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        reason = _REASONS.get(reply.status, "Whatever")
        writer.write(f"HTTP/1.1 {reply.status} {reason}\r\n{head}\r\n".encode() + reply.body)
        await writer.drain()
        for _ in range(0, reply.endless, len(CHUNK)):
            writer.write(CHUNK)
            await writer.drain()
            self.sent += len(CHUNK)
            await asyncio.sleep(reply.pause)
        return not reply.endless


def embeddings(texts: Sequence[str], dimensions: int, *, length: float = 3.0) -> Reply:
    """Vectors of a length other than 1, in an order other than asked for."""
    embedder = FakeEmbedder(dimensions=dimensions)
    rows = [
        {"object": "embedding", "index": index, "embedding": [length * value for value in embedder.vector(text)]}
        for index, text in enumerate(texts)
    ]
    return _json(200, {"object": "list", "model": "e", "data": rows[::-1]}, {})


def templates() -> list[Template]:
    """The prompts of this checkout."""
    return [
        load_prompt(PROMPTS, module.PROMPT, placeholders=module.PLACEHOLDERS, limits=module.LIMITS)
        for module in (model_projector, model_gate)
    ]


async def _read(reader: asyncio.StreamReader) -> Seen | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Seen(first.split(" ")[1], headers, json.loads(body) if body else {})
