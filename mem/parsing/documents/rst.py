"""reStructuredText by docutils, as it parses it, with what Sphinx adds kept as text.

Nothing that a document names is read or run: no file is included, nothing raw is passed on.
"""

from __future__ import annotations

from docutils import nodes
from docutils.core import publish_doctree

from mem.parsing.documents.rst_unknown import know_names
from mem.parsing.documents.sections import Outline, Section, UnreadableError
from mem.parsing.documents.writer import Writer

_LONGEST_LINE = 10_000
_SETTINGS = {
    "_disable_config": True,
    "auto_id_prefix": "id",  # as Sphinx sets it
    "docinfo_xform": False,
    "doctitle_xform": False,
    "file_insertion_enabled": False,
    "halt_level": 5,
    "input_encoding": "unicode",
    "line_length_limit": _LONGEST_LINE,
    "raw_enabled": False,
    "report_level": 5,
    "syntax_highlight": "none",
    "warning_stream": False,
}
_SILENT = (nodes.comment, nodes.Invisible, nodes.Decorative, nodes.raw, nodes.transition, nodes.meta)
_GROUPS = (
    nodes.admonition, nodes.block_quote, nodes.citation, nodes.compound, nodes.container, nodes.figure, nodes.footnote,
    nodes.legend, nodes.sidebar, nodes.topic,
)  # fmt: skip


def rst_sections(text: str) -> list[Section]:
    """The sections of a text; an anchor is the id that docutils and Sphinx give the section.

    Raises:
        UnreadableError: a line is so long that docutils, whose time grows with its square, would not end.
    """
    if any(len(line) > _LONGEST_LINE for line in text.split("\n")):
        raise UnreadableError(f"a line is longer than {_LONGEST_LINE} characters")
    know_names(text)
    document = publish_doctree(text, settings_overrides=dict(_SETTINGS))
    outline = Outline()
    _Reader(outline).read(document)
    return outline.sections()


class _Reader:
    def __init__(self, outline: Outline) -> None:
        self._out = Writer(outline)
        self._level = 0

    def read(self, node: nodes.Node) -> None:
        """What stands below a node, in order."""
        for at, child in enumerate(node.children):
            # What a document begins with tells its tools how to treat it.
            if not (at == 0 and isinstance(node, nodes.document) and isinstance(child, nodes.field_list)):
                self._block(child)
        self._out.end_block()

    def _block(self, node: nodes.Node) -> None:
        out = self._out
        if isinstance(node, nodes.section):
            self._section(node)
        elif isinstance(node, nodes.literal_block | nodes.doctest_block):
            out.code(node.astext(), node.get("language", ""))
        elif isinstance(node, nodes.line_block | nodes.math_block | nodes.address):
            for line in node.astext().split("\n"):
                out.text(line)
                out.end_line()
            out.end_block()
        elif isinstance(node, nodes.system_message):
            self._refused(node)
        elif isinstance(node, nodes.table):
            self._table(node)
        elif isinstance(node, nodes.Element) and not self._list(node):
            self._other(node)

    def _section(self, node: nodes.section) -> None:
        self._level += 1
        title = node.next_node(nodes.title)
        self._out.heading(self._level, " ".join(title.astext().split()) if title else "", (node["ids"] or [""])[0])
        for child in node.children:
            if child is not title:
                self._block(child)
        self._out.end_block()
        self._level -= 1

    def _list(self, node: nodes.Element) -> bool:
        """Read a list of any kind; False where it is none."""
        if isinstance(node, nodes.bullet_list | nodes.enumerated_list):
            self._out.begin_list()
            for number, item in enumerate(node.children, int(node.get("start", 1))):
                self._out.item(f"{number}. " if isinstance(node, nodes.enumerated_list) else "- ")
                self.read(item)
            self._out.end_list()
        elif isinstance(node, nodes.definition_list | nodes.field_list | nodes.option_list):
            for item in node.children:
                self._pair(item)
        else:
            return False
        return True

    def _pair(self, item: nodes.Node) -> None:
        """A term and what it means, a field and its value, an option and what it does."""
        *names, body = item.children or [nodes.Text("")]
        joined = ", " if isinstance(item, nodes.option_list_item) else " : "
        name = joined.join(_inline(one) for one in names)
        if isinstance(item, nodes.field):
            self._out.text(f"{name}: ")
            self.read(body)
        else:
            self._out.text(name)
            self._out.begin_list()
            self.read(body)
            self._out.end_list()

    def _table(self, node: nodes.table) -> None:
        for title in node.findall(nodes.title):
            self._out.text(_inline(title))
            self._out.end_line()
        for row in node.findall(nodes.row):
            self._out.text(" | ".join(" ".join(_inline(entry).split()) for entry in row.children))
            self._out.end_line()
        self._out.end_block()

    def _other(self, node: nodes.Element) -> None:
        if isinstance(node, nodes.topic) and "contents" in node["classes"]:
            return
        if isinstance(node, nodes.Admonition) and not isinstance(node, nodes.admonition | nodes.system_message):
            self._out.text(f"{node.tagname.capitalize()}: ")
            self.read(node)
        elif isinstance(node, _GROUPS):
            self.read(node)
        elif isinstance(node, nodes.label):
            self._out.text(f"[{_inline(node)}] ")
        elif isinstance(node, nodes.image):
            self._out.text(node.get("alt", ""))
            self._out.end_block()
        elif not isinstance(node, _SILENT):
            self._out.text(_inline(node))
            self._out.end_block()

    def _refused(self, node: nodes.system_message) -> None:
        """What docutils could not read stays as it was written."""
        for kept in node.findall(nodes.literal_block):
            for line in kept.astext().split("\n"):
                self._out.text(line)
                self._out.end_line()
            self._out.end_block()


def _inline(node: nodes.Node) -> str:
    """The text of a node: code in backticks, an image by what it shows."""
    if isinstance(node, nodes.Text):
        return node.astext()
    if isinstance(node, nodes.literal | nodes.math):
        return f"`{node.astext()}`"
    if isinstance(node, nodes.option_argument):
        return node.astext()
    if isinstance(node, nodes.image):
        return str(node.get("alt", ""))
    if isinstance(node, _SILENT) and not isinstance(node, nodes.target):
        return ""
    between = "\n" if isinstance(node, nodes.entry | nodes.definition) else ""
    return between.join(_inline(child) for child in node.children)
