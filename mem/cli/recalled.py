"""What recall found for a query and what became of it, as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple, assert_never, get_args

from mem.cli.terminal import Style, Styled, cut, wrapped
from mem.domain.query import QueryAnswer, QueryCandidate, QueryCut, QueryLeg, QueryReranked

ROOMY = 80
"""From this width on a table has room for all digits."""

_LEGS: tuple[QueryLeg, ...] = get_args(QueryLeg)
_HEAD = ("candidate", *_LEGS, "was", "score", "now")
_NOTHING = QueryReranked(sha="", supersedes=[], score=None, before=None, after=None, cut=None)


class _Row(NamedTuple):
    cells: tuple[str, ...]
    style: Style


class _Room(NamedTuple):
    """How many digits of a sha and of a distance there is room for, and how many columns between them."""

    sha: int
    distance: int
    gap: int


def told_recall(answer: QueryAnswer, candidates: Sequence[QueryCandidate], width: int) -> list[Styled]:
    """What was left out and why, then a row for each node: rank and distance in each leg, places around the rerank.

    What a node supersedes stands below it.
    """
    room = _Room(12, 4, 2) if width >= ROOMY else _Room(8, 2, 1)
    found: dict[str, dict[QueryLeg, QueryCandidate]] = {}
    for one in candidates:
        found.setdefault(one.sha, {})[one.leg] = one
    fates = answer.reranked or []
    lines = [Styled(line) for line in wrapped(_summary(fates, len(found)), width, later="    ")]
    rows = [_Row(_HEAD, Style.TITLE)]
    for fate in fates:
        style = Style.PLAIN if fate.cut is None else Style.FAINT
        rows.append(_Row(_cells(fate.sha, found.pop(fate.sha, {}), room, fate), style))
        for sha in fate.supersedes:
            if sha in found:
                cells = _cells(sha, found.pop(sha), room, _NOTHING, now=f"by {fate.sha[: room.sha]}")
                rows.append(_Row(cells, Style.FAINT))
    # Answers of a version that told less have these alone.
    rows += [_Row(_cells(sha, legs, room, _NOTHING), Style.FAINT) for sha, legs in found.items()]
    widths = [max(len(row.cells[column]) for row in rows) for column in range(len(_HEAD))]
    return lines + [Styled(cut(_line(row.cells, widths, room.gap), width), row.style) for row in rows]


def _summary(fates: Sequence[QueryReranked], recalled: int) -> str:
    scored = sum(one.score is not None for one in fates)
    moved = sum(one.after not in (None, one.before) for one in fates)
    counts = Counter(one.cut for one in fates if one.cut is not None)
    left = [f"{counts[cut]} {_in_words(cut)}" for cut in get_args(QueryCut) if counts[cut]]
    told = f"explained: {recalled} recalled, {scored} scored, {moved} moved by the reranker"
    return f"{told}; left out: {', '.join(left)}" if left else told


def _cells(
    sha: str,
    legs: Mapping[QueryLeg, QueryCandidate],
    room: _Room,
    fate: QueryReranked,
    now: str = "-",
) -> tuple[str, ...]:
    told = [_place(legs.get(leg), room.distance) for leg in _LEGS]
    before = "-" if fate.before is None else str(fate.before)
    score = "-" if fate.score is None else f"{fate.score:.4f}"
    return (sha[: room.sha], *told, before, score, now if fate is _NOTHING else _now(fate))


def _place(one: QueryCandidate | None, figures: int) -> str:
    return "-" if one is None else f"{one.rank} {max(one.distance, 0.0):.{figures}f}"


def _now(fate: QueryReranked) -> str:
    if fate.cut is None:
        return f"hit {fate.after}"
    return _in_words(fate.cut) if fate.after is None else f"{fate.after} {_in_words(fate.cut)}"


def _in_words(cut: QueryCut) -> str:
    match cut:
        case "k":
            return "beyond k"
        case "floor":
            return "below floor"
        case "unscored":
            return "not scored"
        case "level" | "project":
            return f"other {cut}"
        case "superseded":
            return "superseded"
        case _:
            assert_never(cut)


def _line(cells: Sequence[str], widths: Sequence[int], gap: int) -> str:
    first, *figures, last = cells
    padded = [cell.rjust(width) for cell, width in zip(figures, widths[1:-1], strict=True)]
    return (" " * gap).join([first.ljust(widths[0]), *padded, last]).rstrip()
