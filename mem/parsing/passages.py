"""What of a section of documentation is embedded: its paragraphs, its examples, and what comments in those say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mem.domain.nodes import Node

MOST = 12
"""So many passages has a section at most: what is further down is embedded with its neighbours."""
SHORT = 120
"""A paragraph of fewer characters says too little alone."""
LONG = 900
"""About what an embedder reads at once."""
_TELLING_WORDS = 3
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_COMMENT = re.compile(
    r"(?:^|\s)(?://+!?|#(?![\[!])|--|;;|%|/\*+|\(\*|<!--|\{-)\s+(?P<said>\S.*)|^\s*\*\s+(?P<more>\S.*)"
)
_ENDS = re.compile(r"\s*(?:\*/|\*\)|-->|-\})\s*$")
_DEFINES = re.compile(r"\s*#\s*(?:include|define|if|ifdef|ifndef|else|elif|endif|pragma|undef)\b")


class _Block(NamedTuple):
    """A paragraph, or an example without its fences."""

    text: str
    code: bool


def passages_of(nodes: Sequence[Node]) -> dict[str, list[str]]:
    """What is embedded of each section, by sha; those that are embedded as they are have none."""
    found = {node.sha: passages(node.text, headed="#" in (node.source or "")) for node in nodes}
    return {node.sha: found[node.sha] for node in nodes if found[node.sha] != [node.text]}


def passages(text: str, *, headed: bool) -> list[str]:
    """The passages of a section; never none, each once.

    Short paragraphs are joined with what follows. The headings stand before each paragraph, since it relies on them;
    not before examples and comments, which quote messages as they are.

    Args:
        headed: whether the text begins with the path of its headings, a paragraph of its own.
    """
    title, _, body = text.partition("\n\n") if headed else ("", "", text)
    if not body.strip():
        return [text]
    blocks = list(_blocks(body))
    said = [f"{title}\n{each}" if title else each for each in _joined([one.text for one in blocks if not one.code])]
    shown = [each.text[:LONG] for each in blocks if each.code]
    noted = [comment for each in blocks if each.code for comment in _comments(each.text)]
    found = list(dict.fromkeys([*said, *noted, *shown])) or [text]
    return found if len(found) <= MOST else [*found[: MOST - 1], "\n".join(found[MOST - 1 :])]


def _blocks(body: str) -> Iterator[_Block]:
    lines: list[str] = []
    fence: str | None = None
    for line in body.split("\n"):
        mark = _FENCE.match(line)
        if fence is None and mark:
            yield from _paragraphs(lines)
            fence, lines = mark[1], []
        elif fence is not None and mark and mark[1].startswith(fence) and not line.strip(" `~"):
            if code := "\n".join(lines).strip("\n"):
                yield _Block(code, code=True)
            fence, lines = None, []
        else:
            lines.append(line)
    if fence is not None and (code := "\n".join(lines).strip("\n")):
        yield _Block(code, code=True)
    elif fence is None:
        yield from _paragraphs(lines)


def _paragraphs(lines: list[str]) -> Iterator[_Block]:
    for paragraph in re.split(r"\n\s*\n", "\n".join(lines)):
        if paragraph.strip():
            indented = all(line.startswith(("    ", "\t")) for line in paragraph.split("\n") if line.strip())
            yield _Block(paragraph.strip("\n"), code=indented)


def _joined(paragraphs: list[str]) -> list[str]:
    """Paragraphs, the short ones with what follows them."""
    joined: list[str] = []
    open_ = False
    for paragraph in paragraphs:
        if open_ and len(joined[-1]) + len(paragraph) < LONG:
            joined[-1] += f"\n{paragraph}"
        else:
            joined.append(paragraph)
        open_ = len(joined[-1]) < SHORT
    return joined


def _comments(code: str) -> list[str]:
    """What the comments of an example say, those on neighbouring lines as one."""
    found: list[str] = []
    before = False
    for line in code.split("\n"):
        match = None if _DEFINES.match(line) else _COMMENT.search(line)
        said = _ENDS.sub("", match["said"] or match["more"]) if match else ""
        if said and before:
            found[-1] += f"\n{said}"
        elif said:
            found.append(said)
        before = bool(said)
    return [comment for comment in found if len(comment.split()) >= _TELLING_WORDS]
