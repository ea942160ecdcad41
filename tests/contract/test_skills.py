"""What every store of skills does."""

from __future__ import annotations

import asyncio

import pytest

from mem.domain.errors import NotFound
from mem.ports import Reach, Skill

HERE = Reach("p", federated=False)


def _skill(name: str = "ci-triage", about: str = "triage a failing pipeline", project: str = "*") -> Skill:
    return Skill(name, about, "Steps.", project)


async def test_put_says_whether_anything_changed(parts):
    """Adding and replacing change something; putting the same again does not."""
    assert await parts.skills.put(_skill(), parts.embedder)
    assert not await parts.skills.put(_skill(), parts.embedder)
    assert await parts.skills.put(_skill(about="other"), parts.embedder)
    assert await parts.skills.put(_skill(), parts.embedder)
    keys = [record.key async for record in parts.journal.read() if record.kind == "skill"]
    assert keys == [f"skill:*:ci-triage:{revision}" for revision in (1, 2, 3)]


async def test_put_at_once(parts):
    """Of ten concurrent equal puts one changes something."""
    changed = await asyncio.gather(*(parts.skills.put(_skill(), parts.embedder) for _ in range(10)))
    assert sorted(changed) == [False] * 9 + [True]


async def test_nearest(parts):
    """Skills come nearest first, ties by name, within reach."""
    for skill in _skill("b"), _skill("a"), _skill("c", project="q"), _skill("far", "paint walls", "p"):
        await parts.skills.put(skill, parts.embedder)
    query = parts.embedder.vector("triage a failing pipeline")
    near = await parts.skills.nearest(query, HERE, 9)
    assert [skill.name for skill, _ in near][-1] == "far"
    assert {skill.name for skill, _ in near} == {"a", "b", "far"}
    assert len(await parts.skills.nearest(query, Reach("p", federated=True), 9)) == 4
    assert len(await parts.skills.nearest(query, HERE, 1)) == 1
    assert await parts.skills.nearest([1.0, 0.0], HERE, 9) == []


async def _listed(parts, project: str | None = None) -> list[tuple[str, str, int]]:
    return [(one.skill.project, one.skill.name, one.revision) for one in await parts.skills.listed(project)]


async def test_listed(parts):
    """Shared skills come first, then by project and name, each as it stands; a project sees its own and the shared."""
    assert await parts.skills.listed(None) == []
    for skill in _skill("b", project="q"), _skill("a", project="q"), _skill("z"), _skill("a", project="-p"):
        await parts.skills.put(skill, parts.embedder)
    await parts.skills.put(_skill("a", about="other", project="q"), parts.embedder)
    assert await _listed(parts) == [("*", "z", 1), ("-p", "a", 1), ("q", "a", 2), ("q", "b", 1)]
    assert await _listed(parts, "q") == [("*", "z", 1), ("q", "a", 2), ("q", "b", 1)]
    assert await _listed(parts, "r") == [("*", "z", 1)]
    assert (await parts.skills.listed("q"))[1].skill == _skill("a", about="other", project="q")


async def test_a_removed_skill_is_found_by_nothing(parts):
    """The same name of another project stays; removing it again changes nothing and records nothing."""
    for project in ("*", "p"):
        await parts.skills.put(_skill(project=project), parts.embedder)
    assert await parts.skills.remove("p", "ci-triage")
    query = parts.embedder.vector("triage a failing pipeline")
    assert [skill.project for skill, _ in await parts.skills.nearest(query, HERE, 9)] == ["*"]
    assert await _listed(parts) == [("*", "ci-triage", 1)]
    before = await parts.bodies()
    assert not await parts.skills.remove("p", "ci-triage")
    assert await parts.bodies() == before


async def test_a_removed_skill_comes_back_by_its_next_revision(parts):
    """The very same one too, however often; each step has a record of its own."""
    for _ in range(2):
        assert await parts.skills.put(_skill(), parts.embedder)
        assert not await parts.skills.put(_skill(), parts.embedder)
        assert await parts.skills.remove("*", "ci-triage")
    assert await parts.skills.put(_skill(about="other"), parts.embedder)
    assert await _listed(parts) == [("*", "ci-triage", 5)]
    records = [record async for record in parts.journal.read() if record.kind == "skill"]
    assert [record.key for record in records] == [f"skill:*:ci-triage:{revision}" for revision in range(1, 6)]
    assert [record.data.get("removed", False) for record in records] == [False, True, False, True, False]
    assert records[1].data == {"project": "*", "name": "ci-triage", "revision": 2, "removed": True}


async def test_what_never_was_cannot_be_removed(parts):
    """Neither a name that nobody used nor one of another project; nothing is recorded."""
    await parts.skills.put(_skill(project="p"), parts.embedder)
    before = await parts.bodies()
    for project, name in (("*", "ci-triage"), ("p", "other")):
        with pytest.raises(NotFound, match=name):
            await parts.skills.remove(project, name)
    assert await parts.bodies() == before


async def test_removed_at_once(parts):
    """Of ten concurrent removals one changes something."""
    await parts.skills.put(_skill(), parts.embedder)
    changed = await asyncio.gather(*(parts.skills.remove("*", "ci-triage") for _ in range(10)))
    assert sorted(changed) == [False] * 9 + [True]


async def test_put_and_removed_at_once(parts):
    """However they meet, the revisions have no gap, and the last one says what is there."""
    await parts.skills.put(_skill(), parts.embedder)
    puts = [parts.skills.put(_skill(about=f"about {number}"), parts.embedder) for number in range(5)]
    await asyncio.gather(*puts, *(parts.skills.remove("*", "ci-triage") for _ in range(5)))
    records = [record async for record in parts.journal.read() if record.kind == "skill"]
    assert [record.data["revision"] for record in records] == list(range(1, len(records) + 1))
    last = records[-1].data
    assert await _listed(parts) == ([] if last.get("removed") else [("*", "ci-triage", last["revision"])])
