"""Orders in a text: whether it gives one to whoever reads it, instead of telling what happened and what helped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, model_validator

from mem.parsing.cues import Lexicon, Marks, Phrases
from mem.parsing.orders.lookalikes import mixed_words, plain_letters
from mem.parsing.rules import compile_pattern, parse

_RULES = "orders.toml"
_QUOTED = re.compile(r"`[^`\n]{1,400}`|\"[^\"\n]{1,400}\"|\u201c[^\u201d\n]{1,400}\u201d|(?<!\w)'[^'\n]{1,400}'(?!\w)")
_BEFORE = 60


def imperatives(opening: str, give: Sequence[str]) -> Any:
    """The patterns `give` at the beginning of a clause, as the group `order`; `opening` may stand before."""
    return compile_pattern(rf"(?i){opening}\s*\b(?P<order>{'|'.join(give)})")


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class _Orders(_Part):
    opening: str
    give: Any
    anywhere: Phrases

    @model_validator(mode="before")
    @classmethod
    def _at_the_beginning(cls, data: Any) -> Any:
        """Put what may stand before an order before each of them."""
        return data | {"give": imperatives(data["opening"], data["give"])}


class _Anywhere(_Part):
    anywhere: Marks


class _Payload(_Part):
    encoded: Marks
    decoding: Phrases
    obeying: Marks


class _Mention(_Part):
    reporting: Annotated[Any, PlainValidator(lambda value: compile_pattern(rf"(?i)\b(?:{'|'.join(value)})"))]
    about: Phrases


class OrderRules(Lexicon):
    """What orders look like; the head of the file says how to write one."""

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


def given(text: str) -> str | None:
    """The order that a memory text gives, with its look-alike letters put right; None where it only tells of one."""
    rule = order_rules()
    plain = plain_letters(text)
    disguised = mixed_words(text)
    if len(disguised) >= rule.max_mixed_words:
        return " ".join(disguised)
    for seen, told in told_orders(plain, _orders(plain)):
        if not told:
            return seen
    return _encoded(plain)


def orders_of(text: str) -> Iterator[tuple[int, str]]:
    """Where each order of a text begins once its look-alike letters are put right, and its words."""
    return _orders(plain_letters(text))


def told_orders(text: str, orders: Iterable[tuple[int, str]]) -> Iterator[tuple[str, bool]]:
    """The words of each order, and whether the text only tells of it."""
    about = about_orders(_QUOTED.sub(" ", text))
    for start, seen in orders:
        yield seen, about and _reported(text, start)


def about_orders(text: str) -> bool:
    """Whether a text is about the matter, so that an order in it may be told of."""
    return order_rules().mention.about.search(text) is not None


def any_order(text: str) -> str | None:
    """Any order in a text that has no business to hold one."""
    return next((seen for _, seen in orders_of(text)), None)


def _orders(text: str) -> Iterator[tuple[int, str]]:
    """Where each order of a text begins, and its words."""
    yield from plain_orders(text)
    for cues in (order_rules().orders.anywhere, order_rules().markup.anywhere):
        for found in cues.finditer(text):
            yield found.start(), found.group()


def plain_orders(text: str) -> Iterator[tuple[int, str]]:
    """The orders that nobody gives in earnest; "you are now" and roles stand in every transcript of an agent."""
    give = order_rules().orders.give
    order = give.groupindex["order"]
    for found in give.finditer(text):
        yield found.start(order), found.group(order)
    for found in order_rules().foreign.anywhere.finditer(text):
        yield found.start(), found.group()


def _reported(text: str, start: int) -> bool:
    """Whether what begins there is told of: in quotes, or right behind a word of reporting."""
    if any(span.start() <= start < span.end() for span in _QUOTED.finditer(text)):
        return True
    before = text[max(0, start - _BEFORE) : start].rstrip("\"'`\u201c(:, \n")
    return order_rules().mention.reporting.search(before) is not None


def _encoded(text: str) -> str | None:
    payload = order_rules().payload
    if payload.decoding.search(text) is None or payload.obeying.search(text) is None:
        return None
    found = payload.encoded.search(text)
    return None if found is None else str(found.group())


@cache
def order_rules() -> OrderRules:
    """The packaged rules.

    Raises:
        RuleError: the file is wrong.
    """
    return parse(_RULES, files(__package__).joinpath(_RULES).read_text(encoding="utf-8"), OrderRules)
