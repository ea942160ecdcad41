"""What the details of a run show: whole, bounded, and to the letter."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from mem.domain.markdown import GAP, MAX_BYTES, bounded, code, failed
from mem.recall.outcome import Drop, LegTrace, LessonTrace, Miss, SkillTrace, Trace
from mem.recall.query_outcome import HitTrace, QueryTrace
from workflows.trace_markdown import query_markdown, trace_markdown

HOSTILE = [
    "![x](http://127.0.0.1/x.png)",
    "[click](javascript:alert(1)) http://127.0.0.1/ www.example.org",
    "<script>alert(1)</script><img src=x>",
    "a | b || c \\| d \\",
    "`` ` ```",
    "line\n| tier | 9 |\n\n# heading\n\n---",
    "\x1b[31mred\x07\u202egnp.exe\u200b",
    "*a* _b_ ~~c~~ &lt;b&gt; \\[x\\]",
    "\ud800 \u2028 \x00",
    "  ",
]
TRACE = Trace(
    project="homelab",
    request_id="r-1",
    tier=1,
    tool="npm",
    milliseconds=43.1,
    reranker="embedded scorer",
    legs=[LegTrace(leg="symptom", step="search", milliseconds=12.5, found=3)],
    lessons=[
        LessonTrace(tier=1, sha="a" * 64, project="homelab", matched_kind="signature", recall=0.44, rerank=0.91),
        LessonTrace(tier=3, sha="b" * 64, project=None, matched_kind="text", recall=None, rerank=None),
    ],
    skills=[SkillTrace(name="ci-triage", score=0.77)],
    signatures=["c" * 64],
    dropped=[Drop(tier=3, sha="d" * 64, tokens=512), Drop(skill="release", tokens=20)],
    misses=[
        Miss(tier=2, sha="e" * 64, project="billing", measure="rerank", score=0.4876, floor=0.5),
        Miss(tier=2, sha="f" * 64, project="billing", measure="rerank", score=0.61, floor=0.5),
    ],
    near_misses=1,
    used=2140,
    limit=6000,
    degraded=["skills: timeout after 2.0 s"],
    abstained_reason=None,
)
WHOLE = """\
**tier 1**, 2140 of 6000 tokens, 2 dropped, 43.1 ms

request `r-1`, project `homelab`, reranker `embedded scorer`, tool `npm`

signatures `cccccccccccc`

**Lessons**

| tier | lesson | matched | recall | rerank |
|---|---|---|---|---|
| 1 | `aaaaaaaaaaaa` `homelab` | signature | 0.440 | 0.910 |
| 3 | `bbbbbbbbbbbb` shared | text | - | - |

**Skills**

| skill | score |
|---|---|
| `ci-triage` | 0.770 |

**Left out by the budget**

| what | name | tokens |
|---|---|---|
| tier 3 | `dddddddddddd` | 512 |
| skill | `release` | 20 |

**Nearest misses, of which 1 near**

| tier | memory | by | score | floor |
|---|---|---|---|---|
| 2 | `eeeeeeeeeeee` `billing` | rerank | 0.488 | 0.500 |
| 2 | `ffffffffffff` `billing` | rerank | 0.610 | 0.500, but enough others are told |

**Degraded**

| leg | reason |
|---|---|
| `skills` | `timeout after 2.0 s` |

**Legs**

