"""The XML block that goes into a prompt: always well formed, and nothing that a memory holds opens or closes a tag."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape

from mem.domain.grounding import ScopeLevel
from mem.parsing.sanitize import strip_unsafe
from mem.recall.enhancement import Enhancement

CONFIDENCE_NOTE = "Use as supportive context, not unquestionable fact."
_UNSAFE_IN_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def render_block(scope: ScopeLevel, enhancement: Enhancement) -> str:
    """The block of an enhancement; the same for the same."""
    active = " ".join(_shown(statement.text) for statement in enhancement.active)
    return (
        "<contextenhancement>\n"
        f"  <scope>{scope}</scope>\n"
        f"  <summary>{_shown(enhancement.summary)}</summary>\n"
        f"  <active_context>{active}</active_context>\n"
        f"  <confidence_note>{CONFIDENCE_NOTE}</confidence_note>\n"
        "</contextenhancement>"
    )


def _shown(text: str) -> str:
    """A text on one line, as character data."""
    return escape(" ".join(_UNSAFE_IN_XML.sub("", strip_unsafe(text).text).split()), {'"': "&quot;"})
