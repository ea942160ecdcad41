"""The messages of tests/fixtures/messages, and the candidates for each: one for every memory of the user.

Memories are projected as an acceptance projects them, words are weighed as the store weighs them, vectors are those of
the embedded model.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from mem.domain.accepting import MadeProjection
from mem.domain.nodes import Node, StoredNode
from mem.parsing.terms import asked_terms
from mem.ports import AppendPlan, Candidate, Embedder, EvidenceText, Reach, RerankQuery
from mem.recall.query import TASK_CHARACTERS, read_failure
from mem.testing.memories import FakeMemories
from mem.testing.state import FakeState
from mem.writing.projector import ExtractiveProjector

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "fixtures" / "messages"
MOST = 1000


class Memory(NamedTuple):
    """What a user remembers; `scope` is its visibility, with the container where it has one."""

    id: str
    scope: str
    project: str
    text: str


class Message(NamedTuple):
    """A user's next turn, and the memories that help with it."""

    kind: str
    helped_by: frozenset[str]
    text: str


class User(NamedTuple):
    """All of a user; `evidence` is what a memory was learned from."""

    name: str
    memories: list[Memory]
    messages: list[Message]
    evidence: dict[str, str]


class Asked(NamedTuple):
    """A message with its candidates, and for each whether it helps."""

    user: str
    message: Message
    query: RerankQuery
    candidates: list[Candidate]
    helps: list[bool]


def users(folder: Path) -> list[User]:
    """The users of a set, by name."""
    found = []
    for path in sorted(folder.glob("*.toml")):
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        messages = [Message(kind, frozenset(ids.split()), text) for kind, ids, text in data["messages"]]
        found.append(User(path.stem, [Memory(*one) for one in data["memories"]], messages, data.get("evidence", {})))
    return found


async def asked(
    user: User, embedder: Embedder, *, others: Sequence[Memory] = (), known: dict[Memory, MadeProjection] | None = None
) -> list[Asked]:
    """Each message of a user with its candidates.

    Args:
        others: memories of others that the user may read besides, of which none is taken to help. With these what the
            user may read of a project is taken for that of a colleague, too.
        known: projections that were made before.
    """
    known = {} if known is None else known
    memories = [*user.memories, *others]
    store = FakeMemories(FakeState())
    projections, shas = [], []
    for number, memory in enumerate(memories):
        made = await _projected(memory, user.evidence.get(memory.id), known)
        node = Node(level="L1", project=user.name, text=memory.text)
        appended = await store.append(AppendPlan(f"appended:accept:{user.name}:{number}", node, (), (), ()))
        await store.put_projection(appended.sha, made)
        projections.append(made.text)
        shas.append(appended.sha)
    texts = np.asarray(await embedder.embed([memory.text for memory in memories]))
    symptoms = np.asarray(await embedder.embed([text or "none" for text in projections]))
    found = []
    for message in user.messages:
        query, vectors = await _read(message.text, embedder)
        terms, reach = asked_terms(message.text, failing=False), Reach(user.name, federated=False)
        hits = await store.words(terms, ("L1",), reach, MOST)
        words = {hit.sha: hit.own for hit in hits}
        near, failing = texts @ vectors[0], symptoms @ vectors[1]
        candidates = [
            Candidate(
                node=StoredNode(level="L1", project=user.name, text=memory.text, stored_sha=shas[place]),
                symptom=projections[place],
                symptom_similarity=round(float(failing[place]), 6) if projections[place] else None,
                text_similarity=round(float(near[place]), 6),
                lexical_similarity=None,
                exact=False,
                coarse=False,
                same_tool=False,
                words=words.get(shas[place], 0.0),
                foreign=bool(others) and memory.scope == "global",
            )
            for place, memory in enumerate(memories)
        ]
        helps = [memory.id in message.helped_by for memory in user.memories] + [False] * len(others)
        found.append(Asked(user.name, message, query, candidates, helps))
    return found


async def _projected(memory: Memory, shown: str | None, known: dict[Memory, MadeProjection]) -> MadeProjection:
    if memory not in known:
        evidence = [] if shown is None else [EvidenceText(memory.id, shown)]
        known[memory] = await ExtractiveProjector().project(memory.text, evidence)
    return known[memory]


async def _read(text: str, embedder: Embedder) -> tuple[RerankQuery, np.ndarray]:
    """What a reranker is asked, and the vectors of the message and of the failure in it."""
    signatures, lines, sure = read_failure(text)
    failure = lines if sure else None
    vectors = await embedder.embed([text[:TASK_CHARACTERS], failure or text[:TASK_CHARACTERS]])
    return RerankQuery(text, signatures[0].tool if signatures else None, failure, message=text), np.asarray(vectors)
