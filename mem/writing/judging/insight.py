"""Whether words tell a cause, a remedy or a decision."""

from __future__ import annotations

from functools import cache

from mem.writing.judging.lexicon import Lexicon, Phrases, lexicon


class Insight(Lexicon):
    """`cues` for what an author adds to a log; `told` for what only a person or an agent would say."""

    cues: Phrases
    told: Phrases


@cache
def insight() -> Insight:
    """The words of insight."""
    return lexicon("insight.toml", Insight)
