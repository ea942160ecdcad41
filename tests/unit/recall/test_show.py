"""One memory as it is asked for by prefix, and as it is given out."""

from __future__ import annotations

import pytest

from mem.domain.errors import AmbiguousPrefix, InvalidRequest, NotFound
from mem.domain.nodes import Node
from mem.parsing import extract
from mem.ports import AppendPlan
from mem.recall.messages import MESSAGE_CHARACTERS
from mem.recall.show import CANDIDATES, ShowMemory
from mem.testing import FakeFailures, FakeMemories, FakeShowing, FakeState
from tests.unit.recall.kit import PYTHON_LOG

SECRET = "gh" + "p_" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAabcd"


class Store:
    """The fakes, and the use case over them."""

    def __init__(self) -> None:
        self.state = FakeState()
        self.show = ShowMemory(FakeShowing(self.state))

    async def accept(self, text: str, evidence: str = "it failed", **fields) -> str:
        node = Node(level="L1", project="p", text=text, **fields)
        below = Node(level="L0", project="p", text=evidence, source="log:1", turn=1, **fields)
        await FakeMemories(self.state).append(AppendPlan(f"appended:accept:p:{text}", node, (below,), (), ()))
        return node.sha

    def put(self, sha: str, **fields) -> None:
        self.state.nodes[sha] = Node(**{"level": "L1", "project": "p", "text": sha, **fields})


@pytest.fixture
def store() -> Store:
    return Store()


async def test_a_memory_is_shown_by_prefix(store):
    """Any beginning that is long enough and no other memory's will do, in either case."""
    sha = await store.accept("lesson")
    for prefix in (sha[:8], sha[:12].upper(), sha):
        assert (await store.show(prefix)).sha == sha
    store.put("abcd" + "0" * 60)
    assert (await store.show("abcd")).text == "abcd" + "0" * 60


@pytest.mark.parametrize("sha", ["", "abc", "a" * 65, "latest", "abcdefgh", "abcd\n", "٣٣٣٣", "0x1234", "ab cd"])
async def test_what_is_no_sha_is_refused(store, sha):
    """It names no memory whatever the store has."""
    with pytest.raises(InvalidRequest, match="is no sha") as error:
        await store.show(sha)
    assert "4 to 64 hex digits" in error.value.remedy


async def test_a_prefix_of_several_names_them(store):
    """Each with its level, so that the next attempt can be the last one; of very many the first."""
    for digit in "10":
        store.put("beefbeef" + digit * 56)
    with pytest.raises(AmbiguousPrefix) as error:
        await store.show("beef")
    assert error.value.cause == "Several memories begin with beef: beefbeef0000 (L1), beefbeef1111 (L1)."
    assert error.value.candidates == ("beefbeef" + "0" * 56, "beefbeef" + "1" * 56)
    for number in range(30):
        store.put(f"beefbeef1111{number:02}" + "0" * 50)
    with pytest.raises(AmbiguousPrefix, match="and more") as error:
        await store.show("beefbeef1111")
    assert len(error.value.candidates) == CANDIDATES == error.value.cause.count("(L1)")
    assert "beefbeef11110500 (L1)" in error.value.cause


async def test_what_others_may_not_read_makes_no_prefix_ambiguous(store):
    """A memory of a user beside it, or of a project out of reach, is as if it were not there."""
    store.put("beef" + "0" * 60)
    store.put("beef" + "1" * 60, visibility="user", owner="u")
    store.put("beef" + "2" * 60, project="q")
    assert (await store.show("beef", readable=["p"])).sha == "beef" + "0" * 60
    with pytest.raises(AmbiguousPrefix) as error:
        await store.show("beef")
    assert len(error.value.candidates) == 2


async def test_what_is_not_there_and_what_is_not_for_everybody_are_told_alike(store):
    """Neither the message nor the kind of error tells one from the other."""
    mine = await store.accept("mine", visibility="user", owner="u")
    told = set()
    for sha in (mine, "0" * 64):
        with pytest.raises(NotFound) as error:
            await store.show(sha)
        told.add((type(error.value), str(error.value).replace(sha, "SHA")))
    assert told == {(NotFound, "No memory begins with SHA. Check the sha.")}


async def test_a_title_is_the_first_line_that_says_something(store):
    """Redacted, in visible characters, and short; the text itself stays whole."""
    log = f"\n=====\n\x1b[31mrefused {SECRET}\u202e " + "x" * 400 + "\nlater"
    sha = await store.accept("lesson", evidence=log)
    (below,) = (await store.show(sha)).parents
    assert below.title.startswith("[31mrefused [redacted:github-token] xxx")
    assert (len(below.title), below.title[-1]) == (MESSAGE_CHARACTERS, "…")
    assert (await store.show(below.sha)).text == log
    assert [one.title for one in (await store.show(below.sha)).children] == ["lesson"]


async def test_a_text_without_words_has_an_empty_title(store):
    """Rulers are no title."""
    sha = await store.accept("lesson", evidence="=====\n-----")
    assert [one.title for one in (await store.show(sha)).parents] == [""]


async def test_a_message_is_redacted_and_short(store):
    """What rules of an earlier release let pass is redacted now."""
    sha = await store.accept("lesson")
    (failure,) = extract(PYTHON_LOG)
    failure = failure.model_copy(update={"message": f"refused {SECRET}\n" + "x" * 500})
    await FakeFailures(store.state).relink(sha, [failure])
    (one,) = (await store.show(sha)).signatures
    assert one.message.startswith("refused [redacted:github-token] xxx")
    assert len(one.message) == MESSAGE_CHARACTERS


async def test_showing_leaves_nothing_behind(store):
    """Neither a count nor a record comes of it, so it may be asked again."""
    sha = await store.accept("lesson")
    before = len(store.state.records)
    assert await store.show(sha) == await store.show(sha)
    assert len(store.state.records) == before
