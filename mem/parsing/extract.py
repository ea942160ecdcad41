"""A log's failures, best first."""

from __future__ import annotations

from collections.abc import Sequence

from mem.domain.signatures import Extraction, Signature
from mem.parsing.blocks import candidates
from mem.parsing.decode import decode
from mem.parsing.key import Key, key_of
from mem.parsing.page import Page, read
from mem.parsing.rank import Ranker, Scored, ranking

SIGNATURES = 5
"""So many failures of a text are linked, looked up and kept by distilling: one number, or these would disagree."""
KEPT = 40


def extract(text: str, *, limit: int = SIGNATURES) -> list[Signature]:
    """The failures in `text`, best first; [] where there is none."""
    page = read(text)
    return [signature(page, one, key) for one, key in ranked(page, limit)]


def identifying(found: Sequence[Signature]) -> list[Signature]:
    """Those of an extraction that may serve as exact keys, in their order.

    Without a tool's grammar a key is no more than the masked wording of a line, which unrelated failures share; it is
    trusted only where it is the best that the text has.
    """
    return [signature for rank, signature in enumerate(found) if rank == 0 or signature.tool != "generic"]


def extract_source(source: str, data: bytes, *, limit: int = SIGNATURES) -> Extraction:
    """The failures in `data`, which came from `source`."""
    text = decode(data)
    return Extraction(
        source=source,
        bytes=len(data),
        lines=text.count("\n") + (0 if not text or text.endswith("\n") else 1),
        signatures=extract(text, limit=limit),
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


def signature(page: Page, one: Scored, key: Key) -> Signature:
    """The contract's form of one failure."""
    return Signature(
        sig_sha=key.sig_sha,
        sig_coarse=key.sig_coarse,
        tool=key.tool,
        envelope=page.cleaned.envelope,
        rule=key.rule,
        code=key.code,
        line_start=one.candidate.start + 1,
        line_end=one.candidate.end + 1,
        message=key.message,
        excerpt=key.excerpt,
    )
