"""Which of the lines that a model wrote may stand as symptoms: none that restates the memory or makes up a name."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

from mem.parsing.redact import redact
from mem.parsing.sanitize import strip_unsafe
from mem.writing.judging.trivial import telling_words

Fault = Literal["empty", "too-long", "twice", "foreign", "restates", "invents", "too-many"]

_STEM = 6
"""Characters of a word that are compared: buffers, buffered and buffering are one word here."""
_LINES_LOOKED_AT = 10
"""For each that may stand."""
_EDGES = ".,;:!?()[]{}\"'`"
_FOREIGN_SHARE = 0.3
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z]+")
"""Where a name like DeadlockDetected falls into words; one whose words memory and evidence have is not made up."""
_WORD = re.compile(r"[^\W\d_]+")


class Limits(NamedTuple):
    """From the front matter of the prompt."""

    max_lines: int
    max_line_characters: int
    restated_share: float
    restated_min_words: int


class Dropped(NamedTuple):
    """A line that may not stand, and why."""

    line: str
    fault: Fault


class Checked(NamedTuple):
    """The lines that stand, in the model's order, and those that do not."""

    kept: list[str]
    dropped: list[Dropped]


class _Rules(NamedTuple):
    identifiers: tuple[re.Pattern[str], ...]
    plain: frozenset[str]
    foreign: frozenset[str]
    foreign_words: int


class LineCheck:
    """Checks lines against one memory and its evidence.

    Args:
        known: whether a name belongs to the language of failures in general, whoever meets them.
    """

    def __init__(self, memory: str, evidence: Sequence[str], known: Callable[[str], bool], limits: Limits) -> None:
        self._known = known
        self._limits = limits
        self._sources = "\n".join([memory, *evidence]).casefold()
        self._memory = _stems(memory)
        self._evidence = _stems("\n".join(evidence))
        self._scripts = _scripts(self._sources)

    def check(self, lines: Sequence[str]) -> Checked:
        """Sort the lines out."""
        kept: dict[str, str] = {}
        dropped: list[Dropped] = []
        most = self._limits.max_lines
        for number, line in enumerate(_single(lines)):
            # Each line costs a search through all evidence, and nothing keeps a model from writing thousands.
            over = len(kept) >= most or number >= most * _LINES_LOOKED_AT
            fault: Fault | None = "too-many" if over else self.fault(line)
            if fault is None and line.casefold() in kept:
                fault = "twice"
            if fault is None:
                kept[line.casefold()] = line
            else:
                dropped.append(Dropped(line, fault))
        return Checked(list(kept.values()), dropped)

    def fault(self, line: str) -> Fault | None:
        """Why a line by itself may not stand."""
        if not _WORD.search(line):
            return "empty"
        if len(line) > self._limits.max_line_characters:
            return "too-long"
        if self.is_foreign(line):
            return "foreign"
        if self._restates(line):
            return "restates"
        return "invents" if any(not self._is_known(name) for name in identifiers(line)) else None

    def is_foreign(self, line: str) -> bool:
        """Whether a line is prose in another language, or in letters that neither memory nor evidence use."""
        letters = [char for char in line if char.isalpha()]
        strange = sum(_script(char) not in self._scripts for char in letters)
        if strange > _FOREIGN_SHARE * len(letters):
            return True
        rules = _rules()
        words = {word.casefold() for word in _WORD.findall(line)} & rules.foreign
        # Evidence may be in any language, and is quoted in its own.
        return len({word for word in words if not _holds(self._sources, word)}) >= rules.foreign_words

    def _restates(self, line: str) -> bool:
        """Whether a line tells the memory again, and not rather the evidence."""
        words = _stems(line)
        if len(words) < self._limits.restated_min_words:
            return False
        of_memory = len(words & self._memory) / len(words)
        of_evidence = len(words & self._evidence) / len(words)
        return of_memory >= self._limits.restated_share and of_evidence < of_memory

    def _is_known(self, name: str) -> bool:
        bare = name.strip(_EDGES).casefold()
        if len(bare) < 2 or bare in _rules().plain or _holds(self._sources, bare):
            return True
        # Of a class in a package of somebody's own, the class may be everybody's.
        last = name.strip(_EDGES).rsplit(".", 1)[-1]
        if self._known(bare) or (last[:1].isupper() and self._known(last)):
            return True
        humps = [hump for hump in _HUMP.split(last) if hump] if "_" not in last else []
        return len(humps) > 1 and all(_holds(self._sources, hump.casefold()) for hump in humps)


def identifiers(line: str) -> list[str]:
    """The names and figures in a line, in the order of the rules."""
    found = [match.group(1) for pattern in _rules().identifiers for match in pattern.finditer(line)]
    return list(dict.fromkeys(found))


def _single(lines: Sequence[str]) -> Iterator[str]:
    """Each line as it would be stored: one line, without secrets and unsafe characters."""
    for text in lines:
        for line in redact(strip_unsafe(text).text).text.splitlines():
            single = " ".join(line.split())
            if single:
                yield single


def _stems(text: str) -> set[str]:
    return {word[:_STEM] for word in telling_words(text)}


def _holds(text: str, word: str) -> bool:
    """Whether a text has a word with nothing before or after it that would make it another."""
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def _scripts(text: str) -> frozenset[str]:
    return frozenset({"LATIN"} | {_script(char) for char in set(text) if char.isalpha()})


@cache
def _script(char: str) -> str:
    return unicodedata.name(char, "NONE").split(" ", 1)[0].split("-", 1)[0]


@cache
def _rules() -> _Rules:
    rules = tomllib.loads(files(__package__).joinpath("rules/model_lines.toml").read_text(encoding="utf-8"))
    return _Rules(
        identifiers=tuple(re.compile(each["pattern"]) for each in rules["identifiers"]),
        plain=frozenset(rules["plain"]),
        foreign=frozenset(rules["foreign"]["words"]),
        foreign_words=rules["foreign"]["min_words"],
    )
