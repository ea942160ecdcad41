"""Cases of the gate as data, and a candidate judged as the worker does it."""

from __future__ import annotations

import json
import textwrap
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from mem.cli.hits import told_hits
from mem.cli.report import report
from mem.cli.terminal import printed
from mem.domain.accepting import AcceptAnswer, AcceptInput, AcceptStep, Projection, PublicVerdict, Verdict
from mem.domain.lookup import Budget, ContextAnswer, ContextRequest, Lesson, LessonSignature, Scores, SeenSignature
from mem.domain.nodes import Parent
from mem.domain.query import QueryAnswer
from mem.testing import FakeJournal, FakeMemories, FakeState
from mem.writing.candidate import load_candidate, record_candidate
from mem.writing.gate import judge

FIXTURES = Path(__file__).parents[2] / "fixtures" / "gate"
EARLIER = """\
answered by tier 1: 1 lesson, 140 tokens

tier 1: this exact failure happened before
  L1, aaaaaaaaaaaa, homelab, matched by signature, score 0.91, seen 3 times, last 2026-07-02
    {lesson}
    from: pi:release turn 12
    in place of: dddddddddddd

failure: cccccccccccc curl curl.status, seen 3 times
  upload.log:3-4
  | curl: (22) The requested URL returned error: 413"""
"""The report as an earlier version printed it."""
LOG = "npm ERR! code ELIFECYCLE\nnpm ERR! errno 1\ntest_login FAILED: timeout after 30 s"


class Case(NamedTuple):
    """One candidate of a fixture file."""

    text: str
    evidence: list[dict[str, Any]]


def cases(name: str, side: str) -> list[Case]:
    """The cases of one side of a rule's line."""
    data = tomllib.loads((FIXTURES / f"{name}.toml").read_text(encoding="utf-8"))
    made = outputs(data["lesson"]) if "lesson" in data else {}
    return [_case(each, made) for each in data[side]]


def _case(data: dict[str, Any], made: dict[str, str]) -> Case:
    given = [each if isinstance(each, dict) else {"text": each} for each in data.get("evidence", [LOG])]
    evidence = [{"source": f"ci:{number}", **each} for number, each in enumerate(given)]
    return Case(filled(data["text"], made), [{**each, "text": filled(each["text"], made)} for each in evidence])


def filled(text: str, made: dict[str, str]) -> str:
    """`text` with our own outputs put where their names stand in double braces."""
    for name, output in made.items():
        text = text.replace("{{" + name + "}}", output)
    return text


async def judged(text: str, evidence: list[dict[str, Any]], **fields: Any) -> Verdict:
    """The verdict about a candidate that came in through the door: recorded, redacted, read back."""
    request = AcceptInput.model_validate(
        {"request_id": "r", "project": "p", "level": "L1", "text": text, "evidence": evidence, **fields}
    )
    journal = FakeJournal(FakeState())
    await record_candidate(journal, request)
    return await judge(
        FakeMemories(FakeState()), await load_candidate(journal, AcceptStep(project="p", request_id="r"))
    )


def outputs(lesson: str) -> dict[str, str]:
    """All that this system returns, made by its own models and renderers around one lesson."""
    answer = _answer(lesson)
    compact = answer.model_dump_json()
    request = ContextRequest(request_id="r", project="homelab", signature_source=LOG)
    quotes = {"c" * 64: ["  upload.log:3-4", "  | curl: (22) The requested URL returned error: 413"]}
    reports = {width: printed(report(answer, request, quotes, width=width), colour=False) for width in (40, 100)}
    coloured = printed(report(answer, request, quotes, width=100), colour=True)
    block = f"<contextenhancement>\n  <scope>user_global</scope>\n  <summary>{lesson}</summary>\n</contextenhancement>"
    hit = json.loads(compact)["lessons"][0]
    inner = json.dumps({"content": [{"type": "text", "text": compact}]})
    return {
        "answer": compact,
        "pretty": json.dumps(json.loads(compact), indent=2),
        "escaped": json.dumps({"role": "tool", "content": compact}),
        "twice": json.dumps({"messages": [{"role": "tool", "content": inner}]}),
        "cut": compact[:500],
        "hit": json.dumps(hit),
        "query": json.dumps(_query(hit)),
        "hits": printed(told_hits(_explained(hit), width=100, folder=Path("/nowhere")), colour=False),
        "narrow_hits": printed(told_hits(_explained(hit), width=60, folder=Path("/nowhere")), colour=False),
        "report": reports[100],
        "narrow": reports[40],
        "similar": printed(report(_similar(answer), request, quotes, width=100), colour=False),
        "coloured": coloured,
        "quoted": "\n".join(f"> {line}" for line in reports[100].split("\n")),
        "earlier": EARLIER.format(lesson="\n    ".join(textwrap.wrap(lesson, 90))),
        "block": block,
        "block_answer": json.dumps({"status": "ok", "has_usable_context": True, "context_enhancement": block}),
        "accepted": _accepted().model_dump_json(),
    }


