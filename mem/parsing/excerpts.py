"""What a failure looks like: the lines of the best blocks as a reader would quote them."""

from __future__ import annotations

from mem.parsing.clean import cap
from mem.parsing.distill import condensed
from mem.parsing.extract import SIGNATURES, ranked
from mem.parsing.page import Page, read
from mem.parsing.rank import Scored
from mem.parsing.redact import redact

_WIDTH = 300


def failure_lines(text: str, *, limit: int) -> list[str]:
    """At most `limit` redacted lines of the best blocks, best first, without frames and repeats."""
    page = read(condensed(text.encode("utf-8", "surrogatepass"))[0])
    found: dict[str, None] = {}
    for one, _ in ranked(page, SIGNATURES):
        for line in _lines(page, one):
            if len(found) >= max(limit, 0):
                return list(found)
            found.setdefault(line)
    return list(found)[: max(limit, 0)]


def _lines(page: Page, one: Scored) -> list[str]:
    """The telling lines of one block, its anchor first where it is no frame's header."""
    skip = page.bit("frame", "ruler", "traceback")
    start, end = one.candidate.start, one.candidate.end
    rule = one.candidate.rule
    block = redact("\n".join(cap(page.lines[line]) for line in range(start, end + 1))).text
    kept = []
    for offset, line in enumerate(block.split("\n")):
        if not line.strip() or page.bits[min(start + offset, end)] & skip:
            continue
        if rule is not None and rule.frame is not None and line[:1].isspace():
            continue
        kept.append(" ".join(line.split())[:_WIDTH])
    return kept
