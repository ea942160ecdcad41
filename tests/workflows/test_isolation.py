"""Nobody learns anything of a project that their token may not read, not by what is told nor by what is done."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import psycopg
import pytest

from tests.temporal_server import MAIN, OTHER
from tests.workflows.isolation import (
    CROSSING_LOG,
    GAP_LOG,
    MARK,
    NOBODYS_LOGS,
    OPEN,
    OPERATOR,
    OUR_LESSON,
    OUR_LOG,
    OURS,
    SAID_AGAIN,
    SHARED_LOG,
    THEIR_LESSON,
    THEIR_LOGS,
    THEIR_OTHER,
    THEIRS,
    Call,
    Stack,
    fill,
    stacks,
)

LOGS = (SHARED_LOG, OUR_LOG, GAP_LOG, CROSSING_LOG, *THEIR_LOGS, *NOBODYS_LOGS)
LEVELS = ["L0", "L1", "L2", "R"]
NOWHERE = "f" * 63


@pytest.fixture(scope="module")
async def pair(temporal_server, postgres_server, postgres_template) -> AsyncIterator[list[Stack]]:
    """The stack with the other project, and its twin."""
    names = [f"isolation_{os.getpid()}_{number}" for number in range(2)]
    urls = [postgres_server.create(name, postgres_template) for name in names]
    async with stacks(temporal_server, (urls[0], urls[1]), (MAIN, OTHER)) as made:
        await asyncio.gather(fill(made[0], others=True), fill(made[1], others=False))
        yield made
    for name in names:
        postgres_server.drop(name)


class Held(NamedTuple):
    """A node as the database holds it."""

    sha: str
    project: str
    level: str
    visibility: str
    live: bool


async def _held(stack: Stack) -> list[Held]:
    """Every node."""
    async with await psycopg.AsyncConnection.connect(str(_url(stack))) as connection:
        statement = (
            "SELECT sha, project, level, visibility, superseded_by IS NULL FROM mem.memory_node ORDER BY project, sha"
        )
        return [Held(*row) for row in await (await connection.execute(statement)).fetchall()]


def _url(stack: Stack) -> str:
    return stack.rig.ports.memories._pool.conninfo


def _shows(held: list[Held]) -> list[Call]:
    """Each memory there is, whole and by its beginning."""
    paths = [f"/memory/{one.sha[:cut]}" for one in held for cut in ((64, 6, 4) if one.project == THEIRS else (64, 4))]
    upper = [f"/memory/{one.sha.upper()}" for one in held if one.project == THEIRS][:1]
    return [Call("GET", path) for path in dict.fromkeys([*paths, *upper, f"/memory/{NOWHERE}0", "/memory/zz"])]


def _gaps() -> list[Call]:
    queries = ("", "tool=npm", "tool=terraform", "tool=go", "since=30d", "limit=1", f"project={OURS}",
               f"project={THEIRS}", f"project={OPEN}", "project=nobodys", f"project={OURS}&tool=go")  # fmt: skip
    return [Call("GET", f"/memory/gaps?{query}") for query in queries]


def _lookups() -> list[Call]:
    """Logs, tools and tasks of theirs, within each scope, under request ids of theirs."""
    asked: list[dict[str, Any]] = [{"signature_source": log} for log in LOGS]
    asked += [{"tool": tool} for tool in ("npm", "terraform", "go", "python", MARK)]
    asked += [{"task": text} for text in (THEIR_LESSON, f"Import {MARK} from where it is.")]
    asked += [
        {"signature_source": SHARED_LOG, "task": THEIR_LESSON},
        {"signature_source": THEIR_LOGS[0], "budget": 300},
    ]
    bodies = [
        {**one, **({"scope": scope} if scope else {}), "project": project, "request_id": f"look-{number}-{scope}"}
        for number, one in enumerate(asked)
        for scope in ((None, "all-projects") if "signature_source" in one else (None,))
        for project in ((OURS, OPEN) if number == 0 else (OURS,))
    ]
    theirs = [{"signature_source": SHARED_LOG, "project": OURS, "request_id": f"ask-{number}"} for number in range(5)]
    refused = [{"tool": "npm", "project": project, "request_id": "ask-0"} for project in (THEIRS, "nobodys")]
    return [Call("POST", "/memory/context", body) for body in (*bodies, *theirs, *refused)]


def _queries() -> list[Call]:
    texts = (THEIR_LESSON, f"Where does {MARK} come from?", SHARED_LOG, THEIR_LOGS[1], "Which log is rotated?")
    bodies = [
        {"question": text, "project": OURS, "request_id": f"ask-{number}", "levels": LEVELS, "k": 50, "explain": True}
        for number, text in enumerate(texts)
    ]
    refused = [{"question": "why?", "project": project, "request_id": "ask-q"} for project in (THEIRS, "nobodys")]
    taken = {"question": "Which log is rotated?", "project": OURS, "request_id": "ask-q"}
    return [Call("POST", "/memory/query", body) for body in (*bodies, taken, *refused)]


def _accepts(held: list[Held]) -> list[Call]:
    """Their words, what they rest on, and what they replaced; under their request ids and for their users."""
    kinds = {one[2:]: one.sha for one in held if one.project == THEIRS}
    theirs = [sha for _, sha in sorted(kinds.items())]
    log = [{"source": "ci:9", "turn": 1, "text": THEIR_LOGS[0]}]
    made: list[dict[str, Any]] = [
        {"text": THEIR_LESSON, "evidence": log},
        {"text": SAID_AGAIN, "evidence": log},
        {"text": f"{OUR_LESSON} {MARK}", "evidence": log, "user_id": "user-1", "visibility": "user"},
        {
            "text": f"Release {MARK} only after user-2 looked.",
            "evidence": log,
            "user_id": "user-2",
            "visibility": "user",
        },
    ]
    for number, sha in enumerate([*theirs, f"{NOWHERE}1"]):
        fresh = {"text": f"What rests on number {number} is told by the crate of the mirror.", "evidence": log}
        made += [{**fresh, "parents": [sha], "level": ("L1", "L2")[number % 2]}, {**fresh, "supersedes": [sha]}]
    made.append({"text": "What rests on a beginning is told by the mirror.", "parents": [theirs[0][:12]]})
    bodies = [
        {"level": "L1", "project": OURS, "request_id": f"their-{number}", **one} for number, one in enumerate(made)
    ]
    refused = [
        {"level": "L1", "project": project, "request_id": "their-1", "text": THEIR_LESSON, "evidence": log}
        for project in (THEIRS, OPEN, "nobodys")
    ]
    return [Call("POST", "/memory/accept", body) for body in (*bodies, *refused)]


def _grounds() -> list[Call]:
    """Users and containers of theirs, under request ids of theirs."""
    bodies = [
        {"user_id": user, "message": text, "scope_level": scope, "containers": [{"id": "chat-1"}], "read_mode": mode}
        for user in ("user-1", "user-2", "nobody")
        for text, scope, mode in (
            (THEIR_LESSON, "user_global", "balanced"),
            (f"Which checklist is looked at before {MARK} is released?", "user_global_container", "deep"),
            (f"Who looks at the checklist before {MARK}?", "user", "simple"),
        )
    ]
    return [Call("POST", "/v1/context", {"request_id": f"turn-{number}", **body}) for number, body in enumerate(bodies)]


def _others() -> list[Call]:
    return [Call("GET", path) for path in ("/metrics", "/nothing", f"/memory/{OURS}", f"/memory/{THEIRS}", "/readyz")]


async def _battery(stack: Stack) -> list[Call]:
    held = await _held(stack)
    return [*_shows(held), *_gaps(), *_lookups(), *_queries(), *_accepts(held), *_grounds(), *_gaps(), *_others()]


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.slow)])
async def test_every_answer_is_that_of_a_store_where_the_others_never_were(pair, every):
    """Byte for byte, with status and headers, whatever of theirs is asked for, and with writes between the reads."""
    stack, twin = pair
    battery = (await _battery(stack))[::every]
    statuses = Counter[int]()
    for call in battery:
        answered, expected = await asyncio.gather(stack.send(call), twin.send(call))
        assert answered == expected, call
        statuses[answered.status] += 1
        if call.method == "GET" and "gaps" not in call.path:
            assert MARK.encode() not in answered.body, call
            assert not [
                sha for sha in stack.theirs if sha.encode() in answered.body and sha[:12] not in call.path.lower()
            ], call
    assert {200, 403, 404, 422} <= set(statuses)
    # Whoever may read all is told otherwise by every kind of read: the other project was there to be told of.
    for kind in (_shows(await _held(stack)), _gaps(), _lookups()[:4], _grounds()):
        renamed = [
            one._replace(body=one.body and {**one.body, "request_id": f"all-{one.body['request_id']}"}) for one in kind
        ]
        told = [await stack.send(one, OPERATOR) for one in renamed]
        assert told != [await twin.send(one, OPERATOR) for one in renamed], kind[0]
        assert any(MARK.encode() in one.body or THEIRS.encode() in one.body for one in told), kind[0]


async def test_an_answer_made_under_other_rights_is_not_repeated(pair):
    """The request id is taken then, for whoever reads more and for whoever reads less."""
    stack, _ = pair
    for path, body in (
        ("/memory/context", {"signature_source": SHARED_LOG, "scope": "all-projects"}),
        ("/memory/query", {"question": "Which log is rotated?"}),
        ("/memory/accept", {"level": "L1", "text": "too short"}),
    ):
        for first, second in ((OPERATOR, b"ours"), (b"ours", OPERATOR)):
            call = Call("POST", path, {**body, "project": OURS, "request_id": f"once-{first.decode()}"})
            made = await stack.send(call, first)
            assert made.status == 200, made
            assert (await stack.send(call, second)).status == 409
            assert await stack.send(call, first) == made


async def test_what_exists_elsewhere_takes_the_statements_of_what_exists_nowhere(pair, monkeypatch):
    """The same number of each kind, so that no clock tells what no answer does."""
    stack, _ = pair
    sent = Counter[str]()
    real = psycopg.AsyncCursor.execute

    async def counting(self: Any, query: Any, *rest: Any, **more: Any) -> Any:
        sent[str(query)] += 1
        return await real(self, query, *rest, **more)

    monkeypatch.setattr(psycopg.AsyncCursor, "execute", counting)

    async def statements(call: Call) -> Counter[str]:
        sent.clear()
        assert (await stack.send(call)).status in {200, 404}
        return Counter(sent)

    theirs = stack.theirs[0]
    lesson = {"level": "L1", "project": OURS, "text": "What rests on it is told by the crate of the mirror, once more."}
    log = [{"source": "ci:9", "turn": 1, "text": OUR_LOG}]
    pairs: list[tuple[Call, Call]] = [
        (Call("GET", f"/memory/{theirs}"), Call("GET", f"/memory/{NOWHERE}0")),
        (Call("GET", f"/memory/{theirs[:12]}"), Call("GET", f"/memory/{NOWHERE[:12]}")),
        (Call("GET", "/memory/gaps?tool=terraform"), Call("GET", "/memory/gaps?tool=helm")),
    ]
    for field, known, unknown in (
        ("signature_source", THEIR_LOGS[1], NOBODYS_LOGS[1]),
        ("tool", "go", "helm"),
        ("task", THEIR_LESSON, THEIR_LESSON.replace(MARK, "yynowhere")),
    ):
        both = [
            {field: one, "project": OURS, "request_id": f"st-{field}-{n}"} for n, one in enumerate((known, unknown))
        ]
        pairs.append((Call("POST", "/memory/context", both[0]), Call("POST", "/memory/context", both[1])))
    for field in ("parents", "supersedes"):
        both = [
            {**lesson, "evidence": log, field: [sha], "request_id": f"st-{sha}-{field}"}
            for sha in (theirs, f"{NOWHERE}2")
        ]
        pairs.append((Call("POST", "/memory/accept", both[0]), Call("POST", "/memory/accept", both[1])))
    for elsewhere, nowhere in pairs:
        found, expected = await statements(elsewhere), await statements(nowhere)
        assert found, elsewhere
        assert found == expected, elsewhere


async def test_a_lesson_from_there_is_self_feedback_for_who_may_read_it_alone(pair):
    """What a lookup of somebody else brought is no reason to refuse, and none to name them."""
    stack, _ = pair
    body = {"project": OURS, "level": "L1", "text": f"{THEIR_OTHER[:-1]}!"}
    body["evidence"] = [{"source": "ci:9", "turn": 1, "text": THEIR_LOGS[1]}]
    told = await stack.send(Call("POST", "/memory/accept", {**body, "request_id": "again-all"}), OPERATOR)
    assert b'"rule":"self-feedback"' in told.body
    assert THEIRS.encode() in told.body
    mine = await stack.send(Call("POST", "/memory/accept", {**body, "request_id": "again"}))
    assert b'"status":"accepted"' in mine.body
    assert THEIRS.encode() not in mine.body
