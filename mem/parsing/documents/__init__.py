"""Documents of several formats as sections: one module for each format, and one type for what they give."""

from mem.parsing.documents.chunks import chunks
from mem.parsing.documents.formats import (
    FORMATS,
    SUFFIXES,
    DocumentFormat,
    document_sections,
    document_text,
    format_of,
    guess_format,
)
from mem.parsing.documents.sections import Block, Section, UnreadableError

__all__ = [
    "FORMATS",
    "SUFFIXES",
    "Block",
    "DocumentFormat",
    "Section",
    "UnreadableError",
    "chunks",
    "document_sections",
    "document_text",
    "format_of",
    "guess_format",
]
