"""The fake skills."""

from __future__ import annotations

from mem.domain.canonical import sha256_hex
from mem.ports import Embedder, Reach, Skill, Vector
from mem.testing.memories import remember
from mem.testing.state import FakeState, HeldSkill, within
from mem.writing import entries


class FakeSkills:
    """The skills port."""

    def __init__(self, state: FakeState) -> None:
        self._state = state

    async def put(self, skill: Skill, embedder: Embedder) -> bool:
        """Add or replace a skill; whether anything changed."""
        state, key = self._state, (skill.project, skill.name)
        async with state.lock:
            held = state.skills.get(key)
            if held is not None and (held.skill, held.model_id) == (skill, embedder.model_id):
                return False
            text = entries.skill_text(skill)
            await remember(state, embedder, [text])
            revision = held.revision + 1 if held else 1
            vector = state.embeddings[embedder.model_id, sha256_hex(text)]
            state.skills[key] = HeldSkill(skill, revision, embedder.model_id, vector)
            state.append(entries.skill(skill, revision, embedder.model_id))
            return True

    async def nearest(self, vector: Vector, reach: Reach, limit: int) -> list[tuple[Skill, float]]:
        """The skills nearest by cosine, best first, ties by name."""
        found = [
            (held.skill, sum(one * other for one, other in zip(vector, held.vector, strict=True)))
            for held in self._state.skills.values()
            if len(held.vector) == len(vector) and within(held.skill.project, reach)
        ]
        return sorted(found, key=lambda pair: (-pair[1], pair[0].name, pair[0].project))[:limit]
