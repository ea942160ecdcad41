"""The terms of a text for a search by words: identifiers whole and in parts, apostrophes cut, as stems, counted."""

from __future__ import annotations

import re
import threading
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

import Stemmer

from mem.domain.canonical import sha256_hex
from mem.parsing.decode import without_surrogates
from mem.parsing.lexical import parts

# One class of characters, repeated: the scan is linear.
_RUN = re.compile(r"[^\W_][\w.\-]*", re.UNICODE)
_NOT = re.compile(r"n['\u2019]t\b")
_ENDING = re.compile(r"(?<=\w)['\u2019](?:s|re|ll|ve|d|m)\b", re.IGNORECASE)
_EDGES = "._-"
_HEX = re.compile(r"[0-9a-f]{8,}\Z")
_MOST_TIMES = 32_767
_REMEMBERED = 65_536
_DATA = "terms.toml"


class Terms(NamedTuple):
    """How often a text holds each term, by term, and how many it holds in all."""

    times: dict[str, int]
    length: int


class _Rules(NamedTuple):
    most: int
    characters: int
    whole: int
    digits: int
    asked: int
    stop: frozenset[str]
    irregular: dict[str, str]


def terms(text: str) -> Terms:
    """Count the terms of a text; of one with too many distinct ones those that appear first and last are kept."""
    rules = _rules()
    times: dict[str, int] = {}
    for run, count in Counter(_runs(text, rules.characters)).items():
        for term in _of_run(run):
            times[term] = min(times.get(term, 0) + count, _MOST_TIMES)
    length = sum(times.values())
    if len(times) > rules.most:
        order, half = list(times), rules.most // 2
        times = {term: times[term] for term in (*order[:half], *order[-half:])}
    return Terms(dict(sorted(times.items())), length)


def distinct_terms(text: str) -> frozenset[str]:
    """The terms of a short text, without how often it holds each."""
    return frozenset(_found(text))


def asked_terms(text: str, *, failing: bool) -> list[str]:
    """The terms to search with, each once: without stop words where the text is words and has others.

    Args:
        failing: whether the text reads like a failure, where no word is without meaning.
    """
    found = _found(text)
    return ((found if failing else _telling(found)) or found)[: _rules().asked]


def telling_terms(text: str) -> list[str]:
    """The terms without stop words, each once; none where the text is nothing else."""
    return _telling(_found(text))[: _rules().asked]


def _found(text: str) -> list[str]:
    return list(dict.fromkeys(term for run in _runs(text, _rules().characters) for term in _of_run(run)))


def _telling(found: Sequence[str]) -> list[str]:
    stop = _rules().stop
    return [term for term in found if term not in stop]


@cache
def rules_sha() -> str:
    """The digest of all that the terms of a text depend on: the rules, and the version of the stemmer."""
    return sha256_hex(f"{Stemmer.version()}\n{_data()}")


def _runs(text: str, most: int) -> list[str]:
    text = without_surrogates(text)
    if len(text) > most:
        text = f"{text[: most // 2]}\n{text[-(most // 2) :]}"
    if "'" in text or "\u2019" in text:
        text = _ENDING.sub("", _NOT.sub(" not", text))
    return _RUN.findall(text)


@lru_cache(_REMEMBERED)
def _of_run(run: str) -> tuple[str, ...]:
    """The terms of one run of letters, sorted, each once."""
    run = run.strip(_EDGES)
    if run.isalnum() and not any(map(str.isupper, run[1:])):
        return tuple(_worthy([run.lower()]))
    pieces = parts(run)
    found = _worthy(pieces)
    # What has a counter or a hash in it comes once, and nobody asks for it whole.
    if not any(map(_volatile, pieces)):
        wholes = {whole.strip(_EDGES).lower() for whole in (run, *run.split("."))} - pieces
        found |= {whole for whole in wholes if whole and len(whole) <= _rules().whole}
    return tuple(sorted(found))


def _worthy(words: Iterable[str]) -> set[str]:
    return {_stem(word) for word in words if _says(word) and not _volatile(word)}


def _says(word: str) -> bool:
    return len(word) > 1 or word.isdigit() or not word.isascii()


def _volatile(word: str) -> bool:
    if word.isdigit():
        return len(word) > _rules().digits
    return len(word) > _rules().whole or (any(map(str.isdigit, word)) and _HEX.match(word) is not None)


def _stem(word: str) -> str:
    return _stemmed(_rules().irregular.get(word, word)) if word.isalpha() else word


def _stemmed(word: str) -> str:
    return str(_stemmer().stemWord(word))


class _Own(threading.local):
    """A stemmer works for one thread at a time."""

    stemmer: Stemmer.Stemmer | None = None


_own = _Own()


def _stemmer() -> Stemmer.Stemmer:
    if _own.stemmer is None:
        # Without a cache of its own: runs are remembered.
        _own.stemmer = Stemmer.Stemmer("english", 0)
    return _own.stemmer


def _data() -> str:
    return files(__package__).joinpath(_DATA).read_text(encoding="utf-8")


@cache
def _rules() -> _Rules:
    data = tomllib.loads(_data())
    forms = [group.split() for group in data["irregular"].split(";")]
    irregular = {form: first for first, *others in forms for form in others}
    stop = frozenset(_stemmed(word) for word in data["stop"].split())
    return _Rules(data["most"], data["characters"], data["whole"], data["digits"], data["asked"], stop, irregular)
