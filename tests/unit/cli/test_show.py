"""`mem show` and what it prints."""

from __future__ import annotations

from datetime import date

import pytest
from rich.cells import cell_len
from typer.testing import CliRunner

from mem.cli.main import app_for
from mem.cli.shown import TEXT_LINES, told_memory
from mem.domain.accepting import Projection
from mem.domain.errors import AmbiguousPrefix, InvalidRequest, NotFound
from mem.domain.shown import Acceptance, Kin, ShownMemory, ShownSignature, Sighting
from tests.unit.cli.instead import open_reader

app = app_for(())

run = CliRunner().invoke

HOSTILE = "x\x1b]0;y\x07\nfound by\r\x9b2J\u202e"


def memory(**fields) -> ShownMemory:
    given = {
        "sha": "a" * 64, "level": "L1", "project": "billing", "text": "Upgrade the two together.",
        "visibility": "global", "owner": None, "container": None, "source": None, "turn": None, "live": True,
        "accepted": Acceptance(request_id="run-811", at="2026-06-30T08:14:03Z"), "superseded_by": None,
        "successor": None, "supersedes": [], "vectors": ["text", "symptom"], "signatures": [], "parents": [],
        "children": [], "projection": Projection(text="ERROR: one\nERROR: two", model_id="m", prompt_sha="5" * 64),
    }  # fmt: skip
    return ShownMemory.model_validate({**given, **fields})


def kin(name: str, **fields) -> Kin:
    return Kin.model_validate(
        {"level": "L0", "sha": name * 64, "source": "ci:811", "turn": 4, "title": f"title of {name}", **fields}
    )


def sighting(project: str = "billing", **fields) -> Sighting:
    given = {"seen_count": 2, "first_seen": date(2026, 6, 30), "last_seen": date(2026, 7, 2), **fields}
    return Sighting.model_validate({"project": project, **given})


def seen(name: str, *sightings: Sighting, **fields) -> ShownSignature:
    given = {"sig_coarse": "c" * 64, "algo": 1, "tool": "pip", "rule": "pip.resolution", "code": None, "message": "no"}
    return ShownSignature.of(sightings, **{**given, "sig_sha": name * 64, **fields})


def told(shown: ShownMemory, width: int = 80) -> list[str]:
    return [line.text for line in told_memory(shown, width=width)]


class StubReader:
    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.memory = memory()
        self.error: Exception | None = None


@pytest.fixture
def reader(monkeypatch) -> StubReader:
    stub = StubReader()

    async def show(sha: str) -> ShownMemory:
        stub.asked.append((urls[-1], sha))
        if stub.error is not None:
            raise stub.error
        return stub.memory

    urls = open_reader(monkeypatch, show=show)
    return stub


def test_json_is_what_http_gives(reader):
    """The very bytes, ended by a line feed."""
    result = run(app, ["show", "aaaa", "--format", "json"])
    assert result.stdout == reader.memory.model_dump_json() + "\n"
    assert (result.exit_code, result.stderr, reader.asked) == (0, "", [("postgresql://db/mem", "aaaa")])


def test_a_person_reads_it_on_one_screen():
    """What it is and says, by what it is found, how often that was seen, and what it stands between."""
    shown = memory(
        supersedes=["0" * 64, "1" * 64],
        signatures=[
            seen("d", message="rare", code="E7"),
            seen("b", sighting(), sighting("tax", seen_count=1, last_seen=date(2026, 7, 1)), message="often"),
        ],
        parents=[kin("e")],
        children=[kin("f", level="L2", source=None, turn=None)],
    )
    assert told(shown) == [
        "L1 aaaaaaaaaaaa, billing",
        "a" * 64,
        "accepted 2026-06-30T08:14:03Z, request run-811",
        "",
        "  Upgrade the two together.",
        "",
        "in place of 000000000000, 111111111111",
        "",
        "found by",
        "  ERROR: one",
        "  ERROR: two",
        "by m, prompt 555555555555; vectors: text and symptom",
        "",
        "signatures",
        "  bbbbbbbbbbbb pip pip.resolution, seen 3 times from 2026-06-30 to 2026-07-02:",
        "    billing 2, tax 1",
        "    often",
        "  dddddddddddd pip pip.resolution, seen by nobody yet",
        "    E7: rare",
        "",
        "rests on",
        "  L0 eeeeeeeeeeee, ci:811 turn 4",
        "    title of e",
        "",
        "carries",
        "  L2 ffffffffffff",
        "    title of f",
    ]


def test_what_does_not_fit_a_screen_is_cut_and_counted():
    """Whatever the store has, the report is short, and says where the rest is."""
    many = [kin(digit) for digit in "0123456789abcdef"]
    places = [sighting(f"p{number}") for number in range(50)]
    shown = memory(
        text="\n".join(f"line {number} " + "x" * 300 for number in range(500)),
        projection=Projection(
            text="\n".join(f"symptom {number}" for number in range(90)), model_id="m", prompt_sha="p"
        ),
        signatures=[seen(digit, *places) for digit in "0123456789abcdef"],
        supersedes=[digit * 64 for digit in "0123456789abcdef"],
        parents=many,
        children=many,
    )
    lines = told(shown)
    assert len(lines) < 80
    assert "  … and 84 more; in full: --format json" in lines
    assert "  … and 13 more; in full: --format json" in lines
    assert lines.count("  … and 11 more; in full: --format json") == 2
    assert any("47 more" in line for line in lines)
    assert "and 11 before" in " ".join(lines)


