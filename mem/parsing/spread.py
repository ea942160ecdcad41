"""Which failure comes next, where few are shown of many: the first of its kind, then other kinds before more of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush

from mem.parsing.page import Candidate, Page
from mem.parsing.rank import Scored

_MANY = 5
"""Of more than so many of one kind the first is shown as well as the best: it may be what the others follow from."""
_STEP = 2.0
"""What one more of a kind is worth less than the one before."""
_WORDS = {"line": "words", "paragraph": "words", "structure": "words"}

Kind = tuple[str, int]


class Spread:
    """The candidates of a page, each when its turn comes; `chosen` tells which of them became signatures."""

    def __init__(self, page: Page, best_first: Sequence[Scored]) -> None:
        self.page = page
        self.found = best_first
        self.kinds = [self._kind(one.candidate) for one in best_first]
        self.firsts = self._first_of_many()
        self.taken: Counter[Kind] = Counter()
        self.heap = [(-one.score, number) for number, one in enumerate(best_first)]
        heapify(self.heap)
        self.given: set[int] = set()

    def _kind(self, block: Candidate) -> Kind:
        name = block.rule.id if block.rule is not None else f"~{_WORDS.get(block.kind, block.kind)}"
        return name, self.page.cleaned.command_at(block.anchor)

    def _first_of_many(self) -> dict[Kind, int]:
        many = {kind for kind, count in Counter(self.kinds).items() if count > _MANY}
        firsts: dict[Kind, int] = {}
        for number, (one, kind) in enumerate(zip(self.found, self.kinds, strict=True)):
            if kind in many and one.candidate.rule is not None:
                best = firsts.setdefault(kind, number)
                if one.candidate.start < self.found[best].candidate.start:
                    firsts[kind] = number
        return firsts

    def chosen(self, one: Scored) -> None:
        """`one` became a signature, so more of its kind are worth less."""
        kind = self._kind(one.candidate)
        self.taken[kind] += 1
        first = self.firsts.get(kind)
        if self.taken[kind] == 1 and first is not None and first not in self.given:
            self.given.add(first)
            heappush(self.heap, (float("-inf"), first))

    def __iter__(self) -> Iterator[Scored]:
        while self.heap:
            rank, number = heappop(self.heap)
            if rank == float("-inf"):
                yield self.found[number]
                continue
            if number in self.given:
                continue
            now = _STEP * max(0, self.taken[self.kinds[number]] - 1) - self.found[number].score
            if now > rank:
                heappush(self.heap, (now, number))
                continue
            self.given.add(number)
            yield self.found[number]
