"""Verifies the hash chain of the journal, record by record, in one pass."""

from __future__ import annotations

import json
from collections.abc import AsyncIterable
from typing import NamedTuple

from mem.domain.canonical import sha256_hex
from mem.domain.errors import JournalCorrupt
from mem.domain.journal import GENESIS, Head, Record, chain_sha

_REMEDY = "Restore the journal from a copy whose head you know."


class Link(NamedTuple):
    """A record as it was found: `body` is the text that the chain covers, never one made again."""

    seq: int
    sha: str
    previous: str
    body: bytes
    key: str | None = None
    kind: str | None = None
    embedding: bytes | None = None


def link_of(record: Record) -> Link:
    """The link of a record that did not come from a text."""
    return Link(record.seq, record.sha, record.previous, record.body, record.key, record.kind)


async def verify(links: AsyncIterable[Link], head: Head, expected_head: str | None = None) -> Head:
    """Check all records against each other, the head, and a head that the caller remembers.

    Raises:
        JournalCorrupt: a record was changed, is missing or out of order, the end was cut off, or `expected_head` is
            not in the chain.
    """
    check = ChainCheck(expected_head)
    async for link in links:
        if check.length == head.length:
            break  # Appended since the head was read.
        check.take(link)
    return check.finish(head)


class ChainCheck:
    """The state of a pass over the chain, from its beginning or from behind a record that was checked before."""

    def __init__(self, expected_head: str | None = None, *, length: int = 0, sha: str = GENESIS) -> None:
        self.length = length
        self._sha = sha
        self._expected = expected_head
        self._expected_seen = expected_head in (None, GENESIS)

    def take(self, link: Link) -> None:
        """Check the next record.

        Raises:
            JournalCorrupt: it is not the one that must come next.
        """
        seq = self.length + 1
        if link.seq != seq:
            what = "missing or out of order" if link.seq > seq else "out of order"
            raise _corrupt(seq, f"is {what}: record {link.seq} stands in its place")
        if link.previous != self._sha:
            raise _corrupt(seq, f"does not follow record {self.length}: one of the two was replaced, or one is missing")
        if chain_sha(link.previous, link.body) != link.sha:
            raise _corrupt(seq, "was changed: its sha does not fit its text")
        self._check_body(seq, link)
        self.length, self._sha = seq, link.sha
        self._expected_seen = self._expected_seen or link.sha == self._expected

    def finish(self, head: Head) -> Head:
        """Check that the journal ends where its head says.

        Raises:
            JournalCorrupt: it does not.
        """
        if self.length != head.length:
            raise JournalCorrupt(
                f"Record {self.length + 1} is missing: the journal was cut off; its head counts {head.length} records, "
                f"{self.length} are there.",
                _REMEDY,
            )
        if self._sha != head.sha:
            raise _corrupt(self.length, f"is not the last one: the head names {head.sha}")
        if not self._expected_seen:
            raise JournalCorrupt(
                f"No record up to {self.length} has the sha {self._expected}: the journal was cut off or rewritten.",
                _REMEDY,
            )
        return Head(self.length, self._sha)

    @staticmethod
    def _check_body(seq: int, link: Link) -> None:
        """Check what is kept beside the body: the copies in columns, and an embedding named by its digest."""
        try:
            body = json.loads(link.body)
            named = (body["seq"], body["key"], body["kind"])
            digest = body["data"].get("embedding_sha256")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise _corrupt(seq, "is no record of this journal") from error
        if named != (seq, link.key or body["key"], link.kind or body["kind"]):
            raise _corrupt(seq, "was changed: its number, key or kind differs from its text")
        if link.embedding is not None and sha256_hex(link.embedding) != digest:
            raise _corrupt(seq, "was changed: its embedding is another one")


def _corrupt(seq: int, what: str) -> JournalCorrupt:
    return JournalCorrupt(f"Record {seq} {what}.", _REMEDY)
