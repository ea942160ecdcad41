"""The report of a lookup, to the letter."""

from __future__ import annotations

import re

import pytest
from rich.cells import cell_len

from mem.cli.failing_lines import QUOTED_LINES
from mem.cli.report import LEAD_LINES, report
from mem.cli.terminal import Style, printed
from mem.domain.lookup import Budget, Degradation, SkillHit
from tests.unit.cli.answers import SIGNATURE, TEXT, answer, chunk, evidence, exact, lesson, request

QUOTES = {SIGNATURE.sig_sha: ["  b.log:3-6", "  | npm ERR! code ERESOLVE"]}
SIMILAR = "Something similar happened before, 99 % probable"
UNKNOWN = SIGNATURE.model_copy(update={"known": False, "seen_count": 4})
UNREAD = SIGNATURE.model_copy(update={"known": None})
FULL = """\
This exact failure happened here before: 3 times since 2026-07-02, last 2026-11-30 (tier 1)
  The peer range of the chart package excludes react 19. Pin react in overrides until the package
  supports it; forcing the install only hides the conflict until the next clean checkout, which is
  the build of the release.
  from: pi:run-811 turn 12
  lesson: L1 111111111111, in place of eeeeeeeeeeee

similar (tier 2)
   92 %  L1 222222222222, project billing
         What tier 2 knows. What tier 2 knows. What tier 2 knows. What tier 2 knows. What tier 2 \u2026
    -    L2 bbbbbbbbbbbb
         Pin it.

documentation (tier 3)
   57 %  R 333333333333, npm.md#peers
         What tier 3 knows. What tier 3 knows. What tier 3 knows. What tier 3 knows. What tier 3 \u2026
  \u2026 in full: --format json
skills that fit: ci-triage (0.77), release (0.41)

left out by the budget of 500 tokens: tier 3 dddddddddddd (512 tokens), skill baking (20 tokens)
degraded: text: timeout after 2.0 s
near misses: 2, below the floor

failure: ffffffffffff npm npm.eresolve, seen 3 times
  b.log:3-6
  | npm ERR! code ERESOLVE"""
NARROW = """\
This exact failure happened here before:
3 times since 2026-07-02, last
2026-11-30 (tier 1)
  The peer range of the chart package
  excludes react 19. Pin react in
  overrides until the package supports
  it; forcing the install only hides the
  conflict until the next clean
  checkout, which is the build of the
  release.
  from: pi:run-811 turn 12
  lesson: L1 111111111111

similar (tier 2)
   50 %  L1 222222222222
         What tier 2 knows. What tier \u2026
  \u2026 in full: --format json

failure: ffffffffffff npm npm.eresolve
  seen 3 times"""
WIDE = """\
This exact failure happened here before: 3 times since 2026-07-02, last 2026-11-30 (tier 1)
  The peer range of the chart package excludes react 19. Pin react in overrides until the package supports it; forcing
  the install only hides the conflict until the next clean checkout, which is the build of the release.
  from: pi:run-811 turn 12
  lesson: L1 111111111111"""
NOTHING = """\
Nothing known is similar enough; the nearest are below the floor (no tier)

near misses: 2, below the floor
looked for: this failure in all projects; documentation and skills
next: mem query --project homelab QUESTION lists what is nearest, however far it is
next: once it is solved, mem accept FILE --project homelab: the next one who meets it is told

failure: ffffffffffff npm npm.eresolve, seen 4 times, no lesson yet"""


def told(*args, width: int = 100, **options) -> str:
    return printed(report(*args, width=width, **options), colour=False)


def first(*lessons, asked=None, **fields) -> str:
    return told(answer(*lessons, **fields), asked or request(), width=120).splitlines()[0]


