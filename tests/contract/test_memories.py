"""What every store of memories does."""

from __future__ import annotations

import asyncio

import pytest

from mem.domain.accepting import MadeProjection
from mem.domain.errors import AmbiguousPrefix, InvalidRequest, ModelMismatch, NotFound
from mem.domain.nodes import Node
from mem.ports import Alike, Appended, Reach
from mem.testing import FakeEmbedder
from tests.contract.parts import evidence, lesson_plan, signature

HERE = Reach("p", federated=False)
EVERYWHERE = Reach("p", federated=True)


def _projection(text: str = "npm ERESOLVE", model: str = "m") -> MadeProjection:
    return MadeProjection(text=text, model_id=model, prompt_sha="prompt")


async def test_append_makes_nodes_and_edges(parts):
    """An accepted candidate becomes a node whose parents are its evidence and the parents it names."""
    base = await parts.accept("base lesson")
    plan = lesson_plan("synthesis", request_id="2", level="L2", parents=(base,), evidence_texts=("b", "a"))
    appended = await parts.memories.append(plan)
    assert appended == Appended(plan.node.sha, tuple(node.sha for node in plan.evidence), None)
    assert (await parts.memories.nodes([appended.sha, "f" * 64]))[appended.sha].text == "synthesis"
    parents = await parts.memories.parents([appended.sha])
    shown = parents[appended.sha]
    assert {sha: len(below) for sha, below in parents.items()} == {appended.sha: 3, base: 1}
    assert [(one.level, one.turn) for one in shown] == [("L0", 0), ("L0", 1), ("L1", None)]
    below = await parts.memories.evidence(appended.sha)
    assert [(node.turn, node.stored_sha) for node in below] == sorted((node.turn, node.stored_sha) for node in below)
    assert {node.text for node in below} == {"b", "it failed", "a"}


async def test_parents_of_a_root(parts):
    """A node without parents is shown with none."""
    assert await parts.memories.parents(["a" * 64]) == {"a" * 64: []}


async def test_ten_appends_at_once_are_one(parts):
    """Ten concurrent appends of one request have one effect and one outcome."""
    plan = lesson_plan("lesson", request_id="1")
    outcomes = await asyncio.gather(*(parts.memories.append(plan) for _ in range(10)))
    assert set(outcomes) == {Appended(plan.node.sha, (plan.evidence[0].sha,), None)}
    assert (await parts.journal.head()).length == 1


async def test_first_append_stands(parts):
    """Another plan under the same key has no effect; the first outcome returns."""
    first = await parts.memories.append(lesson_plan("first", request_id="1"))
    other = lesson_plan("other", request_id="1")
    assert await parts.memories.append(other) == first
    assert await parts.memories.nodes([other.node.sha]) == {}


async def test_duplicate_but_for_space_and_case(parts):
    """A text that differs in white space and case is a duplicate, and leaves its evidence to the one that stands."""
    first = await parts.accept("Pin the  peer dependency")
    plan = lesson_plan("pin the peer\ndependency ", request_id="2", evidence_texts=("new evidence",))
    assert await parts.memories.alike(plan.node) == Alike(first, equal=True)
    assert await parts.memories.append(plan) == Appended(first, (plan.evidence[0].sha,), first)
    assert await parts.memories.append(plan) == Appended(first, (plan.evidence[0].sha,), first)
    assert list(await parts.memories.nodes([plan.node.sha, plan.evidence[0].sha])) == [plan.evidence[0].sha]
    assert {node.text for node in await parts.memories.evidence(first)} == {"it failed", "new evidence"}


@pytest.mark.parametrize(
    "other",
    [
        {"project": "q"},
        {"visibility": "user", "owner": "u"},
        {"visibility": "container", "owner": "u", "container": "c"},
    ],
)
async def test_no_duplicate_elsewhere(parts, other):
    """Equal texts of another project, visibility, owner or container are two nodes."""
    await parts.accept("lesson")
    node = lesson_plan("lesson", request_id="2", **other).node
    assert await parts.memories.alike(node) is None


