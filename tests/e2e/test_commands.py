"""The command line on the real stack, as a person and as a program use it."""

from __future__ import annotations

import json
from pathlib import Path

import psycopg

from tests.e2e.conftest import Loop

LOG = """\
2026-11-29T10:11:12.123Z ##[group]Run go build ./...
2026-11-29T10:11:13.456Z # shop/cart
2026-11-29T10:11:13.456Z cart/total.go:41:9: undefined: discountFor
2026-11-29T10:11:13.789Z ##[error]Process completed with exit code 1.
"""
PLAIN = "# shop/cart\n./cart/total.go:57:12: undefined: discountFor\n"
LESSONS = [
    {
        "project": "shop",
        "level": "L1",
        "text": "Generated helpers are not committed: run the generator before compiling the cart package.",
        "evidence": [{"source": "ci:77", "turn": 2, "text": LOG}],
    },
    {"project": "shop", "level": "L1", "text": "Generated helpers need the generator to run before compiling."},
    {"project": "shop", "level": "L1", "text": "fixed it", "evidence": [{"source": "ci:78", "text": LOG}]},
]


async def test_json_lines_of_candidates_give_a_result_line_each(loop: Loop) -> None:
    """Each candidate gets one line, a rejection is no failure, and sending the file again changes nothing."""
    lines = "\n".join(json.dumps(lesson) for lesson in LESSONS).encode()
    first = await loop.mem("accept", "-", "--format", "json", stdin=lines)
    assert first.code == 0, first.err
    results = [json.loads(line) for line in first.out.splitlines()]
    assert [result["status"] for result in results] == ["accepted", "rejected", "rejected"]
    assert [result["verdict"]["rule"] for result in results] == [None, "no-evidence", "trivial"]
    again = await loop.mem("accept", "-", "--format", "json", stdin=lines)
    assert again.out == first.out


async def test_a_lookup_prints_one_document_or_a_report(loop: Loop, tmp_path: Path) -> None:
    """With --format json stdout is the document alone; without, the report says tier, lesson and source."""
    await loop.mem("accept", "-", stdin=json.dumps(LESSONS[0]).encode())
    log = tmp_path / "build.log"
    log.write_text(PLAIN, encoding="utf-8")
    machine = await loop.mem("lookup", "--project", "other", "--file", str(log), "--format", "json")
    assert machine.code == 0, machine.err
    assert machine.document["tier"] == 1
    assert "request id: made-" in machine.err
    person = await loop.mem("lookup", "--project", "other", "--file", "-", stdin=PLAIN.encode())
    assert person.out.startswith("This exact failure happened before in project ")
    assert "run the generator before compiling" in " ".join(person.out.split())
    assert "ci:77 turn 2" in person.out
    assert "\x1b" not in person.out
    assert "\n  -:2\n  | ./cart/total.go:57:12: undefined: discountFor" in person.out


async def test_nothing_found_is_exit_1_with_the_reason(loop: Loop) -> None:
    """An unknown project and failure is no error for the answer, but the exit code says that nothing was found."""
    log = b"zorp: error ZQ9917: flux capacitor misaligned\n"
    result = await loop.mem("lookup", "--project", "void", "--scope", "project", "--file", "-", stdin=log)
    assert result.code == 1
    assert result.out.splitlines()[0].endswith(" (no tier)")


async def test_symptoms_show_prints_text_model_and_lines(loop: Loop) -> None:
    """The projection of a memory is shown by a prefix of its sha."""
    accepted = await loop.mem("accept", "-", "--format", "json", stdin=json.dumps(LESSONS[0]).encode())
    sha = accepted.document["sha"]
    shown = await loop.mem("symptoms", "show", sha[:10], "--format", "json")
    assert shown.code == 0, shown.err
    assert shown.document["sha"] == sha
    assert "undefined: discountFor" in shown.document["text"]
    assert shown.document["model_id"] == accepted.document["projection"]["model_id"]
    assert shown.document["lines"] == shown.document["text"].splitlines()


async def test_signature_extract_prints_a_line_an_input(loop: Loop, tmp_path: Path) -> None:
    """Two renderings have one key; an input without a failure has an empty list and is no error."""
    for name, text in {"a.log": LOG, "b.log": PLAIN, "c.log": "all good\n"}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    files = [str(tmp_path / name) for name in ("a.log", "b.log", "c.log")]
    result = await loop.mem("signature", "extract", *files, "--format", "json")
    assert result.code == 0
    a, b, c = (json.loads(line) for line in result.out.splitlines())
    assert a["signatures"][0]["sig_sha"] == b["signatures"][0]["sig_sha"]
    assert a["signatures"][0]["envelope"] == "github-actions"
    assert (a["signatures"][0]["line_start"], a["lines"], a["bytes"]) == (3, 4, len(LOG.encode()))
    assert c["signatures"] == []


