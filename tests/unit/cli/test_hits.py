"""Hits as a person reads them: in any width, with links where there are files, and steered by nothing in them."""

from __future__ import annotations

import re
import socket
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from mem.cli.hits import SOURCES, TEXT_LINES, flowing, told_hits
from mem.cli.links import file_link
from mem.cli.terminal import Link, Styled, printed
from mem.domain.lookup import Degradation, Scores
from mem.domain.nodes import Parent
from mem.domain.query import QueryAnswer
from tests.unit.cli.queries import candidate, fate, hit, queried

NOWHERE = Path("/nowhere")
LESSON = (
    "Kong buffered whole bodies before it proxied them, and refused what was larger than its limit. "
    "Set proxy-body-size to 0 on the ingress."
)
OLD, FAR, OTHER, GONE = ("e" * 64, "f" * 64, "1" * 64, "2" * 64)


def told(answer: QueryAnswer, width: int = 80, folder: Path = NOWHERE, *, colour: bool = False) -> str:
    return printed(told_hits(answer, width=width, folder=folder), colour=colour)


def evidence(source: str | None, turn: int | None = None, level: str = "L0") -> Parent:
    return Parent.model_validate({"level": level, "sha": "c" * 64, "source": source, "turn": turn})


def explained(**fields: Any) -> QueryAnswer:
    """A hit that stands for another one, and all that can be left out."""
    candidates = [
        candidate(OLD, "symptom", 1, 0.1234567), candidate(FAR, "symptom", 2, 0.5),
        candidate("a" * 64, "text", 1, 0.3), candidate(OTHER, "text", 12, 0.71),
        candidate(GONE, "lexical", 1, -1e-7), candidate("9" * 64, "lexical", 2, 0.9),
    ]  # fmt: skip
    reranked = [
        fate(supersedes=[OLD, "8" * 64], score=0.8312, before=2, after=1),
        fate(FAR, score=0.25, before=1, after=2, cut="k"),
        fate("7" * 64, before=3, cut="unscored"),
        fate(OTHER, score=0.9, cut="floor"),
        fate(GONE, cut="superseded"),
        fate("5" * 64, supersedes=["9" * 64], cut="level"),
        fate("6" * 64, cut="project"),
    ]
    return queried(hit(supersedes=[OLD], text=LESSON), candidates=candidates, reranked=reranked, **fields)


GOLDEN = """\
1 hit for query r in project p

1.  0.5000  L1  aaaaaaaaaaaa  homelab
    Kong buffered whole bodies before it proxied them, and refused what was
    larger than its limit. Set proxy-body-size to 0 on the ingress.
  from L0 cccccccccccc ci:1 turn 12
  from L1 dddddddddddd
  in place of eeeeeeeeeeee

explained: 6 recalled, 3 scored, 2 moved by the reranker; left out: 1 beyond k,
    1 below floor, 1 not scored, 1 other level, 1 other project, 1 superseded
candidate      symptom       text   lexical  was   score  now
aaaaaaaaaaaa         -   1 0.3000         -    2  0.8312  hit 1
eeeeeeeeeeee  1 0.1235          -         -    -       -  by aaaaaaaaaaaa
ffffffffffff  2 0.5000          -         -    1  0.2500  2 beyond k
777777777777         -          -         -    3       -  not scored
111111111111         -  12 0.7100         -    -  0.9000  below floor
222222222222         -          -  1 0.0000    -       -  superseded
555555555555         -          -         -    -       -  other level
999999999999         -          -  2 0.9000    -       -  by 555555555555
666666666666         -          -         -    -       -  other project

degraded: text: timeout after 2.0 s"""


def test_an_explained_answer_is_read_from_top_to_bottom():
    """Query id, score, level, memory, sources; then what recall found and what became of it; what failed comes last."""
    assert told(explained(degraded=[Degradation(leg="text", reason="timeout after 2.0 s")])) == GOLDEN


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_it_fits_the_terminal(width):
    """No line is wider, whatever is shown; a narrow table has shorter shas and figures, and loses no column."""
    parents = [evidence("x" * 200, 3), evidence("a file with words " * 9)]
    answer = explained(query_id="r" * 200, degraded=[Degradation(leg="text", reason="it " * 100)])
    answer = answer.model_copy(update={"hits": [answer.hits[0].model_copy(update={"provenance": parents})]})
    lines = told(answer, width).splitlines()
    assert max(map(cell_len, lines)) <= width
    (head,) = (line for line in lines if line.startswith("candidate"))
    assert head.split() == ["candidate", "symptom", "text", "lexical", "was", "score", "now"]
    assert not [line for line in lines if line.endswith("\u2026")]
    assert ("aaaaaaaaaaaa " in lines[lines.index(head) + 1]) is (width >= 80)