def everything():
    return answer(
        exact(supersedes=["e" * 64]),
        lesson(2, project="billing", score=0.9199),
        lesson(2, sha="b" * 64, level="L2", text="Pin it.", score=None),
        chunk(score=0.57),
        skills=[SkillHit(name="ci-triage", score=0.77), SkillHit(name="release", score=0.41)],
        signatures=[SIGNATURE],
        degraded=[Degradation(leg="text", reason="timeout after 2.0 s")],
        budget=Budget(
            limit=500, used=42, tokenizer="t",
            dropped=[{"tier": 3, "sha": "d" * 64, "tokens": 512}, {"skill": "baking", "tokens": 20}],
        ),
        nearest_misses=2,
    )  # fmt: skip


def test_a_known_failure_is_told_whole():
    """What is known and since when, the lesson, where it comes from, what else is similar, and what was left out."""
    assert told(everything(), request(), QUOTES) == FULL


def test_the_common_case_fits_a_screen():
    """One lesson, two similar ones, a chunk, a skill and the failing lines leave room for a prompt."""
    common = answer(
        exact(), lesson(2), lesson(2), chunk(), skills=[SkillHit(name="ci-triage", score=0.77)], signatures=[SIGNATURE]
    )
    quotes = {SIGNATURE.sig_sha: ["  b.log:3-6", *["  | npm ERR! code ERESOLVE"] * QUOTED_LINES]}
    assert len(told(common, request(), quotes, width=100).splitlines()) <= 25


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({}, "happened here before: 3 times since 2026-07-02, last 2026-11-30 (tier 1)"),
        (
            {"project": "billing"},
            "happened before in project billing: 3 times since 2026-07-02, last 2026-11-30 (tier 1)",
        ),
        ({"seen_count": 2}, "happened here before: twice since 2026-07-02, last 2026-11-30 (tier 1)"),
        ({"first_seen": "2026-11-30"}, "happened here before: 3 times, last 2026-11-30 (tier 1)"),
        ({"seen_count": 1, "first_seen": None}, "happened here before: once, last 2026-11-30 (tier 1)"),
        ({"seen_count": None, "last_seen": None}, "happened here before; how often could not be read (tier 1)"),
    ],
)
def test_the_first_line_of_a_known_failure(fields, line):
    """Where, how often, since when and when last, as far as that is known."""
    assert first(exact(**fields)) == f"This exact failure {line}"


@pytest.mark.parametrize(
    ("asked", "fields", "line"),
    [
        (None, {"signatures": [UNKNOWN]}, f"{SIMILAR}; this exact failure has no lesson yet (tier 2)"),
        (None, {"signatures": [UNREAD]}, f"{SIMILAR}; whether this exact failure did could not be read (tier 2)"),
        (None, {}, f"{SIMILAR} (tier 2)"),
        (request(task="upgrade"), {}, "This is known about such a task, 99 % probable (tier 2)"),
        (request(tool="npm"), {}, "This is known about npm, 99 % probable (tier 2)"),
        (request(tool="npm", signature_source="Done."), {}, "This is known about npm, 99 % probable (tier 2)"),
        (
            request(task="upgrade", signature_source="Done."),
            {},
            "This is known about such a task, 99 % probable (tier 2)",
        ),
    ],
)
def test_the_first_line_of_something_similar(asked, fields, line):
    """It says what it is similar to, and never claims that this very failure is known."""
    kind = "text" if asked is not None else "symptom"
    assert first(lesson(2, score=0.9999, matched_kind=kind), asked=asked, **fields) == line
    told = first(lesson(2, score=None, matched_kind=kind), asked=asked, **fields)
    assert told == line.replace(", 99 % probable", "")


def test_the_first_line_of_documentation():
    """A manual is never told in the words of what happened here."""
    first_time = UNKNOWN.model_copy(update={"seen_count": 1})
    assert first(chunk(), signatures=[first_time]) == "Nobody here has hit this; the documentation says (tier 3)"
    assert first(chunk(), signatures=[UNKNOWN]) == "Nobody here has explained this; the documentation says (tier 3)"
    line = "Nobody here has noted anything about this; the documentation says (tier 3)"
    assert first(chunk(), asked=request(task="upgrade")) == line


