"""Whoever may read some projects is told what a store would tell that holds these alone."""

from __future__ import annotations

import itertools
import random
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

import pytest

from mem.domain.accepting import MadeProjection
from mem.domain.ids import SHARED
from mem.domain.nodes import Node
from mem.parsing.terms import terms
from mem.ports import Document, GapQuery, LedgerKey, Reach, Settlement, ShowQuery, Skill
from mem.store.pool import Pool, open_pool
from tests.contract.parts import Parts, fake_parts, lesson_plan, postgres_parts, signature

_NUMBERS = itertools.count()
WORDS = ["proxy", "cache", "builder", "peer", "range", "timeout", "quota", "disk", "token", "mirror"]
PROJECTS = ("own", "near", "far")
LEVELS = ("L0", "L1", "L2", "R")


@pytest.fixture
async def pools(postgres_server, postgres_template) -> AsyncIterator[list[Pool]]:
    names = [f"readable_{next(_NUMBERS)}" for _ in range(2)]
    opened = [await open_pool(postgres_server.create(name, postgres_template), size=2) for name in names]
    yield opened
    for pool, name in zip(opened, names, strict=True):
        await pool.close()
        postgres_server.drop(name)


@pytest.fixture
def worlds(request, kind) -> tuple[Parts, Parts]:
    """A store of all projects, and one for the readable ones alone."""
    if kind == "fakes":
        return fake_parts(), fake_parts()
    whole, alone = request.getfixturevalue("pools")
    return postgres_parts(whole), postgres_parts(alone)


class Act(NamedTuple):
    """Something that happened in a project, with what else it concerns by the place of earlier acts."""

    kind: str
    project: str
    text: str
    hidden: bool = False
    signatures: Sequence[int] = ()
    of: Sequence[int] = ()
    instead: Sequence[int] = ()


def _history(chance: random.Random, *, crossing: bool) -> list[Act]:
    """Some days; with `crossing` edges and successors lead into other projects, as no door lets them."""
    acts: list[Act] = []
    superseded: set[int] = set()

    def earlier(kind: str, project: str, among: set[int] | None = None) -> list[int]:
        return [
            place
            for place, act in enumerate(acts)
            if act.kind == kind and (crossing or act.project == project) and (among is None or place not in among)
        ]

    for number in range(45):
        project = chance.choice(PROJECTS)
        text = f"{' '.join(chance.choices(WORDS, k=5))} {chance.choice(['', f'in {project} {number}'])}".strip()
        signatures = chance.sample(range(30), 2)
        match chance.choice(["lesson", "lesson", "lesson", "synthesis", "lookup", "lookup", "reference", "skill"]):
            case "lesson":
                old = earlier("lesson", project, superseded)
                instead = (chance.choice(old),) if old and chance.random() < 0.4 else ()
                superseded.update(instead)
                hidden = chance.random() < 0.15 and not instead
                # What a lesson rests on besides its own evidence is that of others.
                below = earlier("lesson", project)[-2:] if crossing else ()
                acts.append(Act("lesson", project, f"{text} {number}", hidden, signatures, below, instead))
            case "synthesis":
                parents = earlier("lesson", project)[-3:]
                acts.append(Act("synthesis", project, f"{text} {number}", signatures=signatures, of=parents))
            case "reference":
                acts.append(Act("reference", chance.choice([project, SHARED]), f"{text} {number}"))
            case "skill":
                acts.append(Act("skill", chance.choice([project, SHARED]), text))
            case _:
                acts.append(Act("lookup", project, text, signatures=signatures))
    return acts


