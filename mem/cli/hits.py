"""The hits of a query as a person reads them, and the order of each leg where it was asked for."""

from __future__ import annotations

from collections.abc import Sequence

from mem.cli.terminal import UNKNOWN_WIDTH, flat, wrapped
from mem.domain.nodes import Parent
from mem.domain.query import QueryAnswer, QueryCandidate, QueryHit


def told_hits(answer: QueryAnswer) -> str:
    """One block a hit, then what failed, then the candidates of each leg."""
    lines = [] if answer.hits else ["no hit"]
    for hit in answer.hits:
        lines += [*_hit(hit), ""]
    lines += [f"degraded: {each.leg}: {each.reason}" for each in answer.degraded]
    if answer.candidates is not None:
        lines += _candidates(answer.candidates, answer.hits)
    return "\n".join(lines).rstrip("\n")


def _hit(hit: QueryHit) -> list[str]:
    # Without a reranker the similarity is all there is.
    score = f"{hit.score:.4f}" if hit.score is not None else f"~{hit.scores.recall or 0.0:.4f}"
    lines = [f"{score}  {hit.level}  {hit.sha[:12]}  {hit.project or 'shared'}"]
    lines += wrapped(hit.text, UNKNOWN_WIDTH, indent="    ")
    lines += [f"    from {_place(parent)}" for parent in hit.provenance]
    if hit.supersedes:
        lines.append("    in place of " + ", ".join(sha[:12] for sha in hit.supersedes))
    return lines


def _place(parent: Parent) -> str:
    source = f"  {flat(parent.source)}" if parent.source is not None else ""
    turn = f" turn {parent.turn}" if parent.turn is not None else ""
    return f"{parent.level}  {parent.sha[:12]}{source}{turn}"


def _candidates(candidates: Sequence[QueryCandidate], hits: Sequence[QueryHit]) -> list[str]:
    """A table; a superseded candidate is marked by the hit that stands for it."""
    number = {sha: place for place, hit in enumerate(hits, 1) for sha in (hit.sha, *hit.supersedes)}
    lines = ["leg      rank  distance  candidate     hit"]
    for one in candidates:
        became = f"#{number[one.sha]}" if one.sha in number else "-"
        lines.append(f"{one.leg:<7}  {one.rank:>4}  {one.distance:>8.4f}  {one.sha[:12]}  {became}")
    return lines
