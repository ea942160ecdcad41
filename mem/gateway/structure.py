"""The shape of a JSON text, looked at before anything is made of it.

A list in a list takes two bytes to write and a hundred to hold, and reading it stops all else. What the contracts know
is flat and has few parts: long are only texts, which are skipped here without looking at them twice.
"""

from __future__ import annotations

import re

from mem.domain.errors import InvalidRequest

MAX_DEPTH = 16
MAX_PARTS = 20_000
"""Fields and entries. The largest candidate has a tenth of them."""

# Possessive, so that a text without an end is given up on at once.
_TEXT_OR_MARK = re.compile(rb'[^"\[\]{},:]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"|([\[{])|([\]}])|[,:])', re.DOTALL)


def check_structure(body: bytes | bytearray) -> None:
    """Refuse what is nested too deeply or has too many parts; whether it is JSON at all is for the parser to say.

    Raises:
        InvalidRequest: it is no body that any contract knows.
    """
    depth = parts = position = 0
    while (found := _TEXT_OR_MARK.match(body, position)) is not None:
        position = found.end()
        parts += 1
        if found[1]:
            depth += 1
        elif found[2]:
            depth -= 1
        if depth > MAX_DEPTH:
            raise InvalidRequest("The body is nested too deeply.", "Send a flat JSON object as /openapi.json shows.")
        if parts > MAX_PARTS:
            raise InvalidRequest("The body has too many fields or entries.", "Send fewer of them.")
