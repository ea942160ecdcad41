"""What identifies a failure once the volatile parts are masked."""

from __future__ import annotations

from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

ALGO = 1
"""Version of the key algorithm; part of every key, so that a new one never changes old rows silently."""


class EarlierKey(NamedTuple):
    """The keys that an earlier version of the algorithm gives the same failure."""

    algo: int
    sig_sha: str
    sig_coarse: str


class Signature(BaseModel):
    r"""One failure found in a text.

    `line_start` and `line_end` count lines from 1, split at "\n" only, both inclusive, in the text as given.
    `message` is the masked, redacted message that entered the key; `excerpt` the redacted raw block. `earlier` only
    asks for rows of earlier versions, newest first: it is never written down, so it stays out of every dump.
    """

    model_config = ConfigDict(frozen=True)

    sig_sha: str
    sig_coarse: str
    algo: int = ALGO
    tool: str
    envelope: str | None = None
    rule: str
    code: str | None = None
    line_start: int
    line_end: int
    message: str
    excerpt: str
    earlier: tuple[EarlierKey, ...] = Field(default=(), exclude=True, repr=False)

    @property
    def keys(self) -> list[str]:
        """The exact keys under every version, the current one's first."""
        return [self.sig_sha, *(key.sig_sha for key in self.earlier)]

    @property
    def coarse_keys(self) -> list[str]:
        """The coarse keys under every version, the current one's first."""
        return [self.sig_coarse, *(key.sig_coarse for key in self.earlier)]


class Extraction(BaseModel):
    """All signatures of one input, best first; empty where there is no failure."""

    model_config = ConfigDict(frozen=True)

    source: str
    bytes: int
    lines: int
    signatures: list[Signature]


Fate = Literal[
    "signature",
    "below the floor",
    "over the limit",
    "overlaps a better one",
    "identifies nothing",
    "the same failure again",
]
"""What becomes of a candidate."""


class ExplainedCandidate(BaseModel):
    """A block that may be the failure: why it scores as it does, and what becomes of it.

    `features` are the summands of `score`; one that adds nothing is left out.
    """

    model_config = ConfigDict(frozen=True)

    line_start: int
    line_end: int
    rule: str
    kind: str
    score: float
    fate: Fate
    sig_sha: str | None = None
    features: dict[str, float]


class Explanation(Extraction):
    """An extraction with all the candidates that it chose from, best first."""

    candidates: list[ExplainedCandidate]