SIGNATURES = [
    signature(f"s{n:02}", coarse=f"c{n % 7}", tool=("npm", "go")[n // 2 % 2], algo=1 + n % 2, message=f"m{n % 9}")
    for n in range(30)
]  # fmt: skip


async def _live(parts: Parts, acts: Sequence[Act], only: frozenset[str]) -> dict[int, str]:
    """Do what happened in some projects; the sha of each memory by the place of its act."""
    shas: dict[int, str] = {}
    for place, act in enumerate(acts):
        parts.clock.advance(timedelta(hours=7))
        if act.project not in only:
            continue
        of = [shas[one] for one in act.of if one in shas]
        if act.kind == "lesson":
            of = [one.stored_sha for sha in of for one in await parts.memories.evidence(sha)]
        seen = [SIGNATURES[number] for number in act.signatures]
        match act.kind:
            case "lesson" | "synthesis":
                private = {"visibility": "user", "owner": "u"} if act.hidden else {}
                plan = lesson_plan(
                    act.text, request_id=str(place), project=act.project, parents=tuple(of),
                    level="L1" if act.kind == "lesson" else "L2",
                    supersedes=tuple(shas[one] for one in act.instead), evidence_texts=(f"{act.text} failed",),
                    **private,
                )  # fmt: skip
                shas[place] = sha = (await parts.memories.append(plan)).sha
                made = MadeProjection(text=act.text.upper(), model_id="m", prompt_sha="s")
                await parts.memories.put_projection(sha, made)
                await parts.memories.put_vectors("symptom", {sha: made.text}, parts.embedder)
                texts = {sha: act.text, **{one.stored_sha: one.text for one in await parts.memories.evidence(sha)}}
                await parts.memories.put_vectors("text", texts, parts.embedder)
                await parts.failures.link(project=act.project, request_id=str(place), sha=sha, signatures=seen)
            case "reference":
                node = Node(level="R", project=act.project, text=act.text, source=f"doc {place}#a")
                await parts.reference.put([Document(act.project, f"doc {place}", (node,))])
                await parts.reference.complete([node.sha], parts.embedder)
                shas[place] = node.sha
            case "skill":
                await parts.skills.put(Skill(f"skill {place}", act.text, "", act.project), parts.embedder)
            case _:
                key, reach = LedgerKey("context", act.project, str(place)), Reach(act.project, federated=True)
                returned = tuple(sha for one, sha in shas.items() if one > place - 12 and acts[one].kind == "lesson")
                await parts.ledger.settle(Settlement(key, "f", tuple(seen), reach, returned), lambda _: b"")
    return shas


async def _told(
    parts: Parts, readable: tuple[str, ...] | None, shas: Sequence[str], acts: Sequence[Act]
) -> dict[str, Any]:
    """What every read tells: within a reach, of some memories, or of what was said."""
    memories, failures = parts.memories, parts.failures
    keys, told = [one.sig_sha for one in SIGNATURES], Reach("own", federated=False, readable=readable).told
    found: dict[str, Any] = {
        "lineages": await memories.lineages(shas, told),
        "parents": await memories.parents(shas, told),
        "named": await parts.showing.named(ShowQuery("", readable), 500),
        "shown": [await parts.showing.shown(ShowQuery(sha, readable)) for sha in shas],
    }
    for algo in (1, 2):
        for name, counted in {"all": readable, "own": ("own",)}.items():
            query = GapQuery(counted=counted, readable=readable, tool=None, since=None, limit=50, algo=algo)
            found[f"gaps {algo} {name}"] = await failures.gaps(query)
    for text in [act.text for act in acts if act.kind == "lesson"]:
        again = await memories.returned_alike(Node(level="L1", project="own", text=f"{text}!"), readable)
        found[f"returned {text}"] = again and (again.project, again.stored_sha)
    for federated in (True, False):
        reach = Reach("own", federated, readable)
        asked = {
            "seen": failures.seen(keys, reach),
            "coarse": failures.coarse(["c0", "c1", "c2"], reach, 2, 50),
            **{f"known {algo}": failures.known(keys, reach, algo) for algo in (1, 2)},
            **{f"tool {tool}": memories.by_tool(tool, reach, 50) for tool in ("npm", "go")},
        }
        for text in ("proxy cache timeout", "quota in far", "disk mirror failed"):
            vector = parts.embedder.vector(text)
            asked |= {
                f"text {text}": memories.nearest("text", LEVELS, vector, reach, 50),
                f"symptom {text}": memories.nearest("symptom", ("L1", "L2"), vector, reach, 50),
                f"lexical {text}": memories.lexical(text, LEVELS, reach, 50),
                f"words {text}": memories.words(list(terms(text).times), LEVELS, reach, 50),
                f"skills {text}": parts.skills.nearest(vector, reach, 50),
            }
        found |= {f"{name}, federated {federated}": await one for name, one in asked.items()}
    return found


@pytest.mark.parametrize(
    ("kind", "readable", "seed"),
    [("fakes", (), 0), ("fakes", ("near",), 1), ("postgres", ("near",), 4),
     *(pytest.param("fakes", readable, seed, marks=pytest.mark.slow)
       for readable, seed in (((), 1), ((), 2), (("near",), 0), (("near",), 2))),
     pytest.param("postgres", (), 3, marks=pytest.mark.slow)],
)  # fmt: skip
async def test_a_restricted_read_is_one_of_a_store_without_the_others(worlds, readable, seed):
    """Every read, within any reach, counts and order and scores among it."""
    whole, alone = worlds
    acts = _history(random.Random(seed), crossing=False)
    there = frozenset({"own", SHARED, *readable})
    await _live(whole, acts, frozenset({*PROJECTS, SHARED}))
    shas = sorted((await _live(alone, acts, there)).values())
    projects = ("own", *readable)
    restricted, bare = await _told(whole, projects, shas, acts), await _told(alone, None, shas, acts)
    for name, value in bare.items():
        # The gaps of an own store are counted in all its projects.
        assert restricted[name] == value, name
    assert any(bare["coarse, federated True"])
    assert bare["gaps 2 all"].total


@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        ("fakes", 0),
        ("postgres", 4),
        pytest.param("fakes", 2, marks=pytest.mark.slow),
        pytest.param("fakes", 4, marks=pytest.mark.slow),
    ],
)
async def test_what_leads_into_other_projects_is_not_followed(worlds, seed):
    """Edges and successors that no door makes, but a store may hold: neither sha, text nor project is told."""
    parts, _ = worlds
    acts = _history(random.Random(seed), crossing=True)
    shas = await _live(parts, acts, frozenset({*PROJECTS, SHARED}))
    hidden = {sha for place, sha in shas.items() if acts[place].project == "far"}
    hidden |= {one.stored_sha for sha in hidden for one in await parts.memories.evidence(sha) if one.project == "far"}
    open_shas = sorted(set(shas.values()) - hidden)
    everything = repr(await _told(parts, None, open_shas, acts))
    assert any(sha in everything for sha in hidden)
    told = await _told(parts, ("near", "own"), open_shas, acts)
    for name, value in told.items():
        text = repr(value)
        assert not [sha for sha in hidden if sha in text], name
        assert "project='far'" not in text, name
    for sha in sorted(hidden):
        assert await parts.showing.shown(ShowQuery(sha, ("near", "own"))) is None


async def test_what_was_superseded_on_the_way_through_another_project_is_named_without_it(parts):
    """The live memory stands for the first, though the one between may not be told of; a hidden one for nobody."""
    first = await parts.accept("first", project="own")
    between = await parts.accept("between", project="far", supersedes=(first,))
    last = await parts.accept("last", project="own", supersedes=(between,))
    lineage = (await parts.memories.lineages([first], ("own", SHARED)))[first]
    assert (lineage.node.stored_sha, lineage.supersedes) == (last, (first,))
    assert (await parts.memories.lineages([first]))[first].supersedes == (first, between)
    other = await parts.accept("other", project="own")
    await parts.accept("elsewhere", project="far", supersedes=(other,))
    assert await parts.memories.lineages([other], ("own", SHARED)) == {}
    assert other in await parts.memories.lineages([other])
