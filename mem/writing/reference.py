"""Reference documents, cut into chunks by heading."""

from __future__ import annotations

from mem.domain.ids import SHARED, checked_project
from mem.domain.nodes import Node
from mem.parsing.documents import Block, DocumentFormat, Section, chunks, document_sections
from mem.parsing.redact import redact
from mem.parsing.sanitize import strip_unsafe

MAX_CHUNK_CHARACTERS = 2000
MAX_TITLE_CHARACTERS = 300


def reference_nodes(text: str, *, source: str, project: str | None, form: DocumentFormat = "markdown") -> list[Node]:
    """One R node for each section of a document: its path of headings, then its body.

    A long section is several nodes, cut between paragraphs, and never within code that fits into one. A short one
    stands alone: its heading is what a reader looks for, and its anchor is where the answer stands. `source` gets the
    anchor of the section. Secrets are redacted.

    Raises:
        InvalidRequest: `project` is no name of a project.
        UnreadableError: the parser fails on it.
    """
    owner = SHARED if project is None else checked_project(project)
    nodes: dict[str, Node] = {}
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    for section in document_sections(lines if form == "html" else _safe(lines), form):
        title = _safe(" > ".join(section.headings))[:MAX_TITLE_CHARACTERS]
        place = f"{source}#{section.anchor}" if section.anchor else source
        for part in chunks(_safe_blocks(section), MAX_CHUNK_CHARACTERS):
            node = Node(level="R", project=owner, text=f"{title}\n\n{part}" if title else part, source=place)
            nodes[node.sha] = node
    return list(nodes.values())


def _safe_blocks(section: Section) -> list[Block]:
    """The blocks as they may be stored: what a page wrote as entities or apart is a secret only now."""
    return [Block(_safe(block.text), _safe(block.fence)) for block in section.blocks]


def _safe(text: str) -> str:
    return redact(strip_unsafe(text).text).text