async def test_equal_evidence_is_no_duplicate(parts):
    """A lesson that repeats the words of evidence is no duplicate of it."""
    await parts.accept("lesson", evidence_texts=("the words",))
    assert await parts.memories.alike(Node(level="L1", project="p", text="the words")) is None


async def test_two_duplicates_at_once(parts):
    """Of ten equal candidates under different requests one is appended, and the others name it."""
    plans = [lesson_plan("lesson" + " " * number, request_id=str(number)) for number in range(10)]
    outcomes = await asyncio.gather(*(parts.memories.append(plan) for plan in plans))
    (won,) = [outcome.sha for outcome in outcomes if outcome.duplicate_of is None]
    assert {outcome.duplicate_of for outcome in outcomes} == {None, won}
    assert sum([bool(await parts.memories.nodes([plan.node.sha])) for plan in plans]) == 1


async def test_missing_parent(parts):
    """A parent that does not exist refuses the whole append."""
    plan = lesson_plan("lesson", request_id="1", parents=("e" * 64,))
    with pytest.raises(NotFound):
        await parts.memories.append(plan)
    assert await parts.memories.nodes([plan.node.sha]) == {}
    assert (await parts.journal.head()).length == 0


async def test_supersession(parts):
    """A superseded node is followed to the live end of its chain, naming what lies between, oldest first."""
    old = await parts.accept("old")
    middle = await parts.accept("middle", supersedes=(old,))
    new = await parts.accept("new", supersedes=(middle,))
    lineages = await parts.memories.lineages([new, old, "f" * 64])
    assert {sha: (one.node.stored_sha, one.supersedes) for sha, one in lineages.items()} == {
        new: (new, ()),
        old: (new, (old, middle)),
    }
    assert [await parts.memories.successor(sha) for sha in (old, middle, new)] == [new, new, None]
    assert (await parts.memories.nodes([old]))[old].superseded_by == middle


async def test_first_successor_stands(parts):
    """A node that has a successor keeps it, and what comes second is told so instead of being appended."""
    old = await parts.accept("old")
    first = await parts.accept("first", supersedes=(old,))
    second = lesson_plan("second", request_id="second", supersedes=(old,))
    outcome = await parts.memories.append(second)
    assert outcome == Appended(first, (), None, overtaken_by=first)
    assert await parts.memories.append(second) == outcome
    assert await parts.memories.nodes([second.node.sha]) == {}
    assert await parts.memories.successor(old) == first


async def test_of_many_successors_at_once_one_is_appended(parts):
    """However many supersede one memory at the same time, one does."""
    old = await parts.accept("old")
    plans = [lesson_plan(f"new {n}", request_id=f"new {n}", supersedes=(old,)) for n in range(8)]
    outcomes = await asyncio.gather(*(parts.memories.append(plan) for plan in plans))
    assert [outcome.overtaken_by for outcome in outcomes].count(None) == 1
    assert {outcome.sha for outcome in outcomes} == {await parts.memories.successor(old)}


async def test_superseded_is_no_duplicate(parts):
    """What a candidate supersedes does not make it a duplicate; a superseded text is stood for by its successor."""
    old = await parts.accept("Lesson")
    new = await parts.accept("lesson", supersedes=(old,))
    assert new != old
    again = lesson_plan("Lesson", request_id="again")
    assert await parts.memories.append(again) == Appended(new, (again.evidence[0].sha,), new)


async def test_returning_to_a_superseded_text_makes_no_circle(parts):
    """A text that was superseded cannot supersede its own successor."""
    old = await parts.accept("old")
    new = await parts.accept("new", supersedes=(old,))
    await parts.accept("old", request_id="back", supersedes=(new,))
    assert await parts.memories.successor(old) == new
    assert (await parts.memories.lineages([new]))[new].node.stored_sha == new


async def test_projects_are_those_with_something_for_all(parts):
    """Lessons and their evidence, and what all share; what is for one user alone tells of no project."""
    assert await parts.memories.projects() == []
    await parts.accept("one", project="q")
    await parts.accept("two", project="p")
    await parts.accept("three", project="p")
    await parts.accept("four", project="r", visibility="user", owner="u", evidence_texts=())
    assert await parts.memories.projects() == ["p", "q"]
    await parts.document(Node(level="R", project="*", text="t", source="s"))
    assert await parts.memories.projects() == ["*", "p", "q"]


