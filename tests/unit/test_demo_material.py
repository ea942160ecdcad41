"""The demonstration's material: complete, within the limits, and clean of hosts and secrets."""

from __future__ import annotations

import re
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import mem.cli.demo
from mem.cli.demo import scenarios
from mem.cli.demo.capture import SCENARIOS
from mem.cli.demo.running import Bench, github, gitlab, neutral
from mem.domain.accepting import MAX_EVIDENCE_BYTES, MAX_EVIDENCE_TOTAL_BYTES, MAX_TEXT_BYTES
from mem.domain.canonical import canonical_json
from mem.parsing.redact import redact

DEMO = Path(mem.cli.demo.__file__).parent
LOGS = sorted((DEMO / "logs").glob("*.log"))
HERE = [re.escape(str(path)) + r"\b" for path in (Path.home(), Path(__file__).resolve().parents[2])]
HOST_PATH = re.compile("|".join([*HERE, r"/root\b", r"(?<![\w.])/tmp/", r"\.pyenv", "capture-", "/var/folders"]))
INDEX_HOST = re.compile(
    r"\b(?:files\.python|test\.py|py)" + r"pi(?:hosted)?\.org|registry\.(?:npm|yarn)|deb\.deb" + "ian"
)


def incidents() -> list[dict[str, Any]]:
    return list(tomllib.loads((DEMO / "incidents.toml").read_text(encoding="utf-8"))["incident"])


def queries() -> list[dict[str, Any]]:
    return list(tomllib.loads((DEMO / "queries.toml").read_text(encoding="utf-8"))["query"])


def accepted() -> list[dict[str, Any]]:
    return [incident for incident in incidents() if incident["expect"] == "accepted"]


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
def test_a_log_names_no_host_and_holds_no_secret(path: Path) -> None:
    """What a stranger may read: no path, host name or secret of the machine it was captured on."""
    text = path.read_text(encoding="utf-8")
    assert HOST_PATH.search(text) is None
    assert INDEX_HOST.search(text) is None
    assert redact(text) == (text, ())
    assert text.strip()


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_the_two_renderings_differ_line_by_line(scenario: Any) -> None:
    """An exact hit on the second is no comparison of equal texts."""
    first, second = (
        (DEMO / "logs" / f"{scenario.name}.{variant}.log").read_text(encoding="utf-8") for variant in (1, 2)
    )
    assert not set(first.splitlines()) & set(second.splitlines())


def test_one_log_is_large() -> None:
    """More than 50 KB, and still small enough to be evidence."""
    large = [path for path in LOGS if path.stat().st_size > 50_000]
    assert large
    assert {path.name for path in large} & {str(query["log"]) for query in queries()}


def test_each_reference_to_a_file_or_an_incident_holds() -> None:
    """No dangling name in either file."""
    names = {path.name for path in LOGS}
    evidence = [record for incident in incidents() for record in incident["evidence"]]
    assert {record["log"] for record in evidence if "log" in record} <= names
    assert all(("log" in record) != ("text" in record) for record in evidence)
    assert {query["log"] for query in queries()} <= names
    ids = [incident["id"] for incident in incidents()]
    assert len(ids) == len(set(ids))
    assert {query["incident"] for query in queries() if "incident" in query} <= {one["id"] for one in accepted()}
    assert all((DEMO / "reference" / query["reference"]).is_file() for query in queries() if "reference" in query)


def test_parents_and_superseded_incidents_come_first() -> None:
    """The consumer accepts in the order of the file."""
    seen: set[str] = set()
    for incident in incidents():
        wanted = {*incident.get("parents", []), *incident.get("supersedes", [])}
        assert wanted <= seen or incident["expect"] == "bad-parents"
        if incident["expect"] == "accepted":
            seen.add(incident["id"])


def test_the_limits_of_the_contract_hold() -> None:
    """Text, each evidence record, and all of them together."""
    for incident in incidents():
        assert len(canonical_json(incident["text"])) <= MAX_TEXT_BYTES
        sizes = [len(canonical_json(_text(record))) for record in incident["evidence"]]
        assert all(size <= MAX_EVIDENCE_BYTES for size in sizes)
        assert sum(sizes) <= MAX_EVIDENCE_TOTAL_BYTES


def test_all_that_the_demonstration_shows_is_there() -> None:
    """A dozen accepted incidents of several projects and levels, a supersession, each rejection, each tier."""
    assert len(accepted()) >= 12
    assert len({incident["project"] for incident in accepted()}) >= 4
    assert {incident["level"] for incident in accepted()} == {"L1", "L2"}
    assert any(incident.get("supersedes") for incident in accepted())
    rejected = {incident["expect"] for incident in incidents()} - {"accepted"}
    assert rejected == {"no-evidence", "trivial", "duplicate", "bad-parents"}
    assert {query["tier"] for query in queries()} == {1, 2, 3}


def test_a_novel_wording_shares_no_content_word_with_the_lesson() -> None:
    """It can only be found by the failure that the lesson would explain."""
    query = next(query for query in queries() if query.get("matched_kind") == "symptom")
    lesson = next(incident for incident in incidents() if incident["id"] == query["incident"])
    log = (DEMO / "logs" / query["log"]).read_text(encoding="utf-8")
    assert _words(lesson["text"]) & _words(log) <= {"the"}


def test_the_reference_and_the_skill_are_complete() -> None:
    """Documents with headings, a skill with its front matter."""
    documents = sorted((DEMO / "reference").glob("*.md"))
    assert 5 <= len(documents) <= 8
    assert all(re.search(r"^## ", path.read_text(encoding="utf-8"), re.MULTILINE) for path in documents)
    skill = (DEMO / "skills" / "ci-triage" / "SKILL.md").read_text(encoding="utf-8")
    assert re.match(r"---\nname: ci-triage\ndescription: .{20,}\n---\n", skill)


def _text(record: dict[str, Any]) -> str:
    return str(record.get("text") or (DEMO / "logs" / record["log"]).read_text(encoding="utf-8"))


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]{3,}", text.lower()))


def test_a_captured_log_shows_neutral_names_only(tmp_path: Path) -> None:
    """A real failure, run here: the folder it ran in is gone, the failure is not."""
    bench = Bench(1, tmp_path / "job", "/home/ci/app", sys.executable)
    bench.root.mkdir()
    text = neutral(scenarios.python_import(bench), bench)
    assert 'File "/home/ci/app/run.py", line 1' in text
    assert "ModuleNotFoundError: No module named 'feature_store_client'" in text
    assert str(tmp_path) not in text


def test_a_rendering_adds_what_its_ci_system_adds() -> None:
    """Each line gets its own time; the exit code is said as the system says it."""
    started = datetime(2026, 1, 2, tzinfo=UTC)
    lines = github("boom\n", "make", started, 2).splitlines()
    assert lines[-2:] == [
        "2026-01-02T00:00:00.1496440Z boom",
        "2026-01-02T00:00:00.1870550Z ##[error]Process completed with exit code 2.",
    ]
    assert gitlab("boom\n", "make", started, 2).splitlines()[1] == "2026-01-02T00:00:00.037411Z 01O boom"
