"""What speaks for a memory that is to help with a user's next message, each from 0 to 1."""

from __future__ import annotations

import math
import re
import tomllib
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

from mem.parsing.terms import telling_terms, terms
from mem.ports import Candidate

_NEAR = 0.4
_MANY = 5
_READ = 4000
_REMEMBERED = 16_384


class Turn(NamedTuple):
    """A message, taken apart once for all candidates: its terms, how much they say, and of what kind it is."""

    terms: frozenset[str]
    says: float
    does: float
    general: float
    plain: float


class Helping(NamedTuple):
    """How a message and a memory fit together; what no leg measured is 0.

    `text`: the cosine, `near` what it has above a middling one. `words`: the share of the message's words by weight,
    `some` its root, since the first words in common say most; both count less where the message says little. `shared`:
    how many words. `cover`: the share of the memory's words. `fits`: the probability for the failure in the message.
    `personal`: the memory says how somebody wants things. `foreign`: it is not this user's. The others are of the
    message alone: `does` asks for work, `general` for what anybody could tell, `plain` for what the message itself
    holds.
    """

    text: float
    near: float
    words: float
    some: float
    shared: float
    cover: float
    fits: float
    personal: float
    foreign: float
    does: float
    general: float
    plain: float


class _Rules(NamedTuple):
    work: re.Pattern[str]
    general: re.Pattern[str]
    perhaps: re.Pattern[str]
    own: re.Pattern[str]
    plain: re.Pattern[str]
    personal: re.Pattern[str]


class _Held(NamedTuple):
    terms: frozenset[str]
    personal: float


def turn(message: str) -> Turn:
    """Take a message apart."""
    rules, read = _rules(), message[:_READ]
    told = frozenset(telling_terms(read))
    return Turn(
        terms=told,
        says=min(len(told), _MANY) / _MANY,
        does=float(rules.work.search(read) is not None),
        general=_general(rules, read),
        plain=float(rules.plain.search(read) is not None),
    )


def _general(rules: _Rules, message: str) -> float:
    if rules.general.search(message) is None or rules.own.search(message) is not None:
        return 0.0
    return 1.0 if rules.perhaps.search(message) is None else 0.5


def helping(message: Turn, candidate: Candidate, fits: float) -> Helping:
    """Measure a memory against a message."""
    held = _held(candidate.node.text, candidate.symptom)
    shared = len(message.terms & held.terms)
    text, words = max(candidate.text_similarity or 0.0, 0.0), max(candidate.words or 0.0, 0.0)
    # All words of a message of one or two are soon in a memory that has nothing to do with it.
    says = message.says
    return Helping(
        text=text,
        near=max(text - _NEAR, 0.0),
        words=words * says,
        some=math.sqrt(words) * says,
        shared=min(shared, _MANY) / _MANY,
        cover=shared / max(len(held.terms), 1),
        fits=fits,
        personal=held.personal,
        foreign=float(candidate.foreign),
        does=message.does,
        general=message.general,
        plain=message.plain,
    )


@lru_cache(_REMEMBERED)
def _held(text: str, symptom: str) -> _Held:
    """Read a memory; the same ones come up with each message of a user."""
    told = terms(f"{text}\n{symptom}"[:_READ])
    return _Held(frozenset(told.times), float(_rules().personal.search(text) is not None))


@cache
def _rules() -> _Rules:
    data = tomllib.loads(files(__package__).joinpath("helping.toml").read_text(encoding="utf-8"))
    work = f"{data['opening']}(?:{'|'.join(data['work'].split())})\\b"

    def one_of(name: str) -> re.Pattern[str]:
        return re.compile("|".join(f"(?:{one})" for one in data[name]), re.IGNORECASE)

    return _Rules(re.compile(work, re.IGNORECASE), *map(one_of, ("general", "perhaps", "own", "plain", "personal")))
