"""What the tests ask of an answer about poimen: held against the tables themselves, by no code of the product."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import psycopg

from tests.poimen import PROJECT, candidates, shas, superseded

Body = dict[str, Any]

KNOWN = "why did requests over 10KB fail?"
ROOT_CAUSES = "pi:infra-root-causes"
SEVERAL = (
    KNOWN,
    "Should we give the thumbnail workers more RAM?",
    "What has to change in a client before it talks through a connection pooler?",
    "What do our outages caused by resources nobody released have in common?",
    "Why do some celery children idle while tasks are waiting?",
    "canceling statement due to statement timeout",
    "When are we allowed to deploy?",
)
"""Questions about failures, decisions and syntheses."""


class Place(NamedTuple):
    """A node as an entry of a provenance shows it."""

    sha: str
    level: str
    source: str | None
    turn: int | None


class Tables(NamedTuple):
    """The nodes and edges as they stand in the database."""

    nodes: dict[str, Place]
    projects: dict[str, str]
    edges: dict[str, set[str]]

    @classmethod
    def read(cls, database_url: str) -> Tables:
        with psycopg.connect(database_url) as connection:
            nodes = connection.execute("SELECT sha, level, source, turn, project FROM mem.memory_node").fetchall()
            edges: dict[str, set[str]] = {}
            for child, parent in connection.execute("SELECT child_sha, parent_sha FROM mem.memory_edge"):
                edges.setdefault(child, set()).add(parent)
        return cls({row[0]: Place(*row[:4]) for row in nodes}, {row[0]: row[4] for row in nodes}, edges)

    def parents(self, sha: str) -> set[str]:
        return self.edges.get(sha, set())

    def walked(self, sha: str) -> set[Place]:
        """All that the edges lead to in two hops."""
        direct = self.parents(sha)
        return {self.nodes[one] for one in direct.union(*map(self.parents, direct))}

    def named(self, body: Body) -> set[str]:
        """All that an answer names: hits, what they rest on, and candidates."""
        named = {hit["sha"] for hit in body["hits"]} | {one["sha"] for one in body.get("candidates", ())}
        return named | {one["sha"] for hit in body["hits"] for one in hit["provenance"]}


def levels_of(body: Body) -> set[str]:
    return {hit["level"] for hit in body["hits"]}


def check_provenance(tables: Tables, body: Body) -> None:
    """Each hit names what the edges lead to, each source and turn once, and evidence below all of it."""
    for hit in body["hits"]:
        told = [Place(**one) for one in hit["provenance"]]
        reached = tables.walked(hit["sha"]) or {tables.nodes[hit["sha"]]}
        assert set(told) <= reached
        assert {one for one in told if one.level == "L1"} == {one for one in reached if one.level == "L1"}
        assert len({one.sha for one in told}) == len(told)
        assert places(told) == sorted(set(places(reached)))
        assert places(told)


def check_two_hops(tables: Tables, hit: Body) -> None:
    """A synthesis names its lessons, then the evidence of these, which is what was handed in with them."""
    lesson_ids = candidates()[name_of(hit["sha"])].parents
    told = [Place(**one) for one in hit["provenance"]]
    lessons = [one for one in told if one.level == "L1"]
    assert hit["level"] == "L2"
    assert told[: len(lessons)] == lessons
    assert {one.sha for one in lessons} == tables.parents(hit["sha"]) == {shas()[one] for one in lesson_ids}
    evidence = told[len(lessons) :]
    assert {one.level for one in evidence} == {"L0"}
    assert {one.sha for one in evidence} <= {sha for one in lessons for sha in tables.parents(one.sha)}
    own = {(record["source"], record["turn"]) for one in lesson_ids for record in candidates()[one].evidence}
    brought = {(record["source"], record["turn"]) for one in candidates().values() for record in one.evidence}
    # A duplicate brings evidence of its own to the lesson that stands.
    assert own <= set(places(evidence)) <= brought
    assert len(set(places(evidence))) == len(evidence)


def places(nodes: Iterable[Place]) -> list[tuple[str, int]]:
    """Source and turn of each piece of evidence."""
    return sorted((one.source or "", one.turn or 0) for one in nodes if one.level == "L0")


def check_superseded(body: Body, old: str) -> None:
    """No superseded memory is a hit; the successor of the one that was asked for is, and says what it stands for."""
    found = {hit["sha"]: hit["supersedes"] for hit in body["hits"]}
    assert not {shas()[one] for one in superseded()} & set(found)
    assert found[shas()[superseded()[old]]] == [shas()[old]]


def check_reordered(body: Body) -> None:
    """Of fifty that were recalled the reranker chose, in an order of its own.

    It is neither that of recall nor that in which it got them, and does not come of ties.
    """
    assert len([one for one in body["candidates"] if one["leg"] == "text"]) == 50
    hits = [hit["sha"] for hit in body["hits"]]
    scores = [hit["score"] for hit in body["hits"]]
    assert len(hits) > 2
    assert None not in scores
    assert len(set(scores)) > len(scores) // 2
    assert [sha for sha in recall_order(body) if sha in hits] != hits
    # Candidates are given to it in the order of their shas.
    assert hits not in (sorted(hits), sorted(hits, reverse=True))


def recall_order(body: Body) -> list[str]:
    """The candidates by their least distance in a vector leg, those of the lexical leg alone after them."""
    stands_for = {old: hit["sha"] for hit in body["hits"] for old in hit["supersedes"]}
    nearest: dict[str, tuple[bool, float]] = {}
    for one in body["candidates"]:
        sha = stands_for.get(one["sha"], one["sha"])
        near = (one["leg"] == "lexical", one["distance"])
        nearest[sha] = min(near, nearest.get(sha, near))
    return sorted(nearest, key=lambda sha: (nearest[sha], sha))


def name_of(sha: str) -> str:
    """The id of the candidate that a memory was made of first."""
    return next(name for name, found in shas().items() if found == sha)


def asked(question: str, request_id: str, **fields: Any) -> Body:
    return {"request_id": request_id, "project": PROJECT, "question": question, **fields}
