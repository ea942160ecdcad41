"""The lexicon: every entry is found by how it is told, and no decision leads to a symptom."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mem.domain.errors import RuleError
from mem.parsing.redact import redact
from mem.writing.lexicon import Entry, lexicon, packaged, read_lexicon
from mem.writing.recognise import recogniser
from mem.writing.words import stem, words_of

SUBJECTS = {
    "auth_app", "brokers_caches", "ci_git", "cloud_iac", "data", "database", "embedded", "frontend", "gpu_ml", "http",
    "kubernetes", "languages", "messaging", "mobile", "packages", "shared", "storage", "system", "tls_dns", "workflows",
}  # fmt: skip
ENTRY = """
version = 1
[[entry]]
id = "a.b"
told = ["clock | host time", "drift"]
unless = ["cuckoo clock"]
shows = ["RequestTimeTooSkewed", "Signature expired"]
example = "The clock of the box had drifted for weeks."
"""


def test_it_is_a_few_hundred_entries_by_subject():
    """Breadth decides what prose alone can lead to."""
    assert {name.removesuffix(".toml") for name in packaged()} == SUBJECTS
    assert len(lexicon().entries) >= 300


def _by_subject() -> list[object]:
    subjects: dict[str, list[Entry]] = {}
    for entry in lexicon().entries:
        subjects.setdefault(entry.id.partition(".")[0], []).append(entry)
    return [pytest.param(entries, id=subject) for subject, entries in subjects.items()]


of_subjects = pytest.mark.parametrize("entries", _by_subject())


@of_subjects
def test_an_entry_is_led_to_by_its_own_example(entries: list[Entry]):
    """Told as its example tells it, an entry comes before all others but two."""
    first = {entry.id: [told.entry.id for told in lexicon().told(entry.example)[:3]] for entry in entries}
    assert {name: found for name, found in first.items() if name not in found} == {}


@of_subjects
def test_the_lines_of_an_entry_are_recognised_as_its_own(entries: list[Entry]):
    """What an entry shows first leads back to it, and is not what the redaction of secrets would change."""
    for entry in entries:
        line = entry.shows[0]
        assert redact(line).text == line
        found = recogniser(0.5, 0.0).recognise([line])
        assert entry.id in [one.entry.id for one in found if one.share == 1.0]


def test_the_example_is_prose_and_no_line_is():
    """An example never is one of the lines that it must lead to."""
    for entry in lexicon().entries:
        assert entry.example.endswith(".")
        assert entry.example not in entry.shows


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("told = [", "tolt = ["), "entry a.b (entry.0.told)"),
        (('"clock | host time"', '"Clock"'), "entry a.b: 'Clock' is not plain words"),
        (('"clock | host time"', '"host-time"'), "entry a.b: 'host-time' is not plain words"),
        (('"clock | host time"', '" | "'), "entry a.b: the group ' | ' has no alternative"),
        (('"drift"', '"dr*"'), "entry a.b: the prefix in 'dr*' is too short"),
        (('"Signature expired"', '"RequestTimeTooSkewed"'), "entry a.b: each line of `shows`"),
        (("version = 1", "version = "), "x.toml is no TOML"),
        (('example = "The clock of the box had drifted for weeks."', 'example = "short"'), "(entry.0.example)"),
    ],
)
def test_a_wrong_entry_is_told_with_its_file_and_id(change, told):
    """Whoever edits the lexicon reads where and what."""
    with pytest.raises(RuleError) as caught:
        read_lexicon({"x.toml": ENTRY.replace(*change)})
    assert caught.value.cause.startswith("x.toml")
    assert told in caught.value.cause


def test_an_id_stands_once_in_all_files():
    """Two files cannot describe one entry."""
    with pytest.raises(RuleError, match=r"y\.toml, entry a\.b: the id is taken"):
        read_lexicon({"x.toml": ENTRY, "y.toml": ENTRY})


def test_a_word_that_says_it_is_something_else_refuses_an_entry():
    """`unless` counts wherever it stands."""
    small = read_lexicon({"x.toml": ENTRY})
    assert [told.entry.id for told in small.told("The clock drifted.")] == ["a.b"]
    assert small.told("The clock drifted, I mean the cuckoo clock.") == []


def test_what_it_was_not_leads_nowhere():
    """The words behind a refutation are not read."""
    entries = {"x.toml": ENTRY.replace("version = 1", 'version = 1\nrefuting = ["was not"]')}
    assert read_lexicon(entries).told("It was not the clock.") == []
    assert read_lexicon(entries).told("It was the clock.")


def test_rare_words_count_more_than_words_of_many_entries():
    """A word that one entry has outweighs one that all have."""
    told = lexicon().told("The intermediate was left out of the bundle by the server.")
    assert told[0].entry.id == "tls.missing-intermediate"
    assert all(one.score >= other.score for one, other in pairwise(told))


@settings(deadline=None)
@given(st.text(max_size=300))
def test_any_text_can_be_read(text):
    """No prose breaks the reader, and reading twice gives the same."""
    assert lexicon().told(text) == lexicon().told(text)


@settings(deadline=None)
@given(st.lists(st.sampled_from(sorted(re.findall(r"[a-z]+", packaged()["system.toml"]))), max_size=30))
def test_more_words_never_make_an_entry_less_told(words):
    """Without an `unless` among them, further words only add."""
    less = {told.entry.id: told.score for told in lexicon().told(" ".join(words[:-1]))}
    more = {told.entry.id: told.score for told in lexicon().told(" ".join(words))}
    assert all(more[name] >= score for name, score in less.items() if name in more)


@pytest.mark.parametrize(
    ("forms", "same"),
    [
        ("drift drifts drifted drifting", True),
        ("stop stops stopped stopping", True),
        ("refuse refuses refused refusing", True),
        ("deny denies denied denying", True),
        ("break broke broken breaks", True),
        ("cache caches cached caching", True),
        ("kill killed killing", True),
        ("port portal", False),
        ("process progress", False),
    ],
)
def test_forms_of_one_word_have_one_stem(forms, same):
    """Endings of verbs and plurals do not keep a cue from its word."""
    assert (len({stem(form) for form in forms.split()}) == 1) is same


def test_names_are_read_in_their_parts():
    """Dots, dashes and underscores part words, an apostrophe does not."""
    assert words_of("vm.overcommit_memory couldn't proxy-body-size").plain == (
        "vm", "overcommit", "memory", "couldnt", "proxy", "body", "size",
    )  # fmt: skip
