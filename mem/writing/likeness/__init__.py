"""Whether two lessons say the same in slightly other words: deterministic, cheap, and from words alone."""

from mem.writing.likeness.bands import bands
from mem.writing.likeness.compare import same
from mem.writing.likeness.lexicon import rules_sha

__all__ = ["bands", "rules_sha", "same"]
