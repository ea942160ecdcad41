"""Turns of users over fakes, with parts that a test can make slow, broken or opinionated."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mem.domain.grounding import GroundAnswer, GroundInput
from mem.recall.ground_outcome import GroundFound, GroundOutcome
from mem.recall.grounding import GroundPorts, GroundTurns
from mem.testing import FakeLedger, FakeTokens, FakeUsers
from tests.unit.recall.kit import Scores, World

USER = "user-123"
MESSAGE = "How do I set up the tests of this repo?"


class GroundWorld(World):
    """Memories of users over one state, and turns into them; a memory is `USER`'s own and for everybody."""

    def __init__(self) -> None:
        super().__init__()
        self.users = FakeUsers(self.state)
        self.scores = Scores()
        self.turns = GroundPorts(
            users=self.users,
            ledger=FakeLedger(self.state),
            embedder=self.embedder,
            reranker=self.scores,
            tokens=FakeTokens(),
        )

    async def remember(self, text: str, *, owner: str | None = USER, **fields: Any) -> str:
        """Accept a memory with all its projections, the owner's summary among them; its sha."""
        sha = await super().remember(text, owner=owner, **fields)
        await self.users.refresh_snapshot(sha)
        return sha

    def with_turns(self, **parts: Any) -> None:
        """Put other parts in."""
        self.turns = replace(self.turns, **parts)

    def use_case(self, *, leg_seconds: float = 2.0, total_seconds: float = 6.0) -> GroundTurns:
        """What answers turns."""
        return GroundTurns(self.turns, leg_seconds=leg_seconds, total_seconds=total_seconds)

    def request(self, **fields: Any) -> GroundInput:
        """A turn of `USER`; the request id is a new one unless it is given."""
        self._number += 1
        given = {"request_id": f"turn-{self._number}", "user_id": USER, "message": MESSAGE, **fields}
        return GroundInput.model_validate(given)

    async def step(self, *, leg_seconds: float = 2.0, **fields: Any) -> GroundOutcome | GroundFound:
        """Where the first step of a turn ends."""
        return await self.use_case(leg_seconds=leg_seconds)(self.request(**fields))

    async def outcome(self, *, leg_seconds: float = 2.0, **fields: Any) -> GroundOutcome:
        """The outcome of a turn that no controller is asked about."""
        found = await self.step(leg_seconds=leg_seconds, **fields)
        assert isinstance(found, GroundOutcome)
        return found

    async def ground(self, **fields: Any) -> GroundAnswer:
        """The answer to a turn."""
        return GroundAnswer.model_validate_json((await self.outcome(**fields)).body)
