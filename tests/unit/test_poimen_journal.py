"""The journal of poimen is what its candidates came to, and wide enough for what is asked of it."""

from __future__ import annotations

import json
from collections import Counter

from mem.store.export import verify_lines
from tests.poimen import (
    FOLDER,
    NEIGHBOUR,
    Handed,
    candidates,
    handed_in,
    journal_lines,
    questions,
    refused,
    shas,
    superseded,
    syntheses,
)

ACCEPTED = [one for one in candidates().values() if one.expect == "accepted"]


def records(kind: str) -> dict[str, dict]:
    """The data of the records of a kind, by the last part of their keys."""
    bodies = [json.loads(line)["body"] for line in journal_lines()[:-1]]
    return {body["key"].rsplit(":", 1)[1]: body["data"] for body in bodies if body["kind"] == kind}


def test_it_is_whole():
    """Its chain holds from the first record to the head."""
    assert verify_lines(journal_lines()).length == len(journal_lines()) - 1


def test_it_is_of_these_candidates():
    """Text and evidence of each are those of the files, so that a change there is not forgotten here."""
    found = records("candidate")
    assert set(found) == {one.id for one in handed_in() if isinstance(one, Handed)}
    for one in (*candidates().values(), *candidates(NEIGHBOUR).values()):
        recorded = found[one.id]["candidate"]
        if one.expect != "secret":
            assert recorded["text"] == one.text
        assert [(each["source"], each["turn"]) for each in recorded["evidence"]] == [
            (each["source"], each["turn"]) for each in one.evidence
        ]
        assert [each["text"] for each in recorded["evidence"]] == [each["text"] for each in one.evidence]


def test_each_refusal_has_a_reason_of_its_own():
    """Eight rules and more refuse, and none of what they refused became a memory; the secret was not even recorded."""
    rules = Counter(one.expect for one in refused())
    assert len(rules) >= 8
    assert max(rules.values()) == 1
    assert {data["verdict"]["rule"] for data in records("verdict").values()} - {None} == set(rules)
    assert shas().keys() & {one.id for one in refused()} == set()
    assert "Tup-Lammas" not in "".join(journal_lines())


def test_it_is_wide_enough():
    """Forty memories over eight incidents, syntheses over lessons of several, two superseded, questions for them."""
    files = {one.name: one for one in FOLDER.glob("[1-8]-*.toml")}
    place = {
        name: file for file, path in files.items() for name in candidates() if f'id = "{name}"' in path.read_text()
    }
    assert len(files) == 8
    assert Counter(place.values()).total() == len([one for one in ACCEPTED if one.level == "L1"]) >= 40
    assert all(one.evidence for one in ACCEPTED if one.level == "L1")
    assert len(syntheses()) >= 5
    assert all(2 <= len(one.parents) <= 4 for one in syntheses())
    assert sum(len({place[parent] for parent in one.parents}) > 1 for one in syntheses()) >= 3
    assert len(superseded()) == 2
    assert len(questions()) == 40
    assert {name for one in questions() for name in one.gold} <= {one.id for one in ACCEPTED} - set(superseded())


def test_a_duplicate_and_shared_evidence_are_among_it():
    """A memory has the evidence of two candidates, two lessons share a piece of it, and one source shows twice."""
    assert Counter(shas().values())[shas()["terraform-lock-left"]] == 2
    pieces = Counter(json.dumps(each, sort_keys=True) for one in ACCEPTED for each in one.evidence)
    assert max(pieces.values()) == 2
    sources = [Counter((each["source"], each["turn"]) for each in one.evidence) for one in ACCEPTED]
    assert max(max(one.values(), default=0) for one in sources) == 2


def test_both_projects_have_syntheses_and_their_own_memories():
    """No text stands in both."""
    assert {one.level for one in candidates(NEIGHBOUR).values()} == {"L1", "L2"}
    assert not {one.text for one in candidates().values()} & {one.text for one in candidates(NEIGHBOUR).values()}
