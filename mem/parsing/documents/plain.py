"""Plain text: paragraphs, and nothing that tells headings."""

from __future__ import annotations

import re

from mem.parsing.documents.sections import Block, Outline, Section

_BLANK = re.compile(r"\n(?:[ \t]*\n)+")


def plain_sections(text: str) -> list[Section]:
    """One section of all paragraphs, parted by blank lines; indentation stays."""
    outline = Outline()
    for paragraph in _BLANK.split(f"\n{text}"):
        outline.add(Block(paragraph.strip("\n").rstrip()))
    return outline.sections()
