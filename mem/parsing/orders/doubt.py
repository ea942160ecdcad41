"""Which texts have to be read in all their disguises: one pass that lets no order by, and few ordinary lessons through.

The readings of a text of plain letters that holds nothing to decode leave signs out, put gaps in, or take figures for
letters. So each word of a reading is a part of a word that is looked at here, and a rule whose words are not among them
is found in no reading. The few rules that are left are tried, each alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache, reduce
from operator import or_
from typing import Any

from ahocorasick_rs import AhoCorasick

from mem.parsing.orders.disguises import cipher_words, decodes, drawn, merged, plain_readings
from mem.parsing.orders.needed import EDGE, Clause, alternatives, frequency, is_run
from mem.parsing.patterns import automaton, found_by

_PIECE = re.compile(r"[A-Za-z]+|[^\sA-Za-z0-9]")
_FLAGS = re.compile(r"\A\(\?im?\)")
_HUMP = re.compile(r"[A-Z]*[a-z]+|[A-Z]+")
_LONG = 14
"""From so many letters on a reading takes a word apart."""
_REMEMBERED = 1 << 15

# Signs that stand in prose, and that no normal form changes.
_FOREIGN = re.compile("[^\x00-\x7f\u2013\u2014\u2018\u2019\u201c\u201d\u2190\u2192\u00d7\u2264\u2265]")
_EDGE, _BEHIND, _GAP = "(?:^|[^A-Za-z0-9])", "(?:$|[^A-Za-z0-9])", "[^A-Za-z0-9]+"
# A text with one of these is doubtful; those below call for a look.
_STRANGE = (
    r"[\x00-\x08\x0b-\x1f\x7f]",
    r"&(?:#|[a-zA-Z]{2,8};)|%[0-9a-fA-F]{2}|\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F{]|[0-7]{3})",
    # letters that stand alone, one after the other, or do so in a reading
    rf"{_EDGE}[A-Za-z](?:{_GAP}[A-Za-z]){{3}}{_BEHIND}",
    rf"{_EDGE}(?:[a-z][A-Z]{_GAP}(?:[a-z][A-Z]|[A-Za-z])|[A-Za-z]{_GAP}[a-z][A-Z]){_BEHIND}",
    rf"{_EDGE}[A-Za-z]\s*\(",
    # too long a word for figures to be read as letters all at once
    r"[A-Za-z0-9@$!|]{25}",
)
_CODE = (r"[A-Za-z0-9+/_-]{16}", r"(?:[0-9a-fA-F]{2}[ :,-]?){12}", r"\d{2,8}(?:[ ,;]+\d{2,8}){11}")
_DRAWN = (r"[A-Za-z][0-9@$!|]|[0-9@$!|][A-Za-z]",)
_MERGED = (r"[a-z]-\s*\n", r"['\"]\s*[;,+&]?\s*(?:\w{1,12}\s*=\s*)?['\"]", r"\)[A-Za-z]")
_CODE_AT = len(_STRANGE)
_DRAWN_AT = _CODE_AT + len(_CODE)


class Doubts:
    """The prefilter for the patterns of rules."""

    def __init__(self, patterns: Iterable[Any]) -> None:
        self._forms = automaton((*_STRANGE, *_CODE, *_DRAWN, *_MERGED))
        rules = [each for pattern in patterns for each in alternatives(_FLAGS.sub("(?im)", pattern.pattern))]
        clauses = dict.fromkeys(clause for each in rules for clause in each.clauses)
        ciphers: Clause = frozenset(cipher_words())
        bits = {clause: 1 << number for number, clause in enumerate(dict.fromkeys([*clauses, ciphers]))}
        self._ciphers = bits[ciphers]
        pieces = _of_pieces(bits)
        self._signs = {piece: bit for piece, bit in pieces.items() if not is_run(piece)}
        runs = sorted(filter(is_run, pieces))
        self._bits = [pieces[run] for run in runs]
        self._words = AhoCorasick(runs)
        self._parts = AhoCorasick([run.strip(EDGE) for run in runs])
        self._always = [each.pattern for each in rules if not each.clauses]
        self._by_rarest: dict[int, list[tuple[int, str]]] = {}
        for each in rules:
            if each.clauses:
                rarest = bits[min(each.clauses, key=frequency)]
                needed = reduce(or_, (bits[clause] for clause in each.clauses))
                self._by_rarest.setdefault(rarest, []).append((needed, each.pattern))
        self._rarest = reduce(or_, self._by_rarest, 0)
        self._piece = lru_cache(_REMEMBERED)(self._found_in)

    def prepare(self) -> None:
        """Compile all that is compiled when it is first needed."""
        for pattern in (*self._always, *(each for rules in self._by_rarest.values() for _, each in rules)):
            found_by(pattern, "")

    def of(self, text: str) -> bool:
        """Whether a rule may be found in a reading of `text`, or something be hidden in it."""
        if not text.isascii() and _FOREIGN.search(text):
            return True
        forms = self._forms.Match(text)
        if forms and (min(forms) < _CODE_AT or (min(forms) < _DRAWN_AT and decodes(text))):
            return True
        seen = self._pieces_of(text)
        for form in forms or ():
            for each in drawn(text) if form == _DRAWN_AT else merged(text) if form > _DRAWN_AT else ():
                seen |= self._pieces_of(each)
                if form > _DRAWN_AT and min(self._forms.Match(each) or [_CODE_AT]) < _CODE_AT:
                    return True
        if seen & self._ciphers:
            return True
        left = [*self._always, *self._left(seen)]
        if not left:
            return False
        # A line for each reading: one that a rule is found in lets it be found here.
        lines = "\n".join(plain_readings(text))
        return any(found_by(rule, lines) for rule in left)

    def _pieces_of(self, text: str) -> int:
        """The pieces that the rules need, as far as they stand in `text`, as bits."""
        return reduce(or_, map(self._piece, set(_PIECE.findall(text))), 0)

    def _found_in(self, piece: str) -> int:
        if not piece.isalpha():
            return self._signs.get(piece, 0)
        word = piece.lower()
        if len(word) >= _LONG:
            return self._bits_of(self._parts, word)
        # Humps part words, too.
        return self._bits_of(self._words, " ".join(["", word, *_HUMP.findall(piece)]).lower() + " ")

    def _bits_of(self, automaton: AhoCorasick, text: str) -> int:
        found = automaton.find_matches_as_indexes(text, overlapping=True)
        return reduce(or_, (self._bits[number] for number, _, _ in found), 0)

    def _left(self, seen: int) -> Iterator[str]:
        """The rules that have all that they need among the pieces."""
        rarest = seen & self._rarest
        while rarest:
            bit = rarest & -rarest
            rarest ^= bit
            for needed, pattern in self._by_rarest[bit]:
                if needed & seen == needed:
                    yield pattern


def _of_pieces(bits: dict[Clause, int]) -> dict[str, int]:
    """For each piece the clauses that it fulfils."""
    pieces: dict[str, int] = {}
    for clause, bit in bits.items():
        for piece in clause:
            pieces[piece] = pieces.get(piece, 0) | bit
    return pieces
