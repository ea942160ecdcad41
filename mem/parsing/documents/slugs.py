"""Anchors of headings as GitHub makes them."""

from __future__ import annotations

import unicodedata


class Slugs:
    """Gives each heading of one document an anchor of its own."""

    def __init__(self) -> None:
        self._used: dict[str, int] = {}

    def of(self, title: str) -> str:
        """The next anchor for a heading: one that came before gets a number."""
        slug = found = _slug(title)
        while found in self._used:
            self._used[slug] += 1
            found = f"{slug}-{self._used[slug]}"
        self._used[found] = 0
        return found


def _slug(title: str) -> str:
    return "".join(char for char in title.lower() if _is_kept(char)).replace(" ", "-")


def _is_kept(char: str) -> bool:
    """Whether it is a letter, a mark, a digit, or one of the few signs that stay."""
    return char in " -_" or unicodedata.category(char)[0] in "LMN"
