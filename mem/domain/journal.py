"""The append-only journal: entries, records and their hash chain."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from mem.domain.canonical import canonical_json, sha256_hex

GENESIS = "0" * 64
"""The previous sha of the first record, and the head of an empty journal."""

EntryKind = Literal[
    "candidate",
    "verdict",
    "appended",
    "superseded",
    "projection",
    "embedding",
    "signatures",
    "lookup",
    "reference",
    "skill",
]


class Entry(BaseModel):
    """What a step wants recorded. Of two entries under one key the first stands."""

    model_config = ConfigDict(frozen=True)

    kind: EntryKind
    key: str
    data: dict[str, Any]


class Record(BaseModel):
    """An entry with its place in the chain; `time` is UTC in ISO 8601, to the second."""

    model_config = ConfigDict(frozen=True)

    sha: str
    previous: str
    seq: int
    time: str
    kind: EntryKind
    key: str
    data: dict[str, Any]

    @property
    def body(self) -> bytes:
        """The canonical bytes that the chain covers."""
        return record_body(Entry(kind=self.kind, key=self.key, data=self.data), seq=self.seq, time=self.time)


class Head(NamedTuple):
    """How many records there are, and the sha of the last one."""

    length: int
    sha: str


def record_body(entry: Entry, *, seq: int, time: str) -> bytes:
    """The canonical JSON of one record."""
    return canonical_json({"seq": seq, "time": time, "kind": entry.kind, "key": entry.key, "data": entry.data})


def chain_sha(previous: str, body: bytes) -> str:
    """The sha of a record: over the previous sha and the canonical body."""
    return sha256_hex(previous.encode("ascii") + body)


def same_journal_form(record: Record) -> bytes:
    """What two runs must share: the record without its place and time."""
    return canonical_json({"kind": record.kind, "key": record.key, "data": record.data})
