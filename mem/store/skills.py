"""Skills and their vectors."""

from __future__ import annotations

from pgvector import HalfVector

from mem.domain.canonical import sha256_hex
from mem.ports import Clock, Embedder, ListedSkill, Reach, Skill, Vector
from mem.store import embeddings, journal
from mem.store.pool import Connection, Pool, in_transaction, on_connection
from mem.store.queries import sql
from mem.store.reaching import within
from mem.writing import entries
from mem.writing.skills import no_skill


class PostgresSkills:
    """The skills port."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def put(self, skill: Skill, embedder: Embedder) -> bool:
        """Add or replace a skill; whether anything changed."""
        text = entries.skill_text(skill)
        fresh = await embeddings.embed_missing(self._pool, embedder, [text])

        async def work(connection: Connection) -> bool:
            await journal.lock(connection, [f"skill:{skill.project}:{skill.name}"])
            revision = await _next_revision(connection, skill, embedder.model_id)
            if revision is None:
                return False
            recorded = await embeddings.record(connection, embedder, [sha256_hex(text)], fresh)
            vector = embeddings.halfvec(recorded.embeddings[sha256_hex(text)])
            row = {**skill._asdict(), "revision": revision, "model_id": embedder.model_id, "embedding": vector}
            await connection.execute(sql("skills.put"), row)
            entry = entries.skill(skill, revision, embedder.model_id)
            await journal.append(connection, [*recorded.entries, entry], self._clock.now())
            return True

        return await in_transaction(self._pool, work)

    async def remove(self, project: str, name: str) -> bool:
        """Take a skill out of all that finds it; False where that was done before.

        Raises:
            NotFound: there never was one of this name in this project.
        """
        key = {"project": project, "name": name}

        async def work(connection: Connection) -> bool:
            await journal.lock(connection, [f"skill:{project}:{name}"])
            row = await (await connection.execute(sql("skills.current"), key)).fetchone()
            if row is None:
                raise no_skill(project, name)
            *_, removed, revision = row
            if removed:
                return False
            await connection.execute(sql("skills.remove"), {**key, "revision": revision + 1})
            entry = entries.skill_removed(project, name, revision + 1)
            await journal.append(connection, [entry], self._clock.now())
            return True

        return await in_transaction(self._pool, work)

    async def listed(self, project: str | None) -> list[ListedSkill]:
        """The skills that a project sees, shared ones first, by name; without one all of all projects."""

        async def work(connection: Connection) -> list[ListedSkill]:
            rows = await (await connection.execute(sql("skills.listed"), {"project": project})).fetchall()
            return [ListedSkill(Skill(*fields), revision) for *fields, revision in rows]

        return await on_connection(self._pool, work)

    async def nearest(self, vector: Vector, reach: Reach, limit: int) -> list[tuple[Skill, float]]:
        """The skills nearest by cosine, best first, ties by name."""

        async def work(connection: Connection) -> list[tuple[Skill, float]]:
            query = HalfVector(list(vector))
            parameters = {"vector": query, "dimensions": query.dimensions(), "limit": limit, **within(reach)}
            rows = await (await connection.execute(sql("skills.nearest"), parameters)).fetchall()
            return [(Skill(*fields), similarity) for *fields, similarity in rows]

        return await on_connection(self._pool, work)


async def _next_revision(connection: Connection, skill: Skill, model_id: str) -> int | None:
    """The number of the revision that `skill` would be; None where it stands already."""
    key = {"project": skill.project, "name": skill.name}
    row = await (await connection.execute(sql("skills.current"), key)).fetchone()
    if row is None:
        return 1
    *current, revision = row
    return None if current == [skill.description, skill.body, model_id, False] else revision + 1
