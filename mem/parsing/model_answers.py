"""What all prompts share: evidence within a budget on the way there, strict JSON on the way back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from mem.domain.canonical import strict_json
from mem.domain.errors import ControllerRefused
from mem.parsing.decode import without_surrogates
from mem.parsing.distill import distill

LEAST_BYTES = 2000
"""In less than this a log may lose its failing lines; rather fewer records than shorter ones."""

_FENCED = re.compile(r"\A\s*```[A-Za-z]*[ \t]*\n(?P<inside>.*?)\n?```\s*\Z", re.DOTALL)

AnswerT = TypeVar("AnswerT", bound=BaseModel)


def within_budget(texts: Sequence[str], max_bytes: int) -> list[str]:
    """The texts, long ones as their failing lines, in so many bytes of UTF-8 altogether; the rest is left out."""
    told = [without_surrogates(text) for text in texts if text.strip()]
    excerpts: list[str] = []
    left = max_bytes
    for number, text in enumerate(told):
        # What a short text leaves over goes to those after it.
        share = min(left, max(LEAST_BYTES, left // (len(told) - number)))
        if len(text.encode("utf-8")) <= share:
            excerpts.append(text)
        elif share >= LEAST_BYTES:
            excerpts.append(distill(text, max_bytes=share).text)
        else:
            continue
        left -= len(excerpts[-1].encode("utf-8"))
    return excerpts


def read_answer(raw: str, shape: type[AnswerT], *, model_id: str, prompt: str) -> AnswerT:
    """The answer to a prompt as the object that it should be; one code fence around it is tolerated.

    Raises:
        ControllerRefused: it is no JSON, or not of that shape.
    """
    fenced = _FENCED.match(raw)
    try:
        return shape.model_validate(strict_json(fenced["inside"] if fenced else raw))
    except (ValidationError, ValueError):
        raise refused(model_id, prompt, "with something else than the JSON that it asks for") from None


def refused(model_id: str, prompt: str, how: str) -> ControllerRefused:
    """The error for an answer that cannot be used; nothing of the answer is in it."""
    return ControllerRefused(
        f"The controller {model_id!r} answered the prompt {prompt!r} {how}.",
        "It is asked a few times; then the embedded default stands in for it.",
    )
