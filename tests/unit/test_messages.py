"""The weights, floors and strength of messages follow from one set, and hold what they promise on another one."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import numpy as np
import pytest

from bench.fit_message import (
    AGAINST,
    WAYS,
    WRONG,
    Scored,
    Way,
    fit,
    floor_of,
    measured,
    message_toml,
    strength_toml,
    unseen,
)
from bench.message_data import FOLDER, users
from bench.message_features import FEATURES, Row, read, write
from bench.message_report import as_bundled, floors_of_ways, pairs, reliability, report, strengths, summary
from bench.reliability import bins, calibration_error
from mem.clients.scorer.helping import Helping

SETS = ("fit", "held")
FILES = (*SETS, "fit-among-others", "held-among-others")
HELD = [(file, way) for file in ("held", "held-among-others") for way in WAYS]
ON_SO_FEW = 1.5 * WRONG
"""One message of the hundred more or less is chance."""
HELPED = {"message": 0.38, "message_by_words": 0.25}
"""So many of the messages to which something is relevant are helped at least; half of them share hardly a word."""


@cache
def held(file: str, way: Way) -> list[Scored]:
    return as_bundled(file, way)


def test_the_fit_gives_the_bundled_weights():
    """Nothing but the features and the fit is behind them."""
    assert files("mem.clients.scorer").joinpath("message.toml").read_text("utf-8") == message_toml()


@pytest.mark.slow
def test_the_fit_gives_the_bundled_strength():
    """It is made from users that its probabilities were not fitted on."""
    assert files("mem.recall").joinpath("strength.toml").read_text("utf-8") == strength_toml()


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_the_floor_keeps_the_promise_on_the_set_that_it_was_chosen_on(way):
    """And is not much higher than it has to be."""
    lowest = floor_of(unseen(way))
    assert lowest <= floors_of_ways()[way] <= lowest + 0.02


@pytest.mark.parametrize(("file", "way"), HELD)
def test_few_messages_with_nothing_relevant_are_given_context(file, way):
    """The promise holds for users that nothing was chosen for, and where the lessons of others can be read."""
    nothing = [one for one in held(file, way) if not one.related]
    assert len(nothing) > 100
    assert np.mean([one.scores.max() >= floors_of_ways()[way] for one in nothing]) <= ON_SO_FEW


@pytest.mark.parametrize(("file", "way"), HELD)
def test_messages_with_something_relevant_are_helped(file, way):
    """A floor that kept everything out would keep the promise, too."""
    related = [one for one in held(file, way) if one.related]
    helped = [(one.helps & (one.scores >= floors_of_ways()[way])).any() for one in related]
    assert np.mean(helped) >= HELPED[way]


@pytest.mark.parametrize(("file", "way"), HELD)
def test_probabilities_are_what_they_say_on_unseen_users(file, way):
    """Those of candidates, and the strength of what is told, each within what so many cases allow."""
    assert calibration_error(bins(*pairs(held(file, way)))) < 0.02
    said, came = strengths(held(file, way), floors_of_ways()[way])
    assert calibration_error(bins(said, came)) < 0.15
    assert ((said - came) ** 2).mean() < came.mean() * (1 - came.mean())


def test_small_talk_is_given_no_context():
    """Nor is what has nothing to do with any work."""
    for kind in ("chat", "off"):
        of_kind = [one for one in held("held", "message") if one.kind == kind]
        assert of_kind
        assert all(one.scores.max() < floors_of_ways()["message"] for one in of_kind)


def test_likeness_that_seems_to_speak_against_gets_no_weight():
    """More in common never means less, whatever a set says; only whose it is, and what is asked, may."""
    turned = [one._replace(helps=~one.helps) for one in measured("held", "message")]
    weights = dict(zip(Helping._fields, fit(turned)[1:], strict=True))
    assert all(weight >= 0 for name, weight in weights.items() if name not in AGAINST)
    assert any(weight < 0 for name, weight in weights.items() if name in AGAINST)


@pytest.mark.parametrize("name", FILES)
def test_every_message_was_measured(name):
    """The features are of the messages that stand there: each of them, with all memories that help."""
    rows = read(FEATURES / f"{name}.csv.gz")
    helping = {row.message: 0 for row in rows}
    for row in rows:
        helping[row.message] += row.helps
    there = {
        f"{user.name}-{number}": len(message.helped_by)
        for user in users(FOLDER / name.partition("-")[0])
        for number, message in enumerate(user.messages)
    }
    assert helping == there


@pytest.mark.parametrize("name", SETS)
def test_the_sets_are_as_they_are_described(name):
    """Every memory that helps is one of the user's, no message stands twice, and about two of five need none."""
    for user in users(FOLDER / name):
        ids = {memory.id for memory in user.memories}
        assert len(user.memories) >= 30
        assert all(message.helped_by <= ids for message in user.messages)
        assert user.evidence.keys() <= ids
        assert len({message.text for message in user.messages}) == len(user.messages)
        assert 0.35 < np.mean([not message.helped_by for message in user.messages]) < 0.47


def test_rows_are_kept_as_they_are(tmp_path):
    """Writing what was read gives the same rows."""
    rows = read(FEATURES / "held.csv.gz")
    write(rows, tmp_path / "again.csv.gz")
    assert read(tmp_path / "again.csv.gz") == rows
    assert isinstance(rows[0], Row)
    assert rows[0].by_words.text == 0


def test_the_report_says_what_the_documents_quote():
    """Figures of docs/abstention.md come from here."""
    told = report()
    assert summary(held("held", "message"), floors_of_ways()["message"]) in told
    assert reliability(*pairs(held("held-among-others", "message"))) in told
