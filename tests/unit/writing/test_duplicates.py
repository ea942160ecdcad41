"""What the gate says of a candidate that is known already, and what a person can make of it."""

from __future__ import annotations

import pytest

from mem.domain.accepting import AcceptInput, AcceptStep, Verdict
from mem.domain.errors import NotFound
from mem.domain.nodes import Node
from mem.ports import AppendPlan
from mem.testing import FakeJournal, FakeMemories, FakeState
from mem.writing.candidate import load_candidate, record_candidate
from mem.writing.gate import gate, load_verdict, verdict_key

PINNED = "Pin @types/react through overrides, because its peer range excludes react 19."
REWORDED = "The peer range of @types/react excludes react 19: pin it through `overrides`."
OTHER = "Pin @types/react through overrides, because its peer range excludes react 20."
WHY = "The two teams pin it in different files."
SECRET = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"


class Project:
    """A project with some memories in it, and a gate in front."""

    def __init__(self) -> None:
        self.state = FakeState()
        self.journal = FakeJournal(self.state)
        self.memories = FakeMemories(self.state)
        self._count = 0

    async def hold(self, text: str, *, level: str = "L1", project: str = "p", supersedes=(), **fields) -> str:
        """Append a memory behind the gate's back; its sha."""
        node = Node(level=level, project=project, text=text, **fields)
        await self.memories.append(AppendPlan(f"appended:{project}:{text}", node, (), (), tuple(supersedes)))
        return node.sha

    async def judge(self, text: str, **fields) -> Verdict:
        """The recorded verdict on a new candidate."""
        self._count += 1
        given = {"level": "L1", "evidence": [{"source": "ci", "text": "it failed"}], **fields}
        request = {"request_id": str(self._count), "project": "p", "text": text, **given}
        await record_candidate(self.journal, AcceptInput.model_validate(request))
        step = AcceptStep(project="p", request_id=str(self._count))
        return await gate(self.journal, self.memories, step, await load_candidate(self.journal, step))

    def record(self) -> dict:
        """What the journal has of the last verdict."""
        return self.state.by_key[verdict_key(AcceptStep(project="p", request_id=str(self._count)))].data

    def returned(self, sha: str) -> None:
        self.state.returned.add(("p", sha))


@pytest.fixture
def project() -> Project:
    return Project()


async def test_a_rewording_is_a_duplicate_that_names_the_memory(project):
    """The same in other words is no second memory; another version number is."""
    standing = await project.hold(PINNED)
    verdict = await project.judge(REWORDED)
    assert (verdict.accept, verdict.rule, verdict.duplicate_of) == (False, "duplicate", standing)
    assert standing[:12] in verdict.reason
    assert (await project.judge(OTHER)).accept


async def test_a_rewording_may_supersede_the_old_wording(project):
    """What the candidate supersedes is no duplicate of it, but a third wording is."""
    old = await project.hold(PINNED)
    assert (await project.judge(REWORDED, supersedes=[old])).accept


async def test_another_duplicate_is_found_behind_the_superseded_one(project):
    """A second memory that says the same is named, though the candidate supersedes the first."""
    old = await project.hold(PINNED)
    second = Node(level="L1", project="p", text=REWORDED)
    await project.memories.append(AppendPlan("appended:overruled", second, (), (), (), overruled=True))
    assert (await project.judge(f"{PINNED}!", supersedes=[old])).duplicate_of == second.sha


async def test_a_rewording_of_what_was_superseded_is_rejected_with_its_newest_successor(project):
    """It names where the chain ends, and is no duplicate that would leave its evidence there."""
    old = await project.hold(PINNED)
    middle = await project.hold("Raise react everywhere.", supersedes=[old])
    newest = await project.hold("Drop react.", supersedes=[middle])
    verdict = await project.judge(REWORDED)
    assert (verdict.accept, verdict.rule, verdict.duplicate_of) == (False, "duplicate", None)
    assert newest in verdict.reason


