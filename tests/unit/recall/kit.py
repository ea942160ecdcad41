"""A lookup over fakes, with parts that a test can make slow, broken or opinionated."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mem.domain.accepting import MadeProjection
from mem.domain.canonical import canonical_json
from mem.domain.lookup import LookUpInput
from mem.domain.nodes import Node
from mem.domain.query import QueryInput
from mem.parsing import extract
from mem.ports import AppendPlan, Candidate, Document, RerankQuery, Skill
from mem.recall.look_up import LookUp, LookUpPorts
from mem.recall.outcome import LookUpOutcome
from mem.recall.query_memories import QueryMemories, QueryPorts
from mem.recall.query_outcome import QueryOutcome
from mem.testing import (
    FakeEmbedder,
    FakeFailures,
    FakeLedger,
    FakeMemories,
    FakeReference,
    FakeReranker,
    FakeSkills,
    FakeState,
    FakeTokens,
)

NPM_LOG = """\
> npm ci
npm ERR! code ERESOLVE
npm ERR! ERESOLVE unable to resolve dependency tree
npm ERR! Found: react@18.2.0
"""
PYTHON_LOG = """\
Traceback (most recent call last):
  File "/srv/app/main.py", line 3, in <module>
    import yaml
ModuleNotFoundError: No module named 'yaml'
"""
NPM_SYMPTOM = (
    "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree\nnpm ERR! Found: react@18.2.0"
)


class Scores:
    """A reranker that says what it is told: by the first of its words that a text contains, else `other`."""

    model_id = "told"

    def __init__(self, by_word: Mapping[str, float] | None = None, other: float = 0.9, most: int | None = None) -> None:
        self.most = most
        self.by_word = dict(by_word or {})
        self.other = other
        self.asked: list[RerankQuery] = []
        self.task_alone: str | None = None
        """What holds it fits tasks alone: no question without one."""

    async def rerank(self, query: RerankQuery, candidates: Sequence[Candidate]) -> list[float]:
        self.asked.append(query)
        return [self._of(query, candidate.node.text) for candidate in candidates]

    def _of(self, query: RerankQuery, text: str) -> float:
        if query.task is None and self.task_alone is not None and self.task_alone in text:
            return 0.0
        return next((score for word, score in self.by_word.items() if word in text), self.other)


class Broken:
    """A part of which some methods raise, hang, or answer what they are told; the rest works and is counted."""

    def __init__(self, part: Any, **methods: BaseException | Callable[..., Any]) -> None:
        self._part = part
        self._methods = methods
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._part, name)
        if not callable(found) or name == "count":
            return found

        async def call(*args: Any, **kwargs: Any) -> Any:
            self.calls.append(name)
            fault = self._methods.get(name)
            if isinstance(fault, BaseException):
                raise fault
            return await (fault or found)(*args, **kwargs)

        return call


async def hang(*_: Any, **__: Any) -> Any:
    """Never answers."""
    await asyncio.Event().wait()


class World:
    """Memories, failures, skills and reference over one state, and lookups into them."""

    def __init__(self) -> None:
        self.state = FakeState()
        self.embedder = FakeEmbedder()
        self.ports = LookUpPorts(
            memories=FakeMemories(self.state),
            failures=FakeFailures(self.state),
            ledger=FakeLedger(self.state),
            skills=FakeSkills(self.state),
            embedder=self.embedder,
            reranker=FakeReranker(),
            tokens=FakeTokens(),
        )
        self._number = 0

    async def remember(
        self,
        text: str,
        *,
        project: str = "p",
        level: str = "L1",
        symptom: str = "",
        log: str | None = None,
        supersedes: Sequence[str] = (),
        parents: Sequence[str] = (),
        sightings: int = 1,
        **fields: Any,
    ) -> str:
        """Accept a memory with all its projections; its sha. `log` gives it evidence and signatures."""
        memories, failures = FakeMemories(self.state), FakeFailures(self.state)
        self._number += 1
        node = Node(level=level, project=project, text=text, **fields)
        evidence = (Node(level="L0", project=project, text=log, source="pi:1", turn=12),) if log else ()
        key = f"appended:accept:{project}:{self._number}"
        await memories.append(AppendPlan(key, node, evidence, tuple(parents), tuple(supersedes)))
        await memories.put_projection(node.sha, MadeProjection(text=symptom, model_id="m", prompt_sha="s"))
        await memories.put_vectors("text", {node.sha: text}, self.embedder)
        if symptom:
            await memories.put_vectors("symptom", {node.sha: symptom}, self.embedder)
        for time in range(sightings if log else 0):
            name = f"{self._number}.{time}"
            await failures.link(project=project, request_id=name, sha=node.sha, signatures=extract(log or ""))
        return node.sha

    async def document(self, text: str, *, project: str = "*", source: str = "d.md") -> str:
        """Add a chunk of reference."""
        node = Node(level="R", project=project, text=text, source=source)
        reference = FakeReference(self.state)
        await reference.put([Document(project, source, (node,))])
        await reference.complete([node.sha], self.embedder)
        return node.sha

    async def teach(self, name: str, description: str, *, project: str = "*") -> None:
        """Add a skill."""
        await FakeSkills(self.state).put(Skill(name, description, "body", project), self.embedder)

    def with_ports(self, **parts: Any) -> None:
        """Put other parts in."""
        self.ports = replace(self.ports, **parts)

    def break_part(self, name: str, **methods: Any) -> Broken:
        """Make methods of a part raise, hang or answer otherwise."""
        broken = Broken(getattr(self.ports, name), **methods)
        self.with_ports(**{name: broken})
        return broken

    async def outcome(self, *, leg_seconds: float = 2.0, total_seconds: float = 6.0, **fields: Any) -> LookUpOutcome:
        """Look up; the project is `p` and the request id a new one unless they are given."""
        self._number += 1
        given = {"request_id": f"look-{self._number}", "project": "p", **fields}
        look_up = LookUp(self.ports, leg_seconds=leg_seconds, total_seconds=total_seconds)
        return await look_up(LookUpInput.model_validate(given))

    async def query_outcome(
        self, *, leg_seconds: float = 2.0, total_seconds: float = 6.0, **fields: Any
    ) -> QueryOutcome:
        """Ask; the project is `p` and the request id a new one unless they are given."""
        self._number += 1
        given = {"request_id": f"query-{self._number}", "project": "p", **fields}
        parts = QueryPorts(self.ports.memories, self.ports.ledger, self.ports.embedder, self.ports.reranker)
        query = QueryMemories(parts, leg_seconds=leg_seconds, total_seconds=total_seconds)
        return await query(QueryInput.model_validate(given))

    async def query(self, question: str, **fields: Any) -> dict[str, Any]:
        """The body of an answer to a question."""
        return json.loads((await self.query_outcome(question=question, **fields)).body)

    async def look_up(self, **fields: Any) -> dict[str, Any]:
        """The body of an answer."""
        return json.loads((await self.outcome(**fields)).body)


def texts(body: Mapping[str, Any], tier: int | None = None) -> list[str]:
    """The texts of the lessons in their order, of one tier or of all."""
    return [lesson["text"] for lesson in body["lessons"] if tier in (None, lesson["tier"])]


def counted(value: Any) -> Any:
    """`value` without what each sighting changes, at every depth."""
    if isinstance(value, dict):
        return {key: counted(each) for key, each in value.items() if key not in ("seen_count", "last_seen")}
    return [counted(each) for each in value] if isinstance(value, list) else value


def tokens_of(value: Any, count: Callable[[str], int]) -> int:
    """An account of tokens that shares no code with the product."""
    return count(json.dumps(counted(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False))


def stable(body: Mapping[str, Any]) -> bytes:
    """What identical requests share."""
    return canonical_json(counted(dict(body)))
