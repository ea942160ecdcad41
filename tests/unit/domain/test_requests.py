"""What a request may bring: limits on both sides, strict types, and errors that help."""

from __future__ import annotations

import inspect

import pytest
from pydantic import ValidationError

from mem.domain import errors
from mem.domain.accepting import AcceptRequest, check_limits
from mem.domain.errors import InvalidRequest, MemError, TooLarge
from mem.domain.lookup import ContextRequest, check_inputs

KB = 1024


def candidate(**fields) -> AcceptRequest:
    return AcceptRequest.model_validate(
        {"request_id": "r", "project": "p", "level": "L1", "text": "Pin the peer dependency.", **fields}
    )


def evidence(size: int, count: int = 1) -> list[dict[str, object]]:
    """Records whose texts take `size` bytes as JSON, quotes included."""
    return [{"source": f"s{number}", "text": "x" * (size - 2)} for number in range(count)]


@pytest.mark.parametrize(
    "text",
    ["x" * (8 * KB - 2), "ü" * (4 * KB - 1), '"' * (4 * KB - 1), "\n" * (4 * KB - 2) + "xx"],
    ids=["ascii", "two bytes each", "escaped quotes", "escaped line feeds"],
)
def test_a_text_is_measured_as_its_encoded_json(text):
    """A text of exactly 8 KB on the wire passes, and one character more does not."""
    check_limits(candidate(text=text))
    with pytest.raises(TooLarge, match="limit is 8192"):
        check_limits(candidate(text=text + "x"))


def test_one_record_of_evidence_is_held_to_64_kb():
    """64 KB of evidence pass, and a byte more names the record that is too long."""
    check_limits(candidate(evidence=evidence(64 * KB)))
    with pytest.raises(TooLarge, match=r"evidence\[1\] takes 65537 bytes; the limit is 65536"):
        check_limits(candidate(evidence=[*evidence(64 * KB), {"source": "t", "text": "x" * (64 * KB - 1)}]))


def test_all_evidence_together_is_held_to_1_mb():
    """Sixteen full records pass, and a seventeenth of any length does not."""
    check_limits(candidate(evidence=evidence(64 * KB, 16)))
    with pytest.raises(TooLarge, match="1048579 bytes in all; the limit is 1048576"):
        check_limits(candidate(evidence=[*evidence(64 * KB, 16), {"source": "t", "text": "x"}]))


@pytest.mark.parametrize("text", ["", " ", "\n\t "])
def test_an_empty_memory_is_refused(text):
    """White space is no lesson."""
    with pytest.raises(InvalidRequest, match="empty"):
        check_limits(candidate(text=text))


@pytest.mark.parametrize(
    ("fields", "missing"),
    [
        ({"visibility": "user"}, "user_id"),
        ({"visibility": "container"}, "user_id"),
        ({"visibility": "container", "user_id": "u"}, "container"),
    ],
)
def test_a_private_memory_needs_whom_it_is_for(fields, missing):
    """Visibility `user` needs a user, `container` a user and a container."""
    with pytest.raises(InvalidRequest) as error:
        check_limits(candidate(**fields))
    assert f"`{missing}`" in error.value.remedy
    check_limits(candidate(**{"user_id": "u", "container": "c", **fields}))


@pytest.mark.parametrize(
    "fields",
    [
        {"level": "L0"},
        {"level": "R"},
        {"visibility": "everyone"},
        {"wait": "never"},
        {"evidence": [{"text": "no source"}]},
        {"evidence": [{"source": "s"}]},
        {"evidence": [{"source": "", "text": "t"}]},
        {"evidence": [{"source": "s", "text": "t", "turn": -1}]},
        {"evidence": [{"source": "s", "text": "t", "turn": "1"}]},
        {"evidence": [{"source": "s", "text": "t", "extra": 1}]},
        {"evidence": [{"source": "s", "text": "t", "original_sha": "not a sha"}]},
        {"evidence": {"source": "s", "text": "t"}},
        {"parents": ["0" * 65]},
        {"supersedes": "0" * 64},
        {"text": 5},
        {"text": None},
        {"text": "\ud800"},
        {"tool": "\ud800"},
        {"parents": ["\ud800"]},
        {"evidence": [{"source": "\ud800", "text": "t"}]},
        {"evidence": [{"source": "s", "text": "\ud800"}]},
        {"user_id": "\ud800"},
        {"project": "\ud800"},
        {"request_id": "\ud800"},
        {"tool": "t" * 65},
        {"user_id": ""},
        {"user_id": "u\x00"},
        {"container": "c\u200b"},
        {"project": "p\n"},
        {"surprise": 1},
        {"fingerprint": "f"},
    ],
    ids=str,
)
def test_a_candidate_of_another_shape_is_refused(fields):
    """Wrong types, unknown fields and values outside the contract are no candidate."""
    with pytest.raises(ValidationError):
        candidate(**fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"budget": 0},
        {"budget": 100_001},
        {"budget": 10**400},
        {"budget": 6000.0},
        {"budget": "6000"},
        {"budget": True},
        {"budget": None},
        {"scope": "everything"},
        {"task": ""},
        {"task": "t" * 8193},
        {"tool": ""},
        {"tool": "t" * 65},
        {"signature_source": 5},
        {"signature_source": ["line"]},
        {"signature_source": "\udfff"},
        {"task": "\udfff"},
        {"tool": "\udfff"},
        {"surprise": 1},
        {"fingerprint": "f"},
        {"original_sha": "0" * 64},
    ],
    ids=lambda fields: str(fields)[:40],
)
def test_a_lookup_of_another_shape_is_refused(fields):
    """Wrong types, unknown fields and values outside the contract are no lookup."""
    with pytest.raises(ValidationError):
        ContextRequest.model_validate({"request_id": "r", "project": "p", "tool": "npm", **fields})


@pytest.mark.parametrize("budget", [1, 100_000])
def test_the_budget_reaches_from_1_to_100000(budget):
    """Both ends of the range are allowed."""
    assert ContextRequest(request_id="r", project="p", tool="npm", budget=budget).budget == budget


def test_the_budget_is_6000_where_none_is_set():
    """The default stands in the documentation."""
    assert ContextRequest(request_id="r", project="p", tool="npm").budget == 6000


@pytest.mark.parametrize(
    "fields", [{}, {"tool": None}, {"signature_source": ""}, {"task": " ", "signature_source": "\n"}]
)
def test_a_lookup_must_give_something_to_look_up(fields):
    """None of the three inputs, or white space alone, is refused with what to set."""
    request = ContextRequest.model_validate({"request_id": "r", "project": "p", **fields})
    with pytest.raises(InvalidRequest, match="look up") as error:
        check_inputs(request)
    assert error.value.remedy


@pytest.mark.parametrize("fields", [{"tool": "npm"}, {"task": "x", "signature_source": ""}, {"signature_source": "x"}])
def test_any_one_input_is_enough(fields):
    """One input that says something is a lookup, whatever the others are."""
    check_inputs(ContextRequest.model_validate({"request_id": "r", "project": "p", **fields}))


@pytest.mark.parametrize(
    "kind", [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, MemError)]
)
def test_an_error_says_cause_and_remedy(kind):
    """Every error of the tree carries both sentences and shows both."""
    error = kind("The disk is full.", "Free some space.")
    assert (error.cause, error.remedy) == ("The disk is full.", "Free some space.")
    assert str(error) == "The disk is full. Free some space."
    assert str(kind("The disk is full.")) == "The disk is full."