async def test_a_returned_lesson_of_another_project_is_self_feedback(project):
    """A near-copy of what a lookup returned is refused, naming project and sha."""
    there = await project.hold(PINNED, project="q")
    assert (await project.judge(REWORDED)).accept
    project.returned(there)
    verdict = await project.judge(REWORDED)
    assert (verdict.accept, verdict.rule, verdict.duplicate_of) == (False, "self-feedback", None)
    assert "project q" in verdict.reason
    assert there[:12] in verdict.reason
    assert (await project.judge(OTHER)).accept


async def test_a_returned_lesson_that_is_known_here_is_an_ordinary_duplicate(project):
    """Within the project it is a duplicate, whatever was returned."""
    here, there = await project.hold(PINNED), await project.hold(PINNED, project="q")
    project.returned(there)
    assert (await project.judge(REWORDED)).duplicate_of == here


@pytest.mark.parametrize("rule", ["duplicate", "superseded", "self-feedback", "no-evidence", "trivial"])
async def test_a_person_can_overrule(project, rule):
    """The verdict is an acceptance that names the rule and tells both sides; the journal has both in full."""
    text, fields = REWORDED, {}
    match rule:
        case "duplicate":
            await project.hold(PINNED)
        case "superseded":
            await project.hold("Drop react.", supersedes=[await project.hold(PINNED)])
        case "self-feedback":
            project.returned(await project.hold(PINNED, project="q"))
        case "no-evidence":
            fields = {"evidence": []}
        case "trivial":
            text = "Fixed."
    objection = await project.judge(text, **fields)
    assert not objection.accept
    verdict = await project.judge(text, **fields, override=WHY)
    assert (verdict.accept, verdict.rule, verdict.duplicate_of) == (True, objection.rule, None)
    assert WHY in verdict.reason
    assert objection.reason in verdict.reason
    assert project.record()["override"] == WHY
    assert Verdict.model_validate(project.record()["overruled"]) == objection


@pytest.mark.parametrize("case", ["missing parent", "missing parent behind no evidence", "L2 without parents", "equal"])
async def test_what_nobody_can_overrule(project, case):
    """Parents that are not there, a synthesis of nothing and an equal text stay refused, also behind another rule."""
    match case:
        case "missing parent":
            verdict = await project.judge(REWORDED, parents=["e" * 64], override=WHY)
        case "missing parent behind no evidence":
            verdict = await project.judge("Fixed.", evidence=[], supersedes=["e" * 64], override=WHY)
        case "L2 without parents":
            verdict = await project.judge(REWORDED, level="L2", override=WHY)
        case "equal":
            await project.hold(PINNED)
            verdict = await project.judge(PINNED.upper(), override=WHY)
    assert (verdict.accept, WHY in verdict.reason) == (False, False)
    assert project.record()["override"] == WHY


async def test_an_old_text_is_the_same_node_whoever_wants_it(project):
    """A superseded text cannot come back, since it would be the node that was superseded."""
    await project.hold("Drop react.", supersedes=[await project.hold(PINNED)])
    assert not (await project.judge(PINNED, override=WHY)).accept


async def test_where_no_rule_objects_nothing_is_overruled(project):
    """A candidate that passes is recorded like any other."""
    verdict = await project.judge(PINNED, override=WHY)
    assert (verdict.accept, verdict.rule) == (True, None)
    assert "overruled" not in project.record()


async def test_the_reason_is_redacted(project):
    """No secret that a person writes reaches the journal."""
    await project.hold(PINNED)
    await project.judge(REWORDED, override=f"The token {SECRET} was for the other file.")
    assert SECRET not in str([record.data for record in project.state.records])


async def test_the_verdict_is_read_back(project):
    """Later steps read what the gate said, and say so where it has not spoken."""
    verdict = await project.judge(PINNED)
    assert await load_verdict(project.journal, AcceptStep(project="p", request_id="1")) == verdict
    with pytest.raises(NotFound):
        await load_verdict(project.journal, AcceptStep(project="p", request_id="2"))
