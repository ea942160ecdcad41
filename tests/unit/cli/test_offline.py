"""The commands on files and on the store: signature, log, symptoms and supersede."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta

import pytest
from typer.testing import CliRunner

from mem.cli.main import app_for
from mem.domain.accepting import MadeProjection, Projection, SymptomLine
from mem.domain.journal import Entry
from mem.domain.nodes import Node
from mem.ports import AppendPlan, Document
from mem.store.chain import Link
from mem.store.export import export_lines
from mem.testing import FakeEmbedder, FakeJournal, FakeMemories, FakeReference, FakeState
from mem.writing import entries
from tests.unit.cli.instead import open_ports

app = app_for(())

run = CliRunner().invoke
FAILURE = """\
Traceback (most recent call last):
  File "/srv/app/main.py", line 3, in <module>
    import yaml
ModuleNotFoundError: No module named 'yaml'
"""


@pytest.fixture
def state(monkeypatch) -> FakeState:
    """The store of the commands, in memory."""
    found = FakeState()
    open_ports(monkeypatch, memories=FakeMemories(found), journal=FakeJournal(found), embedder=FakeEmbedder())
    return found


def one_line(result, code: int) -> str:
    """The one clear line of an error."""
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


# --- signature extract ---


def test_signatures_are_told_one_object_an_input(tmp_path):
    """JSON Lines, in the order of the inputs, lines counted from 1, with no object more."""
    log, fine = tmp_path / "run.log", tmp_path / "fine.log"
    log.write_text(f"starting\n{FAILURE}", encoding="utf-8")
    fine.write_text("all good\n", encoding="utf-8")
    result = run(app, ["signature", "extract", str(log), str(fine), "--format", "json"])
    first, second = (json.loads(line) for line in result.stdout.splitlines())
    assert (result.exit_code, result.stderr) == (0, "")
    assert (first["source"], first["bytes"], first["lines"]) == (str(log), len(log.read_bytes()), 5)
    assert [(each["tool"], each["line_start"], each["line_end"]) for each in first["signatures"]] == [("python", 2, 5)]
    assert second == {"source": str(fine), "bytes": 9, "lines": 1, "signatures": []}


@pytest.mark.parametrize("data", [b"", b"all good\n", bytes(4000)], ids=["empty", "no failure", "binary"])
def test_no_failure_is_no_failure_of_the_command(data):
    """An empty, a boring or a binary input gives `[]` and exit code 0; for people it is said on stderr."""
    result = run(app, ["signature", "extract", "-", "--format", "json"], input=data)
    assert (result.exit_code, json.loads(result.stdout)["signatures"]) == (0, [])
    told = run(app, ["signature", "extract", "-"], input=data)
    assert (told.exit_code, told.stdout) == (0, "")
    assert "no failure found" in told.stderr


def test_signatures_for_people_name_place_and_message():
    """One line for the key and its place, one for the message."""
    result = run(app, ["signature", "extract", "-"], input=FAILURE)
    assert "python" in result.stdout
    assert "-:1-4" in result.stdout
    assert "No module named 'yaml'" in result.stdout


def test_an_explanation_shows_candidates_with_their_reasons():
    """For people a table, best first; in JSON every candidate beside the signatures."""
    told = run(app, ["signature", "extract", "-", "--explain"], input=FAILURE).stdout
    assert "candidates, best first" in told
    assert "python.traceback (rule): signature" in told
    assert "traceback +1.00" in told
    shown = json.loads(run(app, ["signature", "extract", "-", "--explain", "--format", "json"], input=FAILURE).stdout)
    best = shown["candidates"][0]
    assert (best["fate"], best["sig_sha"]) == ("signature", shown["signatures"][0]["sig_sha"])


def test_a_missing_log_is_one_clear_line():
    """The message names the file."""
    assert "nowhere.log cannot be read" in one_line(run(app, ["signature", "extract", "nowhere.log"]), 2)


# --- log verify FILE ---


@pytest.fixture
def export() -> list[str]:
    """The lines of an export of four records."""
    state = FakeState()
    journal = FakeJournal(state)

    async def make() -> list[str]:
        for number in range(4):
            await journal.record(Entry(kind="verdict", key=f"k{number}", data={"number": number}))
        return [line.rstrip("\n") async for line in export_lines(links(), state.head())]

    async def links():
        for record in state.records:
            yield Link(record.seq, record.sha, record.previous, record.body)

    return asyncio.run(make())


def verify(tmp_path, lines: list[str], *options: str, end: str = "\n"):
    file = tmp_path / "journal.jsonl"
    file.write_bytes(("\n".join(lines) + end).encode())
    return run(app, ["log", "verify", str(file), *options])


@pytest.mark.parametrize("end", ["\n", "", "\n\n"])
def test_a_sound_export_is_confirmed(tmp_path, export, end):
    """Length and head are told, as text and as one document."""
    sha = json.loads(export[-1])["head"]["sha"]
    result = verify(tmp_path, export, end=end)
    assert (result.exit_code, result.stdout) == (0, f"4 records, head {sha}\n")
    result = verify(tmp_path, export, "--format", "json", end=end)
    assert json.loads(result.stdout) == {"head": {"count": 4, "sha": sha}}


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("case", ["changed", "missing", "repeated", "swapped", "re-spaced"])
def test_a_record_that_was_touched_is_found(tmp_path, export, case, place):
    """Each record, changed, missing, repeated, out of order or rewritten in other words, is told with exit code 1."""
    other = (place + 1) % 4
    match case:
        case "changed":
            export[place] = export[place].replace(f'"number":{place}', '"number":9')
        case "missing":
            del export[place]
        case "repeated":
            export.insert(place, export[place])
        case "swapped":
            export[place], export[other] = export[other], export[place]
        case "re-spaced":
            export[place] = export[place].replace('"number":', '"number": ')
    assert one_line(verify(tmp_path, export), 1)


@pytest.mark.parametrize("kept", range(5))
def test_an_export_that_was_cut_off_is_found(tmp_path, export, kept):
    """Without its head an export is not whole, be it that all records are there."""
    assert "cut off" in one_line(verify(tmp_path, export[:kept]), 1)


@pytest.mark.parametrize("kept", range(4))
def test_a_head_that_does_not_fit_is_found(tmp_path, export, kept):
    """Records cut off before the head are missed, since the head counts them."""
    assert "missing" in one_line(verify(tmp_path, [*export[:kept], export[-1]]), 1)


def test_the_head_of_another_time_must_be_in_the_chain(tmp_path, export):
    """`--head` proves that the journal still holds what it held then."""
    earlier = json.loads(export[1])["sha"]
    assert verify(tmp_path, export, "--head", earlier).exit_code == 0
    assert "f" * 64 in one_line(verify(tmp_path, export, "--head", "f" * 64), 1)


@pytest.mark.parametrize("line", ["{}", "[]", "5", "not json", '{"head":{"count":4}}'])
def test_a_file_that_is_no_export_is_told(tmp_path, line):
    """Whatever stands in the file, the message is a line and the exit code 1."""
    assert "Line 1" in one_line(verify(tmp_path, [line]), 1)


def test_a_file_that_is_no_text_is_wrong_usage(tmp_path):
    """Bytes that are no UTF-8 are no export."""
    file = tmp_path / "journal.jsonl"
    file.write_bytes(b"\xff\xfe\x00")
    assert "not UTF-8" in one_line(run(app, ["log", "verify", str(file)]), 2)
    assert "cannot be read" in one_line(run(app, ["log", "verify", str(tmp_path / "nowhere")]), 2)


# --- symptoms show ---


@pytest.fixture
def shas(state) -> dict[str, str]:
    """A memory with symptoms, one without, one whose projection is pending, its evidence, and a chunk of reference."""

    async def make() -> dict[str, str]:
        memories, found = FakeMemories(state), {}
        log = Node(level="L0", project="p", text="starting\n413 Request Entity Too Large", source="ci:7", turn=3)
        pending = Node(level="L2", project="p", text="memory pending")
        await memories.append(AppendPlan("appended:pending", pending, (log,), (), ()))
        found |= {"pending": pending.sha, "evidence": log.sha}
        lines = [
            SymptomLine(text="413 Request Entity Too Large", origin="evidence", evidence_sha=log.sha, line=2),
            SymptomLine(text="upload refused", origin="memory"),
            SymptomLine(text="HTTP 413", origin="lexicon", entry="http-413"),
            SymptomLine(text="large bodies fail", origin="model"),
        ]
        told = Node(level="L1", project="p", text="memory told")
        await memories.append(AppendPlan("appended:told", told, (log,), (), ()))
        await memories.put_projection(told.sha, MadeProjection.of(lines, model_id="m", prompt_sha="s" * 64))
        found["told"] = told.sha
        for name, symptom in (("with", "first line\nsecond line"), ("without", "")):
            node = Node(level="L1", project="p", text=f"memory {name}")
            await memories.append(AppendPlan(f"appended:{name}", node, (), (), ()))
            await memories.put_projection(node.sha, MadeProjection(text=symptom, model_id="m", prompt_sha="s" * 64))
            found[name] = node.sha
        chunk = Node(level="R", project="*", text="chunk", source="d.md")
        await FakeReference(state).put([Document("*", "d.md", (chunk,))])
        return found | {"reference": chunk.sha}

    return asyncio.run(make())


@pytest.mark.parametrize(
    ("name", "text", "lines", "model"),
    [
        ("with", "first line\nsecond line", ["first line", "second line"], "m"),
        ("without", None, [], "m"),
        ("pending", None, [], None),
        ("evidence", None, [], None),
        ("reference", None, [], None),
    ],
)
def test_the_symptoms_of_a_memory_are_shown_by_prefix(shas, name, text, lines, model):
    """An unambiguous prefix will do; an empty projection is null, and no projection has no model."""
    result = run(app, ["symptoms", "show", shas[name][:12], "--format", "json"])
    assert result.exit_code == 0
    assert json.loads(result.stdout) == {
        "sha": shas[name],
        "text": text,
        "model_id": model,
        "prompt_sha": "s" * 64 if model else None,
        "lines": lines,
        "recorded_at": "2026-07-02T12:00:00Z" if model else None,
        "origins": [],
    }


def test_a_projection_that_was_made_anew_tells_its_own_record(shas, state):
    """Date and origins are those of the last regeneration, also where model and prompt are the first one's."""
    for revision, text in enumerate(("second", "third"), 1):
        state.clock.advance(timedelta(days=1))
        line = SymptomLine(text=text, origin="model")
        made = MadeProjection.of([line], model_id="m", prompt_sha="s" * 64)
        state.append(entries.regenerated(shas["with"], revision, made))
    state.projections[shas["with"]] = Projection(**made.model_dump())
    document = json.loads(run(app, ["symptoms", "show", shas["with"], "--format", "json"]).stdout)
    assert (document["recorded_at"], document["lines"]) == ("2026-07-04T12:00:00Z", ["third"])
    assert [each["text"] for each in document["origins"]] == ["third"]


