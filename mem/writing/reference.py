"""Reference documents, cut into chunks by heading."""

from __future__ import annotations

from typing import NamedTuple

from markdown_it import MarkdownIt

from mem.domain.ids import SHARED, checked_project
from mem.domain.nodes import Node
from mem.parsing.redact import redact
from mem.parsing.sanitize import strip_unsafe

MAX_CHUNK_CHARACTERS = 2000
MAX_TITLE_CHARACTERS = 300


class _Section(NamedTuple):
    headings: tuple[str, ...]
    lines: tuple[str, ...]


def reference_nodes(text: str, *, source: str, project: str | None) -> list[Node]:
    """One R node for each section of a Markdown text: its path of headings, then its body.

    A long section is cut between paragraphs. `source` gets the heading as anchor. Secrets are redacted.

    Raises:
        InvalidRequest: `project` is no name of a project.
    """
    owner = SHARED if project is None else checked_project(project)
    nodes = []
    for section in _sections(redact(strip_unsafe(_with_line_feeds(text)).text).text):
        title = " > ".join(section.headings)[:MAX_TITLE_CHARACTERS]
        for part in _parts("\n".join(section.lines).strip()):
            place = f"{source}#{_anchor(section.headings[-1])}" if section.headings else source
            nodes.append(Node(level="R", project=owner, text=f"{title}\n\n{part}" if title else part, source=place))
    return nodes


def _with_line_feeds(text: str) -> str:
    """`text` with the line ends that Markdown counts, so that its line numbers fit."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _sections(text: str) -> list[_Section]:
    """The sections of a document; headings inside code blocks are none."""
    lines = text.split("\n")
    path: list[tuple[int, str]] = []
    sections: list[_Section] = []
    begin = 0
    tokens = MarkdownIt("commonmark").parse(text)
    for index, token in enumerate(tokens):
        if token.type != "heading_open" or token.map is None or token.level != 0:
            continue
        sections.append(_Section(tuple(title for _, title in path), tuple(lines[begin : token.map[0]])))
        depth = int(token.tag[1])
        path = [(level, title) for level, title in path if level < depth]
        path.append((depth, tokens[index + 1].content))
        begin = token.map[1]
    sections.append(_Section(tuple(title for _, title in path), tuple(lines[begin:])))
    return [section for section in sections if any(line.strip() for line in section.lines)]


def _parts(body: str) -> list[str]:
    parts: list[str] = []
    for paragraph in body.split("\n\n"):
        if parts and len(parts[-1]) + len(paragraph) + 2 <= MAX_CHUNK_CHARACTERS:
            parts[-1] += f"\n\n{paragraph}"
        else:
            starts = range(0, len(paragraph), MAX_CHUNK_CHARACTERS)
            parts += [paragraph[at : at + MAX_CHUNK_CHARACTERS] for at in starts]
    return [part for part in parts if part.strip()]


def _anchor(heading: str) -> str:
    kept = "".join(char for char in heading.lower() if char.isalnum() or char in " -_")
    return kept.strip().replace(" ", "-")
