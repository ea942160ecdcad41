"""Cues in prose as validated data: phrases and marks, each list one linear automaton. Code names no word of them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PlainValidator

from mem.parsing.rules import compile_pattern


class Lexicon(BaseModel):
    """One rule file; a field that it does not know is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    version: int = Field(ge=1)


def _compiled(value: Any, frame: str) -> Any:
    if not isinstance(value, list) or not value or not all(isinstance(each, str) for each in value):
        raise ValueError("cues are a list of patterns")
    for each in value:
        if compile_pattern(f"(?i){each}").search("") is not None:
            raise ValueError(f"cue {each!r} matches anything")
    return compile_pattern(frame.format("|".join(value)))


def _phrases(value: Any) -> Any:
    return _compiled(value, r"(?i)\b(?:{})\b")


def _marks(value: Any) -> Any:
    return _compiled(value, r"(?im)(?:{})")


Phrases = Annotated[Any, PlainValidator(_phrases)]
"""Patterns that begin and end at the edge of a word; one linear automaton, blind to case."""
Marks = Annotated[Any, PlainValidator(_marks)]
"""Patterns that find anything anywhere; `^` and `$` are the edges of a line."""