def test_what_hardly_fits_is_counted_in_one_line():
    """Screens of wrong answers do not follow the right one; each kind is measured by its own best."""
    scored = [("L1", 0.9), ("L2", 0.019), ("L1", 0.0179), ("L2", 0.0), ("L0", 0.002), ("L0", 0.00001), ("R", 0.01)]
    hits = [hit(f"{place}" * 64, level=level, score=score) for place, (level, score) in enumerate(scored)]
    lines = told(queried(*hits), 60).splitlines()
    heads = [line.split()[:2] for line in lines if re.match(r"\d\.", line)]
    assert heads == [["1.", "0.9000"], ["2.", "0.0190"], ["5.", "0.0020"], ["7.", "0.0100"]]
    assert lines[0].startswith("7 hits ")
    assert " ".join(lines[-2:]).endswith("\u2026 3 more that hardly fit, none scores over 0.0179: --format json")


def test_nothing_is_far_without_a_probability():
    """A similarity says little of what is far from it, and where all score nothing there is nothing to compare."""
    similar = {"1": Scores(recall=0.9, rerank=None), "2": Scores(recall=0.001, rerank=None)}
    unscored = [hit(sha * 64, score=None, scores=scores) for sha, scores in similar.items()]
    assert "hardly" not in told(queried(*unscored))
    assert "hardly" not in told(queried(hit("1" * 64, score=0.0), hit("2" * 64, score=0.0)))


def test_a_similarity_is_marked_where_there_is_no_probability():
    """And what is shared says so instead of a project."""
    answer = queried(hit(level="R", project=None, score=None, scores=Scores(recall=0.4, rerank=None)))
    assert told(answer).splitlines()[2] == "1.  ~0.4000  R  aaaaaaaaaaaa  shared"


def test_reference_and_evidence_name_themselves():
    """With the anchor, as it can be looked up."""
    answer = queried(hit(level="R", provenance=[evidence("nginx.md#client-max-body-size", level="R")]))
    assert told(answer).splitlines()[-1] == "  from R cccccccccccc nginx.md#client-max-body-size"


def test_a_memory_keeps_its_lines():
    """Code and logs are read by their lines and indents; blank ones are left out."""
    answer = queried(hit(text="first\n\n  - second\r\n\tthird\n" + " " * 90 + "far", provenance=[]))
    assert told(answer).splitlines()[3:] == ["    first", "      - second", "        third", " " * 20 + "far"]


LONG = "A paragraph of a document that somebody broke at sixty columns or"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (f"{LONG}\nmore.\nNext.", [f"{LONG} more.", "Next."]),
        (f"{LONG}\n{LONG}\n(end)", [f"{LONG} {LONG} (end)"]),
        (f"{LONG}\n- item\n  more\n1. one", [LONG, "- item", "  more", "1. one"]),
        (f"```\n{LONG}\ncode\n```\n{LONG}\nmore", ["```", LONG, "code", "```", f"{LONG} more"]),
        (f"{LONG}\n\nNext.", [LONG, "", "Next."]),
    ],
)
def test_prose_flows_and_code_does_not(text, lines):
    """A document that was broken for another width is not read with every second line short; a log stays as it is."""
    assert flowing(text).splitlines() == lines
    shown = told(queried(hit(text=text, provenance=[])), 120).splitlines()[3:]
    assert " ".join(" ".join(shown).split()) == " ".join(text.split())
    log = told(queried(hit(text=text, provenance=[], level="L0")), 120).splitlines()[3:]
    assert log == [f"    {line}" for line in text.splitlines() if line]


def test_what_is_huge_is_bounded_with_a_note():
    """Text and sources each; the note says how to see the rest."""
    text = "\n".join(f"line {number}" for number in range(TEXT_LINES + 2))
    sources = [evidence(f"ci:{number}") for number in range(SOURCES + 3)]
    lines = told(queried(hit(text=text, provenance=sources))).splitlines()
    assert lines[3 + TEXT_LINES] == "    \u2026 2 more lines; in full: mem show aaaaaaaaaaaa"
    assert lines[-1] == "  \u2026 3 more sources; in full: mem show aaaaaaaaaaaa"
    assert len(lines) == 3 + TEXT_LINES + 1 + SOURCES + 1
    text, sources = text.rpartition("\n")[0], sources[: SOURCES + 1]
    assert "in full" not in told(queried(hit(text=text, provenance=sources)))


def test_nothing_found_says_how_to_go_on():
    """Unless the explanation is there already, in which case that is what there is to read."""
    assert told(queried()).splitlines()[:2] == [
        "no hit for query r in project p",
        "next: --explain shows what came nearest; --levels L0,R asks for evidence and",
    ]
    assert (
        told(queried(candidates=[candidate()], reranked=[fate(cut="floor")])).splitlines()[-1].endswith("below floor")
    )
    assert "next:" not in told(queried(candidates=[], reranked=[]))


