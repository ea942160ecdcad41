"""What a document is taken apart into: sections of blocks, each below its path of headings."""

from __future__ import annotations

from typing import NamedTuple

MAX_ANCHOR_CHARACTERS = 200


class UnreadableError(ValueError):
    """A document whose bytes are no text, or no text that can be parsed."""


class Block(NamedTuple):
    """A paragraph, a list, a table, or code.

    `fence` is the line that opens code in Markdown; empty for all else. `text` is then what stands between the fences.
    """

    text: str
    fence: str = ""

    def whole(self) -> str:
        """The block as it is read: code between its fences."""
        return f"{self.fence}\n{self.text}\n{self.closing}" if self.fence else self.text

    @property
    def closing(self) -> str:
        """The line that closes code."""
        mark = self.fence.lstrip()[:1]
        return mark * (len(self.fence.lstrip()) - len(self.fence.lstrip().lstrip(mark)))


class Section(NamedTuple):
    """A heading, those above it, what stands below it, and where the document's site links to; without one, empty."""

    headings: tuple[str, ...]
    anchor: str
    blocks: tuple[Block, ...]


class Outline:
    """Sections in the making: headings and blocks come in the order of the document."""

    def __init__(self) -> None:
        self._path: list[tuple[int, str]] = []
        self._anchor = ""
        self._blocks: list[Block] = []
        self._sections: list[Section] = []
        self._top = 0

    def heading(self, level: int, title: str, anchor: str) -> None:
        """End the section before, and begin one below the last heading of a higher level."""
        self._end()
        self._path = [(other, above) for other, above in self._path if other < level]
        self._path.append((level, title))
        self._anchor = anchor if len(anchor) <= MAX_ANCHOR_CHARACTERS and not any(map(str.isspace, anchor)) else ""
        self._top += level == 1

    def add(self, block: Block) -> None:
        """Add a block to the section; a blank one is none."""
        if block.text.strip():
            self._blocks.append(block)

    def sections(self, title: str = "") -> list[Section]:
        """All sections that hold text; those of a document without a heading of its own are below `title`."""
        self._end()
        if not title or self._top:
            return self._sections
        return [section._replace(headings=(title, *section.headings)) for section in self._sections]

    def _end(self) -> None:
        if self._blocks:
            self._sections.append(Section(tuple(title for _, title in self._path), self._anchor, tuple(self._blocks)))
        self._blocks = []
