"""What a lookup took for the failure, in the lines of the log as it was given."""

from __future__ import annotations

from collections.abc import Sequence

from mem.cli.report import report
from mem.cli.terminal import Styled, cut, flat, wrapped
from mem.domain.lookup import ContextAnswer, ContextRequest
from mem.domain.signatures import Signature
from mem.doors import SentLog
from mem.parsing import extract
from mem.parsing.sanitize import strip_unsafe

QUOTED_LINES = 4
"""Of the best failure; of the next ones the place is told, and the others are named."""
PLACED = 3


def report_with_lines(
    answer: ContextAnswer, request: ContextRequest, sent: SentLog, source: str, *, width: int
) -> list[Styled]:
    """The report with place and first lines of its best failures, or with what was searched where there is none.

    Args:
        sent: the log as it was sent.
        source: what to call the log.
        width: of the lines, in columns.
    """
    found = {signature.sig_sha: signature for signature in extract(sent.text)}
    # A worker of another release may find failures that this process does not.
    placed = [found[one.sig_sha] for one in answer.signatures[:PLACED] if one.sig_sha in found]
    quotes = {one.sig_sha: [f"  {flat(source)}:{_place(one, sent.line_map)}"] for one in placed}
    for one in placed[:1]:
        quotes[one.sig_sha] += _quoted(one, width)
    told = report(answer, request, quotes, width=width)
    # Where there is one that the answer lacks, its leg failed, which the report says already.
    if answer.signatures or found:
        return told
    searched = _searched(sent, flat(source), request.signature_source or "")
    return [*told, Styled(""), *map(Styled, wrapped(searched, width, later="    "))]


def _searched(sent: SentLog, source: str, log: str) -> str:
    """What was searched where no failure was found."""
    lines = log.count("\n") + (0 if log.endswith("\n") else 1)
    told = f"failure: none found in {source}: {lines} line{'' if lines == 1 else 's'} searched"
    return f"{told} by the rules of all tools and for words of failure, {len(sent.text.encode())} bytes of them sent"


def _place(signature: Signature, line_map: Sequence[int] | None) -> str:
    start, end = signature.line_start, signature.line_end
    if line_map is not None:
        start, end = line_map[start - 1], line_map[end - 1]
    return f"{start}" if start == end else f"{start}-{end}"


def _quoted(signature: Signature, width: int) -> list[str]:
    """The first lines of the excerpt and the last, where a trace tells its error; secrets are masked in it already."""
    texts = [strip_unsafe(line).text.expandtabs(4).rstrip() for line in signature.excerpt.split("\n")]
    full = [cut(text, width - 4) for text in texts if text]
    left_out = len(full) - QUOTED_LINES + 1
    if left_out > 1:
        full = [*full[: QUOTED_LINES - 2], f"\u2026 {left_out} more", full[-1]]
    return [f"  | {text}" for text in full]
