"""What identifies a failure once the volatile parts are masked."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

ALGO = 1
"""Version of the key algorithm; part of every key, so that a new one never changes old rows silently."""


class Signature(BaseModel):
    r"""One failure found in a text.

    `line_start` and `line_end` count lines from 1, split at "\n" only, both inclusive, in the text as given.
    `message` is the masked, redacted message that entered the key; `excerpt` the redacted raw block.
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


class Extraction(BaseModel):
    """All signatures of one input, best first; empty where there is no failure."""

    model_config = ConfigDict(frozen=True)

    source: str
    bytes: int
    lines: int
    signatures: list[Signature]
