"""The store that lookups are accepted on: the lessons of two projects, documentation and skills."""

from __future__ import annotations

import asyncio
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import mem.cli.demo
from mem.addresses import find_addresses
from mem.domain.ids import SHARED
from mem.ports import Document, Skill
from mem.settings import Settings
from mem.wiring import open_ports
from mem.writing.corpus import carry_out, corpus_plan
from mem.writing.reference import reference_nodes
from tests.e2e.conftest import Loop

STORE = tomllib.loads((Path(__file__).parents[1] / "fixtures" / "context" / "orchard.toml").read_text("utf-8"))
LOGS = Path(mem.cli.demo.__path__[0]) / "logs"
PROJECT, OTHER_PROJECT = "orchard", "quarry"


class Orchard(NamedTuple):
    """The store as it was seeded: shas by the ids of lessons, and the failures that strike now."""

    loop: Loop
    shas: dict[str, str]
    failures: dict[str, str]

    async def look_up(self, failure: str, request_id: str, **fields: Any) -> dict[str, Any]:
        """The answer to a failure, by its id."""
        response = await self.loop.post("/memory/context", self.request(failure, request_id, **fields))
        assert response.status_code == 200, response.text
        return dict(response.json())

    def request(self, failure: str, request_id: str, **fields: Any) -> dict[str, Any]:
        source = self.failures[failure]
        return {"request_id": request_id, "project": PROJECT, "signature_source": source, **fields}

    def names(self, body: dict[str, Any], tier: int | None = None) -> list[str]:
        """The lessons of an answer in their order, by id; what this file did not bring by its sha."""
        ids = {sha: name for name, sha in self.shas.items()}
        return [ids.get(one["sha"], one["sha"]) for one in body["lessons"] if tier in (None, one["tier"])]


async def seed(loop: Loop) -> Orchard:
    """Bring the store in; again it changes nothing."""
    shas: dict[str, str] = {}
    waiting = list(STORE["lesson"])
    while waiting:
        ready = [one for one in waiting if {*one.get("parents", ()), *one.get("supersedes", ())} <= set(shas)]
        answers = await asyncio.gather(*(loop.post("/memory/accept", candidate(one, shas)) for one in ready))
        for one, answer in zip(ready, answers, strict=True):
            assert answer.json()["status"] == "accepted", answer.text
            shas[one["id"]] = answer.json()["sha"]
        waiting = [one for one in waiting if one["id"] not in shas]
    settings = Settings(database_url=loop.stack.database_url)
    async with open_ports(find_addresses(settings), settings) as ports:
        documents = [
            Document(SHARED, one["source"], tuple(reference_nodes(one["text"], source=one["source"], project=None)))
            for one in STORE["reference"]
        ]
        await carry_out(corpus_plan([], documents, []), ports.reference, ports.embedder)
        for skill in STORE["skill"]:
            await ports.skills.put(Skill(skill["name"], skill["description"], "", "*"), ports.embedder)
    return Orchard(loop, shas, {one["id"]: text_of(one, "text") for one in STORE["failure"]})


def candidate(lesson: dict[str, Any], shas: dict[str, str]) -> dict[str, Any]:
    evidence = text_of(lesson, "evidence")
    named = {field: [shas[name] for name in lesson[field]] for field in ("parents", "supersedes") if field in lesson}
    return {
        "request_id": lesson["id"],
        "project": lesson["project"],
        "level": lesson.get("level", "L1"),
        "text": lesson["text"].strip(),
        "evidence": [{"source": f"ci:{lesson['id']}", "turn": 3, "text": evidence}] if evidence else [],
        **named,
    }


def text_of(entry: dict[str, Any], field: str) -> str:
    if "log" in entry:
        return (LOGS / f"{entry['log']}.log").read_text("utf-8")
    return str(entry.get(field, "")).strip("\n")
