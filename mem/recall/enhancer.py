"""The enhancer that needs no model: of relevant memories the sentences that matter for a message."""

from __future__ import annotations

from collections.abc import Sequence

from mem.domain.grounding import ScopeLevel
from mem.ports import TokenCounter
from mem.recall.context_block import render_block
from mem.recall.enhancement import Enhancement, Relevant, Statement

__all__ = ["Enhancement", "Relevant", "Statement", "abstained_reason", "extract"]

_ALONE = "One memory concerns this."


def extract(
    message: str, memories: Sequence[Relevant], limit: int, tokens: TokenCounter, *, scope: ScopeLevel
) -> Enhancement | None:
    """What the memories say that matters for `message`, in a block of at most `limit` tokens.

    None where not even one statement fits. The same for the same memories in any order.
    """
    del message
    kept: list[Statement] = []
    for memory in sorted(memories, key=lambda each: (-each.score, each.sha)):
        more = [*kept, Statement(memory.text, (memory.sha,))]
        if tokens.count(render_block(scope, _of(more))) <= limit:
            kept = more
    return _of(kept) if kept else None


def abstained_reason(enhancement: Enhancement | None, limit: int) -> str | None:
    """Why there is no context to hand on, from what an enhancer gave; None where there is some."""
    if enhancement is None:
        return f"What was found does not fit the budget of {limit} tokens (budgets.max_output_tokens)."
    if not enhancement.active:
        return "What was found gives orders to its reader instead of telling what was learned; it is not handed on."
    return None


def _of(statements: Sequence[Statement]) -> Enhancement:
    first, *rest = statements
    summary, active = (first.text, tuple(rest)) if rest else (_ALONE, (first,))
    return Enhancement(summary, active, tuple(dict.fromkeys(sha for each in statements for sha in each.shas)))
