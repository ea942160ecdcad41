"""A stack with a key: its command line, its gateway and Temporal's own tools."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator

import httpx2
import pytest

from mem.domain.payload_keys import PayloadKey
from mem.local import StackOptions, remove_data, start_detached, stop_stack
from mem.local.options import app_parts
from mem.local.temporal import binary
from tests.e2e.conftest import ROOT, Loop
from tests.folders import new_folder
from tests.forks import Forks

pytestmark = pytest.mark.slow

KEY = str(PayloadKey("k1", os.urandom(32)))
LOG = "npm error code ERESOLVE\nnpm error ERESOLVE could not resolve\n"


@pytest.fixture
async def sealed(forks: Forks, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Loop]:
    """The stack."""
    monkeypatch.setenv("MEM_PAYLOAD_KEY", KEY)
    home = new_folder("mem-sealed-")
    patient = tuple(part.model_copy(update={"start_timeout": 300.0}) for part in app_parts())
    stack = await start_detached(home, StackOptions(app_dir=ROOT, parts=patient))
    try:
        yield Loop(home, stack, forks)
    finally:
        await stop_stack(home)
        remove_data(home)


async def shown(loop: Loop, *options: str) -> str:
    """What Temporal's command line shows of the run."""
    command = [
        binary(), "workflow", "show", "-w", "context:billing:1", "--address", loop.stack.temporal.address, *options,
    ]  # fmt: skip
    return (
        await asyncio.to_thread(subprocess.run, command, capture_output=True, timeout=120, check=True)
    ).stdout.decode()


async def test_a_stack_with_a_key_is_read_through_its_gateway_alone(sealed):
    """A lookup works as ever; Temporal's tools read it by the gateway's codec, and without it see nothing.

    The page of the stack's own UI may call it, by either name of this machine. A command without the key says which one
    it lacks.
    """
    lookup = ("lookup", "--project", "billing", "--file", "-", "--request-id", "1", "--format", "json")
    asked = await sealed.mem(*lookup, stdin=LOG.encode(), env={"MEM_PAYLOAD_KEY": KEY})
    assert "npm.eresolve" in asked.out
    assert "eresolve" not in await shown(sealed)
    assert "eresolve" in await shown(sealed, "--codec-endpoint", f"{sealed.stack.http}/codec")
    asking = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type,x-namespace"}
    assert sealed.stack.ui is not None
    async with httpx2.AsyncClient(base_url=sealed.stack.http, timeout=60) as http:
        for page in (sealed.stack.ui, sealed.stack.ui.replace("127.0.0.1", "localhost")):
            answer = await http.options("/codec/decode", headers={"Origin": page, **asking})
            assert answer.headers["access-control-allow-origin"] == page
    async with httpx2.AsyncClient(base_url=sealed.stack.ui, timeout=60) as http:
        settings = (await http.get("/api/v1/settings")).json()
        assert settings["Codec"]["Endpoint"] == f"{sealed.stack.http}/codec"
    keyless = await sealed.mem(*lookup, stdin=LOG.encode(), env={"MEM_PAYLOAD_KEY": ""})
    assert (keyless.code, keyless.out) == (1, "")
    assert "key 'k1'" in keyless.err
