"""Markdown: CommonMark with tables, front matter, HTML, and the ways in which headings get anchors of their own."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence

import yaml
from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from mem.parsing.documents.html import HtmlReader
from mem.parsing.documents.sections import Block, Outline, Section
from mem.parsing.documents.slugs import Slugs

MAX_BLOCK_CHARACTERS = 2000
"""A longer list or quote is several blocks, so that code inside it is kept in one piece."""

_FRONT = re.compile(r"(?P<mark>---|\+\+\+)[ \t]*\n(?P<fields>(?:.*\n)*?)(?P=mark)[ \t]*(?:\n|$)")
_OWN_ID = re.compile(r"\{:?\s*#(?P<id>[\w:.-]+)[^{}]*\}\s*$")
_TARGET = re.compile(r"\((?P<id>[^()\n]+)\)=$")
_TARGET_ABOVE = re.compile(r"\((?P<id>[^()\n]+)\)=\s+(?=\S)")
"""A target right above an underlined heading, which CommonMark takes for its first line."""
_TAG_ID = re.compile(r"<[a-z][^<>]*?\s(?:id|name)\s*=\s*[\"']?(?P<id>[^\"'\s>]+)", re.IGNORECASE)


def markdown_sections(text: str) -> list[Section]:
    """The sections of a Markdown text; headings inside code, quotes and lists are none.

    An anchor is the heading's own id (`{#id}`, `(id)=` or `<a name="id">` before it), else that of GitHub.
    """
    body, title = _without_front_matter(text)
    return _Reader(body.split("\n")).read(body).sections(title)


class _Reader:
    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._outline = Outline()
        self._slugs = Slugs()
        self._target = ""

    def read(self, body: str) -> Outline:
        tokens = MarkdownIt("commonmark").enable("table").parse(body)
        for node in SyntaxTreeNode(tokens).children:
            if node.type == "heading":
                self._heading(node)
            elif node.type == "html_block":
                self._html(node.content)
            elif not self._is_target(node):
                self._target = ""
                for block in self._blocks(node):
                    self._outline.add(block)
        return self._outline

    def _heading(self, node: SyntaxTreeNode) -> None:
        title, anchor = _text(node), ""
        if above := _TARGET_ABOVE.match(title):
            title, self._target = title[above.end() :], above["id"]
        if own := _OWN_ID.match(title, max(title.rfind("{"), 0)):
            title, anchor = title[: own.start()], own["id"]
        elif inside := _TAG_ID.search(node.children[0].content if node.children else ""):
            anchor = inside["id"]
        slug = self._slugs.of(title.strip())
        self._outline.heading(int(node.tag[1]), " ".join(title.split()), anchor or self._target or slug)
        self._target = ""

    def _html(self, content: str) -> None:
        reader = HtmlReader(self._outline, self._slugs.of, pending=self._target)
        reader.read_fragment(content)
        self._target = reader.pending

    def _is_target(self, node: SyntaxTreeNode) -> bool:
        """Whether a paragraph only names the heading below it."""
        if node.type != "paragraph" or not node.children:
            return False
        found = _TARGET.match(node.children[0].content)
        inline = node.children[0].children
        if found is None and inline and all(one.type == "html_inline" for one in inline):
            found = _TAG_ID.search(node.children[0].content)
        self._target = found["id"] if found else self._target
        return found is not None

    def _blocks(self, node: SyntaxTreeNode) -> list[Block]:
        if node.map is None or node.type == "hr":
            return []
        if node.type == "fence":
            return [Block(node.content.rstrip("\n"), f"{node.markup}{node.info}".rstrip())]
        return [Block(text) for text in self._cut(node, *node.map)]

    def _cut(self, node: SyntaxTreeNode, first: int, end: int) -> list[str]:
        """The lines of a block; where they are many, those of each block inside it."""
        text = "\n".join(self._lines[first:end]).strip("\n").rstrip()
        starts = [child.map[0] for child in node.children if child.map] if node.type != "table" else []
        if len(text) <= MAX_BLOCK_CHARACTERS or not starts:
            return [text]
        cut: list[str] = []
        inner = [child for child in node.children if child.map]
        for child, begin, stop in zip(inner, [first, *starts[1:]], [*starts[1:], end], strict=True):
            cut += self._cut(child, begin, stop)
        return cut


def _text(node: SyntaxTreeNode) -> str:
    """What is read of a heading, without its marks."""
    if node.type in {"text", "code_inline", "text_special"}:
        return node.content
    if node.type in {"softbreak", "hardbreak"}:
        return " "
    return "".join(_text(child) for child in node.children)


def _without_front_matter(text: str) -> tuple[str, str]:
    """The text behind its front matter, and the title that stands there."""
    found = _FRONT.match(text)
    if found is None:
        return text, ""
    try:
        fields = yaml.safe_load(found["fields"]) if found["mark"] == "---" else tomllib.loads(found["fields"])
    except (yaml.YAMLError, ValueError):
        return text, ""
    if not isinstance(fields, dict | None):
        return text, ""
    title = (fields or {}).get("title")
    return text[found.end() :], " ".join(title.split()) if isinstance(title, str) else ""
