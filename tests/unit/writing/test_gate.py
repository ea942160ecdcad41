"""The gate: each rule on both sides of its line."""

from __future__ import annotations

import pytest

from mem.domain.accepting import AcceptInput, AcceptStep, Verdict
from mem.domain.nodes import Node
from mem.ports import AppendPlan
from mem.testing import FakeJournal, FakeMemories, FakeState
from mem.writing.candidate import Candidate, load_candidate, record_candidate
from mem.writing.gate import gate, judge, verdict_key

LESSON = "npm refuses react 19 beside react 18; pin react in overrides."
LOG = "npm ERR! code ERESOLVE"
STEP = AcceptStep(project="p", request_id="r")


class House:
    """A project with some memories in it."""

    def __init__(self) -> None:
        self.state = FakeState()
        self.journal = FakeJournal(self.state)
        self.memories = FakeMemories(self.state)

    async def hold(self, text: str, *, level: str = "L1", project: str = "p", supersedes=(), **fields) -> str:
        """Append a memory behind the gate's back; its sha."""
        node = Node(level=level, project=project, text=text, **fields)
        await self.memories.append(AppendPlan(f"appended:{project}:{text}", node, (), (), tuple(supersedes)))
        return node.sha

    async def hold_evidence(self, text: str, *, project: str = "p", **fields) -> str:
        node = Node(level="L0", project=project, text=text, source="pi:1", turn=1, **fields)
        self.state.nodes[node.sha] = node
        return node.sha

    async def judge(self, text: str = LESSON, **fields) -> Verdict:
        return await judge(self.memories, await self.candidate(text, **fields))

    async def candidate(self, text: str = LESSON, *, request_id: str = "r", **fields) -> Candidate:
        given = {"level": "L1", "evidence": [{"source": "ci", "text": LOG}], **fields}
        request = AcceptInput.model_validate({"request_id": request_id, "project": "p", "text": text, **given})
        journal = FakeJournal(FakeState())
        await record_candidate(journal, request)
        return await load_candidate(journal, AcceptStep(project="p", request_id=request_id))


@pytest.fixture
def house() -> House:
    return House()


async def test_a_lesson_with_evidence_is_accepted_without_a_rule(house):
    """No rule objects, so none is named."""
    verdict = await house.judge()
    assert (verdict.accept, verdict.rule, verdict.duplicate_of) == (True, None, None)
    assert verdict.reason


@pytest.mark.parametrize("evidence", [[], [{"source": "ci", "text": " \n\t"}]], ids=["none", "blank"])
async def test_a_lesson_without_evidence_is_rejected(house, evidence):
    """A claim that nothing shows is not kept, and white space shows nothing."""
    verdict = await house.judge(evidence=evidence)
    assert (verdict.accept, verdict.rule) == (False, "no-evidence")
    assert "evidence" in verdict.reason


async def test_a_lesson_may_stand_on_evidence_that_is_there(house):
    """L0 parents are evidence enough."""
    parent = await house.hold_evidence(LOG)
    assert (await house.judge(evidence=[], parents=[parent])).accept


async def test_a_synthesis_needs_the_lessons_it_is_drawn_from(house):
    """An L2 without L1 parents is rejected, even with evidence; with them it passes, with or without evidence."""
    parent = await house.hold("npm wants peers to agree about react.")
    assert (await house.judge(level="L2")).rule == "no-evidence"
    assert (await house.judge(level="L2", parents=[parent])).accept
    assert (await house.judge(level="L2", parents=[parent], evidence=[])).accept


async def bad_parent(house: House, case: str) -> str:
    match case:
        case "unknown":
            return "a" * 64
        case "no sha":
            return "latest"
        case "empty":
            return ""
        case "lesson":
            return await house.hold("npm wants peers to agree.")
        case "other project":
            return await house.hold_evidence(LOG, project="q")
        case "private to another":
            return await house.hold_evidence(LOG, visibility="user", owner="bob")
        case "of another container":
            return await house.hold_evidence(LOG, visibility="container", owner="ada", container="c2")
    raise AssertionError(case)


@pytest.mark.parametrize(
    "case", ["unknown", "no sha", "empty", "lesson", "other project", "private to another", "of another container"]
)
async def test_a_lesson_is_rejected_for_a_parent_that_cannot_be_one(house, case):
    """Parents are evidence of the same project that the caller may read."""
    parent = await bad_parent(house, case)
    fields = {"user_id": "ada", "container": "c1", "visibility": "container"}
    verdict = await house.judge(parents=[parent], **fields)
    assert (verdict.accept, verdict.rule) == (False, "bad-parents")
    assert parent[:12] in verdict.reason


