"""The enhancer that needs no model: of relevant memories the sentences that matter for a message."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from mem.domain.grounding import ScopeLevel
from mem.parsing.likeness import same
from mem.parsing.orders import treatment
from mem.ports import TokenCounter
from mem.recall.context_block import render_block, shown_text
from mem.recall.enhancement import Enhancement, Relevant, Statement
from mem.recall.units import Unit, weights, worthy_units

__all__ = [
    "Enhancement",
    "Relevant",
    "Statement",
    "abstained_reason",
    "extract",
    "headed",
    "readable",
    "withheld_warning",
]

_ALONE = "One memory concerns this."
_SEVERAL = "{} memories concern this."
_FRAME = 60
"""About so many tokens has a block without statements."""
_SLACK = 20
"""By how many tokens a sum over parts may be off."""
_MISSES = 10
"""After so many statements in a row that do not fit, no other one is tried."""


def extract(
    message: str, memories: Sequence[Relevant], limit: int, tokens: TokenCounter, *, scope: ScopeLevel
) -> Enhancement | None:
    """What the memories say that matters for `message`, in a block of at most `limit` tokens.

    None where not even one statement fits. The same for the same memories in any order.
    """
    told, withheld = readable(memories)
    units = worthy_units(message, told)
    if not units:
        return Enhancement("", (), (), withheld)
    kept = _Kept(limit, tokens, scope, withheld)
    for unit in units:
        kept.take(unit)
    return kept.enhancement()


def readable(memories: Iterable[Relevant]) -> tuple[list[Relevant], tuple[str, ...]]:
    """The memories that may be read by a model, best first, and the shas of those that give orders to their reader."""
    ranked = sorted(memories, key=lambda each: (-each.score, each.sha))
    told = [each for each in ranked if treatment(each.text) != "withheld"]
    safe = {each.sha for each in told}
    return told, tuple(each.sha for each in ranked if each.sha not in safe)


def abstained_reason(enhancement: Enhancement | None, limit: int) -> str | None:
    """Why there is no context to hand on, from what an enhancer gave; None where there is some."""
    if enhancement is None:
        return f"What was found does not fit the budget of {limit} tokens (budgets.max_output_tokens)."
    if not enhancement.active:
        return "What was found gives orders to its reader instead of telling what was learned; it is not handed on."
    return None


def withheld_warning(enhancement: Enhancement | None) -> str | None:
    """What the diagnostics say where memories were kept back; None where none was."""
    count = len(enhancement.withheld) if enhancement is not None else 0
    if count == 1:
        return "1 memory was kept back: it gives orders to its reader."
    return f"{count} memories were kept back: they give orders to their reader." if count else None


def headed(statements: Sequence[Statement], withheld: tuple[str, ...], first: int = 0) -> Enhancement:
    """The statements under the one that matters most as their summary.

    Where that is all there is, or may be told as a quotation alone, the summary says how many memories there are.
    """
    used = tuple(dict.fromkeys(sha for each in statements for sha in each.shas))
    head = statements[first]
    if len(statements) > 1 and not head.quoted and treatment(head.text) == "plain":
        return Enhancement(head.text, (*statements[:first], *statements[first + 1 :]), used, withheld)
    return Enhancement(_ALONE if len(used) == 1 else _SEVERAL.format(len(used)), tuple(statements), used, withheld)


class _Kept:
    """The units that fit so far, in the order in which they were taken, each with the memories that say so."""

    def __init__(self, limit: int, tokens: TokenCounter, scope: ScopeLevel, withheld: tuple[str, ...]) -> None:
        self._limit = limit
        self._tokens = tokens
        self._scope = scope
        self._withheld = withheld
        self._taken: list[tuple[Unit, list[str]]] = []
        self._places: dict[str, list[int]] = {}
        self._spent = _FRAME
        self._misses = 0

    def take(self, unit: Unit) -> None:
        """Take a unit unless one that says the same is there, or the block would get too long."""
        known = self._known(unit)
        if known is not None:
            if unit.sha not in known:
                known.append(unit.sha)
                self._unless_too_long(known.pop)
            return
        cost = self._tokens.count(shown_text(unit.text, quoted=unit.quoted))
        spent = self._spent + cost
        if self._misses == _MISSES or (self._taken and spent > self._limit + _SLACK):
            return
        self._take(unit)
        # Far below the limit the sum of the parts is near enough.
        if spent + _SLACK > self._limit and not self._unless_too_long(self._untake):
            self._misses += 1
        else:
            self._spent, self._misses = spent, 0

    def _known(self, unit: Unit) -> list[str] | None:
        """The memories of the first unit that says the same; only those that share enough terms are compared."""
        taken, least = self._taken, weights().alike
        shared = Counter(chain.from_iterable(self._places[term] for term in unit.terms if term in self._places))
        enough = least * len(unit.terms)
        near = sorted(at for at, terms in shared.items() if terms >= max(enough, least * len(taken[at][0].terms)))
        if not unit.terms:
            near = [at for at, (each, _) in enumerate(taken) if not each.terms]
        return next((taken[at][1] for at in near if _alike(taken[at][0], unit)), None)

    def _take(self, unit: Unit) -> None:
        for term in unit.terms:
            self._places.setdefault(term, []).append(len(self._taken))
        self._taken.append((unit, [unit.sha]))

    def _untake(self) -> None:
        unit, _ = self._taken.pop()
        for term in unit.terms:
            self._places[term].pop()

    def enhancement(self) -> Enhancement | None:
        """What was taken; None where nothing was."""
        while self._taken and not self._fits():
            self._taken.pop()
        return self._made() if self._taken else None

    def _unless_too_long(self, undo: Callable[[], object]) -> bool:
        """Whether all fits; else the last change is undone."""
        fits = self._fits()
        if not fits:
            undo()
        return fits

    def _fits(self) -> bool:
        return self._tokens.count(render_block(self._scope, self._made())) <= self._limit

    def _made(self) -> Enhancement:
        first, _ = self._taken[0]
        ordered = sorted(self._taken, key=lambda each: (each[0].rank, each[0].place))
        told = [Statement(unit.text, tuple(shas), unit.quoted) for unit, shas in ordered]
        return headed(told, self._withheld, first=next(at for at, (unit, _) in enumerate(ordered) if unit is first))


def _alike(one: Unit, other: Unit) -> bool:
    """Whether two units say the same."""
    return one.text == other.text or same(one.text, other.text)
