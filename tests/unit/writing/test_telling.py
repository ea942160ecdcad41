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
    assert teller().judge(text, 15.0).sure > 0


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
    assert teller().judge(text, 15.0).sure < 0


def test_a_story_that_the_lexicon_knows_is_surer():
    """What the lexicon finds counts, up to a bound."""
    assert teller().judge(EVENT, 20.0).sure > teller().judge(EVENT, 10.0).sure
    assert teller().judge(EVENT, 1000.0).sure == teller().judge(EVENT, 10000.0).sure


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
    other = told.replace("We chose the queue", "It was the queue")
    assert teller().judge(told, 15.0).sure < teller().judge(other, 15.0).sure


def test_a_report_of_success_counts_against_a_failure():
    """What went well may name all that did not go wrong."""
    story = "On Monday the import was moved and two of the tables were lost, so it had to stop for an hour."
    well = "On Monday the import was moved as planned and no data was lost, without surprises, in an hour."
    assert teller().features(well, 0.0)["good"] > teller().features(story, 0.0)["good"]
    assert teller().judge(well, 15.0).sure < 0 < teller().judge(f"{story} Raised the limit.", 25.0).sure


@pytest.mark.parametrize(
    "text", ["How the codes are read: two means that it stopped.", "Policy: a job that failed twice stops."]
)
def test_an_explanation_says_so_in_its_first_words(text):
    """Who begins with how, or with a rule's name, tells no story."""
    found = teller().features(text, 0.0)
    assert found["asks"] + found["label"] == 1.0


def test_rules_count_by_their_share_of_the_words():
    """A long story may name one rule; a text of rules names little else."""
    rule = "Services are owned by teams and are reviewed monthly."
    story = "The worker died in the night and came back with half of its rows, which nobody saw for a day. " * 4
    assert teller().features(rule, 0.0)["policy"] > teller().features(story + rule, 0.0)["policy"] > 0


def test_every_feature_has_a_weight():
    """A cue that somebody adds is weighed, or the first memory tells that it is not."""
    rules = packaged_rules().replace("[rate]", '[rate]\nunweighed = ["died"]', 1)
    with pytest.raises(RuleError, match="unweighed"):
        read_teller(rules)


def test_a_wrong_file_is_told():
    """Whoever edits the cues reads where."""
    with pytest.raises(RuleError, match=r"telling\.toml is no TOML"):
        read_teller("version = ")
    with pytest.raises(RuleError, match=r"telling\.toml, failing: "):
        read_teller(packaged_rules().replace("failing = [", "failin = [", 1))
