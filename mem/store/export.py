"""The journal as JSON Lines: one record a line, embeddings beside their records, the head at the end."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import NamedTuple

from pydantic import ValidationError

from mem.domain.canonical import canonical_json
from mem.domain.errors import JournalCorrupt
from mem.domain.journal import GENESIS, Head, Record
from mem.store import embeddings, journal
from mem.store.chain import ChainCheck, Link, verify
from mem.store.pool import Pool, on_connection

_REMEDY = "Export the journal again."


class Exported(NamedTuple):
    """A record of an export, with the vector that an embedding record names."""

    record: Record
    embedding: bytes | None


async def stored_links(pool: Pool) -> AsyncIterator[Link]:
    """The journal in the database, the text of each record as it stands there, with its embedding."""
    async for row in journal.read_stored(pool):
        embedding = await _embedding(pool, row) if row.kind == "embedding" else None
        yield Link(row.seq, row.sha, row.previous, row.body.encode(), row.key, row.kind, embedding)


async def verify_stored(pool: Pool, expected_head: str | None = None) -> Head:
    """Check the journal in the database, and the embeddings that it names.

    Raises:
        JournalCorrupt: the chain does not hold.
    """
    head = await on_connection(pool, journal.head)
    return await verify(stored_links(pool), head, expected_head)


async def export_stored(pool: Pool) -> AsyncIterator[str]:
    """The lines of an export of the journal in the database, up to its head at the start."""
    head = await on_connection(pool, journal.head)
    async for line in export_lines(stored_links(pool), head):
        yield line


async def export_lines(links: AsyncIterable[Link], head: Head) -> AsyncIterator[str]:
    """A line for each record up to `head`, without line breaks, and one for the head.

    The text of each record is passed on as it is, so that a change of it shows in the export too.
    """
    count = 0
    if head.length:
        async for link in links:
            yield _line(link.body, link.embedding, link.previous, link.sha)
            count += 1
            if count == head.length:
                break
    yield _head_line(head)


def parse_lines(lines: Iterable[str], expected_head: str | None = None) -> Iterator[Exported]:
    """The records of an export, each checked before it is given out, and the end checked last.

    Raises:
        JournalCorrupt: a line differs from what an export has, the chain does not hold, or the end is missing.
    """
    check = ChainCheck(expected_head)
    ended = False
    for number, line in enumerate(lines, 1):
        if ended:
            raise JournalCorrupt(f"Line {number} stands behind the head.", _REMEDY)
        parsed = _parse(number, line.rstrip("\r\n"))
        if isinstance(parsed, Head):
            check.finish(parsed)
            ended = True
        else:
            record, embedding = parsed
            check.take(Link(record.seq, record.sha, record.previous, record.body, embedding=embedding))
            yield parsed
    if not ended:
        raise JournalCorrupt(f"Record {check.length + 1} or the head is missing: the export was cut off.", _REMEDY)


def verify_lines(lines: Iterable[str], expected_head: str | None = None) -> Head:
    """Check an export.

    Raises:
        JournalCorrupt: as for `parse_lines`.
    """
    head = Head(0, GENESIS)
    for record, _ in parse_lines(lines, expected_head):
        head = Head(record.seq, record.sha)
    return head


async def _embedding(pool: Pool, row: journal.StoredRecord) -> bytes | None:
    try:
        data = json.loads(row.body)["data"]
        model_id, text_sha = str(data["model_id"]), str(data["text_sha"])
    except (ValueError, KeyError, TypeError):
        return None  # The check of the text will say what is wrong with it.
    found = await on_connection(pool, lambda c: embeddings.find(c, model_id, [text_sha]))
    # An embedding that is gone is found out as one that does not fit its digest.
    return found.get(text_sha, b"")


def _line(body: bytes, embedding: bytes | None, previous: str, sha: str) -> str:
    beside = "" if embedding is None else f'"embedding":"{base64.b64encode(embedding).decode()}",'
    return f'{{"body":{body.decode()},{beside}"previous":"{previous}","sha":"{sha}"}}'


def _head_line(head: Head) -> str:
    return canonical_json({"head": {"count": head.length, "sha": head.sha}}).decode()


def _parse(number: int, line: str) -> Exported | Head:
    """Read a line; one that would be written in another way was changed, whatever it means."""
    try:
        found = json.loads(line)
        if "head" in found:
            head = Head(int(found["head"]["count"]), str(found["head"]["sha"]))
            again = _head_line(head)
            parsed: Exported | Head = head
        else:
            record = Record(sha=found["sha"], previous=found["previous"], **found["body"])
            embedding = base64.b64decode(found["embedding"], validate=True) if "embedding" in found else None
            again = _line(record.body, embedding, record.previous, record.sha)
            if (embedding is None) == (record.kind == "embedding"):
                raise ValueError("an embedding stands beside its record, and nowhere else")
            parsed = Exported(record, embedding)
    except (ValueError, KeyError, TypeError, RecursionError, ValidationError) as error:
        raise JournalCorrupt(f"Line {number} is no line of an export.", _REMEDY) from error
    if again != line:
        raise JournalCorrupt(f"Line {number} was changed.", _REMEDY)
    return parsed