async def test_resolve(parts):
    """A prefix is resolved when it is hex, known and unambiguous."""
    sha = await parts.accept("lesson")
    assert await parts.memories.resolve(sha[:10].upper()) == sha
    assert await parts.memories.resolve(sha) == sha
    with pytest.raises(NotFound):
        await parts.memories.resolve(("0" if sha[0] != "0" else "1") * 64)
    for wrong in ("abc", "xyzw", "a" * 65, "%%%%", "abcd\n"):
        with pytest.raises(InvalidRequest):
            await parts.memories.resolve(wrong)


async def test_ambiguous_prefix(parts):
    """A prefix of several nodes is refused."""
    seen: dict[str, int] = {}
    number = 0
    while max(seen.values(), default=0) < 2:
        prefix = evidence(str(number)).sha[:4]
        seen[prefix] = seen.get(prefix, 0) + 1
        number += 1
    texts = tuple(text for text in map(str, range(number)) if evidence(text).sha[:4] == prefix)
    for text in texts:
        await parts.document(Node(level="L0", project="p", text=text, source="log:1", turn=1), source=text)
    with pytest.raises(AmbiguousPrefix):
        await parts.memories.resolve(prefix)


async def test_reference_is_added_once(parts):
    """Chunks are added once, also by ten at once, and only new chunks count."""
    chunks = [Node(level="R", project="*", text=text, source="doc") for text in ("a", "b")]
    assert sorted(await asyncio.gather(*(parts.document(*chunks) for _ in range(10)))) == [*[0] * 9, 2]
    more = [*chunks, Node(level="R", project="*", text="c", source="doc")]
    assert await parts.document(*more) == 1
    assert (await parts.journal.head()).length == 2


async def test_projection_is_recorded_once(parts):
    """The first projection under node, prompt and model stands, also of ten at once."""
    sha = await parts.accept("lesson")
    assert await parts.memories.projection(sha) is None
    texts = [f"text {number}" for number in range(10)]
    made = await asyncio.gather(*(parts.memories.put_projection(sha, _projection(text)) for text in texts))
    assert len({one.text for one in made}) == 1
    assert await parts.memories.projection(sha) == made[0]
    assert (await parts.memories.lineages([sha]))[sha].symptom == made[0].text


async def test_projection_of_another_model(parts):
    """Another model's projection is recorded and returned, and the first one remains the node's."""
    sha = await parts.accept("lesson")
    await parts.memories.put_projection(sha, _projection("one", "m1"))
    assert (await parts.memories.put_projection(sha, _projection("two", "m2"))).text == "two"
    assert (await parts.memories.projection(sha)).text == "one"


async def test_empty_projection(parts):
    """An empty projection is a result, and no text."""
    sha = await parts.accept("lesson")
    await parts.memories.put_projection(sha, _projection(""))
    assert (await parts.memories.projection(sha)).text == ""
    assert (await parts.memories.lineages([sha]))[sha].symptom == ""


async def test_projection_needs_its_node(parts):
    """A projection of no node is refused."""
    with pytest.raises(NotFound):
        await parts.memories.put_projection("d" * 64, _projection())


async def test_vectors_are_found_by_cosine(parts):
    """The nearest node comes first, with a similarity of 1 for the same text."""
    near, far = await parts.accept("npm peer dependency conflict"), await parts.accept("disk full on runner")
    await parts.memories.put_vectors("text", {near: "npm peer conflict", far: "disk full"}, parts.embedder)
    query = parts.embedder.vector("npm peer conflict")
    hits = await parts.memories.nearest("text", ["L1", "L2"], query, HERE, 10)
    assert [hit.sha for hit in hits] == [near, far]
    assert hits[0].similarity == pytest.approx(1.0, abs=1e-3)
    assert await parts.memories.nearest("symptom", ["L1", "L2"], query, HERE, 10) == []
    assert await parts.memories.nearest("text", ["L1"], query, HERE, 1) == hits[:1]
    assert await parts.memories.nearest("text", [], query, HERE, 10) == []


