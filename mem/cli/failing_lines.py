"""What a lookup took for the failure, in the lines of the log as it was given."""

from __future__ import annotations

from collections.abc import Sequence

from mem.cli.report import report
from mem.domain.lookup import ContextAnswer
from mem.domain.signatures import Signature
from mem.doors import SentLog
from mem.parsing import extract
from mem.parsing.sanitize import strip_unsafe

SHOWN = 3
"""So many failures are quoted; the others are only named."""
QUOTED_LINES = 6
WIDTH = 100


def report_with_lines(answer: ContextAnswer, sent: SentLog, source: str, log: str) -> str:
    """The report with place and first lines of its best failures, or with what was searched where there is none.

    Args:
        sent: the log as it was sent.
        source: what to call the log.
        log: the log as it was given.
    """
    found = {signature.sig_sha: signature for signature in extract(sent.text)}
    # A worker of another release may find failures that this process does not.
    shown = [found[one.sig_sha] for one in answer.signatures[:SHOWN] if one.sig_sha in found]
    quotes = {one.sig_sha: [f"  {source}:{_place(one, sent.line_map)}", *_quoted(one)] for one in shown}
    told = report(answer, quotes)
    # Where there is one that the answer lacks, its leg failed, which the report says already.
    return told if answer.signatures or found else f"{told}\n\n{_searched(sent, source, log)}"


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


def _quoted(signature: Signature) -> list[str]:
    """The first lines of the excerpt, in which secrets are masked already."""
    texts = [strip_unsafe(line).text.rstrip() for line in signature.excerpt.split("\n")]
    full = [text for text in texts if text]
    shown = [text if len(text) <= WIDTH else text[: WIDTH - 1] + "…" for text in full[:QUOTED_LINES]]
    more = [f"… {len(full) - QUOTED_LINES} more"] if len(full) > QUOTED_LINES else []
    return [f"  | {text}" for text in [*shown, *more]]
