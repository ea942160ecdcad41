"""The fake skills."""

from __future__ import annotations

from mem.domain.canonical import sha256_hex
from mem.domain.ids import SHARED
from mem.ports import Embedder, ListedSkill, Reach, Skill, Vector
from mem.testing.embeddings import remember
from mem.testing.state import FakeState, HeldSkill, within
from mem.writing import entries
from mem.writing.skills import no_skill


class FakeSkills:
    """The skills port."""

    def __init__(self, state: FakeState) -> None:
        self._state = state

    async def put(self, skill: Skill, embedder: Embedder) -> bool:
        """Add or replace a skill; whether anything changed."""
        state, key = self._state, (skill.project, skill.name)
        async with state.lock:
            held = state.skills.get(key)
            if held is not None and held[:1] + held[2:3] + held[4:] == (skill, embedder.model_id, False):
                return False
            text = entries.skill_text(skill)
            await remember(state, embedder, [text])
            revision = held.revision + 1 if held else 1
            vector = state.embeddings[embedder.model_id, sha256_hex(text)]
            state.skills[key] = HeldSkill(skill, revision, embedder.model_id, vector)
            state.append(entries.skill(skill, revision, embedder.model_id))
            return True

    async def remove(self, project: str, name: str) -> bool:
        """Take a skill out of all that finds it; False where that was done before."""
        state = self._state
        async with state.lock:
            held = state.skills.get((project, name))
            if held is None:
                raise no_skill(project, name)
            if held.removed:
                return False
            state.skills[project, name] = held._replace(removed=True, revision=held.revision + 1)
            state.append(entries.skill_removed(project, name, held.revision + 1))
            return True

    async def listed(self, project: str | None) -> list[ListedSkill]:
        """The skills that a project sees, shared ones first, by name; without one all of all projects."""
        return [
            ListedSkill(held.skill, held.revision)
            for (owner, _), held in sorted(self._state.skills.items())
            if not held.removed and (project is None or owner in {project, SHARED})
        ]

    async def nearest(self, vector: Vector, reach: Reach, limit: int) -> list[tuple[Skill, float]]:
        """The skills nearest by cosine, best first, ties by name."""
        found = [
            (held.skill, sum(one * other for one, other in zip(vector, held.vector, strict=True)))
            for held in self._state.skills.values()
            if len(held.vector) == len(vector) and not held.removed and within(held.skill.project, reach)
        ]
        return sorted(found, key=lambda pair: (-pair[1], pair[0].name, pair[0].project))[:limit]