@pytest.mark.parametrize("case", ["other project", "private to another", "of another container"])
async def test_what_the_caller_may_not_read_is_told_like_what_is_not_there(house, case):
    """A rejection does not give away that a memory exists."""
    fields = {"user_id": "ada", "container": "c1", "visibility": "container"}
    hidden, missing = await bad_parent(house, case), await bad_parent(house, "unknown")
    told = (await house.judge(parents=[hidden], **fields)).reason.replace(hidden[:12], "X")
    assert told == (await house.judge(parents=[missing], **fields)).reason.replace(missing[:12], "X")


async def test_the_callers_own_private_evidence_can_be_a_parent(house):
    """Private evidence of the same user and container is readable to its owner."""
    of_user = await house.hold_evidence(LOG, visibility="user", owner="ada")
    of_container = await house.hold_evidence(LOG, visibility="container", owner="ada", container="c1")
    fields = {"user_id": "ada", "container": "c1", "visibility": "container"}
    assert (await house.judge(parents=[of_user, of_container], **fields)).accept


async def test_a_synthesis_is_rejected_for_a_superseded_parent(house):
    """The reason names the successor to be used instead."""
    old = await house.hold("npm wants peers to agree.")
    new = await house.hold("npm wants peers to agree, or overrides.", supersedes=[old])
    verdict = await house.judge(level="L2", parents=[old])
    assert verdict.rule == "bad-parents"
    assert new[:12] in verdict.reason
    assert (await house.judge(level="L2", parents=[new])).accept


async def test_a_synthesis_is_rejected_for_evidence_as_its_parent(house):
    """L2 stands on L1, not on L0."""
    verdict = await house.judge(level="L2", parents=[await house.hold_evidence(LOG)])
    assert (verdict.rule, "is L0, not L1" in verdict.reason) == ("bad-parents", True)


async def test_only_a_live_lesson_of_the_project_can_be_superseded(house):
    """What is to be superseded is held to the rules of parents, whatever its level of lesson."""
    lesson = await house.hold("npm wants peers to agree.")
    synthesis = await house.hold("Peers have to agree everywhere.", level="L2")
    assert (await house.judge(supersedes=[lesson, synthesis])).accept
    for wrong in ("a" * 64, await house.hold_evidence(LOG), await house.hold("Elsewhere it differs.", project="q")):
        assert (await house.judge(supersedes=[wrong])).rule == "bad-parents"
    newer = await house.hold("npm wants overrides.", supersedes=[lesson])
    verdict = await house.judge(supersedes=[lesson])
    assert (verdict.rule, newer[:12] in verdict.reason) == ("bad-parents", True)


async def test_a_memory_cannot_supersede_itself(house):
    """The candidate's own sha in `supersedes` is told as the mistake that it is."""
    own = await house.hold(LESSON)
    verdict = await house.judge(supersedes=[own])
    assert (verdict.rule, "itself" in verdict.reason) == ("bad-parents", True)


@pytest.mark.parametrize(
    "text", [LESSON, LESSON.upper(), f"  {LESSON}\n".replace(" ", "\t \n")], ids=["equal", "case", "space"]
)
async def test_a_lesson_that_is_there_is_a_duplicate(house, text):
    """White space and case make no new lesson; the verdict names the one that stands."""
    standing = await house.hold(LESSON)
    verdict = await house.judge(text)
    assert (verdict.accept, verdict.rule, verdict.duplicate_of) == (False, "duplicate", standing)


@pytest.mark.parametrize(
    "elsewhere",
    [{"project": "q"}, {"visibility": "user", "owner": "ada"}, {"visibility": "user", "owner": "bob"}],
    ids=str,
)
async def test_the_same_words_elsewhere_are_no_duplicate(house, elsewhere):
    """Duplicates are looked for within one project, visibility, owner and container."""
    await house.hold(LESSON, **elsewhere)
    assert (await house.judge()).accept


async def test_two_users_may_keep_the_same_private_lesson(house):
    """One user's private memory is no duplicate of another's, but of their own it is."""
    await house.hold(LESSON, visibility="user", owner="bob")
    assert (await house.judge(visibility="user", user_id="ada")).accept
    assert (await house.judge(visibility="user", user_id="bob")).rule == "duplicate"


async def test_a_candidate_is_no_duplicate_of_what_it_supersedes(house):
    """A rewording that differs in case alone may replace the old one."""
    old = await house.hold(LESSON.upper())
    assert (await house.judge(supersedes=[old])).accept
    assert (await house.judge()).rule == "duplicate"


