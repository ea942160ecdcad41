"""The blocks of a section, put together into texts of bounded length."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mem.parsing.documents.sections import Block

_BETWEEN = ("\n\n", "\n", ". ", " ")
"""Where prose is cut, the best place first."""


def chunks(blocks: Iterable[Block], limit: int) -> list[str]:
    """Texts of at most `limit` characters, cut between blocks; within one only where it alone is longer.

    Code is cut between lines then, and each part gets the fences.
    """
    parts: list[str] = []
    for block in blocks:
        for piece in _pieces(block, limit):
            if parts and len(parts[-1]) + 2 + len(piece) <= limit:
                parts[-1] += f"\n\n{piece}"
            else:
                parts.append(piece)
    return parts


def _pieces(block: Block, limit: int) -> list[str]:
    whole = block.whole()
    if len(whole) <= limit:
        return [whole]
    room = limit - len(block.fence) - len(block.closing) - 2
    if not block.fence or room < limit // 2:  # a first line that is no language would leave no room for code
        return [piece.strip("\n") for piece in _packed(whole, limit, _BETWEEN) if piece.strip()]
    cut = _packed(block.text, room, ("\n",))
    return [block._replace(text=piece).whole() for piece in cut if piece.strip()]


def _packed(text: str, limit: int, separators: Sequence[str]) -> list[str]:
    """Pieces of at most `limit` characters, cut at the first separator that makes them short enough."""
    if len(text) <= limit:
        return [text]
    if not separators:
        return [text[at : at + limit] for at in range(0, len(text), limit)]
    separator, rest = separators[0], separators[1:]
    packed: list[str] = []
    for piece in text.split(separator):
        if packed and len(packed[-1]) + len(separator) + len(piece) <= limit:
            packed[-1] += separator + piece
        else:
            packed += _packed(piece, limit, rest)
    return packed
