"""The token budget: what an answer takes, and what is left out first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from mem.domain.canonical import canonical_json
from mem.domain.lookup import Budget, Lesson, SkillHit
from mem.ports import TokenCounter

_SLACK = 200
"""By how much the sum of the parts may be off: a few tokens at each boundary."""

_OUTSIDE_COUNT = frozenset({"seen_count", "last_seen"})


class Fitted(NamedTuple):
    """What fits, in its order, and the account of it."""

    lessons: list[Lesson]
    skills: list[SkillHit]
    budget: Budget


def used_tokens(lessons: Sequence[Lesson], skills: Sequence[SkillHit], counter: TokenCounter) -> int:
    """The tokens of the canonical JSON of lessons and skills, without the fields that each sighting changes."""
    return _tokens(_parts(lessons, skills), counter)


def leaves_room(lessons: Sequence[Lesson], skills: Sequence[SkillHit], limit: int, counter: TokenCounter) -> bool:
    """Whether lessons and skills take less than the limit; a token has at least a byte, which is counted sooner."""
    text = _text(_parts(lessons, skills))
    return len(text) < limit or counter.count(text.decode("utf-8")) < limit


def fit(lessons: Sequence[Lesson], skills: Sequence[SkillHit], limit: int, counter: TokenCounter) -> Fitted:
    """Drop reference, then tier 2 from its lowest score up, then skills, until the rest fits; tier 1 always stays."""
    kept, kept_skills = list(lessons), list(skills)
    dropped: list[dict[str, int | str]] = []
    used = used_tokens(kept, kept_skills, counter)
    exact = True
    victims: list[Lesson | SkillHit] = [*_victims(lessons), *reversed(skills)]
    for victim in victims:
        if used <= limit:
            break
        tokens = _tokens(victim.model_dump(mode="json"), counter)
        if isinstance(victim, Lesson):
            kept.remove(victim)
            dropped.append({"tier": victim.tier, "sha": victim.sha, "tokens": tokens})
        else:
            kept_skills.remove(victim)
            dropped.append({"skill": victim.name, "tokens": tokens})
        # Tokens are counted over the whole; far above the limit the sum of the parts is near enough to go on dropping.
        exact = used - tokens <= limit + _SLACK
        used = used_tokens(kept, kept_skills, counter) if exact else used - tokens
    if not exact:
        used = used_tokens(kept, kept_skills, counter)
    return Fitted(kept, kept_skills, Budget(limit=limit, used=used, tokenizer=counter.name, dropped=dropped))


def _victims(lessons: Sequence[Lesson]) -> list[Lesson]:
    """Tier 3, then tier 2, each from the lowest score up; of equal or no scores what stands last goes first."""
    from_the_end = [lesson for tier in (3, 2) for lesson in reversed(lessons) if lesson.tier == tier]
    return sorted(from_the_end, key=lambda lesson: (-lesson.tier, lesson.score or 0.0))


def _parts(lessons: Sequence[Lesson], skills: Sequence[SkillHit]) -> dict[str, Any]:
    return {
        "lessons": [lesson.model_dump(mode="json") for lesson in lessons],
        "skills": [skill.model_dump(mode="json") for skill in skills],
    }


def _tokens(value: Any, counter: TokenCounter) -> int:
    return counter.count(_text(value).decode("utf-8"))


def _text(value: Any) -> bytes:
    return canonical_json(_without_sightings(value))


def _without_sightings(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_sightings(each) for name, each in value.items() if name not in _OUTSIDE_COUNT}
    if isinstance(value, list):
        return [_without_sightings(each) for each in value]
    return value
