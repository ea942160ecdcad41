"""Text addressed to a model instead of telling about a failure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, model_validator

from mem.domain.accepting import Verdict
from mem.parsing.rules import compile_pattern
from mem.writing.judging.case import Case
from mem.writing.judging.lexicon import Lexicon, Marks, Phrases, lexicon
from mem.writing.judging.lookalikes import mixed_words, plain_letters
from mem.writing.judging.verdicts import quoted, reject
from mem.writing.judging.words import says, tokens

_QUOTED = re.compile(r"`[^`\n]{1,400}`|\"[^\"\n]{1,400}\"|\u201c[^\u201d\n]{1,400}\u201d|(?<!\w)'[^'\n]{1,400}'(?!\w)")
_BEFORE = 60
_ADDRESS = re.compile(r"https?://[^\s\"'`<>)]{4,200}|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{2,64}")


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class _Orders(_Part):
    give: Any
    anywhere: Phrases

    @model_validator(mode="before")
    @classmethod
    def _at_the_beginning(cls, data: Any) -> Any:
        """Put what may stand before an order before each of them."""
        opening, give = data.pop("opening"), data["give"]
        return data | {"give": compile_pattern(rf"(?i){opening}\s*\b(?P<order>{'|'.join(give)})")}


class _Anywhere(_Part):
    anywhere: Marks


class _Payload(_Part):
    encoded: Marks
    decoding: Phrases
    obeying: Marks


class _Mention(_Part):
    reporting: Annotated[Any, PlainValidator(lambda value: compile_pattern(rf"(?i)\b(?:{'|'.join(value)})"))]
    about: Phrases


class _Injection(Lexicon):
    max_mixed_words: int = Field(ge=1)
    shared_words: int = Field(ge=3)
    passage: int = Field(ge=1)
    orders: _Orders
    foreign: _Anywhere
    markup: _Anywhere
    payload: _Payload
    mention: _Mention

    @model_validator(mode="before")
    @classmethod
    def _opening(cls, data: Any) -> Any:
        opening = data.get("opening")
        if not isinstance(opening, str) or not isinstance(data.get("orders"), dict):
            raise ValueError("`opening` is a pattern and `orders` a table")  # noqa: TRY004  pydantic reports only this
        rest = {name: value for name, value in data.items() if name != "opening"}
        return rest | {"orders": data["orders"] | {"opening": opening}}


def injection(case: Case) -> Verdict | None:
    """Object to a text or a source that gives orders to its reader, and to a text that passes one on."""
    if (seen := given(case.text)) is not None:
        return reject(
            "prompt-injection",
            f"The text gives orders to whoever reads it: {quoted(seen)}; tell what happened and what helped instead.",
        )
    for each in case.evidence:
        if each.source and (seen := _order(each.source)) is not None:
            return reject("prompt-injection", f"A source of the evidence gives orders: {quoted(seen)}; name the place.")
    if (seen := _passed_on(case)) is not None:
        return reject(
            "prompt-injection",
            f"The text passes on what an order inside its evidence asks for: {quoted(seen)}; tell who gave it and why.",
        )
    return None


def given(text: str) -> str | None:
    """The order that a memory text gives, with its look-alike letters put right; None where it only tells of one."""
    rule = _rule()
    plain = plain_letters(text)
    disguised = mixed_words(text)
    if len(disguised) >= rule.max_mixed_words:
        return " ".join(disguised)
    about = rule.mention.about.search(_QUOTED.sub(" ", plain)) is not None
    for start, seen in _orders(plain):
        if not (about and _reported(plain, start)):
            return seen
    return _encoded(plain)


def _order(text: str) -> str | None:
    """Any order in a text that has no business to hold one."""
    plain = plain_letters(text)
    return next((seen for _, seen in _orders(plain)), None)


def _orders(text: str) -> Iterator[tuple[int, str]]:
    """Where each order of a text begins, and its words."""
    yield from _plain_orders(text)
    for cues in (_rule().orders.anywhere, _rule().markup.anywhere):
        for found in cues.finditer(text):
            yield found.start(), found.group()


def _plain_orders(text: str) -> Iterator[tuple[int, str]]:
    """The orders that nobody gives in earnest; "you are now" and roles stand in every transcript of an agent."""
    give = _rule().orders.give
    order = give.groupindex["order"]
    for found in give.finditer(text):
        yield found.start(order), found.group(order)
    for found in _rule().foreign.anywhere.finditer(text):
        yield found.start(), found.group()


def _reported(text: str, start: int) -> bool:
    """Whether what begins there is told of: in quotes, or right behind a word of reporting."""
    if any(span.start() <= start < span.end() for span in _QUOTED.finditer(text)):
        return True
    before = text[max(0, start - _BEFORE) : start].rstrip("\"'`\u201c(:, \n")
    return _rule().mention.reporting.search(before) is not None


def _encoded(text: str) -> str | None:
    payload = _rule().payload
    if says(payload.decoding, text) is None or says(payload.obeying, text) is None:
        return None
    return says(payload.encoded, text)


def _passed_on(case: Case) -> str | None:
    """What the text takes over from a passage of its evidence that gives orders."""
    rule = _rule()
    if rule.mention.about.search(case.text) is not None:
        return None
    for each in case.evidence:
        for start in _apart(sorted(start for start, _ in _plain_orders(each.text)), rule.passage // 2):
            if (shared := _shared(case.text, each.text[start : start + rule.passage])) is not None:
                return shared
    return None


def _apart(starts: Iterable[int], distance: int) -> Iterator[int]:
    """Of many places so many that no two are nearer; passages twice as long still cover all of them."""
    last = -distance
    for start in starts:
        if start >= last + distance:
            yield start
            last = start


def _shared(text: str, passage: str) -> str | None:
    """An address or some words in a row that the text has from the passage."""
    for address in _ADDRESS.findall(passage):
        if address.rstrip(".,;") in text:
            return str(address)
    size = _rule().shared_words
    mine, theirs = tokens(text), tokens(passage)
    runs = set(zip(*(theirs[at:] for at in range(size)), strict=False))
    return next((" ".join(run) for run in zip(*(mine[at:] for at in range(size)), strict=False) if run in runs), None)


@cache
def _rule() -> _Injection:
    return lexicon("injection.toml", _Injection)
