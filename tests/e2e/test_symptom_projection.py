"""Why a symptom projection exists: a raw error finds the memory that explains it in words of its own."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from mem.ports import EvidenceText
from mem.writing.projector import ExtractiveProjector
from tests.e2e.conftest import Loop
from tests.incidents import content_words

CASES = tomllib.loads((Path(__file__).parents[1] / "fixtures" / "symptoms.toml").read_text("utf-8"))
FAILURES, DECISIONS = CASES["failure"], CASES["decision"]
PROJECT = "symptoms"


class Seeded(NamedTuple):
    """The memories as they were accepted, by the id of their case."""

    shas: dict[str, str]
    answers: dict[str, Any]


def candidate(case: dict[str, Any], project: str) -> dict[str, Any]:
    return {
        "request_id": case["id"],
        "project": project,
        "level": "L1",
        "text": case["memory"],
        "evidence": [{"source": f"ci:{case['id']}", "turn": 1, "text": case["evidence"]}],
    }


@pytest.fixture(scope="module")
async def seeded(loop: Loop) -> Seeded:
    """Five memories that explain a failure and three that do not, accepted through the gateway."""
    answers = {}
    for case in [*FAILURES, *DECISIONS]:
        answers[case["id"]] = (await loop.post("/memory/accept", candidate(case, PROJECT))).json()
        assert answers[case["id"]]["status"] == "accepted", answers[case["id"]]
    return Seeded({name: answer["sha"] for name, answer in answers.items()}, answers)


@pytest.fixture(scope="module")
async def ranks(loop: Loop, seeded: Seeded) -> dict[str, dict[str, int]]:
    """For each error its memory's rank in the symptom and in the text leg, one behind the last where it is missing."""
    found = {}
    for case in FAILURES:
        body = {"request_id": f"q-{case['id']}", "project": PROJECT, "question": case["error"], "explain": True}
        answer = (await loop.post("/memory/query", body)).json()
        found[case["id"]] = {
            leg: rank_of(answer["candidates"], leg, seeded.shas[case["id"]]) for leg in ("symptom", "text")
        }
    return found


def rank_of(candidates: Sequence[dict[str, Any]], leg: str, sha: str) -> int:
    of_leg = [one for one in candidates if one["leg"] == leg]
    assert of_leg, f"the {leg} leg did not run"
    return next((one["rank"] for one in of_leg if one["sha"] == sha), len(of_leg) + 1)


def kinds(loop: Loop, sha: str) -> set[str]:
    return {kind for (kind,) in loop.rows("SELECT kind FROM mem.memory_vector WHERE node_sha = %s", sha)}


@pytest.mark.parametrize("case", FAILURES, ids=[case["id"] for case in FAILURES])
def test_no_error_shares_a_content_word_with_its_memory(case: dict[str, Any]) -> None:
    """Otherwise the text vector could find it, and the symptom vector would prove nothing."""
    assert content_words(case["error"]) & content_words(case["memory"]) == set()


async def test_a1_projection_generated(loop: Loop, seeded: Seeded) -> None:
    """Each memory that explains a failure has a symptom vector."""
    for case in FAILURES:
        assert kinds(loop, seeded.shas[case["id"]]) == {"text", "symptom"}
        assert seeded.answers[case["id"]]["projection"]["text"]


async def test_a2_no_projection_for_non_failure(loop: Loop, seeded: Seeded) -> None:
    """A decision has none, and its acceptance is complete all the same."""
    for case in DECISIONS:
        assert kinds(loop, seeded.shas[case["id"]]) == {"text"}
        assert seeded.answers[case["id"]]["projection"]["text"] == ""
        assert seeded.answers[case["id"]]["pending"] == []


async def test_a3_retrieval_by_symptom(ranks: dict[str, dict[str, int]]) -> None:
    """Searching the symptom vectors with each raw error gives its memory first."""
    assert {name: found["symptom"] for name, found in ranks.items()} == {case["id"]: 1 for case in FAILURES}


async def test_a4_beats_text_vector(ranks: dict[str, dict[str, int]]) -> None:
    """The same query against the text vectors ranks the memory lower, each single time."""
    assert {name for name, found in ranks.items() if not found["symptom"] < found["text"]} == set()


