"""Every field of every door, filled with secrets of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import httpx2
from pydantic import ValidationError

from mem.client import MemoryClient
from mem.domain.accepting import AcceptRequest
from mem.domain.errors import MemError
from mem.domain.grounding import GroundRequest
from mem.domain.lookup import ContextRequest
from mem.domain.query import QueryRequest
from tests.callers import connected
from tests.e2e.conftest import Loop
from tests.markers import Markers

LOG = "npm error code ERESOLVE\nnpm error ERESOLVE could not resolve\nsh: {}\nnpm error {}\n"
LESSON = "Pin the chart package with an override, the CI log showed {} because of set -x."
PROJECT = "marked"

Request = tuple[str, str, dict[str, Any]]
"""Name of the operation, its path over HTTP, and a body."""


def texts(markers: Markers, door: str) -> list[Request]:
    """One request of each kind whose every text holds a secret."""

    def put(field: str) -> str:
        return markers.put(f"{door} {field}")

    evidence = [
        {"source": put("evidence source"), "turn": 1, "text": LOG.format(put("evidence"), put("evidence line"))},
        {"source": "ci:2", "text": LOG.format(put("second evidence"), "x") + "filling the log\n" * 6000},
    ]
    accept = {
        "level": "L1", "project": PROJECT, "text": LESSON.format(put("text")), "evidence": evidence, "user_id": "u",
        "tool": put("tool"), "supersedes": [put("supersedes")[:64]], "parents": [put("parents")[:64]],
    }  # fmt: skip
    plain = {**accept, "text": LESSON.format(put("second text")), "supersedes": [], "parents": [], "tool": "npm"}
    context = {
        "project": PROJECT, "tool": put("lookup tool"), "task": f"Deploy with {put('task')}",
        "signature_source": LOG.format(put("log"), put("log line")),
    }  # fmt: skip
    long = {
        "project": PROJECT,
        "signature_source": "all is well\n" * 9000 + LOG.format(put("long log"), put("its end")),
    }
    metadata = {name: put(f"metadata {name}") for name in ("app", "source", "model", "trace_id")}
    turn = {
        "user_id": "u", "message": f"Why did the chart fail? {put('message')}", "metadata": metadata,
        "containers": [{"id": "c", "type": put("container type")}], "scope_level": "user_global_container",
    }  # fmt: skip
    query = {"project": PROJECT, "question": f"Why is the chart pinned? {put('question')}", "explain": True}
    return [
        ("accept", "/memory/accept", accept), ("accept", "/memory/accept", plain),
        ("context", "/memory/context", context), ("context", "/memory/context", long),
        ("query", "/memory/query", query), ("ground", "/v1/context", turn),
    ]  # fmt: skip


def names(markers: Markers, door: str) -> list[Request]:
    """Requests in each of which one name is a secret, so that they are to be refused."""

    def name(field: str) -> str:
        return markers.name(f"{door} {field}")

    accept = {"level": "L1", "project": PROJECT, "text": "A lesson.", "evidence": [{"source": "s", "text": "error"}]}
    context = {"project": PROJECT, "tool": "npm"}
    query = {"project": PROJECT, "question": "Why?"}
    turn = {"user_id": "u", "message": "Why does the chart fail?"}
    private = {"visibility": "container", "user_id": "u"}
    found: list[Request] = []
    for kind, path, body in (
        ("accept", "/memory/accept", accept), ("context", "/memory/context", context),
        ("query", "/memory/query", query), ("ground", "/v1/context", turn),
    ):  # fmt: skip
        found.append((kind, path, {**body, "request_id": name(f"{kind} request id")}))
        found.append((kind, path, {**body, "request_id": markers.put(f"{door} {kind} request id in words")}))
        found.append((kind, path, {**body, name(f"{kind} unknown field"): name(f"{kind} unknown value")}))
        if "project" in body:
            found.append((kind, path, {**body, "project": name(f"{kind} project")}))
    found.append(("accept", "/memory/accept", {**accept, **private, "user_id": name("accept user"), "container": "c"}))
    found.append(("accept", "/memory/accept", {**accept, **private, "container": name("accept container")}))
    found.append(("accept", "/memory/accept", {**accept, "level": name("level"), "wait": name("wait")}))
    found.append(("context", "/memory/context", {**context, "scope": name("scope"), "budget": name("budget")}))
    found.append(("ground", "/v1/context", {**turn, "user_id": name("ground user")}))
    found.append(("ground", "/v1/context", {**turn, "containers": [{"id": name("ground container")}]}))
    return found


async def through_client(memory: MemoryClient, markers: Markers) -> None:
    """The Python client."""
    sends: dict[str, tuple[type[Any], Callable[[Any], Any]]] = {
        "accept": (AcceptRequest, memory.accept), "context": (ContextRequest, memory.look_up),
        "query": (QueryRequest, memory.query), "ground": (GroundRequest, memory.ground),
    }  # fmt: skip
    for number, (kind, _, body) in enumerate(texts(markers, "client")):
        model, send = sends[kind]
        await send(model.model_validate({"request_id": f"client-{number}", **body}))
    override = {**texts(markers, "overriding")[1][2], "request_id": "overriding"}
    await memory.accept(AcceptRequest.model_validate(override), override=f"I know: {markers.put('client override')}")
    for number, (kind, _, body) in enumerate(names(markers, "client")):
        model, send = sends[kind]
        try:
            await send(model.model_validate({"request_id": f"client-name-{number}", **body}))
        except (MemError, ValidationError):
            continue
        raise AssertionError(f"{kind} was not refused")


async def through_http(loop: Loop, markers: Markers) -> None:
    """Bodies, headers, paths, parameters, and what is no HTTP at all."""
    for number, (_, path, body) in enumerate(texts(markers, "http")):
        headers = {
            "Idempotency-Key": f"http-{number}",
            "X-Note": markers.put("header"),
            "User-Agent": markers.put("agent"),
        }
        answer = await loop.post(path, body, **headers)
        assert answer.status_code == 200, answer.text
    for number, (_, path, body) in enumerate(names(markers, "http")):
        answer = await loop.post(path, {"request_id": f"http-name-{number}", **body})
        assert answer.status_code == 422, answer.text
    context = {"project": PROJECT, "tool": "npm"}
    refused = [
        await loop.post("/memory/context", context, **{"Idempotency-Key": markers.name("idempotency key")}),
        await loop.post(
            "/memory/context", {**context, "request_id": "a"}, **{"Idempotency-Key": markers.put("other key")}
        ),
        await loop.post(f"/memory/context?{markers.name('parameter')}={markers.name('value')}", {"project": 3}),
    ]
    assert {answer.status_code for answer in refused} == {422}
    async with httpx2.AsyncClient(base_url=loop.stack.http, timeout=60) as client:
        for path in (
            f"/memory/{markers.name('sha')}", f"/memory/gaps?project={markers.name('gaps project')}",
            f"/memory/gaps?tool={markers.name('gaps tool')}&since=7d", f"/memory/gaps?since={markers.name('since')}",
            f"/{markers.name('path')}", f"/metrics?{markers.name('metrics parameter')}=1",
        ):  # fmt: skip
            await client.get(path)
        await client.request(markers.name("method"), "/healthz")
        bad = f'{{"project": "p", "tool": "{markers.name("bad json")}"'
        assert (
            await client.post("/memory/context", content=bad, headers={"Content-Type": "application/json"})
        ).is_error
        await client.post(
            "/memory/context", json=context, headers={"Authorization": f"Bearer {markers.name('bearer')}"}
        )
    port = int(loop.stack.http.rpartition(":")[2])
    async with connected(port) as raw:
        await raw.send(f"GET /{markers.name('no http')} {markers.name('version')}\r\n\r\n".encode())
        await raw.answer()


async def plain_starts(memory: MemoryClient, markers: Markers, task_queue: str) -> list[str]:
    """Workflows that somebody starts past every door; the ids of the runs."""
    names_of = {"accept": "AcceptMemory", "context": "LookUpContext", "query": "QueryMemory", "ground": "GroundContext"}
    started = []
    for number, (kind, _, body) in enumerate([*texts(markers, "plain"), *names(markers, "plain")]):
        message = {"request_id": f"plain-{number}", **body}
        handle = await memory._client.start_workflow(
            names_of[kind], message, id=f"plain-{number}", task_queue=task_queue
        )
        started.append(handle)
    async with asyncio.timeout(120):
        await asyncio.gather(*(handle.result() for handle in started), return_exceptions=True)
    return [handle.id for handle in started]
