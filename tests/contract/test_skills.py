"""What every store of skills does."""

from __future__ import annotations

import asyncio

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
