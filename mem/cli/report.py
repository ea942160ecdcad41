"""An answer as a person in an incident reads it: what is known in one line, then the lesson, then everything else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from mem.cli.headline import headline, percent, times
from mem.cli.terminal import Style, Styled, shortened, wrapped
from mem.domain.lookup import ContextAnswer, ContextRequest, Lesson
from mem.domain.nodes import Parent

LEAD_LINES = 14
"""So many lines of the first lesson are shown, and half as many of a chunk of documentation, which is mostly long."""
SOURCES = 3
NAMED_DROPS = 6

_TITLES = {1: "also known for this failure (tier 1)", 2: "similar (tier 2)", 3: "documentation (tier 3)"}


def report(
    answer: ContextAnswer, request: ContextRequest, quotes: Mapping[str, Sequence[str]] | None = None, *, width: int
) -> list[Styled]:
    """The report: headline and first lesson, the others in short, skills, what is missing, and the failures read.

    Args:
        quotes: lines that show a failure, by its `sig_sha`.
        width: of the lines, in columns.
    """
    return [
        *headline(answer, request, width),
        *_lead(answer, request, width),
        *_others(answer, request, width),
        *_missing(answer, request, width),
        *_failures(answer, quotes or {}, width),
    ]


def _lead(answer: ContextAnswer, request: ContextRequest, width: int) -> list[Styled]:
    """The first lesson with all that is said of it."""
    if not answer.lessons:
        return []
    lesson = answer.lessons[0]
    text = wrapped(lesson.text, width, indent="  ")
    most = LEAD_LINES if lesson.level != "R" else LEAD_LINES // 2
    lines = [Styled(line) for line in text[:most]]
    if len(text) > most:
        lines.append(Styled(f"  \u2026 {len(text) - most} more lines; in full: --format json", Style.FAINT))
    sources = [_source(parent) for parent in lesson.parents if parent.source is not None]
    if len(sources) > SOURCES:
        sources = [*sources[:SOURCES], f"{len(sources) - SOURCES} more"]
    facts = [f"from: {'; '.join(sources)}"] if sources else []
    facts.append(f"lesson: {', '.join([f'{lesson.level} {lesson.sha[:12]}', *_where(lesson, request)])}")
    told = [line for fact in facts for line in wrapped(fact, width, indent="  ", later="    ")]
    return lines + [Styled(line, Style.FAINT) for line in told]


def _others(answer: ContextAnswer, request: ContextRequest, width: int) -> list[Styled]:
    """The lessons behind the first one, two lines each, and the skills."""
    lines: list[Styled] = []
    for tier, lessons in groupby(answer.lessons[1:], key=lambda lesson: lesson.tier):
        told = [line for lesson in lessons for line in _short(lesson, request, width)]
        lines += [Styled(""), Styled(_title(tier, answer), Style.TITLE), *told]
    if any(line.text.endswith("\u2026") for line in lines):
        lines.append(Styled("  \u2026 in full: --format json", Style.FAINT))
    if answer.skills:
        named = ", ".join(f"{skill.name} ({skill.score:.2f})" for skill in answer.skills)
        lines += map(Styled, wrapped(f"skills that fit: {named}", width, later="    "))
    return lines


def _short(lesson: Lesson, request: ContextRequest, width: int) -> list[Styled]:
    """A lesson in two lines."""
    facts = ", ".join([f"{lesson.level} {lesson.sha[:12]}", *_where(lesson, request), *_document(lesson)])
    head = f"  {_probability(lesson)}  {shortened(facts, width - 9)}"
    return [Styled(head), Styled(f"         {shortened(lesson.text, width - 9)}")]


def _missing(answer: ContextAnswer, request: ContextRequest, width: int) -> list[Styled]:
    """What the answer lacks: by the budget, by what failed, by its floor; and what to do where it has nothing."""
    told = []
    if answer.budget.dropped:
        named = [_dropped(each) for each in answer.budget.dropped[:NAMED_DROPS]]
        more = len(answer.budget.dropped) - len(named)
        named += [f"{more} more"] if more else []
        told.append(f"left out by the budget of {answer.budget.limit} tokens: {', '.join(named)}")
    told += [f"degraded: {each.leg}: {each.reason}" for each in answer.degraded]
    lines = [Styled(line, Style.BAD) for one in told for line in wrapped(one, width, later="    ")]
    if answer.nearest_misses:
        lines.append(Styled(f"near misses: {answer.nearest_misses}, below the floor", Style.FAINT))
    if answer.tier is None:
        steps = [_looked_for(answer, request), *(f"next: {step}" for step in _next(answer, request))]
        lines += [Styled(line) for step in steps for line in wrapped(step, width, later="    ")]
    return [Styled(""), *lines] if lines else []


def _failures(answer: ContextAnswer, quotes: Mapping[str, Sequence[str]], width: int) -> list[Styled]:
    lines: list[Styled] = []
    for signature in answer.signatures:
        named = f"failure: {signature.sig_sha[:12]} {signature.tool} {signature.rule}"
        facts = [f"seen {times(signature.seen_count)}"] if signature.seen_count else []
        facts += ["no lesson yet"] if signature.known is False else []
        whole = ", ".join([named, *facts])
        lines += map(Styled, [whole] if len(whole) <= width else [named, f"  {', '.join(facts)}"])
        lines += [Styled(line, Style.FAINT) for line in quotes.get(signature.sig_sha, [])]
    return [Styled(""), *lines] if lines else []


def _looked_for(answer: ContextAnswer, request: ContextRequest) -> str:
    wide = "this project" if request.scope == "project" else "all projects"
    narrow = "all projects" if request.scope == "all-projects" else "this project"
    found = len(answer.signatures)
    asked = [f"{'this failure' if found == 1 else f'{found} failures'} in {wide}"] if found else []
    asked += [f"such a task in {narrow}"] if request.task is not None else []
    asked += [f"{request.tool} in {wide}"] if request.tool is not None and not asked else []
    return f"looked for: {'; '.join([*asked, 'documentation and skills']) if asked else 'nothing'}"


def _next(answer: ContextAnswer, request: ContextRequest) -> list[str]:
    """What helps, the likeliest first."""
    project = request.project
    steps = []
    if answer.budget.dropped:
        return [f"ask again with a --budget of more than {request.budget}"]
    if request.signature_source is not None and not answer.signatures:
        steps.append("name the log that has the failing lines, or say in words what failed: --task TEXT")
    if answer.degraded:
        steps.append("ask again when that is mended, with another --request-id")
    if request.scope == "project":
        steps.append("--scope all-projects asks the other projects, too")
    if answer.nearest_misses:
        steps.append(f"mem query --project {project} QUESTION lists what is nearest, however far it is")
    if answer.signatures or not steps:
        steps.append(f"once it is solved, mem accept FILE --project {project}: the next one who meets it is told")
    return steps


def _title(tier: int, answer: ContextAnswer) -> str:
    return ("also " if tier == answer.tier != 1 else "") + _TITLES[tier]


def _where(lesson: Lesson, request: ContextRequest) -> list[str]:
    """The project where it is another one, and what the lesson stands for."""
    facts = [f"project {lesson.project}"] if lesson.project not in (None, request.project) else []
    if lesson.supersedes:
        facts.append(f"in place of {', '.join(sha[:12] for sha in lesson.supersedes[-SOURCES:])}")
    return facts


def _document(lesson: Lesson) -> list[str]:
    return [parent.source for parent in lesson.parents if lesson.level == "R" and parent.source is not None]


def _probability(lesson: Lesson) -> str:
    return "  -  " if lesson.score is None else f"{percent(lesson.score):>3} %"


def _dropped(drop: Mapping[str, int | str]) -> str:
    name = f"skill {drop['skill']}" if "skill" in drop else f"tier {drop['tier']} {str(drop['sha'])[:12]}"
    return f"{name} ({drop['tokens']} tokens)"


def _source(parent: Parent) -> str:
    return f"{parent.source}" if parent.turn is None else f"{parent.source} turn {parent.turn}"
