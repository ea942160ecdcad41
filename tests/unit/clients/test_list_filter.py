"""The list filter of a request: what it says, and that no value can say anything else by it."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from mem.clients.temporal.list_filter import list_filter
from mem.domain.runs import MAX_LIMIT, Run, RunsRequest, kind_of, request_of

NOW = datetime(2026, 7, 2, 12, tzinfo=UTC)
SHA = "57f54db13040" + "a" * 52
OURS = 'WorkflowType IN ("AcceptMemory", "LookUpContext", "QueryMemory", "GroundContext", "RebuildProjections")'


def asked(**fields) -> RunsRequest:
    return RunsRequest.model_validate(fields)


def told(**fields) -> str:
    return list_filter(asked(**fields), NOW).text


def ran(**fields) -> Run:
    nothing = dict.fromkeys(["kind", "request_id", "project", "tool", "tier", "outcome", "closed", "seconds"])
    rest = {"workflow_id": "w", "run_id": "r", "signatures": [], "degraded": [], "status": "running", "started": NOW}
    return Run.model_validate({**nothing, **rest, **fields})


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"tool": ["npm"], "tier": ["1"]}, 'MemTool = "npm" AND MemTier = "1"'),
        ({"project": ["a", "b"], "outcome": ["rejected"]}, 'MemProject IN ("a", "b") AND MemOutcome = "rejected"'),
        ({"signature": SHA.upper()}, f'MemSignature = "{SHA}"'),
        ({"degraded": ["symptom", "text"]}, 'MemDegraded IN ("symptom", "text")'),
        ({"degraded": ["text", "any"]}, "MemDegraded IS NOT NULL"),
        ({"kind": ["context"], "slower": "2s"}, 'WorkflowType = "LookUpContext" AND ExecutionDuration >= "2s"'),
        ({"kind": ["rebuild"], "slower": "2d"}, 'WorkflowType = "RebuildProjections" AND ExecutionDuration >= "48h"'),
        ({"tool": ["it's"]}, 'MemTool = "it\'s"'),
        ({}, OURS),
        ({"status": ["timed-out", "continued-as-new"]},
         OURS + ' AND ExecutionStatus IN ("TimedOut", "ContinuedAsNew")'),
        ({"tier": ["none"], "since": "90m"}, 'MemTier = "none" AND StartTime >= "2026-07-02T10:30:00Z"'),
        ({"tier": ["3"], "before": "2026-07-01"}, 'MemTier = "3" AND StartTime < "2026-07-01T00:00:00Z"'),
        ({"tier": ["3"], "since": "2026-07-01T10:00+02:00"}, 'MemTier = "3" AND StartTime >= "2026-07-01T08:00:00Z"'),
        ({"tier": ["3"], "since": "999999d"}, 'MemTier = "3" AND StartTime >= "1970-01-01T00:00:00Z"'),
    ],
)  # fmt: skip
def test_a_filter_says_what_was_asked_for(fields, text):
    """Attributes first; where there is none, the workflows are named, so that no run of somebody else is among them."""
    assert list_filter(asked(**fields), NOW) == (text, True)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"tool": ['say "hi"', "npm"]}, '(MemTool = "npm" OR MemTool STARTS_WITH "say ")'),
        ({"tool": ["C:\\tools\\cl.exe"]}, 'MemTool STARTS_WITH "C:"'),
        ({"tool": ["what?"]}, 'MemTool STARTS_WITH "what"'),
        ({"tool": ["'quoted'"]}, "MemTool IS NOT NULL"),
        ({"signature": "57f54db13040"}, "MemSignature IS NOT NULL"),
    ],
)
def test_what_no_filter_can_hold_is_asked_for_by_its_beginning(fields, text):
    """It then selects more, which it says."""
    assert list_filter(asked(**fields), NOW) == (text, False)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("since", "yesterday", "should be an age such as 30m, 2h or 7d, or a UTC date or time"),
        ("before", "2026-13-01", "should be an age"),
        ("before", "9999-01-01", "should be an age"),
        ("slower", "fast", "should be a length of time such as 500ms"),
        ("slower", "0s", "should be a length of time"),
        ("slower", "99999d", "should be a length of time"),
        ("signature", "57f5", "should be 8 to 64 hexadecimal digits"),
        ("limit", MAX_LIMIT + 1, "less than or equal to 1000"),
    ],
)
def test_a_wrong_value_is_told_with_what_is_right(field, value, said):
    """An error names what may be written in its place."""
    with pytest.raises(ValidationError, match=re.escape(said)):
        asked(**{field: value})


hostile = st.text(
    st.sampled_from("ab'\"\\?%_`;\n\x00\x1aé -*()=") | st.characters(exclude_categories=["Cs"]), max_size=9
)
tools = hostile.filter(bool)


@given(wanted=st.lists(tools, min_size=1, max_size=3), tool=tools, tier=st.sampled_from("12"))
def test_no_value_says_more_than_itself(wanted, tool, tier):
    """Read back, the filter selects every run that is asked for, and where it is exact no other."""
    request = asked(tool=wanted, tier=[tier])
    text, exact = list_filter(request, NOW)
    for run in (ran(tool=one, tier=each) for one in {*wanted, tool, tool + "x"} for each in "12"):
        found = selected(text, run)
        assert found or not request.selects(run)
        assert request.selects(run) or not (found and exact)


def selected(text: str, run: Run) -> bool:
    """What a filter says of a run, read as a server of the strictest kind reads it."""
    values: list[str] = []

    def taken(quoted: re.Match[str]) -> str:
        value = quoted[1]
        assert not re.search(r"[\x00-\x1f\x7f-\x9f\\?]", value)
        assert value.strip("'") == value
        values.append(value)
        return f"${len(values) - 1}"

    bare = re.sub(r'"([^"]*)"', taken, text)
    assert re.fullmatch(r"[A-Za-z_ ()$0-9,=]*", bare), bare
    has = {"MemTool": run.tool, "MemTier": run.tier}

    def one(part: str) -> bool:
        name, operator, *_ = part.strip("()").split(" ", 2)
        asked_for = [values[int(place)] for place in re.findall(r"\$(\d+)", part)]
        return (operator == "IS" and has[name] is not None) or (
            any(has[name].startswith(each) for each in asked_for)
            if operator == "STARTS_WITH"
            else has[name] in asked_for
        )

    return all(any(one(each) for each in part.strip("()").split(" OR ")) for part in bare.split(" AND "))


def test_a_run_is_known_by_its_ids():
    """A workflow id ends with the request id, whatever stands in that; a rebuild answers no request."""
    assert request_of(kind_of("AcceptMemory"), "accept:billing:a:b c") == "a:b c"
    assert request_of(kind_of("GroundContext"), "ground:0123456789abcdef:turn-1") == "turn-1"
    assert request_of(kind_of("RebuildProjections"), "rebuild:signatures:1") is None
    assert request_of(kind_of("AcceptMemory"), "started-by-hand") is None
    assert kind_of("SomebodyElses") is None