async def test_equal_similarity_is_ordered_by_sha(parts):
    """Ties are ordered by sha."""
    shas = [await parts.accept(f"lesson {number}") for number in range(6)]
    await parts.memories.put_vectors("text", dict.fromkeys(shas, "same"), parts.embedder)
    hits = await parts.memories.nearest("text", ["L1"], parts.embedder.vector("same"), HERE, 4)
    assert [hit.sha for hit in hits] == sorted(shas)[:4]


async def test_levels_are_kept_apart(parts):
    """A search sees the levels asked for, lessons, evidence and reference alike."""
    sha = await parts.accept("lesson")
    (record,) = await parts.memories.evidence(sha)
    chunk = Node(level="R", project="*", text="chunk", source="doc")
    await parts.document(chunk)
    texts = {sha: "a b c d", record.stored_sha: "a b", chunk.sha: "a"}
    await parts.memories.put_vectors("text", texts, parts.embedder)
    query = parts.embedder.vector("a")
    for levels, expected in (["L1"], {sha}), (["L0"], {record.stored_sha}), (["R", "L2"], {chunk.sha}):
        assert {hit.sha for hit in await parts.memories.nearest("text", levels, query, HERE, 9)} == expected
    everything = await parts.memories.nearest("text", ["L0", "L1", "L2", "R"], query, HERE, 9)
    assert {hit.sha for hit in everything} == set(texts)
    assert everything == sorted(everything, key=lambda hit: -hit.similarity)
    assert await parts.memories.nearest("text", ["L0", "L1", "L2", "R"], query, HERE, 2) == everything[:2]


async def test_reach_and_visibility(parts):
    """A read sees its own and shared nodes, those of others when federated, and never private ones."""
    own, other = await parts.accept("a own"), await parts.accept("a other", project="q")
    private = await parts.accept("a private", visibility="user", owner="u")
    shared = Node(level="R", project="*", text="a shared", source="doc")
    await parts.document(shared)
    shas = [own, other, private, shared.sha]
    await parts.memories.put_vectors("text", dict.fromkeys(shas, "a"), parts.embedder)
    signatures = [signature("s", coarse="c", tool="npm")]
    for sha in shas:
        await parts.failures.link(project="p", request_id=sha, sha=sha, signatures=signatures)
    query = parts.embedder.vector("a")
    for reach, expected in (HERE, {own, shared.sha}), (EVERYWHERE, {own, other, shared.sha}):
        nearest = await parts.memories.nearest("text", ["L1", "R"], query, reach, 9)
        assert {hit.sha for hit in nearest} == expected
        lexical = await parts.memories.lexical("own other private shared", ["L1", "R"], reach, 9)
        assert {hit.sha for hit in lexical} <= expected
        assert {hit.sha for hit in (await parts.failures.known(["s"], reach, 1)).hits} == expected
        assert {hit.sha for hit in await parts.failures.coarse(["c"], reach, 1, 9)} == expected
        assert set(await parts.memories.by_tool("npm", reach, 9)) == expected - {shared.sha}


async def test_superseded_vectors_are_still_found(parts):
    """A search finds a superseded node, whose successor the reader then takes."""
    old = await parts.accept("old")
    await parts.memories.put_vectors("text", {old: "disk full"}, parts.embedder)
    new = await parts.accept("new", supersedes=(old,))
    hits = await parts.memories.nearest("text", ["L1"], parts.embedder.vector("disk full"), HERE, 9)
    assert [hit.sha for hit in hits] == [old]
    assert (await parts.memories.lineages([old]))[old].node.stored_sha == new


async def test_embedding_is_replayed(parts):
    """A text is embedded once for a model; later vectors replay what was recorded."""
    first, second = await parts.accept("one"), await parts.accept("two")
    await parts.memories.put_vectors("text", {first: "same"}, parts.embedder)
    await parts.memories.put_vectors("symptom", {first: "same", second: "same"}, parts.embedder)
    assert parts.embedder.calls == 1
    assert await parts.memories.vector_kinds(first) == ["text", "symptom"]
    assert await parts.memories.vector_kinds(second) == ["symptom"]
    kinds = [record.kind async for record in parts.journal.read()]
    assert kinds.count("embedding") == 1


