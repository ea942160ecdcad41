"""From a raw log to failure signatures."""

from __future__ import annotations

from mem.parsing.decode import decode, looks_binary
from mem.parsing.distill import Distilled, distill
from mem.parsing.excerpts import failure_lines
from mem.parsing.extract import explain_source, extract, extract_source, identifying
from mem.parsing.key import current_algo
from mem.parsing.lexical import identifiers
from mem.parsing.mask import mask, mask_coarse

__all__ = [
    "Distilled",
    "current_algo",
    "decode",
    "distill",
    "explain_source",
    "extract",
    "extract_source",
    "failure_lines",
    "identifiers",
    "identifying",
    "looks_binary",
    "mask",
    "mask_coarse",
]
