"""A log's failures, best first."""

from __future__ import annotations

from collections.abc import Sequence

from mem.domain.signatures import Extraction, Signature
from mem.parsing.blocks import candidates
from mem.parsing.decode import as_utf8
from mem.parsing.distill import MAX_BYTES, Distilled, distill, distill_bytes
from mem.parsing.key import Key, key_of
from mem.parsing.page import Page, read
from mem.parsing.rank import Ranker, Scored, ranking

SIGNATURES = 5
"""So many failures of a text are linked, looked up and kept by distilling: one number, or these would disagree."""
KEPT = 40


def extract(text: str, *, limit: int = SIGNATURES) -> list[Signature]:
    """The failures in `text`, best first; [] where there is none."""
    return _extract(distill(text), limit)


def _extract(small: Distilled, limit: int) -> list[Signature]:
    page = read(small.text)
    return [signature(page, one, key, small.line_map) for one, key in ranked(page, limit)]


def identifying(found: Sequence[Signature]) -> list[Signature]:
    """Those of an extraction that may serve as exact keys, in their order.

    Without a tool's grammar a key is no more than the masked wording of a line, which unrelated failures share; it is
    trusted only where it is the best that the text has.
    """
    return [signature for rank, signature in enumerate(found) if rank == 0 or signature.tool != "generic"]


def extract_source(source: str, data: bytes, *, limit: int = SIGNATURES) -> Extraction:
    """The failures in `data`, which came from `source`."""
    plain = as_utf8(data)
    return Extraction(
        source=source,
        bytes=len(data),
        lines=plain.count(b"\n") + (0 if not plain or plain.endswith(b"\n") else 1),
        signatures=_extract(distill_bytes(plain) if len(plain) > MAX_BYTES else distill(plain.decode("utf-8")), limit),
    )


def scored(page: Page) -> list[Scored]:
    """All candidates with their scores, best first."""
    ranker = Ranker(page)
    found = [ranker.score(candidate) for candidate in candidates(page)]
    found.sort(key=_order)
    return found


def _order(one: Scored) -> tuple[float, int, int, str]:
    candidate = one.candidate
    rule = candidate.rule.id if candidate.rule else "~" + candidate.kind
    return -one.score, candidate.start, candidate.end, rule


def ranked(page: Page, limit: int) -> list[tuple[Scored, Key]]:
    """The best candidates that do not overlap and are not the same failure twice."""
    if page.cleaned.verdict == 0:
        return []
    data = ranking()
    floor = data.floor_failed if page.cleaned.verdict else data.floor
    taken: set[int] = set()
    seen: set[str] = set()
    result: list[tuple[Scored, Key]] = []
    for one in scored(page):
        if one.score < floor or len(result) >= min(limit, KEPT):
            break
        span = range(one.candidate.start, one.candidate.end + 1)
        if not taken.isdisjoint(span):
            continue
        key = key_of(page, one.candidate)
        if key is None or key.sig_sha in seen:
            continue
        floor = max(floor, one.score - data.margin) if not result else floor
        seen.add(key.sig_sha)
        taken.update(span)
        result.append((one, key))
    return result


def signature(page: Page, one: Scored, key: Key, line_map: Sequence[int]) -> Signature:
    """The contract's form of one failure; `line_map` leads from the page's lines to those of the log."""
    return Signature(
        sig_sha=key.sig_sha,
        sig_coarse=key.sig_coarse,
        tool=key.tool,
        envelope=page.cleaned.envelope,
        rule=key.rule,
        code=key.code,
        line_start=line_map[one.candidate.start],
        line_end=line_map[one.candidate.end],
        message=key.message,
        excerpt=key.excerpt,
    )