def test_each_symptom_line_tells_its_origin(shas):
    """Evidence is named by sha, source, turn and line, the lexicon by its entry, as data and in words."""
    document = json.loads(run(app, ["symptoms", "show", shas["told"], "--format", "json"]).stdout)
    assert document["lines"] == [each["text"] for each in document["origins"]]
    nowhere = dict.fromkeys(("evidence_sha", "source", "turn", "line", "entry"))
    place = {"evidence_sha": shas["evidence"], "source": "ci:7", "turn": 3, "line": 2, "entry": None}
    assert [{key: each[key] for key in ("origin", *place)} for each in document["origins"]] == [
        {"origin": "evidence", **place},
        {"origin": "memory", **nowhere},
        {"origin": "lexicon", **nowhere, "entry": "http-413"},
        {"origin": "model", **nowhere},
    ]
    assert run(app, ["symptoms", "show", shas["told"]]).stdout.splitlines()[1:] == [
        "by m, prompt ssssssssssss, 2026-07-02T12:00:00Z",
        "  413 Request Entity Too Large",
        f"    from evidence {shas['evidence'][:12]}, ci:7 turn 3, line 2",
        "  upload refused",
        "    from the memory itself",
        "  HTTP 413",
        "    from lexicon http-413",
        "  large bodies fail",
        "    from the model",
    ]