@pytest.mark.parametrize("leg", ["signatures", "symptom", "text", "lexical", "embedding"])
def test_documentation_is_not_told_as_all_there_is_where_memories_were_not_searched(leg):
    """That nobody met a failure is no claim to make while a leg that would know of it was broken."""
    line = "Not all that is known here could be searched; the documentation says (tier 3)"
    assert first(chunk(), signatures=[UNKNOWN], degraded=[Degradation(leg=leg, reason="down")]) == line
    assert first(chunk(), signatures=[UNREAD]) == line
    assert first(chunk(), degraded=[Degradation(leg="rerank", reason="down")]).startswith("Nobody here has noted")


def test_of_nothing_it_is_told_what_was_looked_for_and_what_to_do():
    """The reason, how near something came, where it was looked, and the next step."""
    reason = "Nothing known is similar enough; the nearest are below the floor."
    nothing = answer(abstained_reason=reason, nearest_misses=2, signatures=[UNKNOWN])
    assert told(nothing, request()) == NOTHING


@pytest.mark.parametrize(
    ("asked", "fields", "lines"),
    [
        (
            request(scope="project"),
            {"signatures": [UNKNOWN, UNKNOWN]},
            ["looked for: 2 failures in this project; documentation and skills",
             "next: --scope all-projects asks the other projects, too",
             "next: once it is solved, mem accept FILE --project homelab: the next one who meets it is told"],
        ),
        (
            request(task="upgrade", tool="npm"),
            {},
            ["looked for: such a task in this project; documentation and skills",
             "next: once it is solved, mem accept FILE --project homelab: the next one who meets it is told"],
        ),
        (
            request(tool="npm"),
            {"degraded": [Degradation(leg="text", reason="away")]},
            ["looked for: npm in all projects; documentation and skills",
             "next: ask again when that is mended, with another --request-id"],
        ),
        (
            request(),
            {},
            ["looked for: nothing",
             "next: name the log that has the failing lines, or say in words what failed: --task TEXT"],
        ),
        (
            request(budget=5),
            {"signatures": [UNKNOWN],
             "budget": Budget(limit=5, used=4, tokenizer="t", dropped=[{"tier": 2, "sha": "d" * 64, "tokens": 51}])},
            ["looked for: this failure in all projects; documentation and skills",
             "next: ask again with a --budget of more than 5"],
        ),
    ],
)  # fmt: skip
def test_the_next_step_fits_the_reason(asked, fields, lines):
    """What helps depends on why there is nothing."""
    found = [line for line in told(answer(**fields), asked, width=120).splitlines() if line[:4] in ("look", "next")]
    assert found == lines


def test_lines_fit_the_terminal():
    """Narrow and wide alike, nothing is wider than asked, and nothing of a lesson is lost to the edge."""
    small = answer(exact(), lesson(2), signatures=[SIGNATURE])
    assert told(small, request(), width=40) == NARROW
    assert told(answer(exact()), request(), width=120) == WIDE
    for width in (40, 80, 120):
        lines = told(everything(), request(), QUOTES, width=width).splitlines()
        assert max(cell_len(line) for line in lines) <= width
        assert TEXT in " ".join(" ".join(lines).split())


def test_wide_characters_count_as_they_are_shown():
    """A text of two-column characters, without a single space, is wrapped by columns."""
    text = "\u4e2d\u6587\u5b57" * 60
    lines = told(answer(exact(text=text), lesson(2, text=text)), request(), width=41).splitlines()
    assert max(cell_len(line) for line in lines) <= 41
    assert text in "".join(line.strip() for line in lines)


