"""HTML pages: the main content by heading, without navigation and scripts, code to the letter."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from mem.parsing.documents.names import names
from mem.parsing.documents.sections import Outline, Section
from mem.parsing.documents.writer import Writer

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_SECTIONS = frozenset({"section", "article"})
_DEEPEST = 5000
_TAG = re.compile(r"<(/?)([a-zA-Z][\w-]*)")
_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight-source|highlight)-([\w+#.-]+)")
_PERMALINKS = frozenset({"#", "¶", "§", "🔗", ""})
_NO_LANGUAGE = frozenset({"default", "none", "text", "plaintext"})


def html_sections(text: str) -> list[Section]:
    """The sections of a page's main content; an anchor is the id of the heading, or of its section."""
    tree = _parsed(text)
    outline = Outline()
    reader = HtmlReader(outline, lambda _: "")
    if (root := _main(tree)) is not None:
        reader.read(root)
    title = tree.css_first("head title", default=None)
    return outline.sections("" if title is None else " ".join(title.text().split()))


class _Open(NamedTuple):
    """A section whose heading may come yet: its id, and how much was written when it began."""

    id: str
    written: int


class HtmlReader:
    """Reads elements into an outline.

    `pending` is the anchor of an empty element that stands right before what comes next. `slug` makes an anchor for a
    heading that has none.
    """

    def __init__(self, outline: Outline, slug: Callable[[str], str], pending: str = "") -> None:
        self._out = Writer(outline)
        self._slug = slug
        self._pending = pending
        self._pending_at = 0
        self._open: list[_Open] = []
        self._cells = 0
        self._numbers: list[int | None] = []
        self._in_main = True

    @property
    def pending(self) -> str:
        """The anchor that waits for a heading."""
        return self._pending if self._out.written == self._pending_at else ""

    def read_fragment(self, content: str) -> None:
        """Read HTML that stands in another document."""
        body = _parsed(content).body
        if body is not None:
            self.read(body)

    def read(self, root: LexborNode) -> None:
        """Read an element and all below it; without recursion, since a page may nest as deep as it likes."""
        self._in_main = root.tag != "body"
        waiting: list[tuple[LexborNode, bool]] = [(root, False)]
        while waiting:
            node, done = waiting.pop()
            if done:
                self._leave(node)
            elif node.is_text_node:
                self._out.text(node.text_content or "")
            elif node.is_element_node and self._enter(node):
                waiting.append((node, True))
                children = []
                child = node.first_child
                while child is not None:
                    children.append((child, False))
                    child = child.next
                waiting += reversed(children)
        self._out.end_block()

    def _enter(self, node: LexborNode) -> bool:
        """Begin an element; False where all of it is done or left out."""
        tag = node.tag or ""
        if self._is_left_out(node, tag):
            return False
        self._note_anchor(node, tag)
        if tag in _HEADINGS:
            self._heading(node, int(tag[1]))
        elif tag == "pre":
            self._out.code(_raw(node), _language(node))
        elif tag == "br":
            self._break()
        elif tag == "img":
            self._out.text(node.attributes.get("alt") or "")
        else:
            self._begin(node, tag)
            return True
        return False

    def _begin(self, node: LexborNode, tag: str) -> None:
        if tag in names("html", "code"):
            self._out.text("`")
        elif self._cells:
            self._begin_in_table(tag)
        elif tag in {"ul", "ol"}:
            self._out.begin_list()
            self._numbers.append(0 if tag == "ol" else None)
        elif tag == "li":
            self._out.item(self._marker())
        elif tag == "dt":
            self._out.end_line()
        elif tag == "dd":
            self._out.begin_list()
        elif tag == "table" and not node.any_css_matches(("h1, h2, h3, h4, pre, table table",)):
            self._out.end_block()
            self._cells = 1
        elif tag in names("html", "blocks") or tag in {"tr", "td", "th"}:
            self._out.end_block()
        if tag in _SECTIONS or (tag == "div" and "section" in _classes(node)):
            self._open.append(_Open(node.attributes.get("id") or "", self._out.written))

    def _begin_in_table(self, tag: str) -> None:
        if tag in {"tr", "caption"}:
            self._out.end_line()
            self._cells = 1
        elif tag in {"td", "th"}:
            self._out.text(" | " if self._cells > 1 else "")
            self._cells += 1
        else:
            self._out.text(" " if tag in names("html", "blocks") or tag == "li" else "")

    def _leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in names("html", "code"):
            self._out.text("`")
        elif self._cells:
            if tag == "table":
                self._cells = 0
                self._out.end_block()
            elif tag in names("html", "blocks"):
                self._out.text(" ")
        elif tag in {"ul", "ol"}:
            self._numbers.pop()
            self._out.end_list()
        elif tag == "dt":
            self._out.end_line()
        elif tag == "dd":
            self._out.end_list()
        elif tag in names("html", "blocks") or tag in {"td", "th"}:
            self._out.end_block()
        if tag in _SECTIONS or (tag == "div" and "section" in _classes(node)):
            self._open.pop()

    def _heading(self, node: LexborNode, level: int) -> None:
        title = _title(node)
        if not title:
            return
        inner = node.css_first("[id], a[name]", default=None)
        own = node.attributes.get("id") or (_id(inner) if inner is not None else "") or self.pending
        around = self._open[-1] if self._open else None
        if not own and around is not None and around.written == self._out.written:
            own = around.id
        slug = self._slug(title)
        self._out.heading(level, title, own or slug)
        self._out.written += 1
        self._pending = ""

    def _note_anchor(self, node: LexborNode, tag: str) -> None:
        if node.first_child is None and tag in {"a", "span", "div", "p"} and (found := _id(node)):
            self._pending, self._pending_at = found, self._out.written

    def _break(self) -> None:
        if self._cells:
            self._out.text(" ")
        else:
            self._out.end_line()

    def _marker(self) -> str:
        if not self._numbers or (number := self._numbers[-1]) is None:
            return "- "
        self._numbers[-1] = number + 1
        return f"{number + 1}. "

    def _is_left_out(self, node: LexborNode, tag: str) -> bool:
        if tag in names("html", "left_out") or (
            tag in names("html", "left_out_of_pages") and not self._in_main and not node.any_css_matches(("h1",))
        ):
            return True
        given = node.attributes
        return (
            "hidden" in given
            or given.get("aria-hidden") == "true"
            or given.get("role") in names("html", "left_out_roles")
            or not names("html", "left_out_classes").isdisjoint(_classes(node))
        )