async def test_vectors_at_once(parts):
    """Ten concurrent stores of the same vectors leave one embedding in the journal."""
    shas = [await parts.accept(f"lesson {number}") for number in range(5)]
    texts = {sha: f"text {number}" for number, sha in enumerate(shas)}
    await asyncio.gather(*(parts.memories.put_vectors("text", texts, FakeEmbedder()) for _ in range(10)))
    kinds = [record.kind async for record in parts.journal.read()]
    assert kinds.count("embedding") == 5


async def test_first_vector_stands(parts):
    """The vector that a node has is not overwritten."""
    sha = await parts.accept("lesson")
    await parts.memories.put_vectors("text", {sha: "first"}, parts.embedder)
    await parts.memories.put_vectors("text", {sha: "second"}, parts.embedder)
    (hit,) = await parts.memories.nearest("text", ["L1"], parts.embedder.vector("first"), HERE, 1)
    assert hit.similarity == pytest.approx(1.0, abs=1e-3)


async def test_vector_of_no_node(parts):
    """A vector needs its node, and what was computed for it is not recorded."""
    with pytest.raises(NotFound):
        await parts.memories.put_vectors("text", {"c" * 64: "text"}, parts.embedder)
    assert (await parts.journal.head()).length == 0


async def test_model_mismatch(parts):
    """Vectors of another model or dimension are refused, and both are named."""
    sha = await parts.accept("lesson")
    await parts.memories.put_vectors("text", {sha: "text"}, parts.embedder)
    for other in (FakeEmbedder(model_id="other"), FakeEmbedder(dimensions=32)):
        with pytest.raises(ModelMismatch, match="fake-embedder-1") as caught:
            await parts.memories.put_vectors("symptom", {sha: "text"}, other)
        assert other.model_id in str(caught.value)
    with pytest.raises(ModelMismatch):
        await parts.memories.nearest("text", ["L1"], [1.0, 0.0], HERE, 5)


async def test_lexical_search(parts):
    """Without vectors, words of a text or of its projection find it, best first."""
    both, one = await parts.accept("connection refused by registry"), await parts.accept("registry was moved")
    projected = await parts.accept("unrelated words")
    await parts.memories.put_projection(projected, _projection("ERESOLVE unable to resolve dependency tree"))
    hits = await parts.memories.lexical("connection refused registry", ["L1"], HERE, 9)
    assert [hit.sha for hit in hits][:2] == [both, one][: len(hits)]
    (hit,) = await parts.memories.lexical("ERESOLVE unable to resolve", ["L1"], HERE, 9)
    assert hit.sha == projected
    assert 0.5 < hit.similarity <= 1.0
    assert await parts.memories.lexical("", ["L1"], HERE, 9) == []


async def test_by_tool_order(parts):
    """Lessons of a tool come own project first, then the more often seen, then by sha, superseded ones among them."""
    own = sorted([await parts.accept(f"lesson {number}") for number in range(4)])
    others = sorted([await parts.accept(f"other {number}", project="q") for number in range(2)])
    gone = await parts.accept("gone")
    times = {**{sha: at + 1 for at, sha in enumerate(own)}, **dict.fromkeys(others, 9), gone: 9}
    for sha, count in times.items():
        for at in range(count):
            given = [signature(f"of {sha}")]
            await parts.failures.link(project="p", request_id=f"{sha[:9]} {at}", sha=sha, signatures=given)
    await parts.accept("successor", supersedes=(gone,))
    assert await parts.memories.by_tool("npm", EVERYWHERE, 9) == [gone, *own[::-1], *others]
    assert await parts.memories.by_tool("npm", EVERYWHERE, 3) == [gone, *own[:1:-1]]
    assert await parts.memories.by_tool("go", EVERYWHERE, 9) == []
