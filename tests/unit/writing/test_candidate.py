"""The candidate: redacted, recorded once, read back the same."""

from __future__ import annotations

import pytest

from mem.domain.accepting import AcceptInput, AcceptStep
from mem.domain.canonical import canonical_json
from mem.domain.errors import InvalidRequest, NotFound, RequestConflict, TooLarge
from mem.domain.ids import fingerprint
from mem.testing import FakeJournal, FakeState
from mem.writing.candidate import candidate_key, load_candidate, protect, record_candidate

SECRET = "gh" + "p_" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAabcd"
STEP = AcceptStep(project="p", request_id="r")


def asked(**fields) -> AcceptInput:
    given = {"level": "L1", "text": "Pin react.", "evidence": [{"source": "ci", "turn": 3, "text": "it failed"}]}
    return AcceptInput.model_validate({"request_id": "r", "project": "p", **given, **fields})


@pytest.fixture
def state() -> FakeState:
    return FakeState()


@pytest.fixture
def journal(state) -> FakeJournal:
    return FakeJournal(state)


async def test_no_secret_enters_the_journal(journal, state):
    """Whichever text of a candidate holds a secret, the journal holds none; whom it is for stays as it is."""
    request = asked(
        text=f"The token {SECRET} was revoked.",
        evidence=[{"source": f"https://x/?token={SECRET}", "text": f"401 for {SECRET}\nline two"}],
        parents=[SECRET],
        supersedes=[SECRET],
        tool=SECRET,
        user_id="ada@example.org",
    )
    await record_candidate(journal, request)
    (record,) = state.records
    assert SECRET.encode() not in record.body
    assert record.data["candidate"]["text"] == "The token [redacted:github-token] was revoked."
    assert record.data["candidate"]["evidence"][0]["text"] == "401 for [redacted:github-token]\nline two"
    assert record.data["candidate"]["user_id"] == "ada@example.org"


async def test_what_hides_or_reorders_text_is_taken_out(journal):
    """Bidi and zero-width characters go from every text, control characters from what people write, NUL from all."""
    request = asked(
        text="Pin\u202e rea\u200bct.\x00\x1b",
        evidence=[{"source": "c\u2066i\x07", "text": "\x1b[31mit\u200b fail\x00ed\x1b[0m"}],
        tool="n\u200bpm\x00",
    )
    safe = protect(request)
    assert (safe.text, safe.tool) == ("Pin react.", "npm")
    assert (safe.evidence[0].source, safe.evidence[0].text) == ("ci", "\x1b[31mit fail\ufffded\x1b[0m")


@pytest.mark.parametrize("tool", ["", "\u200b", "\x00"])
async def test_a_tool_of_nothing_is_none(journal, tool):
    """A label that is empty, or was made of what is taken out, is recorded as no label."""
    await record_candidate(journal, asked(tool=tool))
    assert (await load_candidate(journal, STEP)).tool is None


async def test_a_candidate_is_read_back_as_nodes(journal):
    """Evidence becomes L0 of the same owner with source and turn; what is named twice counts once."""
    request = asked(
        evidence=[{"source": "ci", "turn": 3, "text": "it failed"}] * 2
        + [{"source": "ci", "turn": 4, "text": "it failed"}],
        parents=["b" * 64, "a" * 64, "b" * 64],
        supersedes=["c" * 64, "c" * 64],
        user_id="ada",
        visibility="user",
        tool="npm",
    )
    await record_candidate(journal, request)
    candidate = await load_candidate(journal, STEP)
    assert (candidate.node.level, candidate.node.owner, candidate.node.visibility) == ("L1", "ada", "user")
    assert (candidate.node.source, candidate.node.turn) == (None, None)
    assert [(each.level, each.source, each.turn, each.owner) for each in candidate.evidence] == [
        ("L0", "ci", 3, "ada"),
        ("L0", "ci", 4, "ada"),
    ]
    assert candidate.parents == ("b" * 64, "a" * 64)
    assert candidate.supersedes == ("c" * 64,)
    assert candidate.tool == "npm"


async def test_a_candidate_sent_again_is_recorded_once(journal, state):
    """The same body gives the same fingerprint and no second record, however long it is to wait."""
    first = await record_candidate(journal, asked())
    assert await record_candidate(journal, asked(wait="durable")) == first
    assert [record.key for record in state.records] == [candidate_key(STEP)]


@pytest.mark.parametrize(
    "change", [{"text": "Pin vue."}, {"tool": "npm"}, {"tool": None}, {"visibility": "global"}], ids=str
)
async def test_another_body_under_a_used_id_is_a_conflict(journal, state, change):
    """A changed body is refused with both ways out, and leaves the first as it was."""
    await record_candidate(journal, asked())
    before = list(state.records)
    with pytest.raises(RequestConflict, match="'r' was used before") as error:
        await record_candidate(journal, asked(**change))
    assert "new request id" in error.value.remedy
    assert state.records == before


async def test_a_door_decides_what_the_caller_sent(journal):
    """The fingerprint of a door counts, since it saw the body before redaction; without one it is computed."""
    body = asked()
    computed = fingerprint(body.model_dump(mode="json", exclude_unset=True))
    assert await record_candidate(journal, body) == computed
    assert await record_candidate(journal, asked(request_id="s", fingerprint="f" * 64)) == "f" * 64
    with pytest.raises(RequestConflict):
        await record_candidate(journal, asked(request_id="s", text=f"Pin {SECRET}"))


async def test_the_same_id_in_another_project_is_another_request(journal, state):
    """Request ids are scoped by project."""
    await record_candidate(journal, asked())
    await record_candidate(journal, asked(project="q", text="Pin vue."))
    assert len(state.records) == 2


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"text": " "}, InvalidRequest),
        ({"text": "x" * 9000}, TooLarge),
        ({"evidence": [{"source": "s", "text": "x" * 70_000}]}, TooLarge),
    ],
    ids=["blank", "text", "evidence"],
)
async def test_what_breaks_a_limit_is_not_recorded(journal, state, fields, kind):
    """A caller who starts the workflow without a door is held to the same limits."""
    with pytest.raises(kind):
        await record_candidate(journal, asked(**fields))
    assert state.records == []


async def test_a_step_before_its_candidate_says_so(journal):
    """Reading a candidate that was never recorded names request and project."""
    with pytest.raises(NotFound, match="'r' of project 'p'"):
        await load_candidate(journal, STEP)


async def test_the_record_holds_what_the_caller_did_not_name(journal, state):
    """Request id and project stand beside the candidate, not in it; `wait` and fingerprint are no part of it."""
    await record_candidate(journal, asked(wait="durable"))
    data = state.records[0].data
    assert (data["operation"], data["project"], data["request_id"]) == ("accept", "p", "r")
    assert not {"request_id", "project", "wait", "fingerprint"} & set(data["candidate"])
    assert canonical_json(data)