| leg | step | ms | found | note |
|---|---|---|---|---|
| symptom | `search` | 12.5 | 3 | - |"""
HITS = QueryTrace(
    project="homelab",
    request_id="q-1",
    milliseconds=20.0,
    reranker="embedded scorer",
    legs=[LegTrace(leg="ledger", step="store", milliseconds=1.0, found=0, note="away")],
    hits=[HitTrace(sha="a" * 64, level="L1", project=None, recall=0.5, rerank=0.9, ranks={"text": 2})],
    degraded=[],
)

TEXT = {
    "paragraph_open",
    "paragraph_close",
    "inline",
    "text",
    "softbreak",
    "code_inline",
    "strong_open",
    "strong_close",
}
TABLE = {f"{part}_{side}" for part in ("table", "thead", "tbody", "tr", "th", "td") for side in ("open", "close")}


def hostile(text: str) -> Trace:
    """A trace that has a text wherever one comes from elsewhere."""
    return TRACE.model_copy(
        update={
            "project": text,
            "request_id": text,
            "tool": text,
            "reranker": text,
            "abstained_reason": text,
            "lessons": [one.model_copy(update={"project": text}) for one in TRACE.lessons],
            "skills": [SkillTrace(name=text, score=0.5)],
            "dropped": [Drop(skill=text, tokens=1)],
            "misses": [one.model_copy(update={"project": text}) for one in TRACE.misses],
            "degraded": [f"{text}: {text}"],
            "legs": [LegTrace(leg="text", step=text, milliseconds=1.0, found=0, note=text)],
        }
    )


def shapes(markdown: str) -> tuple[set[str], list[int]]:
    """The kinds of everything in a document, and the number of cells of each row of its tables."""
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    kinds, rows = set(), []
    for token in tokens:
        kinds |= {token.type, *(child.type for child in token.children or ())}
        if token.type == "tr_open":
            rows.append(0)
        elif token.type in ("td_open", "th_open"):
            rows[-1] += 1
    return kinds, rows


def plain(markdown: str) -> str:
    """What is not in code spans."""
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    return "".join(child.content for token in tokens for child in token.children or () if child.type == "text")


def test_a_trace_is_told_whole():
    """Tier, time and budget, whose request it was, and a table for each part."""
    told = trace_markdown(TRACE)
    assert told.replace(GAP, "") == WHOLE
    kinds, rows = shapes(told)
    assert kinds >= {"table_open", "code_inline", "strong_open"}
    assert rows == [5] * 3 + [2] * 2 + [3] * 3 + [5] * 3 + [2] * 2 + [5] * 2


def test_columns_stand_apart():
    """Behind each cell but the last is room, which the UI leaves there."""
    (tier,) = [line for line in trace_markdown(TRACE).splitlines() if line.startswith(f"| tier{GAP} | lesson")]
    assert tier.count(GAP) == 4


def test_an_answer_without_parts_has_no_empty_table():
    """What there is none of is not mentioned; why there is no answer is."""
    empty = Trace(
        tier=None, legs=[], lessons=[], skills=[], signatures=[], dropped=[], used=5, limit=6000, degraded=[],
        abstained_reason="Nothing known concerns this.",
    )  # fmt: skip
    told = "**no tier**, 5 of 6000 tokens, 0 dropped, 0.0 ms\n\nAbstained: `Nothing known concerns this.`"
    assert trace_markdown(empty) == told
    assert "the stored bytes were repeated" in trace_markdown(empty.model_copy(update={"replayed": True}))


def test_hits_are_told_with_their_places():
    """Each hit with its rank in the legs that found it."""
    told = query_markdown(HITS).replace(GAP, "")
    assert told.startswith("**1 hit**, 20.0 ms\n\nrequest `q-1`, project `homelab`, reranker `embedded scorer`\n")
    assert "| L1 | `aaaaaaaaaaaa` shared | 0.500 | 0.900 | - | 2 | - |" in told
    assert told.endswith("| ledger | `store` | 1.0 | 0 | `away` |")


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_breaks_out(text):
    """Whatever a name or a reason says, the tables keep their shape, and there is no link, picture, tag or heading."""
    told = trace_markdown(hostile(text))
    kinds, rows = shapes(told)
    assert kinds <= TEXT | TABLE
    assert rows == [5] * 3 + [2] * 2 + [3] * 2 + [5] * 3 + [2] * 2 + [5] * 2
    assert code(text) == "-" or plain(told) == plain(trace_markdown(hostile("harmless")))
    assert all(one.isprintable() for one in told.replace("\n", "").replace(GAP, ""))
    for shown in (query_markdown(HITS.model_copy(update={"degraded": [text], "request_id": text})), failed(text)):
        assert shapes(shown)[0] <= TEXT | TABLE


@pytest.mark.parametrize("letter", ["x", "\u4e2d", "\U0001f600"])
def test_the_details_are_bounded(letter):
    """However long the texts and the lists are, the details take no more than they may, and say what they leave out."""
    long = hostile(letter * 9000)
    huge = long.model_copy(update={"legs": long.legs * 500, "lessons": long.lessons * 500})
    told = trace_markdown(huge)
    assert len(told.encode()) <= MAX_BYTES
    assert told.splitlines()[-1].endswith(" more lines")
    assert len(trace_markdown(long).encode()) < MAX_BYTES


def test_what_is_cut_is_counted():
    """Lines that fit are all there."""
    assert bounded(["a", "b"]) == "a\nb"
    assert bounded(["x" * 19_000, "y" * 2000, "z"]) == "x" * 19_000 + "\n\n\u2026 2 more lines"
    assert code("x" * 161) == f"`{'x' * 159}\u2026`"


def test_traces_of_earlier_runs_are_read():
    """Runs that were recorded with bare names of skills and a bare number of drops are still told."""
    old = TRACE.model_dump(mode="json") | {"skills": ["ci-triage"], "dropped": 2}
    for field in ("project", "request_id", "milliseconds", "reranker", "misses", "near_misses"):
        del old[field]
    told = trace_markdown(Trace.model_validate(old)).replace(GAP, "")
    assert "| `ci-triage` | - |" in told
    assert "0 dropped" in told