def _parsed(text: str) -> LexborHTMLParser:
    """The tree of a page.

    Raises:
        RecursionError: it nests too deep for a parser that looks at all open elements again and again.
    """
    depth = 0
    for close, tag in _TAG.findall(text):
        if tag.lower() not in names("html", "never_deeper"):
            depth = max(depth - 1, 0) if close else depth + 1
            if depth > _DEEPEST:
                raise RecursionError
    return LexborHTMLParser(text)


def _main(tree: LexborHTMLParser) -> LexborNode | None:
    """The element that holds what the page is about."""
    for main in tree.css("main, [role=main]"):
        if main.text(strip=True):
            articles = main.css("article")
            return articles[0] if len(articles) == 1 and articles[0].text(strip=True) else main
    articles = tree.css("article")
    return articles[0] if len(articles) == 1 else tree.body


def _title(node: LexborNode) -> str:
    """What is read of a heading, without the link to itself."""
    parts = []
    for inner in node.traverse(include_text=True):
        if inner.is_text_node and not _in_permalink(inner, node):
            parts.append(inner.text_content or "")
        elif inner.tag in {"br", "img"}:
            parts.append(" " + (inner.attributes.get("alt") or ""))
    return " ".join("".join(parts).split())


def _in_permalink(text: LexborNode, heading: LexborNode) -> bool:
    around = text.parent
    while around is not None and around != heading:
        if around.tag in {"script", "style", "svg", "button"} or not names("html", "left_out_classes").isdisjoint(
            _classes(around)
        ):
            return True
        if around.tag == "a" and around.text(strip=True) in _PERMALINKS:
            return True
        around = around.parent
    return False


def _raw(node: LexborNode) -> str:
    """The text of an element to the letter."""
    parts = []
    for inner in node.traverse(include_text=True):
        if inner.is_text_node and not _in_permalink(inner, node):
            parts.append(inner.text_content or "")
        elif inner.tag == "br":
            parts.append("\n")
    return "".join(parts)


def _language(node: LexborNode) -> str:
    """The language of code, where a class of it, of the element inside or of those around names it."""
    inner = node.css_first("code", default=None)
    around = node.parent
    for one in (inner, node, around, None if around is None else around.parent):
        if one is not None and (found := _LANGUAGE.search(one.attributes.get("class") or "")):
            return "" if found[1] in _NO_LANGUAGE else found[1]
    return ""


def _classes(node: LexborNode) -> list[str]:
    return (node.attributes.get("class") or "").split()


def _id(node: LexborNode) -> str:
    return node.attributes.get("id") or (node.attributes.get("name") if node.tag == "a" else "") or ""