def test_long_evidence_shows_its_beginning_and_its_end():
    """With a note of what is left out between them; a text that just fits is whole."""
    log = "\n".join(f"line {number}" for number in range(5000))
    lines = told(memory(level="L0", text=log, source="ci:1", turn=0, projection=None, accepted=None))
    shown = [line for line in lines if line.startswith(("  line", "  …"))]
    assert len(shown) == TEXT_LINES
    assert (shown[0], shown[-1]) == ("  line 0", "  line 4999")
    assert f"  … 4,987 more lines; {len(log):,} bytes in full: --format json" in shown
    assert "from: ci:1 turn 0" in lines
    fits = "\n".join(f"line {number}" for number in range(TEXT_LINES))
    assert [line for line in told(memory(text=fits, projection=None)) if line.startswith("  line")] == [
        f"  {line}" for line in fits.split("\n")
    ]


def test_evidence_keeps_its_lines_and_their_indentation():
    """A line of a log is one line here, too, and cut where it is too wide; prose is wrapped."""
    log = "def f():\n\treturn 1\n    " + "x " * 100 + "\n\n  end\n\n"
    fields = {"projection": None, "accepted": None}
    raw = told(memory(level="L0", text=log, **fields), width=50)[3:8]
    assert raw == ["  def f():", "      return 1", "      " + "x " * 21 + "x…", "", "    end"]
    prose = told(memory(text="Do this:\n  " + "word " * 12, **fields), width=50)[3:6]
    assert prose == ["  Do this:", "    " + " ".join(["word"] * 9), "    word word word"]


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"superseded_by": "b" * 64, "successor": "b" * 64}, "superseded by bbbbbbbbbbbb"),
        (
            {"superseded_by": "b" * 64, "successor": "c" * 64},
            "superseded by bbbbbbbbbbbb; the newest is cccccccccccc",
        ),
        ({}, "superseded; no live memory that everybody may read stands in its place"),
    ],
)
def test_a_superseded_memory_says_so(fields, line):
    """In its first line, and with what stands in its place."""
    lines = told(memory(live=False, **fields))
    assert lines[0] == "L1 aaaaaaaaaaaa, billing, superseded"
    assert line in lines


def test_a_removed_chunk_of_reference_says_so():
    """It is superseded by nothing."""
    lines = told(memory(level="R", live=False, project=None, source="doc.md#a", projection=None, accepted=None))
    assert lines[0] == "R aaaaaaaaaaaa, shared, removed"
    assert "removed: its document has it no more, and nothing finds it" in lines
    assert "superseded" not in "".join(lines)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"projection": None, "vectors": []}, "vectors: none yet; no projection yet: it is pending"),
        ({"projection": None, "level": "L0"}, "and only lessons (L1, L2) get one"),
        ({"projection": Projection(text="", model_id="m", prompt_sha="p")}, "empty: the memory explains no failure"),
        ({"project": None, "level": "R"}, "R aaaaaaaaaaaa, shared"),
    ],
)
def test_what_is_missing_is_told(fields, said):
    """Why there is no projection, and that something is of no project."""
    assert said in " ".join(" ".join(told(memory(**fields))).split())


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_wider_than_the_terminal(width):
    """Wide characters, words without end, and long names are wrapped or cut."""
    long = "日本語" * 60 + " " + "w" * 300
    shown = memory(
        text=long, project="p" * 64, parents=[kin("e", source=long, title=long)],
        projection=Projection(text=long, model_id=long, prompt_sha="p"), superseded_by="b" * 64, live=False,
        signatures=[seen("b", sighting("q" * 64), message=long, rule="r" * 90)], supersedes=["0" * 64] * 5,
        accepted=Acceptance(request_id="r" * 200, at="2026-06-30T08:14:03Z"),
    )  # fmt: skip
    # The sha stands on a line of its own, whole, to be copied.
    assert max(cell_len(line) for line in told(shown, width) if line != shown.sha) <= width


def test_what_is_shown_does_not_steer_a_terminal(reader):
    """What others wrote is printed without control characters, and cannot pass for a line of ours."""
    reader.memory = memory(
        text=HOSTILE, parents=[kin("e", source=HOSTILE, title=HOSTILE)], supersedes=["0" * 64],
        projection=Projection(text=HOSTILE, model_id=HOSTILE, prompt_sha=HOSTILE),
        signatures=[seen("b", sighting(), message=HOSTILE, tool=HOSTILE, rule=HOSTILE, code=HOSTILE)],
        accepted=Acceptance(request_id=HOSTILE, at="2026-06-30T08:14:03Z"),
    )  # fmt: skip
    out = run(app, ["show", "aaaa"]).stdout
    assert not [char for char in out if (ord(char) < 32 and char != "\n") or 126 < ord(char) < 160 or char == "\u202e"]
    assert [line for line in out.split("\n") if line == "found by"] == ["found by"]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InvalidRequest("'x' is no sha.", "Give 4 to 64 hex digits."), 2),
        (NotFound("No memory begins with abcd.", "Check the sha."), 1),
        (AmbiguousPrefix("Several memories begin with abcd: abcd0 (L1), abcd1 (L2).", "Give more digits."), 1),
    ],
    ids=str,
)
@pytest.mark.parametrize("output", ["text", "json"])
def test_a_sha_that_names_none_is_one_clear_line(reader, error, code, output):
    """On stderr; stdout is empty, and the exit code tells bad input from what is not there."""
    reader.error = error
    result = run(app, ["show", "abcd", "--format", output])
    assert (result.exit_code, result.stdout, result.stderr) == (code, "", f"error: {error}\n")
