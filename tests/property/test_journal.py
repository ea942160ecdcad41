"""The chain of the journal, whatever is in it and whatever happens to it."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mem.domain.errors import JournalCorrupt
from mem.domain.journal import GENESIS, Entry, Head, Record, chain_sha, record_body
from mem.store.chain import ChainCheck, Link, link_of
from mem.store.export import _line, parse_lines, verify_lines
from tests.examples import examples

# No deadline: the machine may be busy.
_calmly = settings(deadline=None, max_examples=examples(60))
_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_NUMBER = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
_DATA = st.dictionaries(
    _TEXT,
    st.recursive(
        st.none() | st.booleans() | _NUMBER | _TEXT,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
        max_leaves=6,
    ),
    max_size=3,
)
_VECTOR = st.binary(min_size=1, max_size=16)


@st.composite
def _journals(draw: st.DrawFn) -> list[Link]:
    links: list[Link] = []
    previous = GENESIS
    for seq, data in enumerate(draw(st.lists(_DATA, min_size=1, max_size=5)), 1):
        embedding = draw(st.none() | _VECTOR)
        if embedding is not None:
            data["embedding_sha256"] = hashlib.sha256(embedding).hexdigest()
        entry = Entry(kind="candidate" if embedding is None else "embedding", key=f"k{seq}", data=data)
        time = "2026-07-02T12:00:00Z"
        sha = chain_sha(previous, record_body(entry, seq=seq, time=time))
        record = Record(sha=sha, previous=previous, seq=seq, time=time, **entry.model_dump())
        links.append(link_of(record)._replace(embedding=embedding))
        previous = sha
    return links


def _head(links: list[Link]) -> Head:
    return Head(len(links), links[-1].sha)


def _check(links: list[Link], head: Head) -> Head:
    check = ChainCheck()
    for link in links:
        check.take(link)
    return check.finish(head)


def _lines(links: list[Link]) -> list[str]:
    head = f'{{"head":{{"count":{len(links)},"sha":"{links[-1].sha}"}}}}'
    return [*(_line(link.body, link.embedding, link.previous, link.sha) for link in links), head]


@_calmly
@given(_journals())
def test_sound_chains_verify(links):
    """Every journal that was written as it should be verifies."""
    assert _check(links, _head(links)) == _head(links)


@_calmly
@given(_journals(), st.data())
def test_any_change_of_a_record_is_found(links, data):
    """A change of any one field of any one record is found."""
    at = data.draw(st.integers(0, len(links) - 1))
    field = data.draw(st.sampled_from(["seq", "sha", "previous", "body", "key", "kind", "embedding"]))
    old = links[at]
    assume(field != "embedding" or old.embedding is not None)
    changes = {
        "seq": st.integers(0, 9),
        "sha": st.text("0123456789abcdef", min_size=64, max_size=64),
        "previous": st.text("0123456789abcdef", min_size=64, max_size=64),
        "body": st.builds(
            lambda place, byte: old.body[:place] + bytes([byte]) + old.body[place + 1 :],
            st.integers(0, len(old.body) - 1),
            st.integers(0, 255),
        ),
        "key": st.text(min_size=1, max_size=3),
        "kind": st.sampled_from(["candidate", "embedding", "verdict"]),
        "embedding": _VECTOR,
    }
    new = old._replace(**{field: data.draw(changes[field])})
    assume(new != old)
    with pytest.raises(JournalCorrupt):
        _check([*links[:at], new, *links[at + 1 :]], _head(links))


@_calmly
@given(_journals(), st.data())
def test_any_missing_moved_or_repeated_record_is_found(links, data):
    """A journal that lacks a record, has one twice or two exchanged is found out."""
    at, other = (data.draw(st.integers(0, len(links) - 1)) for _ in range(2))
    exchanged = list(links)
    exchanged[at], exchanged[other] = links[other], links[at]
    wrong = data.draw(st.sampled_from([[*links[:at], *links[at + 1 :]], [*links, links[at]], exchanged]))
    assume(wrong != links)
    with pytest.raises(JournalCorrupt):
        _check(wrong, _head(links))


@_calmly
@given(_journals())
def test_exports_read_back(links):
    """An export gives back every record and every embedding."""
    exported = list(parse_lines(_lines(links)))
    assert [link_of(one.record)._replace(embedding=one.embedding) for one in exported] == links
    assert verify_lines(_lines(links)) == _head(links)


@_calmly
@given(_journals(), st.data())
def test_any_changed_character_of_an_export_is_found(links, data):
    """A change of any one character of an export is found."""
    lines = _lines(links)
    at = data.draw(st.integers(0, len(lines) - 1))
    place = data.draw(st.integers(0, len(lines[at]) - 1))
    character = data.draw(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"))
    changed = lines[at][:place] + character + lines[at][place + 1 :]
    assume(changed != lines[at])
    with pytest.raises(JournalCorrupt):
        verify_lines([*lines[:at], changed, *lines[at + 1 :]])
