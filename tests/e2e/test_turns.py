"""A user's next turn on the real stack: remembered over HTTP, told in a block, and repeated to the byte."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import pytest

from tests.e2e.conftest import Loop

USER = "turns-ann"
MESSAGE = "The tests of the orders service fail with a timeout again, how did we get them to pass?"
OWN = {
    "request_id": "turns-own",
    "project": "turns",
    "level": "L1",
    "text": "The tests of the orders service time out until the mail server is stubbed: set MAIL_STUB=1 first.",
    "evidence": [{"source": "pi:run-3", "turn": 2, "text": "FAILED tests/test_orders.py - TimeoutError: mail:25\n"}],
    "user_id": USER,
    "container": "thread-abc",
    "visibility": "container",
}
CAKE = {
    "request_id": "turns-cake",
    "project": "turns",
    "level": "L1",
    "text": "For the summer party the kitchen has to be booked a month ahead, since two teams share its only oven.",
    "evidence": [{"source": "chat:7", "text": "The kitchen was taken, we moved the party by a week.\n"}],
    "user_id": USER,
    "visibility": "user",
}
ASKED = {
    "user_id": USER,
    "message": MESSAGE,
    "containers": [{"id": "thread-abc", "type": "thread"}, {"id": "thread-zzz"}],
    "scope_level": "user_global_container",
}


@pytest.fixture(scope="module")
async def remembered(loop: Loop) -> None:
    """Two memories of one user, of which one concerns the message."""
    for body in (OWN, CAKE):
        answer = (await loop.post("/memory/accept", body)).json()
        assert answer["status"] == "accepted", answer


async def test_a_turn_is_told_what_concerns_it(loop: Loop, remembered: None) -> None:
    """The memory of the thread is in the block, the other is counted nowhere; the same request repeats the bytes."""
    del remembered
    response = await loop.post("/v1/context", {**ASKED, "request_id": "turns-1"})
    body: dict[str, Any] = response.json()
    assert (response.status_code, body["status"], body["has_usable_context"]) == (200, "ok", True)
    block = ET.fromstring(body["context_enhancement"])
    assert [part.tag for part in block] == ["scope", "summary", "active_context", "confidence_note"]
    assert "MAIL_STUB=1" in body["context_enhancement"]
    assert "oven" not in body["context_enhancement"]
    told = body["diagnostics"]
    assert (told["candidate_count"], told["used_memory_count"], told["missing_containers"]) == (1, 1, ["thread-zzz"])
    assert (told["user_found"], told["warnings"], told["scope_applied"]) == (True, [], "user_global_container")
    assert {"snapshot", "vector", "metadata"} <= {name for name, count in told["source_breakdown"].items() if count}
    assert (await loop.post("/v1/context", {**ASKED, "request_id": "turns-1"})).content == response.content
    assert (await loop.post("/v1/context", {**ASKED, "request_id": "turns-1", "read_mode": "deep"})).status_code == 409


@pytest.mark.parametrize("mode", ["simple", "deep"])
async def test_the_other_modes_find_it_too(loop: Loop, remembered: None, mode: str) -> None:
    """Without vectors, and with each sentence."""
    del remembered
    body = (await loop.post("/v1/context", {**ASKED, "request_id": f"turns-{mode}", "read_mode": mode})).json()
    assert (body["has_usable_context"], body["diagnostics"]["read_mode"]) == (True, mode)
    assert "MAIL_STUB=1" in body["context_enhancement"]


async def test_what_concerns_nothing_and_who_is_unknown_get_no_context(loop: Loop, remembered: None) -> None:
    """Both are HTTP 200 with a reason; another user is never told of the thread."""
    del remembered
    lunch = {**ASKED, "request_id": "turns-2", "message": "Who was the second emperor of Rome?"}
    body = (await loop.post("/v1/context", lunch)).json()
    assert (body["status"], body["has_usable_context"], body["context_enhancement"]) == ("ok", False, "")
    assert body["abstained_reason"]
    assert body["diagnostics"]["candidate_count"] == 0
    stranger = {**ASKED, "request_id": "turns-3", "user_id": "turns-nobody"}
    response = await loop.post("/v1/context", stranger)
    assert (response.status_code, response.json()["status"]) == (200, "not_found")
    assert "MAIL_STUB" not in response.text
