"""The development incidents keep the rules that they are written by."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from mem.domain.accepting import MAX_EVIDENCE_BYTES, MAX_TEXT_BYTES
from mem.parsing.redact import redact
from tests.incidents import content_words, decisions, incidents, tools

INCIDENTS = incidents()
DECISIONS = decisions()
MAX_ERROR_LINES = 12
MAX_EVIDENCE_LINES = 60
MIN_LOG_LINES = 5
HOST = re.compile(r"\w://(?:[^\s/@\"']*@)?([A-Za-z0-9._-]+)")
NOBODY = re.compile(r"[.](?:example|example\.com|internal|svc)$|^(?:example\.com|localhost|[\d.]+|[^.]+)$")


def test_there_are_enough_incidents_over_enough_tools():
    """The set is wide enough for a rate to mean something."""
    assert sum(incident.shows for incident in INCIDENTS) >= 50
    assert sum(not incident.shows for incident in INCIDENTS) >= 22
    assert len({incident.tool for incident in INCIDENTS}) >= 28
    assert {incident.tool for incident in INCIDENTS} <= tools()


def test_there_are_enough_memories_that_explain_no_failure():
    """Most of them tempt a projector to invent a symptom."""
    kinds = Counter(decision.kind for decision in DECISIONS)
    assert set(kinds) == {"plain", "tempting"}
    assert kinds.total() >= 60
    assert kinds["tempting"] >= 35
    assert sum(bool(decision.evidence) for decision in DECISIONS) >= 20


def test_no_entry_is_there_twice():
    """Ids, memories and errors are unique over all files."""
    for values in (
        [entry.id for entry in (*INCIDENTS, *DECISIONS)],
        [entry.memory for entry in (*INCIDENTS, *DECISIONS)],
        [incident.error for incident in INCIDENTS],
    ):
        assert [value for value, count in Counter(values).items() if count > 1] == []


def test_error_and_memory_share_no_content_word():
    """What leads from the error to its memory is never the memory's own wording."""
    for incident in INCIDENTS:
        assert content_words(incident.error), incident.id
        assert content_words(incident.error) & content_words(incident.memory) == frozenset(), incident.id


def test_the_error_is_another_occurrence_than_the_evidence():
    """No error stands in the evidence as it is."""
    for incident in INCIDENTS:
        assert all(incident.error not in record.text for record in incident.evidence), incident.id


def test_evidence_that_shows_the_failure_is_an_excerpt_with_noise():
    """It has several lines, one of which at least has something in common with the error; talk may be short."""
    assert all(incident.evidence for incident in INCIDENTS)
    for incident in INCIDENTS:
        if incident.shows:
            log = max((record.text for record in incident.evidence), key=lambda text: text.count("\n"))
            assert log.count("\n") + 1 >= MIN_LOG_LINES, incident.id
            error = content_words(incident.error)
            assert any(content_words(record.text) & error for record in incident.evidence), incident.id


def test_texts_are_within_their_limits():
    """Each could be brought to an acceptance as it is."""
    for entry in (*INCIDENTS, *DECISIONS):
        assert 0 < len(entry.memory.encode()) <= MAX_TEXT_BYTES, entry.id
        for record in entry.evidence:
            assert record.source, entry.id
            assert record.turn >= 1, entry.id
            assert 1 <= record.text.count("\n") + 1 <= MAX_EVIDENCE_LINES, entry.id
            assert 0 < len(record.text.encode()) <= MAX_EVIDENCE_BYTES, entry.id
    assert all(1 <= incident.error.count("\n") + 1 <= MAX_ERROR_LINES for incident in INCIDENTS)


def test_texts_hold_no_secret_and_name_no_real_host():
    """Redaction finds nothing in them, so what is measured is what is written; their addresses belong to nobody."""
    texts = [entry.memory for entry in (*INCIDENTS, *DECISIONS)]
    texts += [record.text for entry in (*INCIDENTS, *DECISIONS) for record in entry.evidence]
    texts += [incident.error for incident in INCIDENTS]
    assert [text for text in texts if redact(text).text != text] == []
    assert [host for text in texts for host in HOST.findall(text) if not NOBODY.search(host)] == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The Locks were LOCKED", {"lock", "locked"}),
        ("CreateContainerConfigError", {"createcontainerconfigerror", "create", "container", "config", "error"}),
        ("x509 at 10.0.0.7:443, code 1", {"509", "10", "0", "7", "443", "code", "1"}),
        ("max_open_files is on", {"max", "open", "file"}),
        ("Fehler: Gerät überlastet", {"fehler", "gerät", "überlastet"}),
        ("it is as it was, by us", set()),
    ],
)
def test_content_words_see_through_case_plurals_identifiers_and_numbers(text: str, words: set[str]):
    """Two texts cannot share a name without sharing a word."""
    assert content_words(text) == words