async def test_an_old_lesson_is_rejected_with_its_newest_successor(house):
    """What was superseded does not come back; the reason names where the chain ends."""
    old = await house.hold(LESSON)
    middle = await house.hold("Pin react in resolutions.", supersedes=[old])
    newest = await house.hold("Raise react everywhere at once.", supersedes=[middle])
    verdict = await house.judge()
    assert (verdict.accept, verdict.rule, verdict.duplicate_of) == (False, "duplicate", None)
    assert newest in verdict.reason
    assert middle not in verdict.reason


TELLING = [
    "Use pnpm, not npm.",
    "We decided to stay on Postgres 16.",
    "Use Go 1.22 on CI.",
    "Deployments happen on Tuesdays only.",
    "Ask Maria before touching the billing cluster.",
    "Wir bleiben bei Python 3.11.",
    "Мы закрепляем версию зависимости.",
    "我们决定固定依赖版本",
    "依存関係を固定する",
    "Exit 137 means OOM; raise memory limit.",
    LESSON,
]
TRIVIAL = [
    "Fixed.",
    "Fixed the bug.",
    "It works now!",
    "The tests pass again after a retry.",
    "The build was fixed, now it is green.",
    "Reran the flaky job.",
    "Fixed npm install.",
    "Everything is fine, all good, done.",
    "Done done done DONE done",
    "... !!! ???",
    "ok",
    "npm npm npm NPM Npm",
]


@pytest.mark.parametrize("text", TELLING)
async def test_a_plain_decision_or_cause_is_not_trivial(house, text):
    """Short sentences in plain words, in any language, pass when there is evidence for them."""
    verdict = await house.judge(text)
    assert verdict.accept, verdict


@pytest.mark.parametrize("text", TRIVIAL)
async def test_a_text_that_tells_nothing_is_trivial(house, text):
    """That something was fixed helps nobody, however often it is said."""
    assert (await house.judge(text)).rule == "trivial"


async def test_the_rules_object_in_their_order(house):
    """Of several objections the first of the design's order is told."""
    await house.hold("Fixed.")
    assert (await house.judge("Fixed.", evidence=[], supersedes=["a" * 64])).rule == "no-evidence"
    assert (await house.judge("Fixed.", supersedes=["a" * 64])).rule == "bad-parents"
    assert (await house.judge("Fixed.")).rule == "duplicate"
    assert (await house.judge("Done.")).rule == "trivial"


async def test_the_first_recorded_verdict_stands(house):
    """What the gate said once it says again, whatever has changed since, and records nothing more."""
    candidate = await house.candidate()
    first = await gate(house.journal, house.memories, STEP, candidate)
    await house.hold(LESSON)
    assert (await judge(house.memories, candidate)).rule == "duplicate"
    assert await gate(house.journal, house.memories, STEP, candidate) == first
    assert [record.key for record in house.state.records if record.kind == "verdict"] == [verdict_key(STEP)]


async def test_a_verdict_recorded_meanwhile_wins_over_ones_own(house):
    """Of two gates at once both give the verdict that was recorded first."""

    class LateJournal(FakeJournal):
        async def find(self, key):
            return None

    candidate = await house.candidate()
    first = await gate(house.journal, house.memories, STEP, candidate)
    await house.hold(LESSON)
    late = LateJournal(house.state)
    assert await gate(late, house.memories, STEP, candidate) == first


async def test_a_rejection_is_recorded_with_rule_and_reason(house):
    """The journal keeps why a candidate was turned away."""
    verdict = await gate(house.journal, house.memories, STEP, await house.candidate("Fixed."))
    (record,) = house.state.records
    assert record.kind == "verdict"
    assert record.data["verdict"]["rule"] == verdict.rule == "trivial"
    assert record.data["verdict"]["reason"] == verdict.reason


async def test_a_parent_is_rejected_where_its_child_has_more_readers(house):
    """An answer shows source and turn of the parents, so a memory for all cannot stand on one for few."""
    parent = await house.hold_evidence(LOG, visibility="user", owner="ada")
    verdict = await house.judge(parents=[parent], user_id="ada")
    assert (verdict.accept, verdict.rule) == (False, "bad-parents")
    assert (await house.judge(parents=[parent], user_id="ada", visibility="user")).accept


async def test_a_successor_is_rejected_where_it_has_fewer_readers(house):
    """One user's private memory does not take a memory from everybody else."""
    old = await house.hold("npm wants peers to agree.")
    verdict = await house.judge(supersedes=[old], user_id="ada", visibility="user")
    assert (verdict.accept, verdict.rule) == (False, "bad-parents")
    assert (await house.judge(supersedes=[old], user_id="ada")).accept
