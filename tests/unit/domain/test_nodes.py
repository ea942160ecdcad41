"""Node identity and canonical JSON."""

from __future__ import annotations

import hashlib
import json

import pytest

from mem.domain.canonical import canonical_json, canonical_sha, sha256_hex
from mem.domain.journal import Entry, Record, chain_sha, record_body, same_journal_form
from mem.domain.nodes import Node

LESSON = Node(level="L1", project="homelab", text="Pin the peer dependency.", visibility="user", owner="ada")
EVIDENCE = Node(level="L0", project="homelab", text="npm ERR! ERESOLVE", source="pi:1", turn=12)
CHUNK = Node(level="R", project="*", text="Peer dependencies", source="npm.md#peers")


def test_a_sha_is_the_digest_of_the_six_fields_that_make_a_lesson():
    """The sha of a lesson is the sha256 of the canonical JSON of level, project, visibility, owner, container, text."""
    written = (
        '{"container":null,"level":"L1","owner":"ada","project":"homelab",'
        '"text":"Pin the peer dependency.","visibility":"user"}'
    )
    assert LESSON.sha == hashlib.sha256(written.encode()).hexdigest()


@pytest.mark.parametrize(
    "change",
    [
        {"level": "L2"},
        {"project": "other"},
        {"text": "Pin the peer dependency"},
        {"visibility": "global"},
        {"owner": "bob"},
        {"container": "thread-1"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_each_field_of_identity_makes_another_node(change):
    """Equal private texts of two users, projects, levels or containers are two nodes."""
    assert LESSON.model_copy(update=change).sha != LESSON.sha


@pytest.mark.parametrize("change", [{"source": "pi:2"}, {"turn": 13}, {"turn": None}, {"source": None}])
def test_evidence_of_another_place_is_other_evidence(change):
    """Source and turn are part of what an L0 node is."""
    assert EVIDENCE.model_copy(update=change).sha != EVIDENCE.sha


@pytest.mark.parametrize("level", ["L1", "L2"])
def test_a_lesson_is_the_same_wherever_it_was_learned(level):
    """Source and turn never make another lesson of the same words."""
    lesson = LESSON.model_copy(update={"level": level})
    assert lesson.model_copy(update={"source": "pi:2", "turn": 3}).sha == lesson.sha


def test_a_chunk_is_told_apart_by_its_source_alone():
    """The same words in two documents are two chunks; a turn says nothing about a document."""
    assert CHUNK.model_copy(update={"source": "yarn.md#peers"}).sha != CHUNK.sha
    assert CHUNK.model_copy(update={"turn": 3}).sha == CHUNK.sha


def test_canonical_json_is_sorted_dense_and_in_utf8():
    """Keys are sorted at every depth, nothing is spaced, and letters stand as they are."""
    assert (
        canonical_json({"b": [1, {"d": None, "c": "ü"}], "a": True}) == '{"a":true,"b":[1,{"c":"ü","d":null}]}'.encode()
    )


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_canonical_json_has_no_way_to_write_what_json_lacks(number):
    """NaN and infinities are refused, since other readers would refuse them too."""
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical_json({"score": number})


def test_digests_agree_over_text_bytes_and_value():
    """A text and its UTF-8 bytes have one digest, and a value has that of its canonical JSON."""
    assert sha256_hex("ü") == sha256_hex("ü".encode()) == hashlib.sha256(b"\xc3\xbc").hexdigest()
    assert canonical_sha(["ü"]) == sha256_hex('["ü"]')


def test_a_record_covers_its_place_and_chains_to_the_one_before():
    """The body holds number, time, kind, key and data; the sha covers the previous sha and the body."""
    entry = Entry(kind="verdict", key="k", data={"b": 1, "a": 2})
    body = record_body(entry, seq=7, time="2026-07-02T00:00:00Z")
    assert json.loads(body) == {
        "seq": 7,
        "time": "2026-07-02T00:00:00Z",
        "kind": "verdict",
        "key": "k",
        "data": entry.data,
    }
    previous = "f" * 64
    assert chain_sha(previous, body) == hashlib.sha256(previous.encode() + body).hexdigest()
    assert chain_sha("0" * 64, body) != chain_sha(previous, body)


def test_two_records_are_the_same_when_only_their_place_differs():
    """Number, time and chain are no part of what two journals must share; key and data are."""
    one = Record(sha="a", previous="b", seq=1, time="t", kind="verdict", key="k", data={"x": 1})
    moved = one.model_copy(update={"sha": "c", "previous": "d", "seq": 9, "time": "u"})
    assert same_journal_form(one) == same_journal_form(moved)
    assert same_journal_form(one) != same_journal_form(one.model_copy(update={"key": "l"}))
    assert same_journal_form(one) != same_journal_form(one.model_copy(update={"data": {"x": 2}}))
