"""A lesson as likeness is judged by it: its terms, and the parts that decide."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from mem.parsing.likeness.lexicon import Lexicon, lexicon

# Han, kana, hangul and Thai: a term is two characters there.
_UNSPACED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_SPAN = re.compile(f"[{_UNSPACED}]+")
# A line break alone ends none: texts are wrapped at any width.
_SENTENCE = re.compile(r"(?<=[\w)\]%\"'`])[.;:!?]+(?=\s|$)|\n\s*\n|\n(?=\s*[-*\u2022]\s)")
_QUOTES = re.compile(r"[`\"\u00ab\u00bb\u2018\u201c-\u201f]|(?<!\w)'|'(?!\w)")
_NOT = re.compile(r"(?<=\w)n['\u2019]t\b")
_OWNED = re.compile(r"['\u2019](?:s|re|ve|ll|d|m)\b|(?<=s)['\u2019](?=\s|$)")
_NUMBER = re.compile(r"[v^~<>=]*(\d+(?:[.,]\d+)*)(%|[a-z]{1,3})?")
_WORDS = re.compile(r"[^\W\d_]+(?:[-/][^\W\d_]+)?")
# "Queue A" is a name; an article is small there, or begins the sentence.
_LETTER = re.compile(r"([^\W_]\s+)A(?=[\s.,;:!?)]|$)")
_PAUSE = ","
_EDGES = ".,;:!?()[]{}<>'\u2026\u3002\uff0c\uff1b\uff1a"


_WINDOW = 3
"""So many terms behind a marker can be what it is about: a compound, or an object behind its verb."""


class Bound(NamedTuple):
    """A marker with the term that it governs, and what else near it that could be in another wording."""

    marker: str
    term: str
    window: frozenset[str]


class Reading(NamedTuple):
    """What one text says, in the forms that are compared.

    `names` are the terms that decide, `sequence` has all terms and the pauses in their order, and `directed` holds
    axis, sign and what they concern.
    """

    terms: frozenset[str]
    sequence: tuple[str, ...]
    names: frozenset[str]
    numbers: frozenset[str]
    negated: tuple[Bound, ...]
    restrictions: tuple[Bound, ...]
    directed: frozenset[tuple[int, int, str]]
    alone: frozenset[str]
    bound: tuple[Bound, ...]
    unspaced: frozenset[str]
    signs: tuple[int, ...]


@lru_cache(maxsize=1024)
def read(text: str) -> Reading:
    """Read a text; its case, white space and punctuation do not matter."""
    words = lexicon()
    plain = unicodedata.normalize("NFKC", text)
    plain = (plain if plain.isupper() else _LETTER.sub(r"\1letter_a", plain)).casefold()
    unspaced = "".join(_SPAN.findall(plain))
    spaced = _OWNED.sub("", _NOT.sub(" not", _QUOTES.sub("", _SPAN.sub(" ", plain)).replace("can't", "cannot")))
    sentences = [list(_tokens(sentence, words)) for sentence in _sentences(spaced, words)]
    return _reading(sentences, unspaced, words)


def _sentences(text: str, words: Lexicon) -> Iterator[str]:
    for sentence in _SENTENCE.split(text):
        yield words.phrases.sub(lambda match: words.phrase_of[match.group()], " ".join(sentence.split()))


def _tokens(sentence: str, words: Lexicon) -> Iterator[str]:
    """The words of a sentence, with its pauses: `#` begins a number, `@` an identifier, grammar stays for now."""
    for chunk in sentence.split():
        if chunk in words.connectives:
            yield _PAUSE
        yield from _of_chunk(chunk, words)
        if chunk.endswith((",", ")")):
            yield _PAUSE


def _of_chunk(chunk: str, words: Lexicon) -> Iterator[str]:
    bare = chunk.strip(_EDGES) if not chunk.startswith((".", "-")) else chunk.rstrip(_EDGES)
    if not bare:
        return
    if bare in words.markers or bare in words.negation:
        yield bare  # also where several words were made one by a sign that only identifiers have
    elif bare in words.numbers:
        yield f"#{words.numbers[bare]}"
    elif (number := _NUMBER.fullmatch(bare)) is not None:
        yield f"#{number[1]}"
        if number[2]:
            yield f"#{words.units.get(number[2], number[2])}"
    elif _WORDS.fullmatch(bare):
        parts = re.split("[-/]", bare)
        yield from ["".join(parts)] if parts[0] in words.joined else parts
    elif "=" in bare.lstrip("-="):
        name, _, value = bare.partition("=")
        yield from _of_chunk(name, words)
        yield from _of_chunk(value, words)
    else:
        yield f"@{bare.lstrip('-').rstrip('()')}"


class _Found:
    """What was read so far."""

    def __init__(self) -> None:
        self.terms: list[str] = []
        self.sequence: list[str] = []
        self.names: set[str] = set()
        self.numbers: set[str] = set()
        self.negated: list[Bound] = []
        self.restrictions: list[Bound] = []
        self.directed: set[tuple[int, int, str]] = set()
        self.alone: set[str] = set()
        self.bound: list[Bound] = []


def _reading(sentences: list[list[str]], unspaced: str, words: Lexicon) -> Reading:
    found = _Found()
    for tokens in sentences:
        found.sequence.append(_PAUSE)
        for at, token in enumerate(tokens):
            if token == _PAUSE:
                found.sequence.append(_PAUSE)
            if at and tokens[at - 1].startswith("#") and token in words.units:
                found.numbers.add(f"#{words.units[token]}")
                continue
            _markers(found, tokens, at, words)
            if (term := _term(token, words)) is not None:
                _take(found, tokens, at, term, words)
    pairs = {unspaced[at : at + 2] for at in range(max(1, len(unspaced) - 1))} if unspaced else set[str]()
    return Reading(
        terms=frozenset(found.terms),
        sequence=tuple(found.sequence),
        names=frozenset(found.names),
        numbers=frozenset(found.numbers),
        negated=tuple(found.negated),
        restrictions=tuple(found.restrictions),
        directed=frozenset(found.directed),
        alone=frozenset(found.alone),
        bound=tuple(found.bound),
        unspaced=frozenset(pairs),
        signs=_signs(unspaced, words),
    )


def _markers(found: _Found, tokens: list[str], at: int, words: Lexicon) -> None:
    """What the token at `at` says about the terms near it."""
    token = tokens[at]
    if token in words.negation:
        found.negated.append(_negation(tokens, at, words))
    if token in words.restriction:
        near = _behind(tokens, at, words) or _before(tokens, at, words)
        found.restrictions.append(Bound(token, near[0] if near else "", frozenset(near)))
    following = _behind(tokens, at, words) if token in words.markers else []
    if token in words.markers and token not in words.order:
        following = following or _before(tokens, at, words)  # a particle, as in "log users out"
    if following:
        found.bound.append(Bound(token, following[0], frozenset(following)))


def _take(found: _Found, tokens: list[str], at: int, term: str, words: Lexicon) -> None:
    token = tokens[at]
    found.terms.append(term)
    found.sequence.append(term)
    if token.startswith("#"):
        found.numbers.add(token)
    elif token.startswith("@") or term not in words.prose:
        found.names.add(term)
    for axis, (plus, minus, decides) in enumerate(words.opposites):
        if term in plus or term in minus:
            following = _behind(tokens, at, words, over=words.light)
            found.directed.add((axis, 1 if term in plus else -1, following[0] if following else ""))
        if term in decides:
            found.alone.add(term)


def _negation(tokens: list[str], at: int, words: Lexicon) -> Bound:
    """What is negated: the term behind, or, as in "it must not be run", the one before."""
    behind = _behind(tokens, at, words, over=words.light)
    passive = tokens[at + 1 : at + 2] == ["be"]
    whole = passive or not behind or (at > 0 and tokens[at - 1] in words.auxiliary)
    before = _before(tokens, at, words) if whole else []
    first = before if passive or not behind else behind
    return Bound("not", first[0] if first else "", frozenset(before) | frozenset(behind))


def _before(tokens: list[str], at: int, words: Lexicon) -> list[str]:
    nearest = itertools.takewhile(lambda token: token != _PAUSE, reversed(tokens[:at]))
    terms = [term for token in nearest if (term := _term(token, words)) is not None and term not in words.light]
    return terms[:_WINDOW]


def _term(token: str, words: Lexicon) -> str | None:
    """The term that a token stands for; grammar, negations and restrictions are none."""
    if token.startswith("#"):
        return token
    if token.startswith("@"):
        return words.synonyms.get(token[1:], token[1:])
    if (
        token == _PAUSE
        or token in words.grammar
        or token in words.negation
        or token in words.restriction
        or token in words.order
    ):
        return None
    return words.term(token)


def _behind(tokens: list[str], at: int, words: Lexicon, *, over: frozenset[str] = frozenset()) -> list[str]:
    """The next terms behind a marker up to a pause, those in `over` left out."""
    following = itertools.takewhile(lambda token: token != _PAUSE, tokens[at + 1 :])
    terms = (_term(token, words) for token in following)
    return [term for term in terms if term is not None and term not in over][:_WINDOW]


def _signs(unspaced: str, words: Lexicon) -> tuple[int, ...]:
    """How often a text without spaces negates, and which of each pair of contraries it has."""
    if not unspaced:
        return ()
    counts = [sum(unspaced.count(sign) for sign in words.unspaced_negation)]
    return (*counts, *(unspaced.count(one) - unspaced.count(other) for one, other in words.unspaced_opposites))
