"""The hits of a query as a person reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from mem.cli.links import file_link
from mem.cli.recalled import told_recall
from mem.cli.terminal import Style, Styled, wrapped
from mem.domain.nodes import Parent
from mem.domain.query import QueryAnswer, QueryHit

TEXT_LINES = 14
SOURCES = 8
"""So many lines of a memory and so many of its sources are shown; `mem show` has all."""

FAR = 50
"""A hit that scores less than so small a part of the best of its kind is counted, and not shown."""

_FULL = 60
"""A line of prose from this length on may have been broken."""
_GOES_ON = re.compile(r"[^\W\d_]|[(`\"']")

_DEEPEST = 16
"""So many columns of its own indent a line of a memory keeps."""


def told_hits(answer: QueryAnswer, *, width: int, folder: Path) -> list[Styled]:
    """How many there are, then a block for each, then what recall found where that was asked for, then what failed.

    Args:
        width: of the lines, in columns.
        folder: from where sources that are paths are seen.
    """
    count = {0: "no hit", 1: "1 hit"}.get(len(answer.hits), f"{len(answer.hits)} hits")
    head = f"{count} for query {answer.query_id} in project {answer.project}"
    lines = [Styled(line, Style.TITLE) for line in wrapped(head, width, later="  ")]
    far = far_hits(answer.hits)
    for place, hit in enumerate(answer.hits, 1):
        if hit not in far:
            lines += [Styled(""), *_hit(place, hit, width, folder)]
    if far:
        told = f"\u2026 {len(far)} more that hardly fit, none scores over {max(hit.score or 0.0 for hit in far):.4f}"
        lines += [Styled(""), *(Styled(line, Style.FAINT) for line in wrapped(f"{told}: --format json", width))]
    if answer.candidates is not None:
        lines += [Styled(""), *told_recall(answer, answer.candidates, width)]
    elif not answer.hits:
        step = "next: --explain shows what came nearest; --levels L0,R asks for evidence and documentation"
        lines += map(Styled, wrapped(step, width, later="    "))
    failed = [f"degraded: {each.leg}: {each.reason}" for each in answer.degraded]
    lines += [Styled("")] if failed else []
    return lines + [Styled(line, Style.BAD) for one in failed for line in wrapped(one, width, later="    ")]


def far_hits(hits: Sequence[QueryHit]) -> list[QueryHit]:
    """Those that score next to nothing beside the best of their kind; what has no score is never far."""
    far: list[QueryHit] = []
    for _, group in groupby(hits, key=lambda hit: "L1" if hit.level == "L2" else hit.level):
        kind = list(group)
        best = max(hit.score or 0.0 for hit in kind)
        far += [hit for hit in kind if hit.score is not None and hit.score * FAR < best]
    return far


def _hit(place: int, hit: QueryHit, width: int, folder: Path) -> list[Styled]:
    # Without a reranker the similarity is all there is.
    score = f"{hit.score:.4f}" if hit.score is not None else f"~{hit.scores.recall or 0.0:.4f}"
    head = f"{place}.  {score}  {hit.level}  {hit.sha[:12]}  {hit.project or 'shared'}"
    lines = [Styled(line, Style.FAIR) for line in ([head] if len(head) <= width else wrapped(head, width, later="  "))]
    text = [[Styled(line)] for line in _lines(hit.text if hit.level == "L0" else flowing(hit.text), width)]
    whole = f"in full: mem show {hit.sha[:12]}"
    lines += _bounded(text, TEXT_LINES, f"more lines; {whole}", "    ")
    lines += _bounded(
        [_source(parent, width, folder) for parent in hit.provenance], SOURCES, f"more sources; {whole}", "  "
    )
    if hit.supersedes:
        told = f"in place of {', '.join(sha[:12] for sha in hit.supersedes)}"
        lines += [Styled(line, Style.FAINT) for line in wrapped(told, width, indent="  ", later="    ")]
    return lines


def _lines(text: str, width: int) -> Iterator[str]:
    """The lines of a memory, further indented than any of ours, so that it can pretend to be none."""
    for line in text.splitlines():
        whole = line.expandtabs(4)
        own = " " * min(len(whole) - len(whole.lstrip()), _DEEPEST)
        yield from wrapped(whole, width, indent=f"    {own}")


def flowing(text: str) -> str:
    """A text without the line feeds that only keep its lines short; code in fences has none of those."""
    flowed: list[str] = []
    before, fenced = "", False
    for line in text.splitlines():
        fence = line.lstrip().startswith("```")
        if len(before) >= _FULL and not fenced and not fence and _GOES_ON.match(line):
            flowed[-1] += f" {line}"
        else:
            flowed.append(line)
        before, fenced = line, fenced != fence
    return "\n".join(flowed)


def _bounded(parts: Sequence[Sequence[Styled]], most: int, note: str, indent: str) -> list[Styled]:
    """The first parts, and how many more there are; a note takes the place of two at least."""
    shown = parts if len(parts) <= most + 1 else parts[:most]
    lines = [line for part in shown for line in part]
    if left_out := len(parts) - len(shown):
        lines.append(Styled(f"{indent}\u2026 {left_out} {note}", Style.FAINT))
    return lines


def _source(parent: Parent, width: int, folder: Path) -> list[Styled]:
    """Where a hit comes from; a source that is a file which is there can be clicked, where it stands on one line."""
    turn = f" turn {parent.turn}" if parent.turn is not None else ""
    told = f"from {parent.level} {parent.sha[:12]} {parent.source or ''}{turn}"
    link = None if parent.source is None else file_link(parent.source, folder)
    return [Styled(line, Style.FAINT, link) for line in wrapped(told, width, indent="  ", later="      ")]
