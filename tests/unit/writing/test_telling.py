"""Whether a memory tells of a failure, a rule, or a choice."""

from __future__ import annotations

import pytest

from mem.domain.errors import RuleError
from mem.writing.telling import packaged_rules, read_teller, teller

EVENT = "The import stopped because the disk was full. Pruning the cache fixed it."


@pytest.mark.parametrize(
    "text",
    [
        EVENT,
        "Two workers took the same rows in opposite order, so one of them was thrown out. Sorted the ids.",
        "The agents still had the old image, which lacked the tool. Rebuilt it.",
        "After the rotation one consumer kept the old key and nobody noticed until Monday. It reads the new one now.",
    ],
)
def test_what_happened_and_was_put_right_tells_of_a_failure(text):
    """An event, how it turned, and a remedy weigh for a failure."""
    assert teller().score(text, 15.0) > 0


@pytest.mark.parametrize(
    "text",
    [
        "Failed jobs are retried three times and then reported to the owner.",
        "We chose retries over alerts because failures of that vendor are short.",
        "Every service must answer errors as JSON, and never log them twice.",
        "The plan is to move the queue in autumn.",
        "",
    ],
)
def test_a_rule_a_choice_or_a_plan_tells_of_none(text):
    """Words of failure count little where nothing happened."""
    assert teller().score(text, 15.0) < 0


def test_a_story_that_the_lexicon_knows_is_surer():
    """What the lexicon finds counts, up to a bound."""
    assert teller().score(EVENT, 20.0) > teller().score(EVENT, 10.0)
    assert teller().score(EVENT, 1000.0) == teller().score(EVENT, 10000.0)


def test_a_quoted_message_makes_an_event_a_failure():
    """What a program said in an event weighs for a failure; in a rule it does not."""
    assert teller().features("It ended with a 503.", 0.0)["stated"] == 1.0
    assert teller().features("A 503 is retried.", 0.0)["stated"] == 0.0


@pytest.mark.parametrize(
    ("form", "past"),
    [
        ("The job failed on Monday", 1.0),
        ("A failed job is retried", 0.0),
        ("The jobs are retried", 0.0),
        ("Jobs can be stopped", 0.0),
        ("The server was slow", 1.0),
        ("It ran out of space", 1.0),
    ],
)
def test_only_a_verb_in_the_past_makes_an_event(form, past):
    """States, orders and attributes in -ed are none."""
    assert teller().features(form, 0.0)["event_count"] == past


def test_what_broke_in_an_event_counts():
    """That something died or fell over is said of no rule."""
    assert teller().features("The worker died and the queue was turned away.", 0.0)["broke"] == 2.0
    assert teller().features("Workers that crash are replaced.", 0.0)["broke"] == 0.0


def test_a_choice_counts_against_a_failure():
    """Who tells what was chosen tells of no failure, though one was an argument."""
    told = "We chose the queue since the other one died in the trial."
    assert teller().features(told, 0.0)["choice"] >= 1.0
    assert teller().score(told, 15.0) < teller().score("The queue died in the night.", 15.0)


def test_a_wrong_file_is_told():
    """Whoever edits the cues reads where."""
    with pytest.raises(RuleError, match=r"telling\.toml is no TOML"):
        read_teller("version = ")
    with pytest.raises(RuleError, match=r"telling\.toml, failing: "):
        read_teller(packaged_rules().replace("failing = [", "failin = [", 1))
