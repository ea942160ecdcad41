"""Whether two lessons say the same: on pairs that do, on tempting ones that do not, and by the laws that hold."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mem.parsing.likeness import bands, rules_sha, same
from mem.parsing.likeness.stem import stem
from tests.examples import examples

PAIRS = tomllib.loads((Path(__file__).parents[2] / "fixtures" / "duplicates.toml").read_text(encoding="utf-8"))
TEXTS = [text for name in ("same", "other") for pair in PAIRS[name] for text in pair]

_calmly = settings(deadline=None, max_examples=examples(60))


def _short(pair: list[str]) -> str:
    return pair[0][:40]


def test_the_pairs_are_many():
    """Enough pairs on both sides stand for what teams write."""
    assert len(PAIRS["same"]) >= 40
    assert len(PAIRS["other"]) >= 60


@pytest.mark.parametrize("pair", PAIRS["same"], ids=_short)
def test_one_lesson_in_two_wordings(pair):
    """Order, filler words, inflection and daily synonyms make no other lesson, and the index finds it."""
    assert same(*pair)
    assert set(bands(pair[0])) & set(bands(pair[1]))


@pytest.mark.parametrize("pair", PAIRS["other"], ids=_short)
def test_two_lessons_that_look_alike(pair):
    """Another number, name, direction, condition or place is another lesson."""
    assert not same(*pair)


@pytest.mark.parametrize("pair", PAIRS["known_wrong"], ids=_short)
def test_what_is_taken_for_two_lessons(pair):
    """What the rules are known to miss they still miss; else the pair belongs to `same`."""
    assert not same(*pair)


def test_the_order_of_two_texts_does_not_matter():
    """Likeness holds in both directions or in none."""
    for one, other in [*PAIRS["same"], *PAIRS["other"]]:
        assert same(one, other) == same(other, one)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text if "ueue A" in text else text.upper(),  # a lone capital A is a name
        lambda text: f"  {text}  ".replace(" ", "\n "),
        lambda text: text.replace("`", ""),
        lambda text: f"{text}!",
    ],
    ids=["case", "space", "ticks", "mark"],
)
def test_case_space_and_punctuation_make_no_other_lesson(change):
    """A text is the same in other case, white space, quotes and closing marks, and shares every band with itself."""
    for text in TEXTS:
        assert same(text, change(text)), text
        assert bands(text) == bands(change(text))


def test_another_number_is_another_lesson():
    """Whatever a text says, with another number in it it says something else."""
    for text in TEXTS:
        assert not same(f"{text} Seen 41 times.", f"{text} Seen 43 times."), text


@pytest.mark.parametrize("text", ["", " \n", "...", "the of and", "!!! ???"])
def test_what_tells_nothing_is_like_nothing(text):
    """A text without terms is no duplicate of another one, and no band leads to it."""
    assert not same(text, text + " .")
    assert bands(text) == []


@_calmly
@given(st.text(max_size=300), st.text(max_size=300))
def test_any_two_texts_can_be_compared(one, other):
    """No text breaks the comparison, which is symmetric and the same every time."""
    assert same(one, other) == same(other, one)
    assert bands(one) == bands(one)
    assert all(-(2**31) <= band < 2**31 for band in bands(one))


@pytest.mark.parametrize(
    "words",
    [
        ("pin", "pins", "pinned", "pinning"),
        ("cache", "caches", "cached", "caching"),
        ("retry", "retries", "retried"),
        ("deploy", "deploys", "deployed", "deployment", "deployments"),
        ("migrate", "migrated", "migration", "migrations", "migrating"),
        ("agree", "agrees", "agreed", "agreement"),
        ("install", "installed", "installation"),
    ],
    ids=lambda words: words[0],
)
def test_inflections_have_one_stem(words):
    """The inflections of a word are compared as one."""
    assert len({stem(word) for word in words}) == 1


@pytest.mark.parametrize(
    ("one", "other"), [("http", "https"), ("class", "clash"), ("status", "state"), ("red", "read")]
)
def test_other_words_have_other_stems(one, other):
    """Words that differ in more than their inflection stay apart."""
    assert stem(one) != stem(other)


def test_stored_bands_name_the_rules_that_they_come_from():
    """The digest by which stale bands are found is that of the rules."""
    assert len(rules_sha()) == 16
