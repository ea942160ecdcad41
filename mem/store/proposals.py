"""Projections made anew, kept apart until somebody wants them in the place of the recorded ones."""

from __future__ import annotations

from collections.abc import Sequence

from mem.domain.accepting import MadeProjection, Projection
from mem.domain.canonical import sha256_hex
from mem.domain.errors import NotFound
from mem.domain.regenerating import Proposal
from mem.ports import Clock, Embedder, ProjectorKey
from mem.store import embeddings, journal, projections, vectors
from mem.store.pool import Connection, Pool, in_transaction, on_connection
from mem.store.queries import sql
from mem.store.vector_index import check_active
from mem.writing import entries


class PostgresProposals:
    """The proposals port."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def begin(self, run: str, key: ProjectorKey, *, keep: bool) -> None:
        """Make room for the proposals of a run, or take over those of the last one."""

        async def work(connection: Connection) -> None:
            row = await (await connection.execute(sql("proposals.current"))).fetchone()
            if row is not None and row[0] == run:
                return
            if not keep or row is None or row[1:] != (*key, False):
                await connection.execute(sql("proposals.clear"))
            await connection.execute(sql("proposals.begin"), {"run": run, **key._asdict()})

        await in_transaction(self._pool, work)

    async def made(self, shas: Sequence[str]) -> set[str]:
        """Those of the nodes for which there is a proposal."""

        async def work(connection: Connection) -> set[str]:
            cursor = await connection.execute(sql("proposals.made"), {"shas": list(shas)})
            return {sha for (sha,) in await cursor.fetchall()}

        return await on_connection(self._pool, work)

    async def put(self, run: str, proposal: Proposal) -> None:
        """Keep a proposal; the first one for a node stands.

        Raises:
            NotFound: another run has begun.
        """

        async def work(connection: Connection) -> None:
            await _require(connection, run)
            await connection.execute(sql("proposals.insert"), _row(proposal))

        await in_transaction(self._pool, work)

    async def page(self, after: str, limit: int) -> list[Proposal]:
        """The next proposals behind a sha, in the order of their shas."""

        async def work(connection: Connection) -> list[Proposal]:
            cursor = await connection.execute(sql("proposals.page"), {"after": after, "limit": limit})
            return [_proposal(*row) for row in await cursor.fetchall()]

        return await on_connection(self._pool, work)

    async def apply(self, run: str, sha: str, embedder: Embedder) -> bool:
        """Journal a proposal as the projection of its node and replace text and vector.

        Raises:
            NotFound: another run has begun, or there is no such proposal.
        """
        proposal = await on_connection(self._pool, lambda connection: _find(connection, sha))
        made = proposal.proposed
        if made is None:
            return False
        texts = [made.text] if made.text else []
        fresh = await embeddings.embed_missing(self._pool, embedder, texts)

        async def work(connection: Connection) -> bool:
            await journal.lock(connection, [entries.regenerated_prefix(sha)])
            await _require(connection, run)
            if await projections.of_node(connection, sha) == Projection.model_validate(made.model_dump()):
                return False
            await check_active(connection, embedder.model_id, embedder.dimensions)
            await connection.execute(sql("nodes.lock_for_change"), {"shas": [sha]})
            recorded = await embeddings.record(connection, embedder, [sha256_hex(text) for text in texts], fresh)
            await projections.replace(connection, sha, made)
            if made.text:
                await vectors.insert(connection, "symptom", {(sha, 0): recorded.embeddings[sha256_hex(made.text)]})
            revision = await journal.count(connection, entries.regenerated_prefix(sha)) + 1
            entry = entries.regenerated(sha, revision, made)
            await journal.append(connection, [*recorded.entries, entry], self._clock.now())
            return True

        return await in_transaction(self._pool, work)

    async def close(self, run: str) -> None:
        """Note that all was applied."""

        async def work(connection: Connection) -> None:
            await connection.execute(sql("proposals.applied"), {"run": run})

        await on_connection(self._pool, work)


async def _require(connection: Connection, run: str) -> None:
    row = await (await connection.execute(sql("proposals.current"))).fetchone()
    if row is None or row[0] != run:
        raise NotFound("Another regeneration has begun.", "Wait for it, and look at what it proposes.")


async def _find(connection: Connection, sha: str) -> Proposal:
    row = await (await connection.execute(sql("proposals.find"), {"sha": sha})).fetchone()
    if row is None:
        raise NotFound(f"Nothing is proposed for {sha}.", "Run `mem rebuild --regenerate`.")
    return _proposal(sha, *row)


def _proposal(sha: str, recorded: str | None, proposed: str | None, refused: str | None) -> Proposal:
    return Proposal(
        sha=sha,
        recorded=None if recorded is None else Projection.model_validate_json(recorded),
        proposed=None if proposed is None else MadeProjection.model_validate_json(proposed),
        refused=refused,
    )


def _row(proposal: Proposal) -> dict[str, str | None]:
    return {
        "sha": proposal.sha,
        "recorded": None if proposal.recorded is None else proposal.recorded.model_dump_json(),
        "proposed": None if proposal.proposed is None else proposal.proposed.model_dump_json(),
        "refused": proposal.refused,
    }
