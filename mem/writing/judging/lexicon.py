"""The data of the rules: read once from `mem/writing/rules`. Code names no word of them."""

from __future__ import annotations

from importlib.resources import files
from typing import TypeVar

from mem.parsing.cues import Lexicon, Marks, Phrases
from mem.parsing.rules import parse

__all__ = ["Lexicon", "Marks", "Phrases", "lexicon"]

ModelT = TypeVar("ModelT", bound=Lexicon)


def lexicon(name: str, model: type[ModelT]) -> ModelT:
    """The rule file `name`.

    Raises:
        RuleError: the file is wrong; the cause names the file and the field.
    """
    return parse(name, files("mem.writing").joinpath("rules").joinpath(name).read_text(encoding="utf-8"), model)
