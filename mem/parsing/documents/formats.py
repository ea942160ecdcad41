"""Which format a document is in, its bytes as text, and its sections."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Literal, get_args

from mem.parsing.documents.html import html_sections
from mem.parsing.documents.markdown import markdown_sections
from mem.parsing.documents.plain import plain_sections
from mem.parsing.documents.rst import rst_sections
from mem.parsing.documents.sections import Section, UnreadableError

DocumentFormat = Literal["markdown", "rst", "html", "text"]

FORMATS: tuple[DocumentFormat, ...] = get_args(DocumentFormat)
SUFFIXES: Mapping[str, DocumentFormat] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".mdx": "markdown",
    ".rst": "rst",
    ".rest": "rst",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".txt": "text",
}
_PARSERS: Mapping[DocumentFormat, Callable[[str], list[Section]]] = {
    "markdown": markdown_sections,
    "rst": rst_sections,
    "html": html_sections,
    "text": plain_sections,
}
_BYTE_ORDER = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_PRESCANNED = 1024
"""So far into a page a browser looks for its encoding."""
_CHARSET = re.compile(rb"<(?:meta|\?xml)[^>]*?(?:charset|encoding)\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_HTML = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?>(?:<!--(?>.*?-->)\s*)*)<(?:!doctype\s+html|html|head|body|main|article)\b",
    re.DOTALL | re.IGNORECASE,
)
_RST = re.compile(r"^\.\. (?:[\w:-]+::|_[^\n]+:)|^[^\n]+::\n\n[ \t]", re.MULTILINE)
_RST_TITLE = re.compile(r"^(?P<over>([=*#~^\"])\2{2,}\n)?\S[^\n]*\n([=*#~^\"+])\3{2,}[ \t]*$", re.MULTILINE)
_MARKDOWN = re.compile(r"^(?:#{1,6} |```|~~~)|\]\([^)\n]{1,500}\)", re.MULTILINE)


def format_of(name: str) -> DocumentFormat | None:
    """The format that a file name tells; None where it tells none."""
    return SUFFIXES.get(PurePath(name).suffix.lower())


def guess_format(text: str) -> DocumentFormat:
    """The format of a text without a telling name: Markdown, unless it looks like another one."""
    if _HTML.match(text):
        return "html"
    return "rst" if looks_like_rst(text) else "markdown"


def looks_like_rst(text: str) -> bool:
    """Whether a text has the marks of reStructuredText and none of Markdown."""
    return bool(_RST.search(text) or _RST_TITLE.search(text)) and not _MARKDOWN.search(text)


def document_text(data: bytes, form: DocumentFormat) -> str:
    """The text of a document: UTF-8, or what its first bytes or a page's own declaration say.

    Raises:
        UnreadableError: the bytes are no such text.
    """
    encoding, data = _encoding(data, form)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise UnreadableError(f"byte {error.start} is not {encoding.upper()} text") from None
    if "\0" in text:
        raise UnreadableError("it holds binary data")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def document_sections(text: str, form: DocumentFormat) -> list[Section]:
    """The sections of a document that hold text. A text file in reStructuredText is read as that.

    Raises:
        UnreadableError: the parser fails on it.
    """
    if form == "text" and looks_like_rst(text):
        form = "rst"
    try:
        return _PARSERS[form](text)
    except UnreadableError:
        raise
    except RecursionError:
        raise UnreadableError("it nests too deep") from None
    except Exception as error:  # a parser that fails on one document must not keep the others out
        raise UnreadableError(f"the parser of {form} fails on it: {type(error).__name__}") from error


def _encoding(data: bytes, form: DocumentFormat) -> tuple[str, bytes]:
    for mark, encoding in _BYTE_ORDER.items():
        if data.startswith(mark):
            return encoding, data[len(mark) :]
    declared = _CHARSET.search(data[:_PRESCANNED]) if form == "html" else None
    if declared is None:
        return "utf-8", data
    try:
        name = codecs.lookup(declared[1].decode("ascii")).name
    except LookupError:
        raise UnreadableError(f"it declares the unknown encoding {declared[1].decode('ascii')[:40]}") from None
    # As browsers do: what calls itself Latin 1 is its superset, and nothing that reads ASCII is UTF-16.
    return {"iso8859-1": "cp1252", "ascii": "cp1252", "utf-16": "utf-8"}.get(name, name), data
