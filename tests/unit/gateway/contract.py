"""The gateway over a client and a store that hold a request to its limits and answer with the examples."""

from __future__ import annotations

import re
from typing import Any

from fastapi import FastAPI

from mem.client import Reply
from mem.domain.accepting import AcceptAnswer, check_limits
from mem.domain.errors import InvalidRequest
from mem.domain.gaps import GapsAnswer
from mem.domain.grounding import GroundAnswer, check_message
from mem.domain.lookup import check_inputs
from mem.domain.query import QueryAnswer, check_question
from mem.domain.shown import ShownMemory
from mem.gateway.app import create_app
from mem.gateway.described import GAPS_EXAMPLE, SHOWN_EXAMPLE
from mem.gateway.grounding import ANSWER_EXAMPLE
from tests.unit.gateway.live import ListedLog, ScriptedClient


class ContractClient(ScriptedClient):
    """Checks as the real client does before it sends anything."""

    async def look_up(self, request: Any, *, readable: Any = None) -> Reply[Any]:
        check_inputs(request)
        return await super().look_up(request)

    async def accept(self, request: Any, *, readable: Any = None) -> Reply[Any]:
        check_limits(request)
        return await self._reply(request, "accept", AcceptAnswer)

    async def query(self, request: Any, *, readable: Any = None) -> Reply[Any]:
        check_question(request)
        return await self._reply(request, "query", QueryAnswer)

    async def ground(self, request: Any, *, readable: Any = None) -> Reply[Any]:
        check_message(request)
        body = GroundAnswer.model_validate(ANSWER_EXAMPLE).model_dump_json().encode()
        return Reply(GroundAnswer.model_validate_json(body), body, ())


class ContractReading:
    """A store of one memory and one gap."""

    configured = True

    async def check(self) -> None:
        pass

    async def gaps(self, request: Any, *, readable: Any = None) -> GapsAnswer:
        request.first_day(SHOWN_TODAY)
        return GapsAnswer.model_validate(GAPS_EXAMPLE)

    async def show(self, sha: str, *, readable: Any = None) -> ShownMemory:
        if not re.fullmatch("[0-9a-f]{4,64}", sha.lower()):
            raise InvalidRequest(f"{sha[:80]!r} is no sha.", "Give 4 to 64 hex digits.")
        return ShownMemory.model_validate(SHOWN_EXAMPLE)


SHOWN_TODAY = GapsAnswer.model_validate(GAPS_EXAMPLE).gaps[0].last_seen


def contract_app() -> FastAPI:
    """The application, with the real routes, checks and middlewares."""
    client: Any = ContractClient()
    reading: Any = ContractReading()
    return create_app(client, reading, log=ListedLog())