def _answer(lesson: str) -> ContextAnswer:
    found = Lesson(
        tier=1,
        level="L1",
        sha="a" * 64,
        project="homelab",
        text=lesson,
        matched_kind="signature",
        seen_count=3,
        last_seen="2026-07-02",
        first_seen="2026-06-30",
        signature=LessonSignature(sig_sha="c" * 64, tool="curl", rule="curl.status"),
        score=0.91,
        scores=Scores(recall=0.44, rerank=0.91),
        parents=[Parent(level="L0", sha="b" * 64, source="pi:release", turn=12)],
        supersedes=["d" * 64],
    )
    seen = SeenSignature(sig_sha="c" * 64, tool="curl", envelope=None, rule="curl.status", known=True, seen_count=3)
    return ContextAnswer(
        tier=1,
        lessons=[found],
        skills=[],
        signatures=[seen],
        budget=Budget(limit=6000, used=140, tokenizer="cl100k_base", dropped=[]),
        degraded=[],
        abstained_reason=None,
        nearest_misses=0,
    )


def _similar(answer: ContextAnswer) -> ContextAnswer:
    """The same lesson of another tier, in short, behind one that leads."""
    second = answer.lessons[0].model_copy(update={"tier": 2, "matched_kind": "symptom", "signature": None})
    lead = second.model_copy(update={"text": "The proxy turns away what is bigger than a megabyte."})
    return answer.model_copy(update={"tier": 2, "lessons": [lead, second]})


def _query(hit: dict[str, Any]) -> dict[str, Any]:
    fields = {name: hit[name] for name in ("sha", "level", "project", "score", "scores", "text")}
    provenance = [{"sha": "b" * 64, "level": "L0", "source": "pi:release", "turn": 12}]
    return {"query_id": "q", "project": "homelab", "hits": [fields | {"provenance": provenance}]}


def _explained(hit: dict[str, Any]) -> QueryAnswer:
    answer = _query(hit)
    hits = [one | {"supersedes": hit["supersedes"]} for one in answer["hits"]]
    legs = [{"sha": hit["sha"], "leg": leg, "rank": 1, "distance": 0.125} for leg in ("symptom", "text")]
    legs.append({"sha": "d" * 64, "leg": "lexical", "rank": 1, "distance": 0.5})
    one = {"sha": hit["sha"], "supersedes": hit["supersedes"], "score": 0.91, "before": 1, "after": 1, "cut": None}
    other = {"sha": "f" * 64, "supersedes": [], "score": 0.5, "before": 2, "after": 2, "cut": "k"}
    legs.append({"sha": "f" * 64, "leg": "text", "rank": 2, "distance": 0.75})
    return QueryAnswer.model_validate(
        answer | {"hits": hits, "degraded": [], "candidates": legs, "reranked": [one, other]}
    )


def _accepted() -> AcceptAnswer:
    verdict = PublicVerdict(accept=True, rule=None, reason="No rule objects.", model_id=None, prompt_sha=None)
    return AcceptAnswer(
        status="accepted",
        sha="a" * 64,
        duplicate_of=None,
        verdict=verdict,
        projection=Projection(text="413 Request Entity Too Large", model_id="m", prompt_sha="e" * 64),
        signatures=[],
        vectors=["text", "symptom"],
        pending=[],
    )