def test_symptoms_for_people_tell_empty_from_none(shas):
    """That a memory explains no failure is another thing than that it has no projection."""
    shown = {name: run(app, ["symptoms", "show", sha]).stdout for name, sha in shas.items()}
    told = "by m, prompt ssssssssssss, 2026-07-02T12:00:00Z"
    assert shown["with"] == f"{shas['with']}\n{told}\n  first line\n  second line\n"
    assert "explains no failure" in shown["without"]
    assert "this is R, and only lessons" in shown["reference"]
    assert "this is L0, and only lessons" in shown["evidence"]
    assert "it is pending" in shown["pending"]


def test_a_sha_that_names_none_or_several_is_one_clear_line(shas, state):
    """An unknown prefix and an ambiguous one fail, and what is no sha is wrong usage."""
    assert "No node begins with" in one_line(run(app, ["symptoms", "show", "0000beef0000"]), 1)
    assert "is no sha" in one_line(run(app, ["symptoms", "show", "latest"]), 2)
    state.nodes["abcd" + "0" * 60] = state.nodes["abcd" + "1" * 60] = Node(level="L1", project="p", text="t")
    assert "Several nodes begin with abcd" in one_line(run(app, ["symptoms", "show", "abcd"]), 1)


# --- supersede ---


def test_one_memory_takes_the_place_of_another_by_prefix(shas, state):
    """Prefixes resolve, the answer names both, and said again it is the same."""
    old, new = shas["with"], shas["without"]
    for _ in range(2):
        result = run(app, ["supersede", old[:12], "--by", new[:12], "--format", "json"])
        assert result.exit_code == 0, result.stderr
        assert json.loads(result.stdout) == {"old": old, "sha": new}
    assert state.superseded_by == {old: new}
    assert run(app, ["supersede", old, "--by", new]).stdout.startswith(new)


def test_a_supersession_that_cannot_be_is_refused_in_one_line(shas):
    """What stands in the way and what to do are told; the exit code tells bad input from what is missing."""
    assert "cannot supersede itself" in one_line(run(app, ["supersede", shas["with"], "--by", shas["with"]]), 2)
    assert "No node begins with" in one_line(run(app, ["supersede", "0000beef0000", "--by", shas["with"]]), 1)
    assert run(app, ["supersede", shas["with"]]).exit_code == 2
