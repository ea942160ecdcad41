"""Conversations stored in a database of their own, each as a project, and questions put to them as production does."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import numpy as np

from bench.database import running_postgres
from bench.talk_data import Talk, Turn
from mem.addresses import Addresses, find_addresses
from mem.domain.nodes import Node
from mem.domain.query import MAX_QUESTION_CHARACTERS, QueryAnswer, QueryInput
from mem.parsing.redact import redact
from mem.parsing.sanitize import strip_unsafe
from mem.ports import AppendPlan, Embedder, Reach
from mem.recall.query_memories import QueryMemories
from mem.settings import Settings
from mem.wiring import Ports, migrate_database, open_ports

K = 50
ATTEMPTS = 5
PAUSE_SECONDS = 1.0
"""A question is put again where a leg failed, which is the machine's fault and not that of the search."""


class Kept:
    """An embedder that keeps its vectors in a file, so that another run needs not make them again."""

    def __init__(self, embedder: Embedder, file: Path | None) -> None:
        self._embedder, self._file = embedder, file
        self.model_id, self.dimensions = embedder.model_id, embedder.dimensions
        self._known: dict[str, list[float]] = {}
        if file is not None and file.exists():
            with np.load(file) as saved:
                if str(saved["model"]) == self.model_id:
                    self._known = dict(zip(map(str, saved["texts"]), saved["vectors"].tolist(), strict=True))

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector for each text."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known |= dict(zip(new, await self._embedder.embed(new), strict=True))
        return [self._known[text] for text in texts]

    def save(self) -> None:
        """Write the file, if there is to be one."""
        if self._file is not None:
            texts, vectors = list(self._known), np.asarray(list(self._known.values()), dtype=np.float32)
            np.savez(self._file, model=self.model_id, texts=np.asarray(texts), vectors=vectors)


@dataclass
class Stored:
    """The stored conversations: what to ask with, and the turn ids by project and sha."""

    ports: Ports
    embedder: Kept
    ids: dict[str, dict[str, str]] = field(default_factory=dict)
    asked: int = 0
    degraded: int = 0
    milliseconds: list[float] = field(default_factory=list)

    async def ask(self, project: str, question: str, query: QueryMemories | None = None) -> list[str]:
        """The ids of the turns that a query finds, best first."""
        if not question:
            return []
        answer = await self._answer(project, question[:MAX_QUESTION_CHARACTERS], query or self.ports.query)
        return [self.ids[project][hit.sha] for hit in answer.hits if hit.sha in self.ids[project]]

    async def nearest(self, project: str, question: str) -> list[str]:
        """The ids of the turns whose vectors are nearest."""
        (vector,) = await self.embedder.embed([question])
        hits = await self.ports.memories.nearest("text", ["L0"], vector, Reach(project, federated=False), K)
        return [self.ids[project][hit.sha] for hit in hits]

    async def _answer(self, project: str, question: str, query: QueryMemories) -> QueryAnswer:
        for attempt in range(ATTEMPTS):
            self.asked += 1
            request = QueryInput(request_id=f"ask-{self.asked}", project=project, question=question, levels=["L0"], k=K)
            began = time.perf_counter()
            answer = QueryAnswer.model_validate_json((await query(request)).body)
            took = (time.perf_counter() - began) * 1000
            if not answer.degraded or attempt == ATTEMPTS - 1:
                break
            await asyncio.sleep(PAUSE_SECONDS)
        self.milliseconds.append(took)
        self.degraded += bool(answer.degraded)
        return answer


def project_of(number: int) -> str:
    """The project of a conversation: names of conversations may be no names of projects."""
    return f"talk-{number}"


@asynccontextmanager
async def stored(talks: Sequence[Talk], vectors: Path | None = None) -> AsyncIterator[Stored]:
    """The conversations in a Postgres of their own, with their vectors."""
    async with running_postgres() as url:
        settings = Settings(database_url=url, embedding_model=None, chat_model=None, rerank_url=None, rerank_path=None)
        found: Addresses = find_addresses(settings)
        await migrate_database(found, settings)
        async with open_ports(found, settings) as ports:
            store = Stored(ports, Kept(ports.embedder, vectors))
            for number, talk in enumerate(talks):
                began = time.monotonic()
                store.ids[project_of(number)] = {}
                for session, turns in groupby(sorted(talk.turns, key=_order(talk)), key=lambda turn: turn.session):
                    await _add(store, number, session, list(turns))
                tell_progress(f"stored {len(talk.turns)} turns of {talk.name!r} in {time.monotonic() - began:.0f} s")
            store.embedder.save()
            yield store


def tell_progress(done: str) -> None:
    """A line for whoever waits."""
    sys.stderr.write(f"{done}\n")
    sys.stderr.flush()


def _order(talk: Talk) -> Callable[[Turn], tuple[int, int]]:
    """Sessions as they come, each turn at its place."""
    sessions = {session: place for place, session in enumerate(dict.fromkeys(turn.session for turn in talk.turns))}
    return lambda turn: (sessions[turn.session], turn.place)


async def _add(store: Stored, number: int, session: str, turns: Sequence[Turn]) -> None:
    """Store a session as the evidence of one memory, which is how evidence comes in, with the vectors of its turns."""
    project, source = project_of(number), session or "talk"
    texts = await asyncio.to_thread(lambda: [redact(strip_unsafe(turn.text).text).text for turn in turns])
    nodes = [
        Node(level="L0", project=project, text=text, source=source, turn=turn.place)
        for turn, text in zip(turns, texts, strict=True)
    ]
    memory = Node(level="L1", project=project, text=f"What was said in session {source}.")
    key = f"appended:accept:{project}:{source}"
    await store.ports.memories.append(AppendPlan(key, memory, tuple(nodes), (), (), overruled=True))
    await store.ports.memories.put_vectors("text", {node.sha: node.text for node in nodes}, store.embedder)
    store.ids[project] |= {node.sha: turn.id for node, turn in zip(nodes, turns, strict=True)}
