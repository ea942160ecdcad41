"""Search by words in every store: own words and context, as shares of what a question could reach."""

from __future__ import annotations

import pytest

from mem.domain.accepting import MadeProjection
from mem.domain.nodes import Node
from mem.parsing.terms import asked_terms
from mem.ports import Reach
from tests.contract.parts import Parts, evidence, lesson_plan

HERE = Reach("p", federated=False)
EVERYWHERE = Reach("p", federated=True)


async def ask(parts: Parts, question: str, levels=("L1", "L2"), reach=HERE, limit=9):
    return await parts.memories.words(asked_terms(question, failing=False), levels, reach, limit)


async def tell(parts: Parts, *turns: str, source: str = "talk:1", project: str = "p") -> list[str]:
    """Evidence of a conversation, in its order; the shas."""
    plan = lesson_plan(f"what {source} told {project}", request_id=f"{source} {project}", project=project)
    said = tuple(evidence(text, project, source, turn) for turn, text in enumerate(turns, 1))
    await parts.memories.append(plan._replace(evidence=said))
    return [node.sha for node in said]


async def test_a_lesson_is_found_by_its_words_in_other_forms(parts):
    sha = await parts.accept("kong refuses large uploads")
    await parts.accept("the cache is warm")
    (hit,) = await ask(parts, "Why was the upload refused?")
    assert hit.sha == sha
    assert 0 < hit.own < 1
    assert hit.context == hit.own


async def test_a_rare_word_counts_more_than_a_frequent_one(parts):
    for number in range(6):
        await parts.accept(f"kong dropped request {number} in a queue")
    rare = await parts.accept("a lockfile was written in a request")
    assert (await ask(parts, "kong lockfile request"))[0].sha == rare


async def test_a_lesson_is_found_by_its_projection_and_by_the_one_that_replaces_it(parts):
    sha = await parts.accept("bodies are buffered")
    assert await ask(parts, "ERESOLVE") == []
    await parts.memories.put_projection(sha, MadeProjection(text="npm ERR! ERESOLVE", model_id="m", prompt_sha="s"))
    assert [hit.sha for hit in await ask(parts, "ERESOLVE")] == [sha]
    assert [hit.sha for hit in await ask(parts, "buffered")] == [sha]


async def test_a_turn_without_a_word_of_the_question_is_found_beside_one_that_has_it(parts):
    turns = [
        "Good morning!",
        "Which instrument do you play?",
        "The oboe, since school.",
        "Lovely.",
        "Rain again.",
        "So.",
    ]
    shas = await tell(parts, *turns)
    hits = await ask(parts, "What instrument is played?", ["L0"])
    assert [hit.sha for hit in hits] == [shas[1], *sorted([shas[0], shas[2], shas[3]])]
    assert [hit.own for hit in hits[1:]] == [0.0, 0.0, 0.0]
    assert all(0 < hit.context < 1 for hit in hits)


async def test_turns_of_other_sources_and_projects_are_no_context(parts):
    await tell(parts, "Which instrument do you play?", source="talk:1")
    await tell(parts, "A", "Hm.", source="talk:2")
    await tell(parts, "A", "Hm.", project="q")
    assert len(await ask(parts, "instrument", ["L0"])) == 1
    assert len(await ask(parts, "instrument", ["L0"], EVERYWHERE)) == 1


async def test_a_turn_is_better_where_its_neighbours_say_the_rest(parts):
    """Both turns say the same, one of them in the right conversation."""
    one = await tell(parts, "We went to Lisbon.", "It was sunny.", source="talk:1")
    other = await tell(parts, "We went to Oslo.", "It was sunny.", source="talk:2")
    hits = {hit.sha: hit for hit in await ask(parts, "Was it sunny in Lisbon?", ["L0"])}
    assert hits[one[1]].own == hits[other[1]].own
    assert hits[one[1]].context > hits[other[1]].context


async def test_a_chunk_has_its_document_for_context(parts):
    chunks = [
        Node(level="R", project="*", text=text, source=source)
        for text, source in [
            ("borrowed value does not live long enough", "E0597.md#error"),
            ("add a scope", "E0597.md#cure"),
            ("add a lifetime to the scope", "E0106.md#cure"),
        ]
    ]
    await parts.document(*chunks, source="manual")
    hits = {hit.sha: hit for hit in await ask(parts, "borrowed value scope", ["R"])}
    assert hits[chunks[1].sha].context == hits[chunks[0].sha].context
    assert hits[chunks[1].sha].context > hits[chunks[1].sha].own
    assert hits[chunks[1].sha].context > hits[chunks[2].sha].context


async def test_only_what_is_within_reach_is_found_and_superseded_ones_are(parts):
    here = await parts.accept("lockfile pinned here")
    other = await parts.accept("lockfile pinned elsewhere", project="q")
    shared = await parts.accept("lockfile pinned for all", project="*")
    await parts.accept("lockfile pinned in private", request_id="x", visibility="user", owner="u")
    new = await parts.accept("lockfile pinned anew", supersedes=(here,))
    assert {hit.sha for hit in await ask(parts, "lockfile")} == {here, shared, new}
    assert {hit.sha for hit in await ask(parts, "lockfile", reach=EVERYWHERE)} == {here, other, shared, new}
    assert await ask(parts, "lockfile", ["L2"]) == []
    assert len(await ask(parts, "lockfile", limit=2)) == 2


async def test_a_question_of_strange_words_is_not_answered_by_the_last_familiar_one(parts):
    await parts.accept("the registry was slow")
    await parts.accept("the cache was cold")
    (strange,) = await ask(parts, "Who yodels to the xylophone in the registry?")
    (familiar,) = await ask(parts, "Was the registry slow?")
    assert strange.own < familiar.own / 2


@pytest.mark.parametrize("question", ["", "...", "nowhere"])
async def test_a_question_without_a_known_word_finds_nothing(parts, question):
    await parts.accept("kong refuses large uploads")
    assert await ask(parts, question) == []
