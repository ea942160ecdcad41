"""Whether two lessons say the same: what decides is equal in both, and enough of the rest is."""

from __future__ import annotations

from collections.abc import Sequence

from mem.parsing.likeness.lexicon import Lexicon, lexicon
from mem.parsing.likeness.reading import Bound, Reading, read


def same(one: str, other: str) -> bool:
    """Whether two texts say the same in slightly other words."""
    return why_not(read(one), read(other)) is None


def why_not(a: Reading, b: Reading) -> str | None:
    """What tells two readings apart, in a few words for whoever tends the rules; None where they say the same."""
    words = lexicon()
    if a.numbers != b.numbers:
        return f"numbers: {sorted(a.numbers ^ b.numbers)}"
    if a.signs != b.signs:
        return "signs of negation or direction"
    if not _binds_alike(a.restrictions, b.restrictions):
        return f"restrictions: {_shown(a.restrictions)} and {_shown(b.restrictions)}"
    return _polarity(a, b, words) or _names(a, b, words) or _places(a, b, words) or _overlap(a, b, words)


def _polarity(a: Reading, b: Reading, words: Lexicon) -> str | None:
    if not _binds_alike(a.negated, b.negated):
        return f"negated: {_shown(a.negated)} and {_shown(b.negated)}"
    if a.alone != b.alone:
        return f"directions: {sorted(a.alone ^ b.alone)}"
    for axis in range(len(words.opposites)):
        mine = {(sign, what) for at, sign, what in a.directed if at == axis}
        theirs = {(sign, what) for at, sign, what in b.directed if at == axis}
        signs, others = {sign for sign, _ in mine}, {sign for sign, _ in theirs}
        if signs and others and not signs & others:
            return "opposite directions"
        if any((-sign, what) in theirs and (sign, what) not in theirs for sign, what in mine):
            return "opposite directions of one thing"
    for term in a.terms ^ b.terms:
        if any(term.removeprefix(prefix) in (a.terms ^ b.terms) - {term} for prefix in words.contrary):
            return f"contrary: {term}"
    return None


def _shown(bound: Sequence[Bound]) -> list[str]:
    return [f"{one.marker} {one.term}" for one in bound]


def _binds_alike(mine: Sequence[Bound], theirs: Sequence[Bound]) -> bool:
    """Whether each negation or restriction has one in the other text that may concern the same."""
    open_ = list(theirs)
    for one in mine:
        match = next((other for other in open_ if _alike(one, other)), None)
        if match is None:
            return False
        open_.remove(match)
    return not open_


def _alike(one: Bound, other: Bound) -> bool:
    if one.marker != other.marker:
        return False
    return one.term == other.term or (one.term in other.window and other.term in one.window)


def _names(a: Reading, b: Reading, words: Lexicon) -> str | None:
    mine, theirs = a.names - b.terms, b.names - a.terms
    if mine and theirs:
        return f"names: {sorted(mine)} and {sorted(theirs)}"
    more = mine or theirs
    if len(more) > len(a.names & b.names) // words.thresholds["names_for_one_more"]:
        return f"names: {sorted(more)} more"
    return None


def _places(a: Reading, b: Reading, words: Lexicon) -> str | None:
    """Whether two terms have changed places, behind markers or in an otherwise equal text."""
    contraries = {pair for one, other in words.contrary_order for pair in ((one, other), (other, one))}
    for one in a.bound:
        for other in b.bound:
            if (one.marker, other.marker) in contraries and one.term == other.term:
                return f"{one.marker} and {other.marker}: {one.term}"
    for marker in sorted(words.order):
        mine = _left(a.bound, b.bound, marker, words)
        theirs = _left(b.bound, a.bound, marker, words)
        if mine & b.terms and theirs & a.terms:
            return f"{marker}: {sorted(mine & b.terms)} and {sorted(theirs & a.terms)}"
    return _exchanged(a.sequence, b.sequence)


def _exchanged(mine: Sequence[str], theirs: Sequence[str]) -> str | None:
    """The two terms by whose exchange one text becomes the other."""
    if len(mine) != len(theirs):
        return None
    differing = [at for at, (x, y) in enumerate(zip(mine, theirs, strict=True)) if x != y]
    if len(differing) < 2:
        return None
    x, y = mine[differing[0]], theirs[differing[0]]
    turned = [{x: y, y: x}.get(term, term) for term in mine]
    # Neighbours change places in a list or in a compound, which changes nothing.
    neighbours = len(differing) == 2 and differing[1] == differing[0] + 1
    return f"exchanged: {x} and {y}" if turned == list(theirs) and not neighbours else None


def _left(mine: Sequence[Bound], theirs: Sequence[Bound], marker: str, words: Lexicon) -> set[str]:
    """What the marker governs in one text and does not in the other."""
    others = [each for each in theirs if each.marker == marker]
    found = {one.term for one in mine if one.marker == marker and not any(one.term in each.window for each in others)}
    return found if marker in words.sequence else found - words.prose


def _overlap(a: Reading, b: Reading, words: Lexicon) -> str | None:
    limits = words.thresholds
    for mine, theirs, least in (
        (a.terms, b.terms, limits["overlap"]),
        (a.unspaced, b.unspaced, limits["overlap_unspaced"]),
    ):
        if (mine or theirs) and (overlap := _dice(mine, theirs, words)) < least:
            return f"overlap {overlap:.2f}"
    if not (a.terms or a.unspaced) or not (b.terms or b.unspaced):
        return "nothing to compare"
    return None


def _dice(mine: frozenset[str], theirs: frozenset[str], words: Lexicon) -> float:
    whole = _weight(mine, words) + _weight(theirs, words)
    return 2 * _weight(mine & theirs, words) / whole if whole else 0.0


def _weight(terms: frozenset[str], words: Lexicon) -> float:
    prose = words.thresholds["prose_weight"]
    return sum(prose if term in words.prose else 1.0 for term in terms)
