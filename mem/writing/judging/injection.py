"""Text addressed to a model instead of telling about a failure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from mem.domain.accepting import Verdict
from mem.parsing.orders import about_orders, any_order, given, order_rules, plain_orders
from mem.writing.judging.case import Case
from mem.writing.judging.verdicts import quoted, reject
from mem.writing.judging.words import tokens

_ADDRESS = re.compile(r"https?://[^\s\"'`<>)]{4,200}|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{2,64}")


def injection(case: Case) -> Verdict | None:
    """Object to a text or a source that gives orders to its reader, and to a text that passes one on."""
    if (seen := given(case.text)) is not None:
        return reject(
            "prompt-injection",
            f"The text gives orders to whoever reads it: {quoted(seen)}; tell what happened and what helped instead.",
        )
    for each in case.evidence:
        if each.source and (seen := any_order(each.source)) is not None:
            return reject("prompt-injection", f"A source of the evidence gives orders: {quoted(seen)}; name the place.")
    if (seen := _passed_on(case)) is not None:
        return reject(
            "prompt-injection",
            f"The text passes on what an order inside its evidence asks for: {quoted(seen)}; tell who gave it and why.",
        )
    return None


def _passed_on(case: Case) -> str | None:
    """What the text takes over from a passage of its evidence that gives orders."""
    rule = order_rules()
    if about_orders(case.text):
        return None
    for each in case.evidence:
        for start in _apart(sorted(start for start, _ in plain_orders(each.text)), rule.passage // 2):
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
    size = order_rules().shared_words
    mine, theirs = tokens(text), tokens(passage)
    runs = set(zip(*(theirs[at:] for at in range(size)), strict=False))
    return next((" ".join(run) for run in zip(*(mine[at:] for at in range(size)), strict=False) if run in runs), None)
