"""Whether two lessons say the same in slightly other words: deterministic, cheap, and from words alone."""

from mem.parsing.likeness.bands import bands
from mem.parsing.likeness.compare import same
from mem.parsing.likeness.lexicon import rules_sha

__all__ = ["bands", "rules_sha", "same"]
