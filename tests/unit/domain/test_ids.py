"""Projects, request ids, fingerprints and workflow ids."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from mem.domain.errors import InvalidRequest
from mem.domain.ids import (
    SHARED,
    Identity,
    Project,
    RequestId,
    Sha,
    accept_workflow_id,
    checked_project,
    context_workflow_id,
    derived_request_id,
    fingerprint,
)

ALLOWED = [
    (Project, "a"),
    (Project, "a" * 64),
    (Project, "Home-Lab_2.0"),
    (Project, "..."),
    (RequestId, "x"),
    (RequestId, "x" * 200),
    (RequestId, "a b~!"),
    (Sha, "0" * 64),
    (Identity, "ada@example.org"),
    (Identity, "Ádám Ż"),
    (Identity, "u" * 200),
]
REFUSED = [
    (Project, ""),
    (Project, "a" * 65),
    (Project, "a\n"),
    (Project, "\na"),
    (Project, "a b"),
    (Project, "a/b"),
    (Project, "a:b"),
    (Project, "ä"),
    (Project, "\u0430"),  # looks like a Latin a
    (Project, "\uff11"),  # a digit, but not one of ASCII
    (Project, SHARED),
    (RequestId, ""),
    (RequestId, "x" * 201),
    (RequestId, "x\n"),
    (RequestId, "x\ty"),
    (RequestId, "x\x7f"),
    (RequestId, "é"),
    (Sha, "0" * 63),
    (Sha, "A" * 64),
    (Sha, "0" * 64 + "\n"),
    (Identity, ""),
    (Identity, "u" * 201),
    (Identity, "ada\x00"),
    (Identity, "ada\n"),
    (Identity, "a\u200bda"),
    (Identity, "a\u202eda"),
    (Identity, "a\u2028da"),
]


@pytest.mark.parametrize(("kind", "text"), ALLOWED)
def test_names_within_the_line_are_taken_as_they_are(kind, text):
    """What the contract allows is allowed up to its last character."""
    assert TypeAdapter(kind).validate_python(text) == text


@pytest.mark.parametrize(("kind", "text"), REFUSED)
def test_names_beyond_the_line_are_refused(kind, text):
    """What the contract does not allow is refused, a line feed at the end included."""
    with pytest.raises(ValidationError):
        TypeAdapter(kind).validate_python(text)


def test_a_project_outside_of_a_request_is_held_to_the_same_line():
    """A project given on a command line is checked with a clear error, and the shared one is none."""
    assert checked_project("homelab") == "homelab"
    for name in ("", SHARED, "home lab", "a" * 65):
        with pytest.raises(InvalidRequest, match="is no project") as error:
            checked_project(name)
        assert "64" in error.value.remedy


@pytest.mark.parametrize("change", [{"request_id": "other"}, {"wait": "durable"}, {"request_id": "o", "wait": "all"}])
def test_a_fingerprint_leaves_out_the_id_and_how_long_to_wait(change):
    """Neither the request id nor `wait` makes it another request."""
    fields = {"project": "p", "text": "t", "request_id": "r", "wait": "all"}
    assert fingerprint({**fields, **change}) == fingerprint({"project": "p", "text": "t"})


@pytest.mark.parametrize(
    "other",
    [
        {"project": "p", "text": "T"},
        {"project": "q", "text": "t"},
        {"project": "p", "text": "t", "tool": None},
        {"project": "p"},
        {"project": "p", "text": "t", "evidence": [{"source": "s", "wait": "all"}]},
    ],
)
def test_a_fingerprint_tells_any_other_body_apart(other):
    """A field that is set, even to null or its default, is part of the body."""
    assert fingerprint(other) != fingerprint({"project": "p", "text": "t"})


def test_a_fingerprint_reads_the_names_at_the_top_alone():
    """A field of evidence called `wait` or `request_id` counts like any other."""
    assert fingerprint({"evidence": [{"wait": "all"}]}) != fingerprint({"evidence": [{"wait": "durable"}]})


def test_workflow_ids_name_operation_project_and_request():
    """The ids are those that the documentation gives, so that a person finds a run in the Temporal UI."""
    assert accept_workflow_id("homelab", "r 1") == "accept:homelab:r 1"
    assert context_workflow_id("homelab", "r 1") == "context:homelab:r 1"


def test_a_derived_request_id_is_allowed_and_follows_the_content():
    """The same line gives the same id in any order of its fields, and another line another one."""
    one = derived_request_id({"project": "p", "text": "t"})
    assert one == derived_request_id({"text": "t", "project": "p", "request_id": None})
    assert one != derived_request_id({"project": "p", "text": "u"})
    assert TypeAdapter(RequestId).validate_python(one) == one
