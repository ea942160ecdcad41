"""What every door does to a text before it is sent on."""

from __future__ import annotations

import pytest

from mem.domain.accepting import MAX_EVIDENCE_BYTES, AcceptRequest
from mem.domain.canonical import canonical_json, sha256_hex
from mem.domain.errors import InvalidRequest
from mem.domain.lookup import MAX_TASK_CHARACTERS, ContextRequest
from mem.domain.query import MAX_QUESTION_CHARACTERS, QueryRequest
from mem.doors import DISTILL_ABOVE_BYTES, prepare_candidate, prepare_lookup, prepare_question
from mem.parsing import extract

SECRET = "gh" + "p_" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAabcd"
HIDDEN = "\u200b\u202e"
FAILURE = """\
Traceback (most recent call last):
  File "/srv/app/main.py", line 3, in <module>
    import yaml
ModuleNotFoundError: No module named 'yaml'
"""
NOISE = "".join(f"2026-07-02T10:00:00Z step {number} of the build went by without a word\n" for number in range(3000))


def candidate(**fields) -> AcceptRequest:
    given = {"request_id": "r", "project": "p", "level": "L1", "text": "t", **fields}
    return AcceptRequest.model_validate(given)


def lookup(**fields) -> ContextRequest:
    return ContextRequest.model_validate({"request_id": "r", "project": "p", **fields})


def test_no_secret_of_a_candidate_is_sent_on():
    """Every text that a candidate can bring is redacted, and the notes name the kind."""
    prepared = prepare_candidate(
        candidate(
            text=f"t {SECRET}",
            tool=SECRET,
            evidence=[{"source": f"s {SECRET}", "text": f"e {SECRET}"}],
            parents=[SECRET],
            supersedes=[SECRET],
        )
    )
    assert SECRET not in prepared.message.model_dump_json()
    assert prepared.notes == ("Secrets were redacted: github-token.",)


def test_no_secret_of_a_lookup_is_sent_on():
    """Tool, task and log are redacted, and the notes name the kind."""
    prepared = prepare_lookup(lookup(tool=SECRET, task=f"t {SECRET}", signature_source=f"{FAILURE}{SECRET}"))
    assert SECRET not in prepared.message.model_dump_json()
    assert prepared.notes == ("Secrets were redacted: github-token.",)


def test_no_secret_of_a_question_is_sent_on():
    """A question is redacted and stays within its limit, and hidden characters go, but not a terminal's colours."""
    asked = QueryRequest(request_id="r", project="p", question=f"why{HIDDEN}\x07 {SECRET}?", k=3)
    prepared = prepare_question(asked)
    assert SECRET not in prepared.message.model_dump_json()
    assert prepared.message.question.startswith("why ")
    assert len(prepared.notes) == 2
    assert prepared.message.model_dump(exclude_unset=True).keys() == asked.model_dump(exclude_unset=True).keys()
    coloured = asked.model_copy(update={"question": f"\x1b[31mit{HIDDEN} failed\x1b[0m"})
    assert prepare_question(coloured).message.question == "\x1b[31mit failed\x1b[0m"
    long = asked.model_copy(update={"question": f"password=hunter2hunter2 {'x' * MAX_QUESTION_CHARACTERS}"[:8192]})
    assert len(prepare_question(long).message.question) <= MAX_QUESTION_CHARACTERS


def test_hidden_characters_are_taken_out_and_counted():
    """Bidi and zero-width characters go everywhere; control characters stay in logs, where they mean something."""
    log = f"\x1b[31mit{HIDDEN} failed\x1b[0m"
    prepared = prepare_candidate(candidate(text=f"t{HIDDEN}\x07", evidence=[{"source": f"s{HIDDEN}", "text": log}]))
    assert prepared.message.text == "t"
    assert (prepared.message.evidence[0].source, prepared.message.evidence[0].text) == ("s", "\x1b[31mit failed\x1b[0m")
    assert prepared.notes == ("7 control, bidi or zero-width characters were removed.",)
    looked = prepare_lookup(lookup(tool=f"n{HIDDEN}pm", task=f"t{HIDDEN}\x00", signature_source=log))
    assert (looked.message.tool, looked.message.task) == ("npm", "t")
    assert looked.message.signature_source == "\x1b[31mit failed\x1b[0m"
    assert looked.notes == ("7 control, bidi or zero-width characters were removed.",)


@pytest.mark.parametrize("tool", ["", HIDDEN])
def test_a_tool_of_nothing_is_none(tool):
    """A label that is empty, or was made of hidden characters, is sent as no label."""
    assert prepare_candidate(candidate(tool=tool)).message.tool is None
    assert prepare_lookup(lookup(tool=HIDDEN, task="t")).message.tool is None


def test_a_clean_request_goes_as_it_came():
    """Nothing is changed, nothing is noted, and what was not set stays unset."""
    asked = lookup(signature_source=FAILURE, tool="python")
    prepared = prepare_lookup(asked)
    assert prepared.notes == ()
    assert prepared.message.model_dump(exclude_unset=True) == asked.model_dump(exclude_unset=True)
    brought = candidate(evidence=[{"source": "s", "turn": 3, "text": FAILURE}], tool="python", visibility="global")
    assert prepare_candidate(brought)[:2] == (brought, ())


