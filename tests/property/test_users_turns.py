"""No user's memory in another user's context, whatever is stored and however a turn is read."""

from __future__ import annotations

import re
from typing import get_args

from hypothesis import given, settings

from mem.domain.grounding import ContainerHint, GroundAnswer, GroundInput, ReadMode
from mem.ports import Audience
from mem.recall.ground_outcome import GroundOutcome
from mem.recall.grounding import GroundPorts, GroundTurns
from mem.testing import FakeLedger, FakeTokens
from tests.contract.parts import Parts, fake_parts
from tests.examples import examples
from tests.property.test_users import _EXAMPLES, AUDIENCES, PRIVATE, STORES, may_read, store
from tests.unit.recall.kit import Scores

MARK = re.compile(r"\d+x\d+")
"""What each stored lesson alone has in its text."""


async def told(parts: Parts, audience: Audience, mode: ReadMode) -> bytes:
    """The answer to a turn, where everything that is found counts as relevant."""
    state = parts.memories._state
    ports = GroundPorts(parts.users, FakeLedger(state), parts.embedder, Scores(), FakeTokens())
    request = GroundInput(
        request_id=f"{AUDIENCES.index(audience)} {mode}",
        user_id=audience.user,
        message="How is the kong lockfile pinned in project p, and what of npm in c1?",
        containers=[ContainerHint(id=container) for container in audience.containers],
        scope_level=audience.scope,
        read_mode=mode,
        readable=None if audience.readable is None else list(audience.readable),
    )
    outcome = await GroundTurns(ports, leg_seconds=100.0, total_seconds=100.0)(request)
    assert isinstance(outcome, GroundOutcome)
    return outcome.body.encode() if isinstance(outcome.body, str) else outcome.body


@settings(deadline=None, max_examples=examples(15))
@given(wanted=STORES, private=PRIVATE)
async def test_a_context_tells_what_its_user_may_read_and_does_not_depend_on_what_others_keep(wanted, private):
    """The same bytes with and without the other user's private memories, and none of these in them."""
    number = next(_EXAMPLES)
    without, beside = fake_parts(), fake_parts()
    await store(without, wanted, number)
    nodes = await store(beside, [*wanted, *private], number)
    for audience in AUDIENCES:
        readable = {MARK.search(node.text)[0] for node in nodes.values() if may_read(node, audience)}
        for mode in get_args(ReadMode):
            body = await told(beside, audience, mode)
            assert body.decode() == (await told(without, audience, mode)).decode()
            assert set(MARK.findall(body.decode())) <= readable
            answer = GroundAnswer.model_validate_json(body)
            assert answer.diagnostics.candidate_count <= len(readable)
