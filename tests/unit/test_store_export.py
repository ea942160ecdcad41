"""Exports of the journal as lines."""

from __future__ import annotations

import pytest

from mem.domain.errors import JournalCorrupt
from mem.domain.journal import GENESIS, Entry, Head
from mem.store.chain import link_of
from mem.store.export import export_lines, parse_lines, verify_lines
from mem.testing import FakeJournal, FakeState


async def _export(number: int) -> list[str]:
    journal = FakeJournal(FakeState())
    for at in range(number):
        await journal.record(Entry(kind="candidate", key=f"k{at}", data={"text": f"line\n{at}\u2028"}))
    links = (link_of(record) async for record in journal.read())
    return [line async for line in export_lines(links, await journal.head())]


async def test_round_trip():
    """An export has a line for each record and one for the head, and verifies to it."""
    lines = await _export(3)
    assert len(lines) == 4
    assert not any("\n" in line for line in lines)
    assert verify_lines(lines).length == 3
    assert verify_lines(line + "\r\n" for line in lines).length == 3


async def test_empty():
    """An empty journal is exported as its head alone."""
    assert verify_lines(await _export(0)) == Head(0, GENESIS)


@pytest.mark.parametrize("kept", [0, 1, 3])
async def test_cut_off(kept):
    """An export without its last line is found to be cut off, and the first missing record is named."""
    with pytest.raises(JournalCorrupt, match=f"Record {kept + 1} or the head is missing"):
        verify_lines((await _export(3))[:kept])


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda lines: [lines[0], *lines[2:]], "Record 2 is missing"),
        (lambda lines: [lines[0], lines[2], lines[1], lines[3]], "Record 2 is missing or out of order"),
        (lambda lines: [*lines[:2], lines[3]], "Record 3 is missing"),
        (lambda lines: [lines[0], lines[0], *lines[1:]], "Record 2 is out of order"),
        (lambda lines: [lines[0], lines[1].replace("k1", "k9"), *lines[2:]], "Record 2 was changed"),
        (lambda lines: [lines[0], lines[1].replace(":", ": ", 1), *lines[2:]], "Line 2 was changed"),
        (lambda lines: [lines[0], lines[1][:-9], *lines[2:]], "Line 2 is no line of an export"),
        (lambda lines: [lines[0], "[]", *lines[1:]], "Line 2 is no line of an export"),
        (lambda lines: [*lines, lines[-1]], "Line 5 stands behind the head"),
    ],
)
async def test_changed(change, named):
    """A line that is missing, moved, repeated, changed or cut is found and named."""
    with pytest.raises(JournalCorrupt, match=named):
        verify_lines(change(await _export(3)))


async def test_expected_head():
    """An export that ends before a head known from before is found out."""
    known = verify_lines(await _export(3)).sha
    assert verify_lines(await _export(4), known).length == 4
    with pytest.raises(JournalCorrupt, match="cut off or rewritten"):
        verify_lines(await _export(2), known)


async def test_embedding_needs_its_vector():
    """A record of an embedding must have the vector beside it, and no other record may."""
    journal = FakeJournal(FakeState())
    await journal.record(Entry(kind="embedding", key="embedding:m:t", data={"embedding_sha256": "0"}))
    lines = [line async for line in export_lines((link_of(r) async for r in journal.read()), await journal.head())]
    with pytest.raises(JournalCorrupt, match="Line 1"):
        list(parse_lines(lines))
