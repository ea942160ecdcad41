"""Who says a turn, when, and what."""

from __future__ import annotations

import pytest

from mem.parsing.turns import Day, Turn, read_turn


@pytest.mark.parametrize(
    ("text", "speaker", "day", "said"),
    [
        ("[1:56 pm on 8 May, 2023] Caroline: Hey: you", "Caroline", Day(2023, 5), "Hey: you"),
        ("[December 3, 2022] Mary Ann Lee: hi", "Mary Ann Lee", Day(2022, 12), "hi"),
        ("2023-05-08T10:00 alice: hi", "alice", Day(2023, 5), "hi"),
        ("2023-05-08 10:00:12 <alice> hi", "alice", Day(2023, 5), "hi"),
        ("[10:02] bob: hi", "bob", None, "hi"),
        ("[8 May, 2023] nobody is named", None, Day(2023, 5), "nobody is named"),
        ("Caroline: hi", "Caroline", None, "hi"),
        ("**Alice**: hi", "Alice", None, "hi"),
        ("Dr. Smith: yes", "Dr. Smith", None, "yes"),
        ("user: do it", "user", None, "do it"),
        ("assistant: done", "assistant", None, "done"),
    ],
)
def test_a_heading_tells_speaker_and_day(text, speaker, day, said):
    assert read_turn(text) == Turn(speaker, day, said)


@pytest.mark.parametrize(
    "text",
    [
        "Error: boom",
        "TypeError: x is not a function",
        "npm ERR! code ERESOLVE",
        "error[E0382]: borrow of moved value",
        "[INFO] Scanning: modules",
        "[ERROR] Failed: goal",
        "Traceback (most recent call last):",
        "https://example.org",
        "src/main.rs:3: warning",
        "curl: (7) failed to connect",
        "they said: no",
        "",
    ],
)
def test_what_a_program_prints_has_no_speaker(text):
    assert read_turn(text) == Turn(None, None, text)
