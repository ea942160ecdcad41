"""The recall legs of tiers 1 and 2: wide, concurrent, and merged into one set of candidates."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

from mem.domain.errors import Unavailable
from mem.domain.lookup import Leg
from mem.domain.nodes import Level, VectorKind
from mem.ports import Candidate, Embedder, Failures, Lineage, Memories, Vector, VectorHit
from mem.recall.legs import Legs
from mem.recall.query import Probe, Query

WIDTH = 50
LESSONS: tuple[Level, ...] = ("L1", "L2")


class SignatureHit(NamedTuple):
    """A node found through a signature: its very key, the coarse one, or the tool that it carries.

    Where it is the very key, `first_seen` is the UTC date since when the failure is known.
    """

    sha: str
    how: Literal["exact", "coarse", "tool"]
    sig_sha: str | None = None
    first_seen: str | None = None


class Signed(NamedTuple):
    """What the legs found that need no vector; `exact` is None where the exact keys could not be read."""

    exact: list[SignatureHit] | None
    others: list[SignatureHit]


class Similar(NamedTuple):
    """What each leg found, by sha: `text` is near to the failure, the question or the tool, `task` to the task.

    `lexical` is found by trigrams, for a lookup; `words` and `context` by terms, for a question. `besides` is near to
    another part of it.
    """

    symptom: Mapping[str, float]
    text: Mapping[str, float]
    lexical: Mapping[str, float] = {}
    task: Mapping[str, float] = {}
    words: Mapping[str, float] = {}
    context: Mapping[str, float] = {}
    besides: Mapping[str, float] = {}


class Gathered(NamedTuple):
    """Candidates by the sha of the live node that stands for each hit.

    `known` holds the sig_shas that point at a live node, each with the shas of those nodes, or is None where that could
    not be read; `superseded` the shas that a candidate stands for; `of_tool` the candidates that carry the tool asked
    for, or stand for one that does, in their order; `first_seen` the UTC date since when each of the known sig_shas is,
    where that was counted.
    """

    candidates: dict[str, Candidate]
    known: dict[str, list[str]] | None
    superseded: dict[str, list[str]]
    of_tool: list[str]
    first_seen: dict[str, str | None]


async def sign(memories: Memories, failures: Failures, legs: Legs, query: Query) -> Signed:
    """Run the legs that need no vector."""
    exact, coarse, of_tool = await asyncio.gather(
        legs.run("signatures", "exact keys", _exact(failures, query), None),
        legs.run("signatures", "coarse keys", _coarse(failures, query), list[SignatureHit]()),
        legs.run("signatures", "tool", _of_tool(memories, query), list[SignatureHit]()),
    )
    return Signed(exact, [*coarse, *of_tool])


async def gather(memories: Memories, legs: Legs, query: Query, vectors: Sequence[Vector], signed: Signed) -> Gathered:
    """Run the other legs, replace superseded hits by their successors, and merge what each leg says of a node.

    Args:
        vectors: one for each probe of the query; empty where the embedder failed, so that the lexical leg stands in.
    """
    similar = await _similar(memories, legs, query, vectors)
    gathered = await unite(memories, legs, [*(signed.exact or []), *signed.others], similar, query.reach.told)
    if gathered is None:
        return Gathered({}, {} if signed.exact == [] else None, {}, [], {})
    return gathered if signed.exact is not None else gathered._replace(known=None)


async def unite(
    memories: Memories,
    legs: Legs,
    by_signature: Sequence[SignatureHit],
    similar: Similar,
    told: Collection[str] | None,
) -> Gathered | None:
    """Replace superseded hits by their successors, and merge what each leg says of a node.

    Args:
        told: the projects whose memories may stand for a hit, and be named; None: all.

    None where the nodes behind the hits could not be read, which fails every leg that had some.
    """
    hits = sorted({hit.sha for hit in by_signature}.union(*similar))
    lineages = await legs.run("text", "successors", memories.lineages(hits, told), None)
    if lineages is None:
        found_by: tuple[tuple[Leg, bool], ...] = (
            ("signatures", bool(by_signature)),
            ("symptom", bool(similar.symptom)),
            ("lexical", bool(similar.lexical or similar.words)),
        )
        for leg, found in found_by:
            if found:
                legs.degrade(leg, "The memories behind its hits could not be read.")
        return None
    # No user is named here, so that a successor which is not for everybody stays out with what it superseded.
    lineages = {sha: lineage for sha, lineage in lineages.items() if lineage.node.visibility == "global"}
    return _merge(lineages, by_signature, similar)


async def _exact(failures: Failures, query: Query) -> list[SignatureHit]:
    if not query.signatures:
        return []
    asked: dict[str, list[str]] = {}
    for signature in query.signatures:
        for key in signature.keys:
            asked.setdefault(key, []).append(signature.sig_sha)
    known = await failures.known(list(asked), query.reach, query.signatures[0].algo)
    first: dict[str, str] = {}
    for key, day in known.first_seen.items():
        for sig_sha in asked[key]:
            first[sig_sha] = min(first.get(sig_sha, day), day)
    # A row of an earlier version stands for every signature that had its key then.
    return [
        SignatureHit(hit.sha, "exact", sig_sha, first.get(sig_sha))
        for hit in known.hits
        for sig_sha in asked[hit.sig_sha]
    ]


async def _coarse(failures: Failures, query: Query) -> list[SignatureHit]:
    if not query.signatures:
        return []
    keys = sorted({key for signature in query.signatures for key in signature.coarse_keys})
    found = await failures.coarse(keys, query.reach, query.signatures[0].algo, WIDTH)
    return [SignatureHit(hit.sha, "coarse") for hit in found]


async def _of_tool(memories: Memories, query: Query) -> list[SignatureHit]:
    if query.tool is None or not query.tool_alone:
        return []
    return [SignatureHit(sha, "tool") for sha in await memories.by_tool(query.tool, query.reach, WIDTH)]


async def _similar(memories: Memories, legs: Legs, query: Query, vectors: Sequence[Vector]) -> Similar:
    """What is near in meaning, or in words where neither kind of vector could be searched."""
    searches = list(zip(query.probes, vectors, strict=True)) if vectors else []
    failing = [search for search in searches if search[0].fails]
    symptom, text, task, lexical = await asyncio.gather(
        _vectors(memories, legs, "symptom", "search", failing),
        _vectors(memories, legs, "text", "search", [each for each in searches if each[0] is not query.task]),
        _vectors(memories, legs, "text", "search for the task", [each for each in searches if each[0] is query.task]),
        _idle() if searches else _words(memories, legs, query),
    )
    if searches and legs.failed("text") and (legs.failed("symptom") or not failing):
        lexical = await _words(memories, legs, query)
    return Similar(symptom, text, lexical, task)


async def _words(memories: Memories, legs: Legs, query: Query) -> dict[str, float]:
    return await legs.run("lexical", "search", _lexical(memories, query.probes), dict[str, float]())


async def _vectors(
    memories: Memories, legs: Legs, kind: VectorKind, step: str, searches: Sequence[tuple[Probe, Vector]]
) -> dict[str, float]:
    """What is near in one kind of vectors; no step of the leg where there is nothing to search with."""
    if not searches:
        return {}
    return await legs.run(kind, step, _search(memories, kind, searches), dict[str, float]())


async def _search(memories: Memories, kind: VectorKind, searches: Sequence[tuple[Probe, Vector]]) -> dict[str, float]:
    found = [await memories.nearest(kind, LESSONS, vector, probe.reach, WIDTH) for probe, vector in searches]
    return best_of([hit for hits in found for hit in hits])


async def _lexical(memories: Memories, probes: Sequence[Probe]) -> dict[str, float]:
    found = [await memories.lexical(probe.text, LESSONS, probe.reach, WIDTH) for probe in probes]
    return best_of([hit for hits in found for hit in hits])


async def embedded(embedder: Embedder, texts: Sequence[str]) -> list[Vector]:
    """A vector for each text.

    Raises:
        Unavailable: the embedder gave another number of them.
    """
    vectors = await embedder.embed(texts) if texts else []
    if len(vectors) != len(texts):
        raise Unavailable(f"The embedder gave {len(vectors)} vectors for {len(texts)} texts.", "See its log.")
    return list(vectors)


async def _idle() -> dict[str, float]:
    return {}


def best_of(hits: Sequence[VectorHit]) -> dict[str, float]:
    """Of several hits on one node the nearest."""
    best: dict[str, float] = {}
    for hit in hits:
        best[hit.sha] = max(best.get(hit.sha, hit.similarity), hit.similarity)
    return best


def _merge(
    lineages: Mapping[str, Lineage],
    by_signature: Sequence[SignatureHit],
    similar: Similar,
) -> Gathered:
    """One candidate for each live node: of all hits that it stands for, the best of each kind."""
    stands_for: dict[str, list[str]] = {}
    for sha in sorted(lineages):
        stands_for.setdefault(lineages[sha].node.stored_sha, []).append(sha)
    how: dict[str, set[str]] = {}
    known: dict[str, list[str]] = {}
    first_seen: dict[str, str | None] = {}
    for hit in by_signature:
        how.setdefault(hit.sha, set()).add(hit.how)
        if hit.how == "exact" and hit.sig_sha is not None and hit.sha in lineages:
            known.setdefault(hit.sig_sha, []).append(lineages[hit.sha].node.stored_sha)
            first_seen[hit.sig_sha] = hit.first_seen
    candidates: dict[str, Candidate] = {}
    superseded: dict[str, list[str]] = {}
    for live, shas in stands_for.items():
        symptom, text, lexical, task, words, context, _ = [_most(leg, shas) for leg in similar]
        ways = set().union(*(how[sha] for sha in shas if sha in how))
        node, chain, projected = lineages[shas[0]]
        candidates[live] = Candidate(
            node=node,
            symptom=projected,
            symptom_similarity=symptom,
            text_similarity=_greater(text, task),
            lexical_similarity=lexical,
            exact="exact" in ways,
            coarse="coarse" in ways,
            same_tool="tool" in ways,
            task_similarity=task,
            words=words,
            context=context,
        )
        superseded[live] = _oldest_first([lineages[sha].supersedes for sha in shas]) if chain or len(shas) > 1 else []
    of_tool = [lineages[hit.sha].node.stored_sha for hit in by_signature if hit.how == "tool" and hit.sha in lineages]
    return Gathered(candidates, known, superseded, list(dict.fromkeys(of_tool)), first_seen)


def _oldest_first(chains: Sequence[tuple[str, ...]]) -> list[str]:
    """The shas of several chains that end at one node, each once, by their distance from it."""
    distance = {sha: len(chain) - place for chain in chains for place, sha in enumerate(chain)}
    return sorted(distance, key=lambda sha: (-distance[sha], sha))


def _most(leg: Mapping[str, float], shas: Sequence[str]) -> float | None:
    if len(shas) == 1:
        return leg.get(shas[0])
    return max((leg[sha] for sha in shas if sha in leg), default=None)


def _greater(one: float | None, other: float | None) -> float | None:
    if one is None or other is None:
        return other if one is None else one
    return max(one, other)
