"""A section of reference is found by its passages: the nearest of them counts."""

from __future__ import annotations

import pytest

from mem.domain.errors import NotFound
from mem.domain.nodes import Node
from mem.ports import Reach
from mem.testing import FakeEmbedder
from tests.contract.parts import Parts

HERE = Reach("p", federated=False)
DISK = "The disk of the runner is full, so that nothing more can be written to it."
PEER = "Two packages want a peer dependency in versions that do not fit together."
PAGE = f"""\
{DISK}

{PEER * 2}

```js
// cannot resolve the dependency tree
install(react)
```
"""


def _chunk(text: str = PAGE, source: str = "doc.md") -> Node:
    return Node(level="R", project="*", text=text, source=source)


async def _add(parts: Parts, *chunks: Node) -> list[str]:
    for chunk in chunks:
        await parts.document(chunk, source=chunk.source or "")
    shas = [chunk.sha for chunk in chunks]
    await parts.reference.complete(shas, parts.embedder)
    return shas


async def test_a_section_is_as_near_as_its_nearest_passage(parts):
    """A comment of an example is found by its own words, and the section comes once."""
    (sha,) = await _add(parts, _chunk())
    asked = parts.embedder.vector("cannot resolve the dependency tree")
    hits = await parts.memories.nearest("text", ["R"], asked, HERE, 10)
    assert [hit.sha for hit in hits] == [sha]
    assert hits[0].similarity == pytest.approx(1.0, abs=1e-3)
    assert await parts.memories.vector_kinds(sha) == ["text"]


async def test_sections_with_many_passages_leave_room_for_others(parts):
    """The limit counts sections, not passages, and ties are ordered by sha."""
    said = "\n\n".join(f"{PEER * 2} {number}" for number in range(9))
    shas = await _add(parts, *(_chunk(said, f"doc{number}.md") for number in range(3)), _chunk("full", "short.md"))
    hits = await parts.memories.nearest("text", ["R"], parts.embedder.vector(PEER), HERE, 3)
    assert [hit.sha for hit in hits] == sorted(shas[:3])
    assert len(await parts.memories.nearest("text", ["R"], parts.embedder.vector(PEER), HERE, 10)) == 4


async def test_passages_are_recorded_with_their_section(parts):
    """What is embedded is in the journal, beside the section that it is of."""
    (sha,) = await _add(parts, _chunk())
    (record,) = [one async for one in parts.journal.read() if one.kind == "reference"]
    assert list(record.data["passages"]) == [sha]
    assert "cannot resolve the dependency tree" in record.data["passages"][sha]


async def test_embedding_goes_on_where_it_ended(parts):
    """What has its vectors is not embedded again."""
    (sha,) = await _add(parts, _chunk())
    before = (await parts.journal.head()).length
    await parts.reference.complete([sha], parts.embedder)
    assert (await parts.journal.head()).length == before


async def test_passages_need_their_section(parts):
    """Of no node nothing is embedded."""
    with pytest.raises(NotFound):
        await parts.reference.complete(["c" * 64], FakeEmbedder())
