"""The request ids of calls that bring none, so that a call that an agent sends again is the same request."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from mem.domain.ids import fingerprint

MOST_OPEN = 1000
"""So many calls that were not answered are remembered; of more the oldest are forgotten."""


class OpenCalls:
    """The ids of reads that were not answered yet.

    A read cannot have an id made from its content, as a candidate has: what is known changes, and the same failure next
    week is another sighting. So an id is made, and stands for these arguments until they are answered: a call that is
    sent again after an error, a timeout or a cancellation, or while it runs, is the same request.
    """

    def __init__(self) -> None:
        self._open: OrderedDict[tuple[str, ...], str] = OrderedDict()

    def id_of(self, caller: str, tool: str, arguments: Mapping[str, Any]) -> str:
        """The id for a call."""
        key = (caller, tool, fingerprint(arguments))
        made = self._open.setdefault(key, f"mcp-{secrets.token_hex(16)}")
        self._open.move_to_end(key)
        if len(self._open) > MOST_OPEN:
            self._open.popitem(last=False)
        return made

    def answered(self, request_id: str) -> None:
        """Take note of an answer: the next such call is another one."""
        for key, made in self._open.items():
            if made == request_id:
                del self._open[key]
                return