async def test_signatures_are_rebuilt_from_the_evidence(loop: Loop) -> None:
    """A rebuild brings back links that are lost, and says so; a check finds them and writes nothing."""
    await loop.mem("accept", "-", stdin=json.dumps(LESSONS[0]).encode())
    assert (await loop.mem("rebuild", "--check")).code == 0
    head = (await loop.mem("log", "verify")).out
    with psycopg.connect(loop.stack.database_url) as connection:
        lost = connection.execute("DELETE FROM mem.signature_link").rowcount
    for _ in range(2):
        checked = await loop.mem("rebuild", "--check", "--format", "json")
        assert (checked.code, checked.document["new"]) == (1, lost), checked.err
    assert (await loop.mem("log", "verify")).out == head
    rebuilt = await loop.mem("rebuild", "--format", "json")
    assert (rebuilt.code, rebuilt.document["new"]) == (0, lost), rebuilt.err
    again = await loop.mem("rebuild")
    assert f"0 derived, 0 corrected, {lost} unchanged" in again.out
    assert (await loop.mem("rebuild", "--check")).code == 0
    checked = await loop.mem("rebuild", "--from-log", "--check")
    assert checked.code == 0, checked.out


async def test_everything_is_rebuilt_from_an_export(loop: Loop, tmp_path: Path) -> None:
    """An export of this very journal adds nothing, and its tables take the place of damaged ones."""
    await loop.mem("accept", "-", stdin=json.dumps(LESSONS[0]).encode())
    path = tmp_path / "journal.jsonl"
    path.write_text((await loop.mem("log", "export")).out, encoding="utf-8")
    with psycopg.connect(loop.stack.database_url) as connection:
        connection.execute("UPDATE mem.memory_node SET projected = 'damaged' WHERE level = 'L1'")
    checked = await loop.mem("rebuild", "--from-log", "--check", "--format", "json")
    damaged = {table["table"] for table in checked.document["tables"] if table["differing"]}
    assert (checked.code, damaged) == (1, {"memory_node"})
    rebuilt = await loop.mem("rebuild", "--from-log", str(path))
    assert rebuilt.code == 0, rebuilt.err
    assert "every projection rebuilt from" in rebuilt.out
    assert (await loop.mem("rebuild", "--from-log", "--check")).code == 0


async def test_projections_are_proposed_anew(loop: Loop) -> None:
    """The embedded projector says again what it said, so nothing is shown and there is nothing to apply."""
    await loop.mem("accept", "-", stdin=json.dumps(LESSONS[0]).encode())
    for options in ([], ["--apply"]):
        result = await loop.mem("rebuild", "--regenerate", *options, "--format", "json")
        assert (result.code, result.document["proposals"], result.document["applied"]) == (0, [], 0), result.err
        assert result.document["memories"] == result.document["same"] > 0


async def test_the_journal_exports_and_verifies(loop: Loop, tmp_path: Path) -> None:
    """An export verifies, names its head, and no longer verifies with a record changed, missing, moved or cut off."""
    await loop.mem("accept", "-", stdin=json.dumps(LESSONS[0]).encode())
    export = await loop.mem("log", "export")
    lines = export.out.splitlines()
    head = json.loads(lines[-1])["head"]
    stored = await loop.mem("log", "verify", "--format", "json", "--head", head["sha"])
    assert stored.code == 0, stored.err
    lesson = next(number for number, line in enumerate(lines) if '"L1"' in line)
    broken = {
        "changed": [*lines[:lesson], lines[lesson].replace('"L1"', '"L2"'), *lines[lesson + 1 :]],
        "missing": [lines[0], *lines[2:]],
        "moved": [lines[1], lines[0], *lines[2:]],
        "cut off": [*lines[:-2], lines[-1]],
        "headless": lines[:-1],
    }
    file = tmp_path / "journal.jsonl"
    for how, changed in {"whole": lines, **broken}.items():
        file.write_text("\n".join(changed) + "\n", encoding="utf-8")
        result = await loop.mem("log", "verify", str(file))
        assert result.code == (0 if how == "whole" else 1), how


