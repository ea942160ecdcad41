"""The extractive projector and the links: what the evidence shows, quoted."""

from __future__ import annotations

from pathlib import Path

import pytest

from mem.domain.accepting import MadeProjection
from mem.domain.canonical import sha256_hex
from mem.parsing import extract
from mem.parsing.extract import SIGNATURES
from mem.ports import EvidenceText
from mem.writing import projector as module
from mem.writing.links import signatures_of
from mem.writing.projector import LINES_PER_EVIDENCE, MAX_LINES, ExtractiveProjector, rules_sha

NPM = """\
> npm ci
npm ERR! code ERESOLVE
npm ERR! ERESOLVE unable to resolve dependency tree
npm ERR! Found: react@18.2.0
"""
PYTHON = """\
Traceback (most recent call last):
  File "/srv/app/main.py", line 3, in <module>
    import yaml
ModuleNotFoundError: No module named 'yaml'
"""
DECISION = "We agreed to deploy on Tuesdays, and to keep the calendar in the wiki."
SUCCESS = "added 120 packages in 3s\nfound 0 vulnerabilities\nDone in 4.1s.\n"


async def project(*evidence: str) -> str:
    return (await project_from("text", *evidence)).text


async def project_from(text: str, *evidence: str) -> MadeProjection:
    records = [EvidenceText(sha256_hex(each), each) for each in evidence]
    return await ExtractiveProjector().project(text, records)


async def test_the_failure_lines_of_the_evidence_are_quoted():
    """The error and its message are in the projection, each line as the evidence has it, and no other line is."""
    lines = (await project(NPM)).split("\n")
    assert "npm ERR! code ERESOLVE" in lines
    assert set(lines) <= set(NPM.splitlines())
    assert "> npm ci" not in lines


@pytest.mark.parametrize("evidence", [(), ("",), (DECISION,), (SUCCESS,), (DECISION, SUCCESS)])
async def test_evidence_without_a_failure_has_no_symptom(evidence):
    """A decision, a success, or nothing: the projection is empty."""
    assert await project(*evidence) == ""


async def test_each_record_contributes_in_its_order_and_a_line_once():
    """Two records give the lines of both, first come first, and a repeated record adds nothing."""
    both = await project(PYTHON, NPM, PYTHON)
    assert both == f"{await project(PYTHON)}\n{await project(NPM)}"
    assert both.index("yaml") < both.index("ERESOLVE")


async def test_the_text_of_the_memory_never_changes_its_symptom():
    """What is told in prose is no symptom, not even when it names an error."""
    assert await project_from("ModuleNotFoundError: No module named 'x'", NPM) == await project_from("text", NPM)


async def test_a_projection_is_bounded():
    """However many records fail, the projection stays a short text."""
    many = [PYTHON.replace("yaml", f"package_{chr(97 + number // 26)}{chr(97 + number % 26)}") for number in range(60)]
    lines = (await project(*many)).split("\n")
    assert len(lines) == MAX_LINES
    noisy = "\n".join(f"main.c:{number}:1: error: unknown type name 't{number}_t'" for number in range(1, 40))
    assert 0 < len((await project(noisy)).split("\n")) <= LINES_PER_EVIDENCE


async def test_no_secret_is_quoted():
    """Evidence that slipped by a door with a secret in a failure line does not carry it into the symptom."""
    secret = "gh" + "p_" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAabcd"
    told = await project(f"npm ERR! code E401\nnpm ERR! Unable to authenticate with {secret}\n")
    assert "E401" in told
    assert secret not in told


async def test_the_prompt_sha_is_that_of_the_rules(tmp_path, monkeypatch):
    """A changed, added or renamed rule file is another prompt; another reading of the same rules is not."""
    now = ExtractiveProjector().key().prompt_sha
    rules_sha.cache_clear()
    assert ExtractiveProjector().key().prompt_sha == now
    folder = tmp_path / "rules"
    folder.mkdir()
    for path in Path("mem/parsing/rules").glob("*.toml"):
        (folder / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(module, "files", lambda _: tmp_path)
    assert sha_of_folder() == now
    (folder / "npm.toml").write_text((folder / "npm.toml").read_text("utf-8") + "# more\n", encoding="utf-8")
    changed = sha_of_folder()
    (folder / "npm.toml").rename(folder / "npx.toml")
    renamed = sha_of_folder()
    (folder / "notes.txt").write_text("no rule", encoding="utf-8")
    assert len({now, changed, renamed}) == 3
    assert sha_of_folder() == renamed
    rules_sha.cache_clear()


async def test_the_limits_are_part_of_the_prompt(monkeypatch):
    """Another number of lines gives other texts, so it is another prompt."""
    now = sha_of_folder()
    monkeypatch.setattr(module, "MAX_LINES", MAX_LINES + 1)
    assert sha_of_folder() != now
    rules_sha.cache_clear()


def sha_of_folder() -> str:
    rules_sha.cache_clear()
    return ExtractiveProjector().key().prompt_sha


def test_a_memory_answers_to_each_failure_of_its_evidence_once():
    """Signatures come in the order of the evidence, a repeated one at its first place."""
    linked = signatures_of([PYTHON, NPM, PYTHON])
    assert [each.sig_sha for each in linked] == [extract(PYTHON)[0].sig_sha, extract(NPM)[0].sig_sha]


def test_evidence_without_a_failure_links_nothing():
    """A decision is found by no signature."""
    assert signatures_of([DECISION, SUCCESS]) == []


def test_one_record_links_its_best_failures_alone():
    """A log with many failures gives no more than a handful of keys."""
    log = "\n".join(PYTHON.replace("yaml", f"package_{chr(97 + number)}") for number in range(20))
    assert len(signatures_of([log])) == SIGNATURES
