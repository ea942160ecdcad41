"""Fills a database with many memories: clustered vectors around real ones, by COPY, then the indexes.

Nothing of it is in the journal: what is measured is reading.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector
from psycopg import sql as compose
from psycopg.types.json import Jsonb

from mem.clients.minilm import MiniLmEmbedder
from mem.domain.canonical import sha256_hex
from mem.domain.nodes import Level, Node, Visibility
from mem.domain.signatures import ALGO
from mem.parsing.likeness import rules_sha
from mem.parsing.terms import rules_sha as terms_sha
from mem.parsing.terms import terms
from mem.store import vector_index
from mem.store.pool import Connection, Pool, on_connection
from mem.writing.entries import plain_sha
from mem.writing.snapshot import LINE_BY, headline

SIZES = {"hundred": 100, "thousand": 1_000, "three-thousand": 3_000, "twenty-thousand": 20_000}
"""Projects of their own, whose searches are measured."""
OTHERS = 200
REFERENCE = 0.1
"""Chunks of reference to a lesson, which come on top of the lessons."""
CHUNKS = 20
"""Chunks of reference to a document."""
SYMPTOMS = 0.65
"""The part of the lessons that has a projection."""
SPREAD = 0.9
"""Length of the noise added to the unit vector that a cluster is around."""
BATCH = 5_000
SAID = 8
"""Words of a lesson that are those of real ones, as frequent as words are: the second half as often as the first."""

_KINDS: tuple[Visibility, ...] = (*("global", "user") * 9, "container", "container")
_THREADS = 7
_TOOLS = ("pytest", "docker", "npm", "pip", "git", "cargo", "terraform", "kubectl", "make", "ruff")
SIGNATURES = 2_000
"""Signatures of failures, one for every third lesson of a user, and the first tools far more often than the last."""
PARENTS = 3
"""Lessons of the same user that a synthesis is of."""

_VERBS = ("refuses", "drops", "retries", "loses", "truncates", "blocks", "reloads", "caches", "rejects", "doubles")
_NOUNS = (
    "connection", "certificate", "lockfile", "checkpoint", "migration", "container", "socket", "bucket", "token",
    "runner", "manifest", "replica", "partition", "schema", "header", "volume", "cursor", "session",
    "artifact", "quota",
)  # fmt: skip
_PLACES = ("staging", "the nightly build", "the release job", "production", "the canary", "the mirror", "the sandbox")


class _Words(random.Random):
    """Chances that are the same in each run, and a vocabulary of which few words are frequent and many are rare."""

    def __init__(self, seeds: Sequence[str]) -> None:
        super().__init__(7)
        self._vocabulary = sorted({word for seed in seeds for word in seed.split()})
        self.shuffle(self._vocabulary)
        self._weights = list(accumulate(1 / rank for rank in range(1, len(self._vocabulary) + 1)))

    def said(self) -> str:
        """Some of the vocabulary."""
        return " ".join(self.choices(self._vocabulary, cum_weights=self._weights, k=SAID))


class Filled(NamedTuple):
    """What a database was filled with: the vectors by kind, each with the sha and project of its row."""

    shas: list[str]
    projects: list[str]
    vectors: NDArray[np.float32]


async def fill(pool: Pool, embedder: MiniLmEmbedder, seeds: Sequence[str], lessons: int, users: int = 0) -> None:
    """Add so many lessons, a tenth as many chunks of reference, and their vectors, around those of `seeds`.

    With `users` each lesson belongs to one of so many: near a half of them is private, a tenth is of a container, a
    third carries a signature, and a tenth is a synthesis of others of the same user.
    """
    centres = np.asarray(await embedder.embed(seeds), dtype=np.float32)
    chance = np.random.default_rng(7)
    words = _Words(seeds)

    async def work(connection: Connection) -> None:
        dropped = await _drop_indexes(connection)
        if users:
            await _copy_signatures(connection)
        for begin in range(0, lessons, BATCH):
            numbers = range(begin, min(begin + BATCH, lessons))
            made = [_owned(_lesson(words, number, lessons), number, users) for number in numbers]
            await _copy_nodes(connection, made)
            await _copy_lines(connection, made, begin)
            if users:
                await _copy_ties(connection, made, begin, users)
            await _copy_entries(connection, made)
            await _copy_vectors(connection, "text", made, centres, chance)
            shown = [node for node in made if words.random() < SYMPTOMS]
            await _copy_projections(connection, shown)
            await _copy_vectors(connection, "symptom", shown, centres, chance)
        chunks = [_chunk(words, number) for number in range(int(lessons * REFERENCE))]
        await _copy_nodes(connection, chunks)
        await _copy_entries(connection, chunks)
        await _copy_vectors(connection, "text", chunks, centres, chance)
        await connection.execute("SET maintenance_work_mem = '1GB'")
        for statement in dropped:
            await connection.execute(statement.encode())
        await _count_words(connection)
        for hnsw in vector_index.INDEXES:
            await vector_index.build(connection, hnsw)
        await connection.execute("RESET maintenance_work_mem")
        await connection.execute("ANALYZE")

    await on_connection(pool, work)


async def stored_vectors(pool: Pool, kind: str, project: str | None) -> Filled:
    """The live vectors of lessons of one kind, as they are stored."""

    async def work(connection: Connection) -> Filled:
        cursor = await connection.execute(
            "SELECT node_sha, project, embedding::vector::real[] FROM memory_vector"
            " WHERE kind = %s AND level IN ('L1', 'L2') AND (%s::text IS NULL OR project = %s)",
            (kind, project, project),
        )
        rows = await cursor.fetchall()
        vectors = np.asarray([row[2] for row in rows], dtype=np.float32)
        return Filled([row[0] for row in rows], [row[1] for row in rows], vectors)

    return await on_connection(pool, work)


def _lesson(words: _Words, number: int, lessons: int) -> Node:
    level: Level = "L1" if number % 10 else "L2"
    return Node(level=level, project=_project(words, number, lessons), text=_text(words, number))


def _owned(lesson: Node, number: int, users: int) -> Node:
    """A lesson as one of its user, whose lessons take turns in who may read them."""
    if not users:
        return lesson
    kind: Visibility = _KINDS[number // users % len(_KINDS)]
    container = f"thread-{number // users % _THREADS}" if kind == "container" else None
    level: Level = "L1" if number // users % 10 else "L2"
    owned = {"owner": f"user-{number % users}", "visibility": kind, "container": container, "level": level}
    return lesson.model_copy(update=owned)


def _chunk(words: _Words, number: int) -> Node:
    text = "\n".join(_text(words, number) for _ in range(4))
    return Node(level="R", project="*", text=text, source=f"handbook-{number // CHUNKS}.md#{number}")


def _project(words: random.Random, number: int, lessons: int) -> str:
    """The first lessons belong to the measured projects, as far as these leave half of them to others."""
    for name, size in SIZES.items():
        if number < size <= lessons // 2:
            return name
        number -= size
    return f"project-{int(OTHERS * words.random() ** 2)}"


def _text(words: _Words, number: int) -> str:
    noun, verb, place = words.choice(_NOUNS), words.choice(_VERBS), words.choice(_PLACES)
    return (
        f"Where the {noun} of {place} {verb} the {words.choice(_NOUNS)} after {words.choice(_NOUNS)} {number}, the"
        f" {words.choice(_NOUNS)} is pinned and the {words.choice(_NOUNS)} is rotated first:"
        f" {words.said()}."
    )


async def _copy_nodes(connection: Connection, made: Sequence[Node]) -> None:
    # Without bands, which only the search for duplicates needs; the name of the rules keeps them from being made later.
    derived = {"bands": [], "bands_by": rules_sha()}
    rows = [{**node.model_dump(), "sha": node.sha, "plain_sha": plain_sha(node.text), **derived} for node in made]
    columns = list(rows[0])
    statement = compose.SQL("COPY memory_node ({}) FROM STDIN").format(
        compose.SQL(", ").join(compose.Identifier(column) for column in columns)
    )
    async with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            await copy.write_row([row[column] for column in columns])


async def _copy_entries(connection: Connection, made: Sequence[Node]) -> None:
    columns = "node_sha, project, level, visibility, owner, container, source, length, times, terms_by"
    async with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY lexical_entry ({columns}) FROM STDIN".encode()) as copy,
    ):
        for node in made:
            found = terms(node.text)
            source = None if node.source is None else node.source.partition("#")[0]
            row: list[Any] = [node.sha, node.project, node.level, node.visibility, node.owner, node.container, source]
            await copy.write_row([*row, found.length, Jsonb(found.times), terms_sha()])


async def _copy_lines(connection: Connection, made: Sequence[Node], begin: int) -> None:
    columns = "node_sha, owner, project, visibility, container, seq, line, line_by"
    async with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY user_snapshot ({columns}) FROM STDIN".encode()) as copy,
    ):
        for number, node in enumerate(made, begin):
            if node.owner is not None:
                row = [node.sha, node.owner, node.project, node.visibility, node.container, number]
                await copy.write_row([*row, headline(node.text), LINE_BY])


async def _copy_signatures(connection: Connection) -> None:
    columns = "sig_sha, sig_coarse, algo, tool, rule, message, excerpt"
    async with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY failure_signature ({columns}) FROM STDIN".encode()) as copy,
    ):
        for number in range(SIGNATURES):
            tool = _TOOLS[int(len(_TOOLS) * (number / SIGNATURES) ** 2)]
            await copy.write_row([_signature(number), _signature(number), ALGO, tool, "bench", f"failure {number}", ""])


async def _copy_ties(connection: Connection, made: Sequence[Node], begin: int, users: int) -> None:
    statement = "COPY signature_link (sig_sha, node_sha) FROM STDIN"
    async with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for number, node in enumerate(made, begin):
            if number % 3 == 0:
                await copy.write_row([_signature(number // 3 % SIGNATURES), node.sha])
    statement = "COPY memory_edge (child_sha, parent_sha) FROM STDIN"
    async with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for place, node in enumerate(made):
            parents = made[place + users :: users][:PARENTS] if node.level == "L2" else []
            for parent in parents:
                await copy.write_row([node.sha, parent.sha])


def _signature(number: int) -> str:
    return sha256_hex(f"bench {number}")


async def _count_words(connection: Connection) -> None:
    await connection.execute(
        "INSERT INTO lexical_frequency SELECT term, level_group(level), project, count(*)"
        " FROM lexical_entry, jsonb_object_keys(times) AS term WHERE visibility = 'global' GROUP BY 1, 2, 3"
    )
    await connection.execute(
        "INSERT INTO lexical_total SELECT level_group(level), project, coalesce(source, ''), count(*), sum(length)"
        " FROM lexical_entry WHERE visibility = 'global' GROUP BY 1, 2, 3"
    )


async def _copy_projections(connection: Connection, made: Sequence[Node]) -> None:
    statement = "COPY symptom_projection (node_sha, text, model_id, prompt_sha) FROM STDIN"
    async with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for node in made:
            await copy.write_row([node.sha, f"error: {node.text[:80]}", "bench", "bench"])


async def _copy_vectors(
    connection: Connection, kind: str, made: Sequence[Node], centres: NDArray[np.float32], chance: np.random.Generator
) -> None:
    statement = (
        "COPY memory_vector (node_sha, kind, project, level, visibility, owner, container, live, embedding) FROM STDIN"
    )
    noise = chance.standard_normal((len(made), centres.shape[1])).astype(np.float32)
    noise *= SPREAD / np.linalg.norm(noise, axis=1, keepdims=True)
    near = centres[chance.integers(0, len(centres), len(made))] + noise
    near /= np.linalg.norm(near, axis=1, keepdims=True)
    async with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for node, vector in zip(made, near, strict=True):
            row: list[Any] = [node.sha, kind, node.project, node.level, node.visibility, node.owner, node.container]
            await copy.write_row([*row, True, HalfVector(vector)])


async def _drop_indexes(connection: Connection) -> list[str]:
    """Drop what is quicker built at once; how each is made again."""
    cursor = await connection.execute(
        "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'mem' AND indexname IN"
        " ('memory_node_trigrams', 'memory_node_bands', 'memory_vector_scope', 'lexical_entry_lesson',"
        " 'lexical_entry_evidence', 'lexical_entry_reference')"
    )
    rows = await cursor.fetchall()
    for name in [*(name for name, _ in rows), *(hnsw.name for hnsw in vector_index.INDEXES)]:
        await connection.execute(compose.SQL("DROP INDEX {}").format(compose.Identifier(name)))
    return [definition for _, definition in rows]