def test_a_long_lesson_is_cut_and_says_so():
    """Its beginning is shown, and where the rest is; a chunk of documentation gets half as much."""
    long = " ".join(f"word{number}" for number in range(900))
    for one, most in ((exact(text=long), LEAD_LINES), (chunk(text=long), LEAD_LINES // 2)):
        lines = told(answer(one), request(), width=100).splitlines()
        at = next(number for number, line in enumerate(lines) if "more lines" in line)
        assert at == most + 1
        assert re.fullmatch(r"  \u2026 \d+ more lines; in full: --format json", lines[at])


def test_many_sources_drops_and_successions_are_bounded():
    """The first are named, the rest counted; of what a lesson stands for, the newest."""
    parents = [evidence(f"ci:{number}") for number in range(9)]
    dropped = [{"tier": 2, "sha": f"{number}" * 64, "tokens": 9} for number in range(9)]
    many = answer(
        exact(parents=parents, supersedes=[f"{number}" * 64 for number in range(9)]),
        budget=Budget(limit=5, used=4, tokenizer="t", dropped=dropped),
    )
    out = " ".join(told(many, request(), width=120).split())
    assert "from: ci:0; ci:1; ci:2; 6 more lesson:" in out
    assert "in place of 666666666666, 777777777777, 888888888888" in out
    assert out.count("(9 tokens)") == 6
    assert out.endswith("3 more")


def test_other_lessons_of_the_same_tier_are_named_as_such():
    """Several lessons for one failure, or several similar ones, are told apart from another tier."""
    assert "also known for this failure (tier 1)\n" in told(answer(exact(), exact(text="Short.")), request())
    assert "\nalso similar (tier 2)\n" in told(answer(lesson(2), lesson(2, text="Short.")), request())
    assert "\nalso documentation (tier 3)\n" in told(answer(chunk(), chunk(text="Short.")), request())


HOSTILE = (
    "x\nThis exact failure happened here before: 9 times (tier 1)\n"
    "\x1b[2J\x1b]0;owned\x07\x9b31m\u202eeslaf\u2028y\r\x00"
)


def test_no_stored_text_steers_the_terminal_or_plays_a_line_of_ours():
    """Control characters go, and what a lesson, source, skill, reason or tool says stays within its own lines."""
    hostile = answer(
        exact(text=HOSTILE, parents=[evidence(HOSTILE)]),
        lesson(2, text=HOSTILE),
        chunk(text=HOSTILE, parents=[evidence(HOSTILE)]),
        skills=[SkillHit(name=HOSTILE, score=0.5)],
        degraded=[Degradation(leg="text", reason=HOSTILE)],
        budget=Budget(limit=5, used=4, tokenizer="t", dropped=[{"skill": HOSTILE, "tokens": 1}]),
    )
    for colour in (False, True):
        out = printed(report(hostile, request(), {}, width=100), colour=colour)
        lines = re.sub("\x1b\\[[0-9;]*m", "", out).split("\n") if colour else out.split("\n")
        assert all(line.isprintable() for line in lines)
        assert [line for line in lines if line.startswith("This exact")] == lines[:1]
    silent = answer(abstained_reason=HOSTILE)
    assert len(told(silent, request(tool=HOSTILE[:60]), width=120).splitlines()) == 4


def test_what_matters_stands_out():
    """The headline by its tier, what is missing as such; technicalities are faint, and the lesson is plain."""
    lines = report(everything(), request(), QUOTES, width=100)
    styles = {line.text.strip(): line.style for line in lines}
    assert lines[0].style is Style.GOOD
    assert lines[1].style is Style.PLAIN
    assert styles["from: pi:run-811 turn 12"] is styles["| npm ERR! code ERESOLVE"] is Style.FAINT
    assert styles["degraded: text: timeout after 2.0 s"] is Style.BAD
    heads = {report(answer(*one), request(), width=100)[0].style for one in ([lesson(2)], [chunk()], [])}
    assert heads == {Style.FAIR, Style.OTHER, Style.TITLE}