def test_a_long_log_is_distilled_with_its_signatures():
    """What is over the line is cut to its failing parts, names the whole, and still fails like it."""
    log = NOISE + FAILURE + NOISE
    prepared = prepare_lookup(lookup(signature_source=log))
    sent = prepared.message.signature_source
    assert sent is not None
    assert len(sent.encode()) <= 32 * 1024 < DISTILL_ABOVE_BYTES < len(log)
    assert [each.sig_sha for each in extract(sent)] == [each.sig_sha for each in extract(log)] != []
    assert (prepared.message.original_sha, prepared.message.original_bytes) == (sha256_hex(log), len(log.encode()))
    assert prepared.notes == ("A long log was distilled to its failing parts.",)


def test_long_evidence_is_distilled_record_by_record():
    """Only the record that is too long is cut, and it names its original."""
    log = NOISE + FAILURE
    prepared = prepare_candidate(candidate(evidence=[{"source": "a", "text": log}, {"source": "b", "text": FAILURE}]))
    long, short = prepared.message.evidence
    assert len(canonical_json(long.text)) <= MAX_EVIDENCE_BYTES
    assert (long.original_sha, long.original_bytes) == (sha256_hex(log), len(log.encode()))
    assert (short.text, short.original_sha) == (FAILURE, None)
    assert [each.sig_sha for each in extract(long.text)] == [each.sig_sha for each in extract(log)] != []


@pytest.mark.parametrize("over", [0, 1])
def test_the_line_for_distilling_is_exact(over):
    """64 KB of encoded JSON go as they are, a byte more does not."""
    log = "\n".join([FAILURE, "x" * 80] * 400)
    log = log[: 64 * 1024]
    while len(canonical_json(log)) > DISTILL_ABOVE_BYTES:
        log = log[:-1]
    log += "x" * (DISTILL_ABOVE_BYTES - len(canonical_json(log)) + over)
    assert (prepare_lookup(lookup(signature_source=log)).message.signature_source == log) is (over == 0)
    sent = prepare_candidate(candidate(evidence=[{"source": "s", "text": log}])).message.evidence[0].text
    assert (sent == log) is (over == 0)


def test_a_task_that_grows_by_redaction_is_still_a_task():
    """What stands for a secret may be longer than the secret; a task at its limit is cut, not refused."""
    task = ("password=" + "x1y2z3 ") * (MAX_TASK_CHARACTERS // 16)
    prepared = prepare_lookup(lookup(task=task.ljust(MAX_TASK_CHARACTERS)))
    assert prepared.message.task is not None
    assert len(prepared.message.task) == MAX_TASK_CHARACTERS
    assert "x1y2z3" not in prepared.message.task


def test_what_was_hidden_alone_is_nothing():
    """A tool or task of invisible characters is as good as none."""
    prepared = prepare_lookup(lookup(tool=HIDDEN, task=HIDDEN, signature_source=FAILURE))
    assert (prepared.message.tool, prepared.message.task) == (None, None)


def test_all_notes_are_told():
    """Stripping, redaction and distilling are each told, with the kinds of secret sorted and once."""
    password = "PASSWORD" + "=" + "hunter" + "2"
    log = f"{NOISE}{HIDDEN}{password}\n{SECRET}\n{password}\n{FAILURE}"
    assert prepare_lookup(lookup(signature_source=log)).notes == (
        "2 control, bidi or zero-width characters were removed.",
        "Secrets were redacted: github-token, secret.",
        "A long log was distilled to its failing parts.",
    )


SHORT_SECRETS = "password=q1w2e3r4 " * 40


@pytest.mark.parametrize(
    "fields",
    [
        {"evidence": [{"source": SHORT_SECRETS[:500], "text": "e"}]},
        {"parents": [SHORT_SECRETS[:64]]},
        {"supersedes": [SHORT_SECRETS[:64]]},
        {"tool": SHORT_SECRETS[:64]},
    ],
    ids=["source", "parents", "supersedes", "tool"],
)
def test_a_text_that_redaction_makes_longer_stays_within_its_limit(fields):
    """What stands for a secret is cut, not held against the caller."""
    message = prepare_candidate(candidate(**fields)).message
    assert AcceptRequest.model_validate(message.model_dump()) == message
    assert "q1w2e3r4" not in message.model_dump_json()


@pytest.mark.parametrize(
    ("evidence", "field"),
    [({"source": HIDDEN, "text": "e"}, "evidence.1.source"), ({"source": "s", "text": HIDDEN}, "evidence.1.text")],
    ids=["source", "text"],
)
def test_evidence_of_hidden_characters_alone_is_refused(evidence, field):
    """Nothing is left of it, and the caller is told where."""
    with pytest.raises(InvalidRequest, match=field):
        prepare_candidate(candidate(evidence=[{"source": "s", "text": "e"}, evidence]))
