"""The measure of the prompt for symptoms."""

from __future__ import annotations

import json

import pytest

from bench import prompts
from tests.openai_server import templates

INCIDENTS = """
[[incident]]
id = "proxy-body"
memory = "Kong buffered the whole body before proxying; proxy-body-size 0 on the ingress helped."
shows = true
error = "HTTP/1.1 413 Request Entity Too Large"
[[incident.evidence]]
source = "ci"
turn = 1
text = "curl: (22) The requested URL returned error: 413"

[[decision]]
id = "queue-names"
memory = "We name queues after the team that reads them."

[[unanswered]]
id = "other"
memory = "Something else, which nobody was asked about."
"""


@pytest.fixture
def incidents(tmp_path):
    (tmp_path / "incidents.toml").write_text(INCIDENTS, encoding="utf-8")
    return prompts.read_incidents(tmp_path)


@pytest.fixture
def labelled(tmp_path, incidents):
    answers = tmp_path / "answers"
    answers.mkdir()
    (answers / "proxy-body.txt").write_text('{"symptoms": ["413 Request Entity Too Large", "seen on ACME-4711"]}')
    (answers / "queue-names.json").write_text('{"symptoms": []}')
    prompts.pack(answers, tmp_path / "out" / "fixtures.json", "strong-1", incidents)
    return json.loads((tmp_path / "out" / "fixtures.json").read_text(encoding="utf-8"))


def test_a_rendered_incident(tmp_path, incidents):
    """Each incident is one text with memory and evidence, as the projector would ask."""
    prompts.render(tmp_path / "out", incidents)
    text = (tmp_path / "out" / "proxy-body.txt").read_text(encoding="utf-8")
    assert text.startswith(templates()[0].system)
    assert incidents[0].memory in text
    assert incidents[0].evidence[0] in text
    assert incidents[0].error not in text


def test_answers_become_labelled_fixtures(incidents, labelled, capsys):
    """An answer is labelled with the prompt and the memory that it was given to; what lacks one is told."""
    assert [(each["id"], each["model"]) for each in labelled] == [
        ("proxy-body", "strong-1"),
        ("queue-names", "strong-1"),
    ]
    assert {each["prompt_sha"] for each in labelled} == {templates()[0].sha}
    assert [each["memory_sha"] for each in labelled] == [each.memory_sha for each in incidents[:2]]


async def test_a_score(incidents, labelled, capsys):
    """The report counts ranks and empty projections of both projectors, and shows what was dropped."""
    await prompts.score(labelled, incidents)
    told = capsys.readouterr().out
    assert "2 of 3 memories have an answer" in told
    assert "dropped: {'invents': 1}" in told
    [line] = [line for line in told.splitlines() if line.startswith("strong-1")]
    assert line.split() == ["strong-1", "1/1", "1.00", "-", "1.000", "1/1", "1.00", "1/1", "1.00"]


def test_ranks_are_never_flattered():
    """A tie counts against the memory that was looked for, and one without a vector has no rank."""
    asked = {"a": [1.0, 0.0], "b": [0.0, 1.0], "c": [1.0, 0.0]}
    assert prompts._ranks(asked, {"a": [1.0, 0.0], "b": [1.0, 0.0]}) == {"a": 2, "b": 2, "c": None}