async def test_reference_and_skills_answer_where_no_memory_does(loop: Loop, tmp_path: Path) -> None:
    """Documentation is tier 3 for every project, and a skill comes along; adding both again adds nothing."""
    (tmp_path / "ssh.md").write_text(
        "# SSH\n\n## Host key verification failed\n\nThe host's key differs from the one in known_hosts: the host was "
        "rebuilt, or somebody is in between. Compare fingerprints, then remove the old entry with ssh-keygen -R.\n",
        encoding="utf-8",
    )
    (tmp_path / "SKILL.md").write_text(
        "---\nname: ssh-access\ndescription: Diagnose ssh host key verification and login failures.\n---\nSteps.\n",
        encoding="utf-8",
    )
    added = await loop.mem("reference", "add", str(tmp_path / "ssh.md"), "--format", "json")
    assert added.document["chunks"] == {"added": 1, "removed": 0, "total": 1}, added.err
    again = await loop.mem("reference", "add", str(tmp_path / "ssh.md"), "--format", "json")
    assert (again.document["chunks"]["added"], again.document["embedded"]) == (0, 0)
    assert (await loop.mem("skill", "add", str(tmp_path / "SKILL.md"))).code == 0
    log = b"@@@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @@@\nHost key verification failed.\n"
    asked = ("lookup", "--project", "fresh", "--file", "-", "--format", "json", "--request-id")
    result = await loop.mem(*asked, "before", stdin=log)
    assert result.document["tier"] == 3, result.out
    assert {lesson["tier"] for lesson in result.document["lessons"]} == {3}
    assert result.document["lessons"][0]["level"] == "R"
    assert [skill["name"] for skill in result.document["skills"]] == ["ssh-access"]
    removed = await loop.mem("reference", "remove", "ssh.md", "--format", "json")
    assert removed.document == {"documents": 1, "chunks": 1, "removed": ["ssh.md"]}
    assert (await loop.mem(*asked, "before", stdin=log)).out == result.out
    after = (await loop.mem(*asked, "after", stdin=log)).document
    assert "ssh.md" not in json.dumps(after["lessons"])
    shown = await loop.mem("show", result.document["lessons"][0]["sha"], "--format", "json")
    assert shown.document["live"] is False
    assert (await loop.mem("reference", "remove", "ssh.md")).code == 1


async def test_a_person_overrules_and_supersedes(loop: Loop) -> None:
    """A rewording is a duplicate until a person keeps it; then one takes the place of the other, and status counts."""
    first = {
        "project": "warehouse",
        "level": "L1",
        "text": "Stock is negative because the importer runs twice; take the advisory lock stock_import first.",
        "evidence": [{"source": "ci:90", "text": "npm ERR! code EWAREHOUSE\nnpm ERR! EWAREHOUSE stock is negative\n"}],
    }
    again = {
        **first,
        "text": "Take the advisory lock stock_import first: the importer runs twice and stock is negative.",
    }
    kept = await loop.mem("accept", "-", "--format", "json", stdin=json.dumps(first).encode())
    duplicate = await loop.mem("accept", "-", "--format", "json", stdin=json.dumps(again).encode())
    assert (kept.document["status"], duplicate.document["status"]) == ("accepted", "duplicate")
    assert duplicate.document["duplicate_of"] == kept.document["sha"]
    stdin = json.dumps(again).encode()
    overruled = await loop.mem("accept", "-", "--override", "Told to new people.", "--format", "json", stdin=stdin)
    assert (overruled.document["status"], overruled.document["verdict"]["rule"]) == ("accepted", "duplicate")
    old, new = kept.document["sha"], overruled.document["sha"]
    done = await loop.mem("supersede", old[:12], "--by", new[:12], "--format", "json")
    assert (done.code, done.document) == (0, {"old": old, "sha": new})
    log = first["evidence"][0]["text"].encode()
    found = await loop.mem("lookup", "--project", "warehouse", "--file", "-", "--format", "json", stdin=log)
    first_of_all = found.document["lessons"][0]
    assert (first_of_all["sha"], first_of_all["supersedes"]) == (new, [old])
    assert old not in {lesson["sha"] for lesson in found.document["lessons"]}
    told = await loop.mem("status", "--format", "json")
    assert told.document["acceptance"]["duplicate"] >= 1
    assert told.document["acceptance"]["accepted"] >= 2
    refused = await loop.mem("supersede", new, "--by", old)
    assert refused.code == 2
    assert "circle" in refused.err