async def test_a5_deterministic(loop: Loop, seeded: Seeded) -> None:
    """Made again, in another project and in another process, a projection has the same bytes."""
    projector = ExtractiveProjector()
    for case in FAILURES:
        first = seeded.answers[case["id"]]["projection"]
        again = (await loop.post("/memory/accept", candidate(case, "symptoms-again"))).json()
        made = await projector.project(case["memory"], [EvidenceText("0" * 64, case["evidence"])])
        assert again["projection"] == first
        assert (made.text, made.model_id, made.prompt_sha) == (first["text"], first["model_id"], first["prompt_sha"])


async def test_a6_rebuild_stable(loop: Loop, seeded: Seeded) -> None:
    """Dropped and rebuilt from the journal, projections and their vectors are the same bytes as before."""
    del seeded
    before = projected(loop)
    assert len(before) >= len(FAILURES)
    loop.rows("DELETE FROM mem.memory_vector WHERE kind = 'symptom' RETURNING node_sha")
    loop.rows("DELETE FROM mem.symptom_projection RETURNING node_sha")
    assert projected(loop) == []
    checked = await loop.mem("rebuild", "--from-log", "--check")
    assert checked.code == 1
    assert "symptom_projection" in checked.out
    rebuilt = await loop.mem("rebuild", "--from-log")
    assert rebuilt.code == 0, rebuilt.err
    assert projected(loop) == before
    assert (await loop.mem("rebuild", "--from-log", "--check")).code == 0


def projected(loop: Loop) -> list[tuple[Any, ...]]:
    return loop.rows(
        "SELECT p.node_sha, p.text, p.model_id, p.prompt_sha, v.embedding::text FROM mem.symptom_projection p "
        "LEFT JOIN mem.memory_vector v ON v.node_sha = p.node_sha AND v.kind = 'symptom' ORDER BY p.node_sha"
    )


async def test_a7_signature_linked(loop: Loop, seeded: Seeded) -> None:
    """The failure in a memory's evidence is a signature that points at the memory and carries the tool."""
    for case in FAILURES:
        linked = loop.rows(
            "SELECT f.tool FROM mem.signature_link l JOIN mem.failure_signature f USING (sig_sha) "
            "WHERE l.node_sha = %s",
            seeded.shas[case["id"]],
        )
        assert case["tool"] in {tool for (tool,) in linked}
    assert loop.rows(
        "SELECT * FROM mem.signature_link WHERE node_sha = ANY(%s)", [seeded.shas[case["id"]] for case in DECISIONS]
    ) == []  # fmt: skip


async def test_a8_l0_and_r_skipped(loop: Loop, seeded: Seeded, tmp_path: Path) -> None:
    """Neither evidence nor reference has a symptom vector, whatever errors stand in it."""
    del seeded
    document = tmp_path / "errors.md"
    document.write_text("# 413\n\nnginx: client intended to send too large body; error 413 Request Entity Too Large\n")
    assert (await loop.mem("reference", "add", str(document))).code == 0
    levels = dict(loop.rows("SELECT level, count(*) FROM mem.memory_vector WHERE kind = 'text' GROUP BY level"))
    assert levels["L0"] > 0
    assert levels["R"] > 0
    assert loop.rows("SELECT 1 FROM mem.memory_vector WHERE kind = 'symptom' AND level NOT IN ('L1', 'L2')") == []
    assert loop.rows(
        "SELECT 1 FROM mem.symptom_projection p JOIN mem.memory_node n ON n.sha = p.node_sha "
        "WHERE n.level NOT IN ('L1', 'L2')"
    ) == []  # fmt: skip


async def test_a9_model_id_recorded(loop: Loop, seeded: Seeded) -> None:
    """The journal's record of a projection names the model and the sha of its prompt, the empty one included."""
    for name, sha in seeded.shas.items():
        shown = seeded.answers[name]["projection"]
        bodies = loop.rows("SELECT body::jsonb -> 'data' FROM mem.journal WHERE key LIKE %s", f"projection:{sha}:%")
        assert [(data["model_id"], data["prompt_sha"]) for (data,) in bodies] == [
            (shown["model_id"], shown["prompt_sha"])
        ]
        assert re.fullmatch("[0-9a-f]{64}", shown["prompt_sha"])
        assert shown["model_id"]
