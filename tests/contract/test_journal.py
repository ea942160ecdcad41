"""What every journal does."""

from __future__ import annotations

import asyncio

from mem.domain.journal import GENESIS, Entry, Head
from mem.store.chain import link_of, verify


def _entry(key: str, value: int = 0) -> Entry:
    return Entry(kind="candidate", key=key, data={"value": value, "text": "ä\x00\u2028"})


async def test_empty(parts):
    """An empty journal has the genesis head and nothing to read."""
    assert await parts.journal.head() == Head(0, GENESIS)
    assert [record async for record in parts.journal.read()] == []
    assert await parts.journal.find("k") is None


async def test_first_stands(parts):
    """Of two entries under one key the first stands."""
    first = await parts.journal.record(_entry("k", 1))
    assert await parts.journal.record(_entry("k", 2)) == first
    assert await parts.journal.find("k") == first
    assert (await parts.journal.head()).length == 1


async def test_ten_at_once_record_one(parts):
    """Ten concurrent entries under one key make one record, which all ten get."""
    records = await asyncio.gather(*(parts.journal.record(_entry("k", value)) for value in range(10)))
    assert len({record.sha for record in records}) == 1
    assert [record async for record in parts.journal.read()] == records[:1]


async def test_many_at_once_make_one_chain(parts):
    """Concurrent writers of different keys leave a chain that verifies."""
    await asyncio.gather(*(parts.journal.record(_entry(f"k{number}")) for number in range(30)))
    head = await parts.journal.head()
    assert await verify((link_of(record) async for record in parts.journal.read()), head) == head
    assert head.length == 30


async def test_read_after(parts):
    """Reading goes on behind a sequence number, over more records than one page has."""
    for number in range(203):
        await parts.journal.record(_entry(f"k{number}"))
    assert [record.seq async for record in parts.journal.read(after=100)] == list(range(101, 204))


async def test_time_is_utc_to_the_second(parts):
    """A record tells its time in UTC to the second."""
    assert (await parts.journal.record(_entry("k"))).time == "2026-07-02T12:00:00Z"
