"""Below what a hit is a guess: the floors, as data."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict


class Floors(BaseModel):
    """Floors of probability (`lesson*`, `reference`) and of similarity (0 to 1), and how many hits to keep."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    lesson: float
    lesson_text: float
    lesson_lexical: float
    reference: float
    near: float
    symptom: float
    text: float
    lexical: float
    reference_text: float
    reference_lexical: float
    question: float
    question_words: float
    question_evidence: float
    skill: float
    message: float
    message_words: float
    keep_lessons: int
    keep_reference: int
    keep_skills: int


@cache
def floors() -> Floors:
    """The floors that this version was calibrated to."""
    return Floors.model_validate(tomllib.loads(files(__package__).joinpath("floors.toml").read_text("utf-8")))
