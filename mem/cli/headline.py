"""The first line of a report: what is known, in plain words, and the tier that says so."""

from __future__ import annotations

from typing import assert_never

from mem.cli.terminal import Style, Styled, wrapped
from mem.domain.lookup import ContextAnswer, ContextRequest, Lesson

_SEARCHES = frozenset({"signatures", "symptom", "text", "lexical", "embedding"})
_STYLES = {1: Style.GOOD, 2: Style.FAIR, 3: Style.OTHER, None: Style.TITLE}


def headline(answer: ContextAnswer, request: ContextRequest, width: int) -> list[Styled]:
    """What is known, wrapped."""
    told = f"{_known(answer, request)} ({'no tier' if answer.tier is None else f'tier {answer.tier}'})"
    return [Styled(line, _STYLES[answer.tier]) for line in wrapped(told, width)]


def times(count: int) -> str:
    """How often."""
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def percent(probability: float) -> int:
    """A probability as people read it; nothing that was scored is certain."""
    return min(round(probability * 100), 99)


def _known(answer: ContextAnswer, request: ContextRequest) -> str:
    match answer.tier:
        case 1:
            return _exact(answer.lessons[0], request)
        case 2:
            return _similar(answer, request)
        case 3:
            return f"{_unknown(answer)}; the documentation says"
        case None:
            return (answer.abstained_reason or "Nothing is known of this").rstrip(".")
        case _:
            assert_never(answer.tier)


def _unknown(answer: ContextAnswer) -> str:
    """Why there is documentation alone; that nobody met a failure is told only where that is known."""
    if any(one.known is None for one in answer.signatures) or any(one.leg in _SEARCHES for one in answer.degraded):
        return "Not all that is known here could be searched"
    if not answer.signatures:
        return "Nobody here has noted anything about this"
    seen = any(one.seen_count is None or one.seen_count > 1 for one in answer.signatures)
    return f"Nobody here has {'explained' if seen else 'hit'} this"


def _exact(lesson: Lesson, request: ContextRequest) -> str:
    here = lesson.project is None or lesson.project == request.project
    told = f"This exact failure happened {'here before' if here else f'before in project {lesson.project}'}"
    if lesson.seen_count is None:
        return f"{told}; how often could not be read"
    if lesson.first_seen in (None, lesson.last_seen):
        return f"{told}: {times(lesson.seen_count)}, last {lesson.last_seen}"
    return f"{told}: {times(lesson.seen_count)} since {lesson.first_seen}, last {lesson.last_seen}"


def _similar(answer: ContextAnswer, request: ContextRequest) -> str:
    score = answer.lessons[0].score
    probable = "" if score is None else f", {percent(score)} % probable"
    # A log without failure is not what a lesson was found for by its text.
    words = answer.lessons[0].matched_kind == "text" and (request.task is not None or request.tool is not None)
    if not answer.signatures and (words or request.signature_source is None):
        about = "such a task" if request.task is not None else request.tool or "this"
        return f"This is known about {about}{probable}"
    told = f"Something similar happened before{probable}"
    if any(one.known is None for one in answer.signatures):
        return f"{told}; whether this exact failure did could not be read"
    return f"{told}; this exact failure has no lesson yet" if answer.signatures else told
