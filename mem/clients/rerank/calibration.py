"""From a model's score to a probability: one line in log-odds, the same for every candidate."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, assert_never

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from mem.domain.errors import ConfigurationError, Unavailable
from mem.domain.faults import told

Scale = Literal["probability", "logit"]

NEAREST = 1e-7
"""How near to 0 or 1 a score says anything: servers answer in single precision."""

MOST_ODDS = 30.0
TOLERANCE = 1e-6


class Calibration(BaseModel):
    """`slope` and `bias` on the log-odds of a score, as `bench/calibrate_reranker.py` fits them; as it is, no change.

    `scores` is what the model answers, and `model` which one the line was fitted to.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    version: Literal[1] = 1
    model: str | None = None
    scores: Scale
    slope: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    bias: float = Field(default=0.0, allow_inf_nan=False)

    @field_validator("slope", "bias", mode="before")
    @classmethod
    def _whole_is_fine(cls, value: object) -> object:
        return float(value) if type(value) is int else value

    def probabilities(self, scores: Sequence[float], who: str) -> list[float]:
        """A probability for each score, whatever the others are.

        Raises:
            Unavailable: a score that cannot be one of this scale; says `who` gave it.
        """
        for score in scores:
            if not self._fits(score):
                raise Unavailable(
                    f"{who} gave a score that is no {self.scores}.",
                    "If it answers logits, set MEM_RERANK_SCORES=logit." if self.scores == "probability" else "See it.",
                )
        return [self._probability(score) for score in scores]

    def _fits(self, score: float) -> bool:
        return math.isfinite(score) and (self.scores == "logit" or -TOLERANCE <= score <= 1 + TOLERANCE)

    def _probability(self, score: float) -> float:
        match self.scores:
            case "logit":
                odds = score
            case "probability":
                inner = min(max(score, NEAREST), 1 - NEAREST)
                odds = math.log(inner / (1 - inner))
            case _:
                assert_never(self.scores)
        odds = self.slope * odds + self.bias
        return 1.0 / (1.0 + math.exp(-max(-MOST_ODDS, min(MOST_ODDS, odds))))


def read_calibration(path: Path, *, model: str, scores: Scale | None) -> Calibration:
    """The calibration of a file, for a model and, where it is given, a scale.

    Raises:
        ConfigurationError: it cannot be read, is none, or was fitted to another model or scale.
    """
    try:
        found = Calibration.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise ConfigurationError(
            f"The calibration {path} cannot be read ({type(error).__name__}).",
            "Correct MEM_RERANK_CALIBRATION, or unset it.",
        ) from None
    except ValidationError as error:
        raise _wrong(path, told(error)) from None
    except ValueError as error:
        raise _wrong(path, str(error)) from None
    if found.model is not None and found.model != model:
        raise ConfigurationError(
            f"The calibration {path} is for {found.model}, and the reranker is {model}.",
            "Make one for it with bench/calibrate_reranker.py, or unset MEM_RERANK_CALIBRATION.",
        )
    if scores is not None and found.scores != scores:
        raise ConfigurationError(
            f"The calibration {path} is for scores of the kind {found.scores}, and MEM_RERANK_SCORES is {scores}.",
            "Unset MEM_RERANK_SCORES, or make the calibration anew.",
        )
    return found


def _wrong(path: Path, fault: str) -> ConfigurationError:
    return ConfigurationError(
        f"The calibration {path} is none: {fault}.",
        "Make it with bench/calibrate_reranker.py, or unset MEM_RERANK_CALIBRATION.",
    )
