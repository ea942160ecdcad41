"""RebuildProjections that asks the projector again, on a real server, worker and database."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from temporalio.client import WorkflowHandle

from mem.domain.accepting import MadeProjection, SymptomLine
from mem.domain.errors import ControllerRefused, Unavailable
from mem.domain.regenerating import RegenerateReport
from mem.ports import EvidenceText, ProjectorKey
from tests.temporal_server import Rig, eventually, runs_of
from tests.workflows.material import LESSON, candidate
from tests.workflows.ports import LostAcknowledgement, Wrapped

NAMES = ("one", "two", "three")


class Lost(LostAcknowledgement):
    hangs = False


class OtherProjector:
    """Another model: it has new words for one memory, none for another, and refuses the third."""

    def __init__(self, *, fails: int = 0) -> None:
        self.asked: list[str] = []
        self._fails = fails

    def key(self) -> ProjectorKey:
        return ProjectorKey("other-model", "other-prompt")

    async def project(self, text: str, evidence: Sequence[EvidenceText]) -> MadeProjection:
        name = text.rsplit(maxsplit=1)[-1]
        self.asked.append(name)
        if self._fails:
            self._fails -= 1
            raise Unavailable("The model is busy.", "Ask again.")
        if name == "three":
            raise ControllerRefused("It says no.", "Ask another one.")
        # Another answer each time, as of a model that is not deterministic.
        words = [f"it breaks anew {len(self.asked)}"] if name == "one" else []
        lines = [SymptomLine(text=text, origin="model") for text in words]
        return MadeProjection.of(lines, **self.key()._asdict())


@pytest.fixture
async def filled(rig: Rig) -> Rig:
    """A rig whose database has three memories, and one that the first of them superseded."""
    async with rig.working():
        old = await rig.memory.accept(candidate(rig, "zero", text=f"{LESSON} zero"))
        await rig.memory.accept(candidate(rig, "one", text=f"{LESSON} one", supersedes=[old.answer.sha]))
        for name in NAMES[1:]:
            await rig.memory.accept(candidate(rig, name, text=f"{LESSON} {name}"))
    return rig


async def start(rig: Rig, **fields) -> WorkflowHandle:
    """A regeneration that is started without the client, in one project's name, since tests share the server."""
    return await rig.temporal.start_workflow(
        "RebuildProjections", {"task": "regenerate", **fields}, id=f"regenerate:{rig.project}",
        task_queue=rig.task_queue, result_type=RegenerateReport,
    )  # fmt: skip


async def regenerated(rig: Rig, **fields) -> RegenerateReport:
    return await (await start(rig, **fields)).result()


async def texts(rig: Rig) -> dict[str, str]:
    """The projections of the live memories, by their last word."""
    memories = rig.ports.memories
    nodes = await memories.nodes(await memories.lessons("", 99))
    return {
        node.text.rsplit(maxsplit=1)[-1]: (await memories.projection(sha)).text
        for sha, node in nodes.items()
        if node.superseded_by is None
    }


async def test_proposals_change_nothing(filled):
    """Each live memory is asked about once; what came is kept beside, and journal and projections stay."""
    rig, projector = filled, OtherProjector()
    before, records = await texts(rig), await rig.journal()
    async with rig.working(projector=projector), asyncio.timeout(60):
        report = await regenerated(rig)
    assert sorted(projector.asked) == sorted(NAMES)
    assert report == RegenerateReport(
        model_id="other-model", prompt_sha="other-prompt", memories=3, different=2, refused=1
    )
    assert (await texts(rig), await rig.journal()) == (before, records)
    proposals = await rig.ports.proposals.page("", 99)
    assert [one.refused for one in proposals if one.proposed is None] == ["It says no. Ask another one."]
    assert {one.recorded.model_id for one in proposals} == {rig.ports.projector.key().model_id}


async def test_what_was_shown_is_what_is_applied(filled):
    """To apply asks no model for what was proposed before, though it would answer otherwise now."""
    rig, projector = filled, OtherProjector()
    before = await texts(rig)
    async with rig.working(projector=projector), asyncio.timeout(60):
        await regenerated(rig)
        (shown,) = [
            one.proposed.text for one in await rig.ports.proposals.page("", 99) if one.proposed and one.proposed.text
        ]
        asked = len(projector.asked)
        report = await regenerated(rig, apply=True)
        assert (report.applied, len(projector.asked)) == (2, asked)
        assert await texts(rig) == {**before, "one": shown, "two": ""}
        again = await regenerated(rig, apply=True)
        assert len(projector.asked) > asked
        assert (again.memories, again.same) == (3, 1)
        replayed = await rig.memory.replay(check=True)
        assert replayed.same


async def test_lost_steps_ask_and_record_once(filled):
    """A model that was busy and answers that were lost leave one proposal and one record for each memory."""
    rig, projector = filled, OtherProjector(fails=1)
    put, apply = (Lost(getattr(rig.ports.proposals, name), times=1) for name in ("put", "apply"))
    proposals = Wrapped(rig.ports.proposals, put=put, apply=apply)
    async with rig.working(projector=projector, proposals=proposals), asyncio.timeout(60):
        report = await regenerated(rig, apply=True)
    assert (report.memories, report.applied, put.failed, apply.failed) == (3, 2, 1, 1)
    assert len(projector.asked) == 3 + 1
    assert len([one for one in await rig.journal("projection") if "revision" in one.data]) == 2


async def test_a_long_regeneration_goes_on_as_a_new_run(filled):
    """Batches and runs that end anywhere leave no memory out and ask about none twice."""
    rig, projector = filled, OtherProjector()
    async with rig.working(projector=projector), asyncio.timeout(60):
        handle = await start(rig, page=1, batches=2, apply=True)
        report = await handle.result()
        assert (report.memories, report.applied, len(projector.asked)) == (3, 2, 3)

        async def several() -> bool:
            return await runs_of(rig.temporal, handle.id) > 3

        await eventually(several)
