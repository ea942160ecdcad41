"""How an acceptance is told in the Temporal UI."""

from __future__ import annotations

from mem.domain.accepting import Verdict
from workflows.acceptance import Acceptance


def test_a_reason_that_quotes_a_candidate_is_shown_to_the_letter():
    """What a candidate brings draws no picture, link, tag or table in the details of its run."""
    state = Acceptance()
    quoted = 'The text, "![x](http://127.0.0.1/x.png)\n# <b>*a*</b> | `b` &amp; \\", tells nothing.'
    state.judged(Verdict(accept=False, rule="trivial", reason=quoted))
    told = state.markdown().splitlines()
    shown = "The text, \"![x](http://127.0.0.1/x.png) # <b>*a*</b> \u00a6 'b' &amp; \\\", tells nothing."
    assert told == ["**rejected**", "", "Verdict: reject, rule `trivial`, by the rules", "", f"Reason: `{shown}`"]
    assert quoted in state.answer().verdict.reason
