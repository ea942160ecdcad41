"""What a tree of a document says, as plain lines: the form in which HTML and reStructuredText are kept."""

from __future__ import annotations

import re

from mem.parsing.documents.sections import Block, Outline

_FENCES = re.compile(r"`{3,}")


class Writer:
    """Takes pieces of text in the order of a document; ends lines and blocks where it is told to."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._inline: list[str] = []
        self._lines: list[str] = []
        self._marker = ""
        self._depth = 0
        self.written = 0

    def text(self, piece: str) -> None:
        """Go on in the same line."""
        self._inline.append(piece)

    def take_line(self) -> str:
        """What the line has so far, which then is empty again."""
        line = " ".join("".join(self._inline).split())
        self._inline = []
        return line

    def end_line(self) -> None:
        """End the line, if it says anything."""
        line = self.take_line()
        if line:
            self._lines.append(self._indent() + self._marker + line)
            self._marker = " " * len(self._marker)
            self.written += 1

    def end_block(self) -> None:
        """End the line and the block; inside a list only the line."""
        self.end_line()
        if not self._depth:
            self._emit()

    def begin_list(self) -> None:
        """Go one level deeper; the line before stays with the list."""
        self.end_line()
        self._marker = ""
        self._depth += 1

    def item(self, marker: str) -> None:
        """Begin an item of the list."""
        self.end_line()
        self._marker = marker

    def end_list(self) -> None:
        """Go one level up; the outermost list is a block."""
        self.end_line()
        self._depth = max(self._depth - 1, 0)
        self._marker = ""
        self.end_block()

    def code(self, text: str, language: str = "") -> None:
        """Code, to the letter, wherever it stands."""
        self.end_line()
        self._emit()
        fence = "`" * max([3, *(len(found) + 1 for found in _FENCES.findall(text))])
        self._outline.add(Block(text.strip("\n"), fence + language))
        self.written += 1

    def heading(self, level: int, title: str, anchor: str) -> None:
        """End all that is open, and begin a section."""
        self.end_line()
        self._emit()
        self._depth, self._marker = 0, ""
        self._outline.heading(level, title, anchor)

    def _emit(self) -> None:
        if self._lines:
            self._outline.add(Block("\n".join(self._lines)))
        self._lines = []

    def _indent(self) -> str:
        return "  " * max(self._depth - 1, 0)
