"""Which failures nobody has written a lesson for, as it is asked and as it is answered."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from pydantic import ValidationError

from mem.domain.gaps import GapsAnswer, GapsRequest
from mem.domain.nodes import Node
from mem.domain.signatures import Signature
from mem.parsing import extract
from mem.ports import AppendPlan, LedgerKey, Reach, Settlement
from mem.recall.gaps import FindGaps
from mem.recall.messages import MESSAGE_CHARACTERS
from mem.testing import FakeFailures, FakeLedger, FakeMemories, FakeState
from tests.unit.recall.kit import NPM_LOG, PYTHON_LOG

TODAY = date(2026, 7, 2)
SECRET = "gh" + "p_" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAabcd"


class Store:
    """The fakes, with failures that were looked up."""

    def __init__(self) -> None:
        self.state = FakeState()
        self.find = FindGaps(FakeFailures(self.state), self.state.clock)

    async def see(self, *signatures: Signature, project: str = "p", request_id: str = "r") -> None:
        key = LedgerKey("context", project, request_id)
        settlement = Settlement(key, "f", signatures, Reach(project, federated=True), ())
        await FakeLedger(self.state).settle(settlement, lambda _: b"")

    async def explain(self, *signatures: Signature, project: str = "p") -> None:
        node = Node(level="L1", project=project, text="lesson")
        await FakeMemories(self.state).append(AppendPlan("appended:a", node, (), (), ()))
        await FakeFailures(self.state).link(project=project, request_id="l", sha=node.sha, signatures=signatures)

    async def rules(self, readable: tuple[str, ...] | None = None, **fields) -> list[str]:
        return [gap.rule for gap in (await self.find(GapsRequest(**fields), readable=readable)).gaps]


@pytest.fixture
def store() -> Store:
    return Store()


def failure(message: str) -> Signature:
    (one,) = extract(PYTHON_LOG)
    return one.model_copy(update={"message": message})


async def test_a_looked_up_failure_is_a_gap_until_a_lesson_explains_it(store):
    """What two logs showed is told with its count, and goes as its lesson comes."""
    npm, python = extract(NPM_LOG)[:1], extract(PYTHON_LOG)
    await store.see(*npm, *python)
    await store.see(*npm, request_id="again", project="q")
    assert await store.rules() == ["npm.eresolve", python[0].rule]
    for tool in (python[0].tool, python[0].tool.upper()):
        assert await store.rules(project="p", tool=tool) == [python[0].rule]
    await store.explain(*npm, project="elsewhere")
    assert await store.rules() == [python[0].rule]
    assert await store.rules(project="q") == []


async def test_the_reach_is_an_argument(store):
    """Projects that the caller may not read neither count nor explain, asked for by name or not."""
    npm, python = extract(NPM_LOG)[0], extract(PYTHON_LOG)[0]
    await store.see(npm, python)
    await store.see(python, project="q")
    await store.explain(npm, project="q")
    assert await store.rules() == [python.rule]
    assert sorted(await store.rules(("p",))) == sorted([npm.rule, python.rule])
    assert await store.rules(("q",), project="p") == []
    (gap,) = (await store.find(GapsRequest(), readable=["q"])).gaps
    assert (gap.seen_count, gap.projects) == (1, ["q"])
    assert await store.find(GapsRequest(), readable=[]) == GapsAnswer(
        project=None, tool=None, since=None, total=0, gaps=[]
    )


@pytest.mark.parametrize(
    ("since", "first", "gaps"),
    [
        (None, None, 1),
        ("7d", TODAY + timedelta(days=3), 1),
        ("6d", TODAY + timedelta(days=4), 0),
        ("0d", TODAY + timedelta(days=10), 0),
        ("2026-07-05", TODAY + timedelta(days=3), 1),
        ("2026-07-06", TODAY + timedelta(days=4), 0),
    ],
)
async def test_since_is_a_day_of_the_calendar(store, since, first, gaps):
    """A date is that day, `7d` the day a week before today, each included; the answer tells the day."""
    store.state.clock.advance(timedelta(days=3))
    await store.see(*extract(PYTHON_LOG))
    store.state.clock.advance(timedelta(days=7))
    answer = await store.find(GapsRequest(since=since))
    assert (answer.since, answer.total, len(answer.gaps)) == (first, gaps, gaps)


async def test_a_message_is_redacted_and_short(store):
    """What rules of an earlier release let pass is redacted now; one line, visible characters, and an end."""
    await store.see(failure(f"refused {SECRET}\n\x1b[31mby\u202e the host\x07 " + "x" * 500))
    (gap,) = (await store.find(GapsRequest())).gaps
    assert SECRET not in gap.message
    assert gap.message.startswith("refused [redacted:github-token] [31mby the host xxx")
    assert gap.message.endswith("x…")
    assert len(gap.message) == MESSAGE_CHARACTERS


async def test_a_short_message_stays_as_it_is(store):
    """At the limit nothing is cut."""
    await store.see(failure("x" * MESSAGE_CHARACTERS))
    assert (await store.find(GapsRequest())).gaps[0].message == "x" * MESSAGE_CHARACTERS


async def test_asking_leaves_nothing_behind(store):
    """Neither a count nor a record comes of it, so it may be asked again."""
    await store.see(*extract(PYTHON_LOG))
    before = len(store.state.records), dict(store.state.occurrences)
    first = await store.find(GapsRequest())
    assert await store.find(GapsRequest()) == first
    assert (len(store.state.records), store.state.occurrences) == before


@pytest.mark.parametrize(
    "fields",
    [
        {"project": "a b"},
        {"project": ""},
        {"project": "*"},
        {"tool": ""},
        {"tool": "t" * 65},
        {"tool": "\udc80"},
        {"since": ""},
        {"since": "7"},
        {"since": "d"},
        {"since": "-1d"},
        {"since": "12345d"},
        {"since": "2026-02-30"},
        {"since": "20260702"},
        {"since": "2026-07-02T00:00:00Z"},
        {"since": "2026-W27-4"},
        {"since": "\u0667d"},
        {"since": "7d\n"},
        {"limit": 0},
        {"limit": 1001},
        {"limit": "many"},
        {"limit": "1.5"},
        {"surprise": 1},
    ],
    ids=str,
)
def test_what_cannot_be_asked_is_refused_by_name(fields):
    """The fault names its field."""
    (name,) = fields
    with pytest.raises(ValidationError, match=name):
        GapsRequest.model_validate(fields)


def test_the_limits_can_be_asked():
    """The least and the most of each; a URL brings figures as texts."""
    assert GapsRequest().limit == 20
    assert [GapsRequest.model_validate({"limit": limit}).limit for limit in (1, 1000, "1", "1000")] == [1, 1000] * 2
    assert GapsRequest(since="9999d").first_day(TODAY) == TODAY - timedelta(days=9999)
    assert GapsRequest(since="0001-01-01").first_day(TODAY) == date.min