def test_an_answer_of_an_earlier_version_is_shown_too():
    """It has the candidates alone."""
    lines = told(queried(candidates=[candidate(), candidate(FAR, "lexical", 3)])).splitlines()
    assert [line.split() for line in lines[-2:]] == [
        ["aaaaaaaaaaaa", "-", "1", "0.2500", "-", "-", "-", "-"],
        ["ffffffffffff", "-", "-", "3", "0.2500", "-", "-", "-"],
    ]


HOSTILE = (
    "\x1b]8;;http://evil.test\x1b\\x\x1b]8;;\x1b\\ \x9b2J\r\nfrom L0 dddddddddddd ci:forged\n1.  0.9999  L1  no\u202e"
)


def test_no_text_pretends_to_be_a_line_of_ours(tmp_path):
    """Memories and sources are data: no escape sequence of theirs is printed, and no line of theirs begins as ours."""
    answer = queried(
        hit(text=HOSTILE, project="p", provenance=[evidence(HOSTILE, 1)]),
        degraded=[Degradation(leg="text", reason=HOSTILE)],
    )
    bare = told(answer, folder=tmp_path, colour=True)
    assert set(re.findall(r"\x1b.[^m]*", bare)) <= {"\x1b[1", "\x1b[1;33", "\x1b[2", "\x1b[31", "\x1b[0"}
    assert not set(bare) & set("\x9b\r\u202e\x07")
    plain = told(answer, folder=tmp_path).splitlines()
    assert len([line for line in plain if line.startswith("  from L0")]) == 1
    assert len([line for line in plain if re.match(r"[0-9]+\. ", line)]) == 1


def test_a_source_that_is_a_file_is_a_link(tmp_path):
    """In a terminal; a pipe gets the path alone, and so does who wants no colours."""
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "b\u00fcild 1.log").write_text("", encoding="utf-8")
    answer = queried(hit(provenance=[evidence("logs/b\u00fcild 1.log:41", 3), evidence("ci:1")]))
    target = f"file://{socket.gethostname()}{tmp_path}/logs/b%C3%BCild%201.log"
    link = f"\x1b]8;;{target}\x1b\\logs/b\u00fcild 1.log:41\x1b]8;;\x1b\\"
    assert f"from L0 cccccccccccc {link} turn 3\x1b[0m" in told(answer, folder=tmp_path, colour=True)
    assert told(answer, folder=tmp_path, colour=True).count("\x1b]8;;") == 2
    assert "from L0 cccccccccccc logs/b\u00fcild 1.log:41 turn 3\n" in told(answer, folder=tmp_path)


FILES = ["plan.md", "c#.md", "run:3", "10:20.log", "x"]


@pytest.mark.parametrize(
    ("source", "file"),
    [
        ("plan.md", "plan.md"),
        ("./plan.md:12", "plan.md"),
        ("plan.md:12:3", "plan.md"),
        ("plan.md:12-14", "plan.md"),
        ("plan.md#the-goal", "plan.md"),
        ("plan.md:12#the-goal", "plan.md"),
        ("c#.md", "c#.md"),
        ("c#.md#top", "c#.md"),
        ("run:3", "run:3"),
        ("run:3:7", "run:3"),
        ("10:20.log", "10:20.log"),
        ("{folder}/plan.md", "plan.md"),
        ("file://{folder}/plan.md", "plan.md"),
        ("file://localhost{folder}/plan.md#top", "plan.md"),
        ("file://{folder}/c%23.md", "c#.md"),
        ("sub/../plan.md", "plan.md"),
        ("~/plan.md", "plan.md"),
        ("file://elsewhere{folder}/plan.md", None),
        ("ci:811", None),
        ("https://example.test/plan.md", None),
        ("missing.md", None),
        (".", None),
        ("sub", None),
        ("", None),
        ("#", None),
        ("file://", None),
        ("a\x00b", None),
        ("x" * 5000, None),
    ],
)
def test_what_a_source_may_name(tmp_path, source, file):
    """A path as it is, or with a line or an anchor behind it, or a URL of this machine; a folder is no file."""
    for name in FILES:
        (tmp_path / name).touch()
    (tmp_path / "sub").mkdir()
    source = source.replace("{folder}", str(tmp_path))
    link = file_link(source, tmp_path)
    wanted = None if file is None else f"{tmp_path}/{file.replace('#', '%23').replace(':', '%3A')}"
    assert (None if link is None else link.target.removeprefix(f"file://{socket.gethostname()}")) == wanted


@given(st.text(), st.text(st.sampled_from("ab \x1b\\/;%\u00e9\x07"), min_size=1))
def test_a_link_ends_where_it_ends(label, target):
    """Whatever stands in one, nothing but our own sequences gets out."""
    line = printed([Styled(f"from {label}.", link=Link(label, target))], colour=True)
    if line.startswith("from \x1b"):
        assert re.fullmatch(r"[!-~]+", target)
        line = line.replace(f"\x1b]8;;{target}\x1b\\", "", 1).replace("\x1b]8;;\x1b\\", "", 1)
    assert "\x1b" not in line
