"""Questions over a conversation, through the real recall with the bundled models."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.locomo import measure
from bench.talk_data import read_talks, told

TALK = Path(__file__).parents[1] / "fixtures" / "talk"
FLOOR = 0.75
"""Well below what is reached, 0.87: it is to notice that something broke, not that a weight was moved."""


@pytest.mark.slow
async def test_most_turns_that_answer_a_question_are_among_the_first_ten(tmp_path):
    """More than plain BM25 or the vectors find, and every question has its turns, each once."""
    (talk, *_) = read_talks(TALK)
    talk = talk._replace(questions=talk.questions[::2])
    figures = await measure([talk], tmp_path / "found.json", None)
    assert figures["mem: recall@10"] >= FLOOR
    assert figures["mem: recall@10"] > max(figures["plain BM25: recall@10"], figures["vectors: recall@10"])
    found = json.loads((tmp_path / "found.json").read_text("utf-8"))
    assert set(found) == {asked.id for asked in talk.questions}
    known = {turn.id for turn in talk.turns}
    assert all(len(set(ids)) == len(ids) <= 50 and known.issuperset(ids) for ids in found.values())


def test_turns_are_read_leniently(tmp_path):
    """Numbers for texts, nothing at all, an evidence that is no list, and a conversation that nobody asked about."""
    turns = [
        {"id": 1, "conversation": 7, "session": 2, "text": "Hello.", "speaker": "Ann", "date_time": "8 May, 2023"},
        {"id": 2, "conversation": 7, "session": 2, "text": None, "caption": "a dog"},
        {"id": 3, "conversation": 7, "session": "3"},
        {"id": "x", "conversation": "other", "text": "Hello."},
    ]
    asked = [{"id": 9, "conversation": 7, "question": "Who?", "category": 4, "evidence": 1}, {"conversation": "none"}]
    for name, rows in (("turns", turns), ("qa", asked)):
        text = "\n".join(json.dumps(row) for row in rows) + "\n\n"
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    first, other, none = read_talks(tmp_path)
    assert [(turn.id, turn.session, turn.place, turn.text) for turn in first.turns] == [
        ("1", "2", 1, "[8 May, 2023] Ann: Hello."),
        ("2", "2", 2, "[picture: a dog]"),
        ("3", "3", 1, "[nothing]"),
    ]
    assert first.gold(first.questions[0]) == {"1"}
    assert (other.questions, none.turns) == ([], [])
    assert told({}) == "[nothing]"
