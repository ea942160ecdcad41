"""The faults of an input as callers read them."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from mem.domain.faults import told
from mem.domain.gaps import GapsRequest
from mem.domain.grounding import GroundRequest
from mem.domain.lookup import ContextRequest


@pytest.mark.parametrize(
    ("model", "field", "value", "said"),
    [
        (GroundRequest, "user_id", "", "user_id: Use 1 to 200 characters that can be seen"),
        (GroundRequest, "user_id", "x" * 201, "user_id: Use 1 to 200 characters that can be seen"),
        (GroundRequest, "user_id", "a\u202eb", "user_id: Use 1 to 200 characters that can be seen"),
        (ContextRequest, "project", "a/b", "project: Use 1 to 64 letters, digits, '.', '_' and '-'"),
        (ContextRequest, "request_id", "é", "request_id: Use 1 to 200 printable ASCII characters"),
        (GapsRequest, "since", "now", "since: should be a date such as 2026-07-02, or days such as 7d"),
        (ContextRequest, "budget", 0, "budget: Input should be greater than or equal to 1"),
    ],
)
def test_a_fault_says_what_is_wanted(model, field, value, said):
    """In words, not as the pattern that the value has to match, and without the value."""
    given = {"request_id": "r", "project": "p", "user_id": "u", "message": "m"}
    given = {name: each for name, each in given.items() if name in model.model_fields}
    with pytest.raises(ValidationError) as caught:
        model.model_validate({**given, field: value})
    assert told(caught.value) == said
