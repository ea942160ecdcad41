"""A log's failures, best first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mem.domain.signatures import ExplainedCandidate, Explanation, Extraction, Fate, Signature
from mem.parsing.blocks import candidates
from mem.parsing.decode import as_utf8
from mem.parsing.distill import condensed
from mem.parsing.evidence import told
from mem.parsing.key import FALLBACK_RULE, Key, key_of
from mem.parsing.page import Candidate, Page, read
from mem.parsing.rank import Ranker, Scored, ranking
from mem.parsing.spread import Spread

SIGNATURES = 5
"""So many failures of a text are linked, looked up and kept by distilling: one number, or these would disagree."""
KEPT = 40
_GAP = 3
"""A heading stands at most so far above what it leads to."""


def extract(text: str, *, limit: int = SIGNATURES) -> list[Signature]:
    """The failures in `text`, best first; [] where there is none."""
    return _extract(text.encode("utf-8", "surrogatepass"), limit)


def _extract(data: bytes, limit: int) -> list[Signature]:
    text, line_map = condensed(data)
    page = read(text)
    return [signature(page, one, key, line_map) for one, key in ranked(page, limit)]


def identifying(found: Sequence[Signature]) -> list[Signature]:
    """Those of an extraction that may serve as exact keys, in their order.

    Without a tool's grammar a key is no more than the masked wording of a line, which unrelated failures share; it is
    trusted only where it is the best that the text has.
    """
    return [signature for rank, signature in enumerate(found) if rank == 0 or signature.tool != "generic"]


def extract_source(source: str, data: bytes, *, limit: int = SIGNATURES) -> Extraction:
    """The failures in `data`, which came from `source`."""
    plain = as_utf8(data)
    return Extraction(source=source, bytes=len(data), lines=_lines(plain), signatures=_extract(plain, limit))


def _lines(plain: bytes) -> int:
    return plain.count(b"\n") + (0 if not plain or plain.endswith(b"\n") else 1)


def scored(page: Page) -> list[Scored]:
    """All candidates with their scores, best first."""
    ranker = Ranker(page)
    found = _side_by_side(page, [ranker.score(candidate) for candidate in candidates(page)])
    found.sort(key=_order)
    return found


def _side_by_side(page: Page, found: list[Scored]) -> list[Scored]:
    """Of failures listed side by side the first leads, whatever happens to stand above or below each."""
    best: dict[tuple[str, int], float] = {}
    groups: list[tuple[str, int] | None] = []
    for one in found:
        rule = one.candidate.rule
        group = (rule.id, page.cleaned.command_at(one.candidate.anchor)) if rule is not None and rule.each else None
        groups.append(group)
        if group is not None:
            best[group] = max(best.get(group, one.score), one.score)
    return [one if group is None else _raised(one, best[group]) for one, group in zip(found, groups, strict=True)]


def _raised(one: Scored, score: float) -> Scored:
    return replace(one, score=score, features=one.features | {"side_by_side": round(score - one.score, 6)})


def _order(one: Scored) -> tuple[float, int, int, str]:
    candidate = one.candidate
    rule = candidate.rule.id if candidate.rule else "~" + candidate.kind
    return -one.score, candidate.start, candidate.end, rule


def ranked(page: Page, limit: int) -> list[tuple[Scored, Key]]:
    """The best candidates that do not overlap and are not the same failure twice."""
    result: list[tuple[Scored, Key]] = []
    for one, key, fate in judged(page, limit):
        if fate == "over the limit":
            break  # the candidates come in order, so all that follow are too
        if key is not None:
            result.append((one, key))
    return result


def judged(page: Page, limit: int) -> Iterator[tuple[Scored, Key | None, Fate]]:
    """Every candidate, best first, with what becomes of it; a key where it becomes a signature."""
    data = ranking()
    best_first = scored(page)
    failed = page.cleaned.verdict or any("outer" in one.features for one in best_first)
    floor, words = (data.floor_failed, data.floor_failed) if failed else (data.floor, data.floor_words)
    if told(page):
        words = min(words, data.floor)
    taken: set[int] = set()
    seen: set[str] = set()
    chosen: list[tuple[Scored, Key]] = []
    turns = Spread(page, best_first)
    for one in turns:
        enough = floor if one.candidate.rule is not None else max(floor, words)
        span = range(one.candidate.start, one.candidate.end + 1)
        if page.cleaned.verdict == 0 or one.score < enough:
            yield one, None, "below the floor"
        elif len(seen) >= min(limit, KEPT):
            yield one, None, "over the limit"
        elif not taken.isdisjoint(span):
            yield one, None, "overlaps a better one"
        elif (key := key_of(page, one.candidate)) is None:
            yield one, None, "identifies nothing"
        elif key.sig_sha in seen or _told_again(page, one, key, chosen):
            yield one, None, "the same failure again"
        else:
            if not seen:
                floor = max(floor, one.score - data.margin)
            seen.add(key.sig_sha)
            taken.update(span)
            chosen.append((one, key))
            turns.chosen(one)
            yield one, key, "signature"


def _told_again(page: Page, one: Scored, key: Key, chosen: Sequence[tuple[Scored, Key]]) -> bool:
    """Whether this is another telling of one that is chosen: a list at the end that repeats it, or its heading."""
    block = one.candidate
    if block.rule is None:
        heading = page.bits[block.anchor] & page.names["testcase"]
        if not heading or page.bits[block.anchor] & page.bit("lead", "exception", "panic"):
            return False
        return any(_leads_to(page, block, other.candidate) for other, _ in chosen if other.candidate.rule is not None)
    command = page.cleaned.command_at(block.anchor)
    return any(
        other.candidate.rule is not None
        and other.candidate.rule.id != block.rule.id
        and (known.tool, known.message) == (key.tool, key.message)
        and page.cleaned.command_at(other.candidate.anchor) == command
        for other, known in chosen
    )


def _leads_to(page: Page, block: Candidate, other: Candidate) -> bool:
    """Whether nothing but blank lines stands between `block` and `other`."""
    between = range(block.end + 1, other.start)
    return block.start == block.end < other.start <= block.end + _GAP and not any(
        page.lines[i].strip() for i in between
    )


def explain_source(source: str, data: bytes, *, limit: int = SIGNATURES) -> Explanation:
    """The extraction from `data` with every candidate, its score and the features that made it."""
    plain = as_utf8(data)
    text, line_map = condensed(plain)
    page = read(text)
    weights = ranking().weights
    signatures, candidates = [], []
    for one, key, fate in judged(page, limit):
        block = one.candidate
        if key is not None:
            signatures.append(signature(page, one, key, line_map))
        parts = {name: round(value * weights.get(name, 0.0), 3) for name, value in one.features.items()}
        if block.rule is not None:
            parts["rule_weight"] = block.rule.weight
        candidates.append(
            ExplainedCandidate(
                line_start=line_map[block.start],
                line_end=line_map[block.end],
                rule=block.rule.id if block.rule else FALLBACK_RULE,
                kind=block.kind,
                score=one.score,
                fate=fate,
                sig_sha=key.sig_sha if key else None,
                features={name: part for name, part in sorted(parts.items()) if part},
            )
        )
    return Explanation(
        source=source, bytes=len(data), lines=_lines(plain), signatures=signatures, candidates=candidates
    )


def signature(page: Page, one: Scored, key: Key, line_map: Sequence[int]) -> Signature:
    """The contract's form of one failure; `line_map` leads from the page's lines to those of the log."""
    return Signature(
        sig_sha=key.sig_sha,
        sig_coarse=key.sig_coarse,
        algo=key.algo,
        tool=key.tool,
        envelope=page.cleaned.envelope,
        rule=key.rule,
        code=key.code,
        line_start=line_map[one.candidate.start],
        line_end=line_map[one.candidate.end],
        message=key.message,
        excerpt=key.excerpt,
        earlier=key.earlier,
    )
